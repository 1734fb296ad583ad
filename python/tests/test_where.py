"""Tests that docs/where.md lists all names of each interface, and only existing ones.

The interfaces are Rust, the command line and Python.
"""

import inspect
import os
import re
import subprocess
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import bochner

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["BOCHNER_PROGRAM"]
PAGE = ROOT / "docs" / "where.md"
CLASSES = [
    kind
    for kind in (getattr(bochner, name) for name in bochner.__all__)
    if inspect.isclass(kind) and issubclass(kind, BaseEstimator)
]


def rows():
    """Rows of the tables: topic, and cells for Rust, command line and Python."""
    found = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[1] != "Rust" and not set(cells[0]) <= set("-"):
            found.append((cells[0], cells[1:]))
    return found


def spans(face):
    """Names on the page for an interface (0: Rust, 1: command line, 2: Python)."""
    return {span for _, cells in rows() for span in re.findall(r"`([^`]+)`", cells[face])}


def rust_methods(*folders, builders):
    ends = r"[^{;]*->\s*Self\b" if builders else ""
    pattern = re.compile(r"pub(?: async)? fn (\w+)(?:<[^(]*>)?\(" + ends)
    of_self = re.compile(r"\s*(?:mut )?self\b")
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.rs"):
            text = path.read_text()
            for match in pattern.finditer(text):
                after = text[text.index("(", match.start()) + 1 :]
                if not builders or of_self.match(after):
                    found.add(match[1])
    return found


def commands():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.split("Commands:")[1].split("Options:")[0]
    return set(re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE)) - {"help"}


def options(command):
    text = subprocess.run(
        [PROGRAM, command, "--help"], capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", text, re.MULTILINE)) - {"help"}


def lacking(has, named):
    """Error messages for names that the page lacks."""
    return [f"docs/where.md has no row with {each}" for each in sorted(has - named)]


def test_rust():
    named = {span[1:] for span in spans(0) if re.fullmatch(r"\.\w+", span)}
    assert not lacking(rust_methods("src/door", builders=True), named)
    anywhere = rust_methods("src", "maps/src", builders=False)
    assert not sorted(named - anywhere), "methods that there are not"


def test_command_line():
    named = {option for span in spans(1) for option in re.findall(r"--([a-z0-9-]+)", span)}
    both = options("fit") | options("predict")
    assert not lacking(both, named)
    assert not sorted(named - both), "options that there are not"
    said = {match[1] for span in spans(1) if (match := re.match(r"bochner ([a-z-]+)", span))}
    assert not lacking(commands(), said | {"fit"})
    assert not sorted(said - commands()), "commands that there are not"
    for span in spans(1):
        if found := re.fullmatch(r"bochner ([a-z-]+) --([a-z0-9-]+)", span):
            assert found[2] in options(found[1]), span


def parameters():
    of_classes = {name for kind in CLASSES for name in kind().get_params()}
    return of_classes, set(inspect.signature(bochner.scan).parameters) - {"path"}


def test_python():
    of_classes, of_scan = parameters()
    methods = {name for kind in CLASSES for name in dir(kind) if not name.startswith("_")}
    named_of_scan, named = set(), set()
    for _, cells in rows():
        own, _, scan = cells[2].partition("scan:")
        named |= set(re.findall(r"`([^`]+)`", own))
        named_of_scan |= set(re.findall(r"`(\w+)`", scan))
    assert not lacking(of_classes, named)
    assert not lacking(of_scan, named_of_scan)
    assert not sorted(named_of_scan - of_scan), "parameters of scan that there are not"
    of_methods = {
        name
        for kind in CLASSES
        for way in ("fit", "predict")
        if hasattr(kind, way)
        for name in inspect.signature(getattr(kind, way)).parameters
    }
    for span in named:
        if span.startswith("."):
            assert span[1:] in methods, span
        elif span.endswith("="):
            assert span[:-1] in of_methods, span
        elif re.fullmatch(r"\w+", span) and span not in of_methods and not span.isupper():
            known = span in of_classes or span in bochner.__all__ or span in ELSEWHERE
            assert known, span


#: Names on the page that belong to scikit-learn or to the environment.
ELSEWHERE = {"cross_validate", "train_test_split", "_", "RAYON_NUM_THREADS"}


@pytest.mark.parametrize(("of", "cells"), rows())
def test_what_is_not_there_has_a_reason(of, cells):
    for cell in cells:
        if cell.startswith("no"):
            assert re.match(r"no: .{8,}", cell), (of, cell)
        else:
            assert cell, of


def test_the_page_is_read():
    assert len(rows()) > 60
    wrong = PAGE.read_text().replace("`--calibrate`", "")
    assert wrong != PAGE.read_text()
