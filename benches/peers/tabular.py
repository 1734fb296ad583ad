"""`bochner fit --auto` with no other option beside boosted trees and xRFM at their defaults, on tables of many kinds.

    python3 -m venv ENV && ENV/bin/pip install -r benches/peers/tabular.txt
    ENV/bin/python benches/peers/tabular.py run RESULTS.jsonl [--data DIR] [--tables a,b] [--contestants a,b] [--splits 3]
                                            [--threads N] [--most SECONDS] [--bochner BINARY] [--quick]
    ENV/bin/python benches/peers/tabular.py page RESULTS.jsonl [-o PAGE.md]

`run` adds a line of JSON for each fit, and leaves out what the file has of this version: a run that was stopped goes on where
it was. A fit that failed is tried again. DIR has NAME/train.npz and NAME/test.npz, each with X and y; without it, and where a
peer is not installed, a line says what is left out. mnist and covtype are measured where --tables names them.

Each fit is a process of its own. Its seconds are those of processors: of ours the whole `bochner fit`, which reads its
table; of peers their `fit` alone, in a process that has imported and read before. Peak memory is that of the process, with an
interpreter and libraries where it has some; `mib_before` is what these had before the fit. Threads that wait are told not to
turn (OMP_WAIT_POLICY=passive), which would count. OPENBLAS_* are unset.
"""

import argparse
import csv
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import binary, clean_environment
from on_tables.results import LONG, OURS, TRUTH, Results, key, mend, read

# The seconds of a processor that a fit may take, unless --most says other.
MOST = 7200
MIB = 1024


# -- in processes of their own ---------------------------------------------------------------------------------------------


def listed():
    """Names of tables, with whether they lie in the folder of data, and versions of peers."""
    from on_tables.contestants import PEERS
    from on_tables.found import FOUND
    from on_tables.made import MADE

    needs_data = {name for name, table in FOUND.items() if not table.load}
    # What takes long comes last.
    order = sorted([*FOUND, *MADE], key=lambda name: name in needs_data)
    return {"tables": {name: name in needs_data for name in order}, "peers": {name: peer.version() for name, peer in PEERS.items()}}


def draw(folder, name, split, quick, data=None):
    from on_tables.draw import write

    return write(name, int(split), Path(folder), data and Path(data), quick == "quick")


def fit(folder, name, threads, split):
    """Fits a peer, and says its errors, the seconds of the fit and the memory before it."""
    import importlib

    import numpy as np

    from on_tables.contestants import PEERS
    from on_tables.draw import read, score

    peer = PEERS[name]
    about, train, y_train, judges, y_judges = read(Path(folder), peer.categories)
    importlib.import_module(peer.module)
    classes, numbers = np.unique(y_train, return_inverse=True) if about["labels"] else (None, y_train)
    learner = peer.make(about, int(threads), int(split))
    before, mib = processor_seconds(), peak()
    learner.fit(train, numbers)
    seconds = processor_seconds() - before
    predicted = np.ravel(learner.predict(judges))
    if about["labels"]:
        predicted = classes[predicted.astype(int)]
    probability = np.asarray(learner.predict_proba(judges))[:, 1] if about["rare"] else None
    return score(about, y_train, y_judges, predicted, probability) | {"seconds": seconds, "mib_before": mib}


def judge(folder):
    """The errors of predictions that `bochner predict` wrote."""
    import pandas as pd

    from on_tables.draw import read, score

    folder = Path(folder)
    about, _, y_train, _, y_judges = read(folder)
    predicted = pd.read_csv(folder / "predicted.csv", dtype=str if about["labels"] else None, keep_default_na=False)
    probability = pd.read_csv(folder / "probabilities.csv")["c1"] if about["rare"] else None
    return score(about, y_train, y_judges, predicted.iloc[:, 0], probability)


INSIDE = {"listed": listed, "draw": draw, "fit": fit, "judge": judge}


def processor_seconds():
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB


# -- the runner, which imports no library: what a child starts from counts in its peak of memory ---------------------------


class Failed(Exception):
    pass


