"""A GPU's clocks while it works: the vendor's tool is asked several times a second, beside the work."""

import statistics
import subprocess
import threading

TOOL = "nvidia-smi"
FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
UNITS = ("MHz SM", "MHz memory", "W", "C")
MILLISECONDS = 200


class Clocks:
    """Samples from its start on; `summary` tells of those since the last one."""

    def __init__(self, tool=TOOL):
        self.samples, self.lock, self.process = [], threading.Lock(), None
        command = [tool, f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits", f"--loop-ms={MILLISECONDS}"]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError as error:
            print(f"clocks are not sampled: {error}", flush=True)
            return
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            try:
                sample = [float(field) for field in line.split(",")]
            except ValueError:
                # A field that this GPU does not tell.
                continue
            with self.lock:
                self.samples.append(sample)

    def forget(self):
        """What was before is not of the work that follows."""
        with self.lock:
            self.samples.clear()

    def summary(self):
        """One line: median, least and most of each field, or nothing without samples."""
        with self.lock:
            taken, self.samples = self.samples, []
        if not taken:
            return ""
        parts = []
        for unit, values in zip(UNITS, zip(*taken)):
            parts.append(f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f}) {unit}")
        return f"under load, {len(taken)} samples: {', '.join(parts)}"

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
