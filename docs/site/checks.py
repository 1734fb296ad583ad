"""Whether the pages are whole: links, pictures, what they load, how large they are."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Bytes of the whole, and of the first page with all that it loads.
LARGEST, FIRST = 30_000_000, 300_000


class Page(HTMLParser):
    """What a page links to and loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.without_text = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attributes}
        self.anchors |= {of[name] for name in ("id", "name") if name in of}
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        if tag == "link" and of.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(of["href"])
        if tag in ("script", "img", "iframe", "source") and of.get("src"):
            self.loads.append(of["src"])
        if tag == "img" and not of.get("alt"):
            self.without_text += 1


def check(html: Path) -> list[str]:
    """What is wrong with the pages."""
    pages = {path: Page() for path in html.rglob("*.html")}
    for path, page in pages.items():
        page.feed(path.read_text())
    wrong = []
    for path, page in pages.items():
        name, own = path.relative_to(html), "rust-reference" not in path.parts
        if page.without_text and own:
            wrong.append(f"{name}: {page.without_text} pictures without a text")
        for link in page.loads + page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    wrong.append(f"{name} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{name}: {link} is not there")
            elif own and parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    wrong.append(f"{name}: {link} has no such place")
    for style in html.rglob("*.css"):
        for address in re.findall(r"url\(['\"]?(https?:[^)'\"]*)", style.read_text()):
            wrong.append(f"{style.relative_to(html)} loads {address}")
    total = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    index = html / "index.html"
    loads = {(index.parent / urlsplit(load).path).resolve() for load in pages[index].loads}
    first = index.stat().st_size + sum(path.stat().st_size for path in loads if path.exists())
    print(f"{len(pages)} pages, {total / 1e6:.1f} MB; the first view {first / 1e3:.0f} kB")
    if total > LARGEST:
        wrong.append(f"the site has {total} bytes, more than {LARGEST}")
    if first > FIRST:
        wrong.append(f"the first view has {first} bytes, more than {FIRST}")
    return wrong