def child(command, environment, most=None):
    """What a command printed last, the seconds of its processors and its peak of memory."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most))) if most else None
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment, preexec_fn=limit)
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            seconds = usage.ru_utime + usage.ru_stime
            if most and seconds >= most - 1:
                raise Failed(f"stopped after {most} s of processors")
            errors.seek(0)
            last = errors.read().strip().split("\n")[-1]
            raise Failed(f"exit status {process.returncode}: {last}"[:300])
    return said.decode(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / MIB


class Runner:
    def __init__(self, options):
        self.options = options
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
        self.environment = clean_environment() | dict.fromkeys(names, str(options.threads))
        self.environment |= {"OMP_WAIT_POLICY": "passive", "BOCHNER_DEVICE": "cpu"}
        self.done = {key(line) for line in read(options.results) if "failed" not in line}
        known = self.inside("listed")[0]
        self.known, versions = known["tables"], known["peers"]
        asked(options.tables, self.known, "table")
        chosen = asked(options.contestants, [OURS, *versions], "contestant")
        self.command = binary(options.bochner)
        said = subprocess.run([self.command, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
        # Two builds of one version are two programs.
        versions = {OURS: f"{said} {hashlib.sha256(self.command.read_bytes()).hexdigest()[:8]}"} | versions
        self.versions = {name: versions[name] for name in chosen if versions[name]}
        for name in chosen:
            if name not in self.versions:
                print(f"left out: {name} is not installed here", flush=True)

    def inside(self, what, *words, most=None):
        """What a function of INSIDE gives in a process of its own, with its seconds and its memory."""
        command = [sys.executable, __file__, what, *map(str, words)]
        said, seconds, mib = child(command, self.environment, most)
        return json.loads(said.split("\n")[-2]), seconds, mib

    def tables(self):
        for name in asked(self.options.tables, self.known, "table"):
            if self.known[name] and not self.options.data:
                print(f"left out: {name}, for want of --data", flush=True)
            elif self.options.tables or name not in LONG:
                yield name

    def ours(self, folder, about):
        """A fit, its predictions, and their errors."""
        model = folder / "model"
        command = [self.command, "fit", folder / "train.csv", "--target", "target", "--auto", "-o", model, "--quiet"]
        command += ["--probabilities"] * about["rare"]
        _, seconds, mib = child(command, self.environment, self.options.most)
        command = [self.command, "predict", model, folder / "judges.csv", "--target", "target", "--quiet"]
        command += ["-o", folder / "predicted.csv"]
        command += ["--probabilities", folder / "probabilities.csv"] if about["rare"] else []
        child(command, self.environment)
        return self.inside("judge", folder)[0] | {"seconds": seconds, "mib": mib}

    def theirs(self, name, folder, split):
        words = (folder, name, self.options.threads, split)
        said, whole, mib = self.inside("fit", *words, most=self.options.most)
        return said | {"mib": mib, "whole_seconds": whole}

    def split(self, table, split):
        """All fits of one split of a table that are not done yet, of which a line is written each."""
        missing = {n: v for n, v in self.versions.items() if (table, split, n, v, self.options.quick) not in self.done}
        if not missing:
            return
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            quick = "quick" if self.options.quick else "whole"
            about = self.inside("draw", folder, table, split, quick, *([self.options.data] if self.options.data else []))[0]
            truth = about.pop("truth", None)
            same = {"table": table, "split": split, "quick": self.options.quick} | about | machine(self.options.threads)
            if truth and (table, split, TRUTH, "", self.options.quick) not in self.done:
                self.write(same | {"contestant": TRUTH, "version": ""} | truth)
            for name, version in missing.items():
                line = same | {"contestant": name, "version": version}
                try:
                    line |= self.ours(folder, about) if name == OURS else self.theirs(name, folder, split)
                except Failed as why:
                    line["failed"] = str(why)
                self.write(line)

    def write(self, line):
        with self.options.results.open("a") as file:
            file.write(json.dumps(line | {"when": time.strftime("%Y-%m-%d"), "load": round(os.getloadavg()[0], 1)}) + "\n")
        found = [f"{name} {line[name]:.4g}" for name in ("error", "seconds", "mib") if name in line]
        what = f"{line['table']} {line['split']} {line['contestant']}"
        print(f"{what}: {line.get('failed') or ', '.join(found)}", flush=True)

    def run(self):
        mend(self.options.results)
        tables = list(self.tables())
        for split in range(self.options.splits):
            for table in tables:
                self.split(table, split)


def asked(words, known, what):
    """Names divided by commas, or all that there are."""
    names = words.split(",") if words else list(known)
    for name in names:
        if name not in known:
            sys.exit(f"no {what} is called {name!r}; there are {', '.join(known)}")
    return names


def machine(threads):
    """What a line says of where it was measured."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        processor = models[0] if models else processor
    except OSError:
        pass
    return {"processor": processor, "cores": cores(), "threads": threads}


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    run = commands.add_parser("run", help="measure what is missing in RESULTS")
    run.add_argument("results", type=Path)
    run.add_argument("--data", type=Path, help="a folder with NAME/train.npz and NAME/test.npz")
    run.add_argument("--tables", help="names, divided by commas [default: all but mnist and covtype]")
    run.add_argument("--contestants", help="names, divided by commas [default: all that are installed]")
    run.add_argument("--splits", type=int, default=3)
    run.add_argument("--threads", type=int, default=cores(), help="of everyone [default: the cores]")
    run.add_argument("--most", type=int, metavar="SECONDS", default=MOST, help="of processors, of a fit [default: %(default)s]")
    run.add_argument("--bochner", help="binary to use instead of building one")
    run.add_argument("--quick", action="store_true", help="a few hundred rows of each: whether all runs, not how well")
    page = commands.add_parser("page", help="write the page of RESULTS")
    page.add_argument("results", type=Path)
    page.add_argument("-o", "--output", type=Path, help="where it goes [default: stdout]")
    return parser.parse_args()


def main():
    if sys.argv[1:] and sys.argv[1] in INSIDE:
        print("\n" + json.dumps(INSIDE[sys.argv[1]](*sys.argv[2:])))
        return
    options = arguments()
    if options.what == "run":
        Runner(options).run()
        return
    from on_tables.page import page

    text = page(Results(read(options.results)))
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
