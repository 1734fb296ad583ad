"""The page that lines of JSON become. What it says of figures it takes from them."""

import math
import statistics

from on_tables.found import FOUND
from on_tables.made import MADE
from on_tables.results import OURS, TRUTH, ranks

COMMAND = "python benches/peers/tabular.py"
# What is given beside defaults, of a table with texts.
TEXTS = """* Texts: `bochner` reads them from the .csv; XGBoost has `enable_categorical=True`; LightGBM and HistGradientBoosting get pandas
  categories, or `TargetEncoder` where scikit-learn refuses more than 255 levels; CatBoost has `cat_features`; xRFM gets indicator
  columns and `categorical_info`. Levels without training rows are missing values to the first three, all zeros to xRFM.
"""
HOW = """`benches/peers/tabular.py` makes this page from `docs/results/tabular.jsonl`, one line per fit.

* Ours is `bochner fit train.csv --target target --auto` without other options, with `--probabilities` on `rare` for its log loss (a
  second fit, included in the seconds).
* Peers have their defaults, including early stopping (HistGradientBoosting above 10,000 rows; xRFM by a fifth of the rows). Columns and
  targets of xRFM are standardised, as its documentation recommends.
* Errors are the share of wrong labels, or the root mean square error over the deviation of the training targets, averaged over splits.
  The floor is the error of the true function on tables with generated noise. Errors within a thousandth share a rank; a failed fit
  ranks last.
* Splits: generated tables are drawn again, with 10,000 test rows; scikit-learn's are split 80 to 20; cpu, letter and adult have their
  own split first, then random ones of the same sizes.
* Each fit is a process. Seconds are processor seconds: of ours the whole process including reading, of peers their `fit` alone. Memory
  is the peak of the process; the last line of its table is the least before a fit.
"""


def page(results):
    if not results.lines:
        return "# Tables\n\nNothing was measured.\n"
    quick = "**A quick run, on a few hundred rows: these are no results.**\n\n" if results.lines[0]["quick"] else ""
    parts = [
        f"# Automatic choices beside boosted trees\n\n{quick}{summary(results)}",
        f"## Where we lose\n\n{losses(results)}",
        f"## Errors\n\n{errors(results)}",
        f"## Heads against heads\n\n{heads(results)}",
        f"## One positive in a hundred\n\n{rare(results)}" if "rare" in results.tables else "",
        f"## Seconds of processors\n\n{seconds(results)}",
        f"## Peak memory, MiB\n\n{memory(results)}",
        f"## How it is measured\n\n{HOW}{TEXTS}{conditions(results)}\n{commands()}",
    ]
    return "\n".join(part for part in parts if part)


