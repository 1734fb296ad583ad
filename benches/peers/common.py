"""What cpu.py and gpu.py share: the bochner side of a comparison, medians, and the table."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Rounds of a contest at least, however little time is left.
LEAST_ROUNDS = 3


def clean_environment():
    """The environment without preset OPENBLAS_* variables: some machines force an old core type that halves numpy."""
    return {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}


def binary(given):
    """The bochner binary: the one given, or the release build of this checkout."""
    if given:
        return Path(given).resolve()
    path = ROOT / "target" / "release" / "bochner"
    print("building bochner (release)", file=sys.stderr)
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return path


class Ours:
    """A warm bochner process that times cases on request."""

    def __init__(self, path, *options):
        command = [str(path), "bench", "--serve", *options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
        )
        hello = self.process.stdout.readline()
        if not hello:
            sys.exit(f"{' '.join(command)} does not start")
        hello = json.loads(hello)
        self.device = hello["device"]
        # How much of a result ours compares with f64; peers are compared on as much.
        self.rows, self.transforms, self.columns = (hello["compared"][k] for k in ("rows", "transforms", "columns"))

    def ask(self, op, shape, **request):
        rows, dim, features = shape
        request |= {"op": op, "rows": rows, "dim": dim, "features": features}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"bochner ended during {op} {shape}")
        answer = json.loads(line)
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Budget:
    """Seconds for all cases. None without end."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds, self.clock, self.start = seconds, clock, clock()
        self.longest = 0.0
        self.begun = None
        self.omitted = []

    def left(self):
        return float("inf") if self.seconds is None else self.seconds - (self.clock() - self.start)

    def begin(self, name):
        """Whether there is time for a case as long as the longest so far; one that is left out is remembered."""
        self.end()
        if self.left() <= self.longest:
            self.omitted.append(name)
            return False
        self.begun = self.clock()
        return True

    def end(self):
        if self.begun is not None:
            self.longest = max(self.longest, self.clock() - self.begun)
            self.begun = None

    def say(self):
        if self.omitted:
            print(f"{len(self.omitted)} cases left out, for want of time: {'; '.join(self.omitted)}", flush=True)


class Contest:
    """Peers and ours, one after the other in every round: A B A B.

    Ratios are times of a peer over ours, above 1 where ours is faster: in a peer's row against the first of ours, in a row
    of ours for the peer with the best median.
    """

    def __init__(self, name, threads=None):
        self.name, self.threads = name, threads
        self.peers, self.ours = {}, {}
        self.times, self.errors = {}, {}
        # Peers that only show what is possible, such as a copy: none is called the best.
        self.floors = set()

    def peer(self, name, call, error=None):
        self.peers[name], self.errors[name] = call, error

    def floor(self, name, call):
        self.peer(name, call)
        self.floors.add(name)

    def own(self, name, call, error=None):
        self.ours[name], self.errors[name] = call, error

    def run(self, rounds, pause=0.06, budget=None):
        """Times everyone once before it counts, then `rounds` times in turn, or as often as the budget allows, three times at
        least. A call returns its own seconds."""
        everyone = self.peers | self.ours
        self.times = {name: [] for name in everyone}
        for call in everyone.values():
            call()
        for done in range(rounds):
            if done >= LEAST_ROUNDS and budget and budget.left() <= 0:
                break
            for name, call in self.peers.items():
                # Threads of the last one may still spin for a while.
                time.sleep(pause)
                self.times[name].append(call())
                for own, own_call in self.ours.items():
                    time.sleep(pause)
                    self.times[own].append(own_call())
        return self

    def rows(self):
        medians = {name: statistics.median(taken) for name, taken in self.times.items()}
        rivals = [peer for peer in self.peers if peer not in self.floors]
        best = min(rivals, key=medians.get)
        first = next(iter(self.ours))
        least_peer = min(min(self.times[peer]) for peer in rivals)
        for name, taken in self.times.items():
            # A peer against the first of ours, each of ours against the best peer.
            over, under = (best, name) if name in self.ours else (name, first)
            least = least_peer if name in self.ours else min(taken)
            ratio = [medians[over] / medians[under], least / min(self.times[under])]
            ratio = [f"{r:.2f}" for r in ratio]
            error = self.errors[name]
            yield [
                self.name,
                str(self.threads or ""),
                name + (" *" if name == best else ""),
                milliseconds(medians[name]),
                milliseconds(min(taken)),
                str(len(taken)),
                *ratio,
                "" if error is None else f"{error:.1e}" if isinstance(error, float) else error,
            ]


def milliseconds(seconds):
    return f"{seconds * 1e3:.3f}" if seconds < 0.01 else f"{seconds * 1e3:.1f}"


HEAD = ["case", "threads", "who (* best peer)", "median ms", "min ms", "runs", "peer / ours", "of minima", "error vs f64"]


def table(contests):
    rows = [HEAD] + [row for contest in contests for row in contest.rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def timed(call, repeats=1):
    """Seconds of one of `repeats` calls in a row."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
