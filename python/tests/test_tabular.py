"""Tests of the parts of benches/peers/tabular.py that need no other package.

These are generated tables, ranks, and lines of results.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches" / "peers"))

pytest.importorskip("pandas")

from on_tables import draw, results  # noqa: E402
from on_tables.contestants import PEERS as CONTESTANTS  # noqa: E402
from on_tables.contestants import Contestant  # noqa: E402
from on_tables.found import FOUND, split_of  # noqa: E402
from on_tables.made import MADE, RARE_INTERCEPT, RARE_SLOPE, effects  # noqa: E402
from on_tables.page import page  # noqa: E402

# Errors and their ranks; errors within 0.1 % share the mean rank.
RANKS = [
    ([3.0, 1.0, 2.0], [3, 1, 2]),
    ([1.0, 1.0005, 2.0], [1.5, 1.5, 3]),
    ([1.0, 1.002, 2.0], [1, 2, 3]),
    ([0.0, 0.1, 0.0, 0.0], [2, 4, 2, 2]),
    ([np.inf, 1.0, np.inf, 2.0], [3.5, 1, 3.5, 2]),
]


@pytest.mark.parametrize("errors, expected", RANKS)
def test_ties_share_ranks(errors, expected):
    assert results.ranks(errors) == expected


def nodes(count, low, high):
    """Gauss-Legendre points and weights for the mean over an interval."""
    x, w = np.polynomial.legendre.leggauss(count)
    return low + (high - low) * (x + 1) / 2, w / 2


def variance(function, *ranges, count=32):
    """Variance of a function of uniform columns, by quadrature."""
    points, weights = zip(*(nodes(count, *ends) for ends in ranges))
    values = function(*np.meshgrid(*points, indexing="ij"))
    share = np.ones(())
    for w in weights:
        share = np.multiply.outer(share, w)
    return (values**2 * share).sum() - (values * share).sum() ** 2


def reactance(c, w, p):
    return w * c - 1 / (w * p)


CIRCUIT = [(0, 100), (40 * np.pi, 560 * np.pi), (0, 1), (1, 11)]


def borehole():
    """Variance of the borehole function by independent draws and an independent formula."""
    random = np.random.default_rng(12)
    n = 400_000
    rw, r = 0.1 + 0.0161812 * random.standard_normal(n), random.lognormal(7.71, 1.0056, n)
    tu, hu, tl = (a + (b - a) * random.random(n) for a, b in ((63070, 115600), (990, 1110), (63.1, 116)))
    hl, length, kw = (a + (b - a) * random.random(n) for a, b in ((700, 820), (1120, 1680), (9855, 12045)))
    turns = np.log(r) - np.log(rw)
    return (2 * np.pi * tu * (hu - hl) / (turns + 2 * length * tu / (rw**2 * kw) + turns * tu / tl)).var()


def levels():
    shift, slope = effects()
    # The mean square of sin(3 x) for uniform x in [-1, 1] is 1/2 - sin(6) / 12.
    return shift.var() + np.mean(slope**2) + 0.5 - np.sin(6) / 12


VARIANCES = {
    "friedman-1": lambda: variance(lambda a, b, c: 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2, *[(0, 1)] * 3)
    + (10**2 + 5**2) / 12,
    "friedman-2": lambda: variance(lambda a, b, c, d: np.hypot(a, reactance(c, b, d)), *CIRCUIT),
    "friedman-3": lambda: variance(lambda a, b, c, d: np.arctan(reactance(c, b, d) / a), *CIRCUIT, count=48),
    "borehole": borehole,
    # Two steps of variance p (1 - p), a box with probability 1/4, and stairs with four levels.
    "jumps": lambda: 4 * 0.21 + 0.24 + 9 * 3 / 16 + 15 / 12,
    "noise-columns": lambda: (1 - np.exp(-8)) / 2 + 1 + 0.5 + 1,
    "levels": levels,
}


def test_every_table_of_amounts_has_a_variance():
    assert set(VARIANCES) == {name for name, made in MADE.items() if not made.labels}


@pytest.mark.parametrize("name", VARIANCES)
def test_the_floor_of_amounts_is_that_of_their_noise(name):
    made = MADE[name]
    _, truth, y = made.rows_of(np.random.default_rng(5), 200_000)
    expected = VARIANCES[name]()
    assert truth.var() == pytest.approx(expected, rel=0.01)
    floor = draw.score({"labels": False, "rare": False}, y, y, truth)["error"]
    assert floor == pytest.approx(made.noise / np.sqrt(expected + made.noise**2), rel=0.01)


def test_one_label_in_a_hundred_is_positive_and_the_best_rule_errs_as_it_must():
    u = np.linspace(-9, 9, 20_001)
    density = np.exp(-(u**2) / 2)
    density /= density.sum()
    p = 1 / (1 + np.exp(-RARE_INTERCEPT - RARE_SLOPE * u))
    assert (p * density).sum() == pytest.approx(0.01, rel=1e-4)
    columns, truth, y = MADE["rare"].rows_of(np.random.default_rng(6), 1_000_000)
    assert len(columns) == 10
    assert y.mean() == pytest.approx(0.01, rel=0.03)
    least = np.minimum(p, 1 - p) @ density
    assert least == pytest.approx(0.00358, rel=0.01)
    assert np.mean(y != (truth > 0.5)) == pytest.approx(least, rel=0.05)


def test_a_split_is_the_same_for_all_and_another_is_another(tmp_path):
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
    about = draw.write("levels", 0, tmp_path / "a", quick=True)
    assert (about["rows"], about["judges"], about["columns"]) == (300, 300, 4)
    assert about["texts"] == ["shop", "kind"]
    draw.write("levels", 0, tmp_path / "b", quick=True)
    assert (tmp_path / "a" / "train.csv").read_text() == (tmp_path / "b" / "train.csv").read_text()
    draw.write("levels", 1, tmp_path / "b", quick=True)
    assert (tmp_path / "a" / "train.csv").read_text() != (tmp_path / "b" / "train.csv").read_text()
    _, train, y, judges, _ = draw.read(tmp_path / "a")
    _, texts, _, all_texts, _ = draw.read(tmp_path / "a", categories=False)
    # Both files have the same bits. A level that does not occur in training rows is missing.
    lines = (tmp_path / "a" / "train.csv").read_text().splitlines()
    assert lines[0] == "x0,x1,shop,kind,target" and len(lines) == 301
    cells = [text.split(",") for text in lines[1:]]
    assert [float(row[0]) for row in cells] == list(train["x0"])
    assert [float(row[4]) for row in cells] == list(y)
    assert [row[2] for row in cells] == list(train["shop"])
    assert set(all_texts["shop"]) - set(texts["shop"])
    unknown = ~all_texts["shop"].isin(set(texts["shop"]))
    assert np.array_equal(judges["shop"].isna(), unknown) and not train["shop"].isna().any()


def test_tables_of_scikit_learn_are_parted_alike_in_each_class():
    x, y, judges, labels = split_of("wine", 0, None)
    assert (len(y), len(labels), x.shape[1], len(judges)) == (142, 36, 13, 36)
    assert np.abs(np.bincount(y) / 142 - np.bincount(labels) / 36).max() < 0.02
    assert not np.array_equal(x, split_of("wine", 1, None)[0])
    assert set(results.LONG) <= {name for name, found in FOUND.items() if not found.load}


def test_tables_of_a_folder_keep_their_own_split_first(tmp_path):
    (tmp_path / "cpu").mkdir()
    for part, rows in (("train", np.arange(6)), ("test", np.arange(6, 8))):
        np.savez(tmp_path / "cpu" / f"{part}.npz", X=rows[:, None], y=10 * rows)
    x, y, judges, targets = split_of("cpu", 0, tmp_path)
    assert list(x[:, 0]) == list(range(6)) and list(targets) == [60, 70]
    x, y, judges, targets = split_of("cpu", 1, tmp_path)
    assert len(y) == 6 and sorted([*x[:, 0], *judges[:, 0]]) == list(range(8))
    assert np.array_equal(y, 10 * x[:, 0]) and list(x[:, 0]) != list(range(6))


def test_a_peer_that_is_not_there_has_no_version():
    assert CONTESTANTS["HistGradientBoosting"].version()
    assert Contestant(("bochner-no-such-package",), "", None).version() is None


def line(table, split, contestant, error, version="1", **more):
    about = {"what": "some", "labels": False, "rows": 9, "judges": 9, "columns": 2, "when": "2026-01-01"}
    about |= {"processor": "one", "cores": 2, "threads": 2, "quick": False, "load": 0.5, "seconds": 1.0, "mib": 10.0}
    return about | {"table": table, "split": split, "contestant": contestant, "version": version, "error": error} | more


LINES = [
    line("a", 0, "Trees", 4.0, version="0"),
    line("a", 0, "bochner", 1.0),
    line("a", 0, "Trees", 2.0),
    line("a", 1, "bochner", 3.0),
    line("a", 1, "Trees", 2.0),
    # The run was stopped here, before the trees.
    line("a", 2, "bochner", 99.0),
    line("b", 0, "bochner", 6.0, seconds=3.0),
    line("b", 0, "Trees", 2.0),
    line("c", 0, "bochner", 1.0),
    {name: value for name, value in line("c", 0, "Trees", 0, failed="no memory").items() if name != "error"},
    line("c", 1, "bochner", 1.0),
    line("c", 1, "Trees", 0.5),
    line("d", 0, "bochner", 3.0),
    line("d", 0, "Trees", 2.0),
]


FAILED = [line("f", 0, "bochner", 0, failed="no memory")]
FAILED[0].pop("error")


def test_results_are_means_of_whole_splits_of_the_newest_version():
    found = results.Results(LINES)
    assert found.contestants == ["bochner", "Trees"]
    assert found.means("a") == {"bochner": 2.0, "Trees": 2.0}
    assert (found.splits("a"), found.splits("b")) == (2, 1)
    # A contestant that failed on a split has no mean.
    assert found.means("c") == {"bochner": 1.0, "Trees": None}
    assert found.ranked() == ["a", "b", "c", "d"]
    # A failed fit has the last rank.
    assert found.mean_ranks() == {"bochner": 6.5 / 4, "Trees": 5.5 / 4}
    assert found.against("Trees") == (1, 1, 2)
    ours = results.Results([line("f", 0, "Trees", 1.0), *FAILED])
    assert ours.mean_ranks() == {"bochner": 2, "Trees": 1} and ours.against("Trees") == (0, 0, 1)
    assert "| f | the fit failed | Trees, 1.00 |  | 1 |" in page(ours)
    untried = results.Results([*LINES, line("f", 0, "Trees", 1.0)])
    assert "f" in untried.tables and "f" not in untried.ranked()
    assert found.failures() == [("c", 0, "Trees", "no memory")]
    assert results.Results(LINES + [line("e", 0, "bochner", 1.0, quick=True)]).tables == ["a", "b", "c", "d"]


def test_the_page_says_where_we_lose_and_what_failed():
    text = page(results.Results(LINES))
    assert "4 tables, 1 to 2 splits of each." in text
    assert "On 2 of 4 tables another has a smaller error." in text
    assert "| b | 6.00 | Trees, 2.00 | 3.00 | 1 |\n| d | 3.00 | Trees, 2.00 | 1.50 | 1 |" in text
    assert "* c, split 0: Trees gave nothing: no memory" in text
    assert "| mean rank |  |  |  |  | 1.62 | **1.38** |" in text


def test_the_page_is_what_its_lines_say():
    folder = ROOT / "docs" / "results"
    found = results.Results(results.read(folder / "tabular.jsonl"))
    assert (folder / "tabular.md").read_text() == page(found)


def test_a_line_that_was_cut_does_not_count(tmp_path):
    path = tmp_path / "lines.jsonl"
    assert results.read(path) == []
    whole = json.dumps(LINES[0]) + "\n"
    path.write_text(whole + whole[:20])
    assert results.read(path) == [LINES[0]]
    results.mend(path)
    assert path.read_text() == whole