def grid(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def digits(value, figures=3):
    """A number to so many significant digits, without an exponent."""
    if value is None:
        return "not measured"
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"
    return f"{value:.{max(0, figures - 1 - math.floor(math.log10(abs(value))))}f}"


def counted(number, one):
    return f"{number} {one}{'' if number == 1 else 's'}"


def splits_of(results):
    counts = sorted({results.splits(table) for table in results.tables})
    return counted(counts[0], "split") if len(counts) == 1 else f"{counts[0]} to {counted(counts[-1], 'split')}"


def summary(results):
    """The first lines: what was measured, mean ranks, and who wins how often."""
    ranks, ranked = results.mean_ranks(), results.ranked()
    order = sorted(ranks, key=ranks.get)
    first = {name: sum(results.ranks(table)[name] < 2 for table in ranked) for name in results.contestants}
    text = f"{counted(len(results.tables), 'table')}, {splits_of(results)} of each"
    text += f"; ranks are of the {len(ranked)} that all were tried on." if len(ranked) < len(results.tables) else "."
    text += " One split says little where errors are close.\n" if min(map(results.splits, results.tables)) == 1 else "\n"
    rows = [[name, f"{ranks[name]:.2f}", str(first[name])] for name in order]
    return text + "\n" + grid(["", "mean rank", "first, or level with it"], rows)


def losses(results):
    """Every table on which another has a smaller error by more than a thousandth, the worst first."""
    rows = []
    for table in results.tables:
        found = {name: results.judged(table, name) for name in results.contestants}
        found = {name: error for name, error in found.items() if error is not None}
        if OURS not in found:
            continue
        own, best = found[OURS], min(found, key=found.get)
        better = sum(ranks([own, error])[0] == 2 for error in found.values())
        if better:
            ratio = own / found[best] if found[best] else math.inf
            own = digits(own) if math.isfinite(own) else "the fit failed"
            times = digits(ratio) if math.isfinite(ratio) else ""
            rows.append((ratio, [table, own, f"{best}, {digits(found[best])}", times, str(better)]))
    rows = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    text = f"On {len(rows)} of {len(results.tables)} tables another has a smaller error.\n"
    text += "\n" + grid(["table", "ours", "the best", "ours over it", "peers before us"], rows) if rows else ""
    longer = "; ".join(f"{name} on {more(results, name)}" for name in results.contestants if name != OURS)
    return f"{text}\nWe take more seconds of processors than {longer}.\n"


def more(results, name):
    """On how many tables we take more seconds than another, of those that both have fitted."""
    pairs = [(results.mean(table, OURS, "seconds"), results.mean(table, name, "seconds")) for table in results.tables]
    longer = [own > their for own, their in pairs if own and their]
    return f"{sum(longer)} of {len(longer)}"


def cells(values, show):
    """One cell each, the least of them bold."""
    found = [value for value in values if value is not None]
    least = min(found) if found else None
    return [f"**{show(value)}**" if value is not None and value == least else show(value) for value in values]


def errors(results):
    rows = []
    for table in results.tables:
        about = results.about[table]
        floor = results.mean(table, TRUTH)
        what = f"{table}: {about['what']}"
        kind = "wrong labels" if about["labels"] else "RMSE"
        size = f"{about['rows']:,} x {about['columns']}"
        row = [what, size, f"{about['judges']:,}", kind, digits(floor) if floor is not None else ""]
        found = cells(list(results.means(table).values()), digits)
        rows.append(row + ["failed" if results.failed(table, n) else cell for n, cell in zip(results.contestants, found)])
    ranks = results.mean_ranks()
    rows.append(["mean rank", "", "", "", "", *cells([ranks.get(name) for name in results.contestants], lambda r: f"{r:.2f}")])
    text = grid(["table", "rows x columns", "judges", "error", "floor", *results.contestants], rows)
    failures = [f"* {table}, split {split}: {name} gave nothing: {why}\n" for table, split, name, why in results.failures()]
    return "\n".join([text, "".join(failures)] if failures else [text])


def heads(results):
    rows = [[name, *map(str, results.against(name))] for name in results.contestants if name != OURS]
    return "Tables on which our error is less, level within a thousandth, or more.\n\n" + grid(
        ["against", "less", "level", "more"], rows
    )


def rare(results):
    names = [TRUTH, *results.contestants]
    kinds = [("error", "wrong labels"), ("average_precision", "average precision"), ("log_loss", "log loss")]
    rows = [[name, *(digits(results.mean("rare", name, kind)) for kind, _ in kinds)] for name in names]
    text = "Predicting no positives has 0.01 wrong labels, so look at probabilities. A higher average precision is better.\n\n"
    return text + grid(["", *(title for _, title in kinds)], rows)


def seconds(results):
    rows = [[table, *cells(list(results.means(table, "seconds").values()), digits)] for table in results.tables]
    rows.append(["ours over theirs, median", *(over(results, name) for name in results.contestants)])
    return grid(["table", *results.contestants], rows)


def over(results, name):
    """The median over tables of our seconds over those of another."""
    pairs = [(results.mean(table, OURS, "seconds"), results.mean(table, name, "seconds")) for table in results.tables]
    ratios = [own / their for own, their in pairs if own and their]
    return digits(statistics.median(ratios), 2) if ratios and name != OURS else ""


def memory(results):
    def show(value):
        return "not measured" if value is None else f"{value:.0f}"

    rows = [[table, *cells(list(results.means(table, "mib").values()), show)] for table in results.tables]
    before = {name: [] for name in results.contestants}
    for line in results.lines:
        before.get(line["contestant"], []).append(line.get("mib_before"))
    before = [[mib for mib in found if mib is not None] for found in before.values()]
    rows.append(["before the fit, least", *(show(min(found)) if found else "" for found in before)])
    return grid(["table", *results.contestants], rows)


def conditions(results):
    """Versions, machines and days, as lines have them."""
    versions = {line["contestant"]: line["version"] for line in results.lines}
    versions = ", ".join(f"{name} {versions[name]}" for name in results.contestants)
    machines = sorted({(line["processor"], line["cores"], line["threads"]) for line in results.lines})
    said = [f"{name}, {counted(cores, 'core')}, {counted(threads, 'thread')} of each" for name, cores, threads in machines]
    days = sorted({line["when"] for line in results.lines})
    days = " to ".join(dict.fromkeys([days[0], days[-1]]))
    loads = [line["load"] for line in results.lines]
    text = f"* Versions: {versions}; ours ends with the beginning of the program's SHA-256.\n"
    text += f"* Machine: {'; '.join(said)}; its load was {min(loads)} to {max(loads)}. {days}.\n"
    absent = [name for name in (*FOUND, *MADE) if name not in results.tables]
    return text + (f"* Not measured: {', '.join(absent)}.\n" if absent else "")


def commands():
    results, page = "docs/results/tabular.jsonl", "docs/results/tabular.md"
    lines = ["pip install -r benches/peers/tabular.txt"]
    lines += [f"{COMMAND} run {results} --data DIR --bochner target/release/bochner", f"{COMMAND} page {results} -o {page}"]
    return "\n".join(["```sh", *lines, "```", ""])
