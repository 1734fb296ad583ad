"""Lines of JSON, one a fit, and what becomes of them: means over splits, ranks, heads against heads. Needs no peer."""

import json
import math

# The name that lines of ours have.
OURS = "bochner"
# What the truth itself gets wrong, of tables that are made.
TRUTH = "truth"
# Tables that take long, and are measured where they are asked for by name.
LONG = ("mnist", "covtype")


def read(path):
    """The lines of a file, or none where there is no file. A last line without its end was cut, and does not count."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [json.loads(line) for line in lines[:-1] if line]


def mend(path):
    """Takes off a last line that was cut, so that what is added begins a line."""
    if path.exists():
        text = path.read_text()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole)


def key(line):
    return tuple(line[name] for name in ("table", "split", "contestant", "version", "quick"))


def newest(lines):
    """Lines of the version of each contestant that was measured last; of two with one key the later."""
    version = {line["contestant"]: line["version"] for line in lines}
    kept = {key(line): line for line in lines if line["version"] == version[line["contestant"]]}
    return list(kept.values())


def ranks(errors):
    """Ranks from 1. Errors within a thousandth of each other share theirs, as do those that are infinite."""

    def near(a, b):
        return a == b or abs(a - b) <= 1e-3 * min(a, b)

    before = [sum(e < own and not near(e, own) for e in errors) for own in errors]
    beside = [sum(near(e, own) for e in errors) for own in errors]
    return [b + (n + 1) / 2 for b, n in zip(before, beside)]


def whole(lines):
    """Lines of those splits of a table that all contestants have a line of which have one of the table: a run that was
    stopped in the middle of a split has not measured it. Quick lines are results of nothing, and alone they are kept."""
    if not all(line["quick"] for line in lines):
        lines = [line for line in lines if not line["quick"]]
    of_table, of_split = {}, {}
    for line in lines:
        if line["contestant"] != TRUTH:
            of_table.setdefault(line["table"], set()).add(line["contestant"])
            of_split.setdefault((line["table"], line["split"]), set()).add(line["contestant"])
    return [line for line in lines if of_split.get((line["table"], line["split"])) == of_table.get(line["table"], ())]


class Results:
    """Means over splits of what lines have. Tables are in the order of their first lines, contestants likewise, ours first."""

    def __init__(self, lines):
        self.lines = lines = whole(newest(lines))
        self.about = {line["table"]: line for line in lines}
        self.tables = list(self.about)
        names = list(dict.fromkeys(line["contestant"] for line in lines if line["contestant"] != TRUTH))
        self.contestants = sorted(names, key=lambda name: name != OURS)

    def of(self, table, contestant):
        return [line for line in self.lines if (line["table"], line["contestant"]) == (table, contestant)]

    def splits(self, table):
        return len({line["split"] for line in self.lines if line["table"] == table})

    def failures(self):
        """(table, split, contestant, why) of fits that gave nothing."""
        failed = [line for line in self.lines if "failed" in line]
        return [(line["table"], line["split"], line["contestant"], line["failed"]) for line in failed]

    def mean(self, table, contestant, name="error"):
        """None unless every split of the table has it."""
        found = [line[name] for line in self.of(table, contestant) if name in line]
        return sum(found) / len(found) if found and len(found) == self.splits(table) else None

    def means(self, table, name="error"):
        return {contestant: self.mean(table, contestant, name) for contestant in self.contestants}

    def failed(self, table, contestant):
        return any("failed" in line for line in self.of(table, contestant))

    def judged(self, table, contestant):
        """The mean error, that of a fit that failed without bound; None where there was no fit."""
        return math.inf if self.failed(table, contestant) else self.mean(table, contestant)

    def ranked(self):
        """Tables that all contestants were tried on."""
        return [table for table in self.tables if None not in (self.judged(table, name) for name in self.contestants)]

    def ranks(self, table):
        return dict(zip(self.contestants, ranks([self.judged(table, name) for name in self.contestants])))

    def mean_ranks(self):
        of_tables = [self.ranks(table) for table in self.ranked()]
        return {name: sum(own[name] for own in of_tables) / len(of_tables) for name in self.contestants if of_tables}

    def against(self, other):
        """On how many tables ours is better, level (within a thousandth) and worse."""
        counts = [0, 0, 0]
        for table in self.tables:
            own, their = self.judged(table, OURS), self.judged(table, other)
            if own is not None and their is not None:
                counts[int(2 * ranks([own, their])[0]) - 2] += 1
        return tuple(counts)
