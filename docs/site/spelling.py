"""Whether the words of pages are spelt as British English has them: by typos, of what is not code."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What pages are made of: files of words, comments that are documentation, docstrings.
SOURCES = ["*.md", "docs/**/*.md", "src/**/*.rs", "maps/src/**/*.rs", "python/bochner/*.py"]
CODE = [
    re.compile(r"^ *(`{3,}|~~~).*?^ *\1", re.DOTALL | re.MULTILINE),
    re.compile(r"(`+)[^`]+?\1"),
    # Addresses, options, lines of a session.
    re.compile(r"\]\([^)]*\)|https?:\S+|(?<!\w)--?[a-z][\w-]*"),
    re.compile(r"^ *(>>>|\.\.\.) .*$", re.MULTILINE),
]


def blank(found: re.Match[str]) -> str:
    """As many lines, of nothing."""
    return re.sub(r"[^\n]", " ", found[0])


@cache
def parameters() -> set[str]:
    """Names of the package's parameters, of which its docstrings speak as of words."""
    trees = (ast.parse(file.read_text()) for file in (ROOT / "python/bochner").glob("*.py"))
    return {node.arg for tree in trees for node in ast.walk(tree) if isinstance(node, ast.arg)}


def docstrings(code: str) -> str:
    """The lines of docstrings, without names of parameters and of attributes."""
    lines, kept = code.splitlines(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            kept |= set(range(node.body[0].lineno - 1, node.body[0].end_lineno or 0))
    text = "\n".join(line if k in kept else "" for k, line in enumerate(lines))
    text = re.sub(r"^ *[\w, *]+ : .*$|\"\w+\"", blank, text, flags=re.MULTILINE)
    return re.sub(r"\w+", lambda word: blank(word) if word[0] in parameters() else word[0], text)


def prose(file: Path) -> str:
    """The words of a file, on their lines."""
    text = file.read_text()
    if file.suffix == ".rs":
        lines = (re.match(r" *//[/!] ?(.*)", line) for line in text.splitlines())
        text = "\n".join(line[1] if line else "" for line in lines)
    if file.suffix == ".py":
        text = docstrings(text)
    for code in CODE:
        text = code.sub(blank, text)
    return text


def check(out: Path) -> list[str]:
    """Words that typos does not know, of a copy in a folder of their own."""
    folder = out / "words"
    shutil.rmtree(folder, ignore_errors=True)
    files = {file for source in SOURCES for file in ROOT.glob(source)}
    for file in files:
        to = folder / file.relative_to(ROOT).with_suffix(file.suffix + ".txt")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(prose(file))
    print(f"words of {len(files)} files")
    typos = shutil.which("typos", path=str(Path(sys.executable).parent))
    if typos is None:
        return ["there is no typos beside this Python"]
    options = ["--config", str(HERE / "typos.toml"), "--format", "brief", "--no-ignore", "."]
    done = subprocess.run([typos, *options], cwd=folder, capture_output=True, text=True)
    # It ends with 2 where it found something.
    if done.returncode not in (0, 2) or done.stderr:
        return [f"typos failed: {done.stderr}"]
    return [line.removeprefix("./").replace(".txt:", ":", 1) for line in done.stdout.splitlines()]
