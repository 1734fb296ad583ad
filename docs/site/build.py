"""Builds the site: pages of docs/, how-to pages and a gallery that are run, and references.

`cargo xtask site` calls it with what it has built. Everything that is shown as output was printed
while the site was built.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import checks
import contrast
import spelling

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROJECT = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "RELEASING.md", "SECURITY.md"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^( *)```(python|sh) run\n(.*?)^\1```\n", re.DOTALL | re.MULTILINE)
# Of rustdoc's pages, what tells nothing: traits that every type has, and links to sources.
OF_EVERY_TYPE = [
    re.compile(r'<h2 id="synthetic-implementations".*?(?=</section></div></main>)', re.DOTALL),
    re.compile(r'<h3><a href="#(?:synthetic|blanket)-implementations">.*?</ul>', re.DOTALL),
    re.compile(r'<a class="src[^"]*" href="[^"]*">Source</a>'),
]
LINES = 24


class Site:
    """A site in the making."""

    def __init__(self, program: Path, examples: Path, rust: Path, web: Path, out: Path) -> None:
        self.program, self.examples, self.rust, self.web, self.out = program, examples, rust, web, out
        self.source, self.html = out / "source", out / "html"
        self.work = out / "work"
        for folder in (self.source, self.html, self.work):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        (self.work / "data").symlink_to(ROOT / "data")

    # What is shown is run.

    def run(self, command: list[str]) -> str:
        """What a command printed; errors as it does."""
        environment = os.environ | {"PATH": f"{self.program.parent}:{os.environ['PATH']}"}
        environment |= {"BOCHNER_DEVICE": "cpu", "COLUMNS": "100"}
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, timeout=600
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)[:300]}\nfailed:\n{done.stdout}{done.stderr}")
        lines = done.stdout.rstrip().splitlines()
        if len(lines) > LINES:
            lines = lines[:LINES] + [f"... {len(lines) - LINES} lines more"]
        return "\n".join(lines).replace(str(ROOT), "bochner")

    def python(self, code: str, picture: Path | None = None) -> str:
        show = f"plt.show = lambda: plt.savefig({str(picture)!r}, dpi=110, bbox_inches='tight')\n"
        start = "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n" + show
        return self.run([sys.executable, "-c", (start if picture else "") + code])

    def shell(self, code: str) -> str:
        return self.run(["bash", "-e", "-c", code])

    def run_fences(self, text: str) -> str:
        """Blocks that are to be run, each with what it printed."""

        def with_output(block: re.Match[str]) -> str:
            indent, language, code = block.groups()
            plain = re.sub(f"^{indent}", "", code, flags=re.MULTILINE)
            printed = self.python(plain) if language == "python" else self.shell(plain)
            shown = f"{indent}```{language}\n{code}{indent}```\n"
            if printed:
                printed = "".join(f"{indent}{line}\n" for line in printed.splitlines())
                shown += f"\n{indent}```text\n{printed}{indent}```\n"
            return shown

        return FENCE.sub(with_output, text)

    # Pages.

    def write(self, path: str, text: str) -> None:
        to = self.source / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)

    def place(self, file: Path) -> str | None:
        """Where a file of the repository is on the site, if it is there."""
        name = file.relative_to(ROOT).as_posix()
        if name.startswith("docs/site/"):
            return name.removeprefix("docs/site/")
        if name in ("docs", "docs/results"):
            return {"docs": "guide/index.md", "docs/results": "guide/results/README.md"}[name]
        if name.startswith("docs/"):
            return "guide/" + name.removeprefix("docs/")
        if name in PROJECT:
            return "project/" + name
        if name.startswith("examples/") and name.endswith(".rs"):
            return f"rust/{file.stem}.md"
        return None

    def relink(self, file: Path, text: str) -> str:
        """Links between files as links between pages; those to sources become plain words."""
        here = Path(self.place(file) or "").parent

        def moved(link: re.Match[str]) -> str:
            image, words, path, anchor = link.groups()
            target = (file.parent / unquote(path)).resolve()
            place = self.place(target) if target.is_relative_to(ROOT) else None
            if place is None or not target.exists():
                return words
            to = os.path.relpath(place, here) + (anchor or "")
            if target.suffix == ".html":
                return f'<a href="{to}">{words}</a>'
            return f"{image}[{words}]({to})"

        return LINK.sub(moved, text)

    def guide(self) -> None:
        pages = sorted(p for p in (ROOT / "docs").rglob("*") if p.is_file() and HERE not in p.parents)
        names = []
        for page in pages:
            place = self.place(page)
            assert place is not None
            if page.suffix == ".md":
                self.write(place, self.relink(page, page.read_text()))
                names.append(place.removeprefix("guide/"))
            elif page.suffix in (".svg", ".png"):
                (self.source / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(page, self.source / place)
            elif page.suffix == ".html":
                (self.html / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(page, self.html / place)
        first = ["guide.md", "data.md", "maps.md", "kernels.md", "learners.md", "python.md"]
        top = first + [name for name in names if "/" not in name and name not in first]
        rest = [name for name in names if "/" in name]
        self.write("guide/index.md", toctree("Guide", top) + toctree("", rest, hidden=True))
        for name in PROJECT:
            self.write(f"project/{name}", self.relink(ROOT / name, (ROOT / name).read_text()))
        self.write("project/index.md", toctree("Project", PROJECT))

    def how_to(self) -> None:
        for page in [HERE / "index.md", *sorted((HERE / "how-to").glob("*.md"))]:
            text = self.run_fences(self.relink(page, page.read_text()))
            self.write(page.relative_to(HERE).as_posix(), text)

    def gallery(self) -> None:
        cards, names = [], []
        for page in sorted((HERE / "gallery").glob("*.md")):
            name, text = page.stem, page.read_text()
            facts = dict(re.findall(r"^(picture|rust): (.*)$", text, re.MULTILINE))
            text = re.sub(r"^(picture|rust): .*\n", "", text, flags=re.MULTILINE).strip()
            (self.source / "gallery").mkdir(exist_ok=True)
            picture = self.source / "gallery" / f"{name}.png"
            python = page.with_suffix(".py").read_text()
            tabs = [tab("Python", "python", python, self.python(python, picture))]
            if page.with_suffix(".sh").exists():
                shell = page.with_suffix(".sh").read_text()
                tabs.append(tab("Command line", "sh", shell, self.shell(shell)))
            rust = (ROOT / "examples" / f"{facts['rust']}.rs").read_text()
            tabs.append(tab("Rust", "rust", rust, self.run([str(self.examples / facts["rust"])])))
            image = f"```{{image}} {name}.png\n:alt: {facts['picture']}\n```\n"
            self.write(
                f"gallery/{name}.md",
                f"{text}\n\n{image}\n::::{{tab-set}}\n" + "\n".join(tabs) + "::::\n",
            )
            title = re.match(r"# (.*)", text)
            assert title is not None
            cards.append(
                f":::{{grid-item-card}} {title[1]}\n:link: {name}\n:link-type: doc\n"
                f":img-bottom: {name}.png\n:img-alt: {facts['picture']}\n:::\n"
            )
            names.append(name)
        grid = "::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n\n"
        note = "Every example was run when this site was built; what stands below code is what it printed.\n\n"
        self.write("gallery/index.md", f"# Gallery\n\n{note}{grid}" + toctree("", names, hidden=True))

    def examples_of_rust(self) -> None:
        names = []
        for example in sorted((ROOT / "examples").glob("*.rs")):
            code = example.read_text()
            self.write(f"rust/{example.stem}.md", f"# {example.name}\n\n```rust\n{code}```\n")
            names.append(f"/rust/{example.stem}")
        self.write("rust/index.md", toctree("Examples in Rust", names))

    def references(self) -> None:
        import bochner

        names = sorted(name for name in bochner.__all__ if not name.startswith("_"))
        for name in names:
            kind = "autoclass" if isinstance(getattr(bochner, name), type) else "autofunction"
            body = f".. {kind}:: bochner.{name}\n"
            if kind == "autoclass":
                body += "   :members:\n   :inherited-members: dict\n"
            self.write(f"api/python/{name}.md", f"# {name}\n\n```{{eval-rst}}\n{body}```\n")
        modules = ["river", "polars"]
        for name in modules:
            body = f".. automodule:: bochner.{name}\n   :members:\n"
            self.write(f"api/python/{name}.md", f"# bochner.{name}\n\n```{{eval-rst}}\n{body}```\n")
        self.write("api/python/index.md", toctree("Python", names + modules))
        rust = (
            "# Reference\n\nEvery public item says what it computes, its shapes and errors, and its source.\n\n"
            '* Rust: <a href="../rust-reference/bochner/index.html">the crate bochner</a>, and <a '
            'href="../rust-reference/bochner_maps/index.html">bochner-maps</a>, the maps it stands on\n'
            "* [Python](python/index.md)\n* [Maps](../guide/maps.md) and [learners](../guide/learners.md), "
            "by the names of the command line\n\n"
        )
        pages = ["python/index", "/rust/index"]
        self.write("api/index.md", rust + toctree("", pages, hidden=True))

    def build(self) -> None:
        shutil.copy(HERE / "conf.py", self.source)
        shutil.copytree(HERE / "_static", self.source / "_static")
        self.guide()
        self.how_to()
        self.gallery()
        self.examples_of_rust()
        self.references()
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-j", "2"]
        done = subprocess.run([*command, str(self.source), str(self.html)])
        if done.returncode:
            sys.exit("the site has warnings")
        shutil.rmtree(self.html / ".doctrees", ignore_errors=True)
        self.rust_reference()
        for name in ("bochner", "demo", "playground"):
            shutil.copytree(self.web / name, self.html / name)

    def rust_reference(self) -> None:
        """rustdoc's pages, without what every type has and without the sources."""
        to = self.html / "rust-reference"
        for part in ("bochner", "bochner_maps", "search.index", "static.files", "trait.impl", "type.impl"):
            if (self.rust / part).exists():
                shutil.copytree(self.rust / part, to / part)
        for file in self.rust.glob("*.*"):
            if file.is_file():
                shutil.copy(file, to)
        # Pages of help lead to an index, and to lists of implementations where there are none.
        leads = '<meta http-equiv="refresh" content="0; url=bochner/index.html">\n'
        (to / "index.html").write_text(leads)
        loaded = set()
        for page in to.rglob("*.html"):
            text = page.read_text()
            for script in re.findall(r'src="([^"]*(?:trait|type)\.impl/[^"]*\.js)"', text):
                loaded.add((page.parent / script).resolve())
            for pattern in OF_EVERY_TYPE:
                text = pattern.sub("", text)
            page.write_text(text)
        # Lists of who implements what: some are not there, and most are of traits without a page.
        for script in loaded:
            script.parent.mkdir(parents=True, exist_ok=True)
            script.touch()
        for folder in ("trait.impl", "type.impl"):
            for script in (to / folder).rglob("*.js"):
                if script.resolve() not in loaded:
                    script.unlink()
        # What every Result has, and the letters of Korean.
        for script in (to / "type.impl" / "core").rglob("*.js"):
            script.write_text("")
        for font in (to / "static.files").glob("NanumBarunGothic*"):
            font.unlink()


def toctree(title: str, names: list[str], *, hidden: bool = False) -> str:
    head = f"# {title}\n\n" if title else "\n"
    options = ":hidden:\n" if hidden else ":maxdepth: 1\n"
    pages = "\n".join(name.removesuffix(".md") for name in names)
    return f"{head}```{{toctree}}\n{options}\n{pages}\n```\n"


def tab(title: str, language: str, code: str, printed: str) -> str:
    output = f"\n```text\n{printed}\n```\n" if printed else ""
    return (
        f":::{{tab-item}} {title}\n:sync: {language}\n\n"
        f"```{language}\n{code.rstrip()}\n```\n{output}:::\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    names = ("program", "examples", "rust", "web", "out")
    for name in names:
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    site = Site(*(given.__dict__[name].resolve() for name in names))
    site.build()
    wrong = checks.check(site.html) + contrast.check(site.html) + spelling.check(site.out)
    for problem in wrong:
        print(problem, file=sys.stderr)
    if wrong:
        sys.exit(f"{len(wrong)} problems")


if __name__ == "__main__":
    main()
