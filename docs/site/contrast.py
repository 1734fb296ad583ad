"""Whether text stands out from what it stands on: 4.5 to 1, as WCAG 2.2 asks of level AA (1.4.3)."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LEAST = 4.5
RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
VARIABLE = re.compile(r"var\(\s*--([\w-]+)\s*\)")
# What text of furo stands on, by how its variable begins; the first that fits.
GROUNDS = {
    "color-announcement-": ["color-announcement-background"],
    "color-api-": ["color-background-primary", "color-api-background-hover", "color-highlight-on-target"],
    "color-code-": ["color-code-background"],
    "color-guilabel-": ["color-guilabel-background"],
    "color-highlighted-": ["color-highlighted-background"],
    "color-sidebar-link-": ["color-sidebar-background", "color-background-hover"],
    "color-sidebar-": ["color-sidebar-background"],
    "color-toc-": ["color-toc-background"],
    "color-": ["color-background-primary", "color-background-secondary"],
    "": ["color-background-primary"],
}
# Arrows to the next page are no text.
NO_TEXT = {"color-foreground-border"}
# Of sphinx-design's many classes, what pages have: tabs and cards.
DESIGN = ["tabs-label-active", "tabs-label-hover", "tabs-label-inactive", "card-text"]
Colour = tuple[float, float, float, float]
# Selectors and declarations.
Rules = list[tuple[list[str], dict[str, str]]]


def parsed(colour: str) -> Colour:
    """Red, green, blue and opacity from 0 to 1."""
    colour = {"black": "#000", "white": "#fff", "transparent": "#0000"}.get(colour, colour)
    if re.fullmatch(r"#[0-9a-fA-F]{3,8}", colour):
        digits = colour[1:]
        if len(digits) <= 4:
            digits = "".join(2 * digit for digit in digits)
        channels = [int(digits[i : i + 2], 16) / 255 for i in range(0, len(digits), 2)]
        red, green, blue, opacity = [*channels, 1.0][:4]
        return red, green, blue, opacity
    given = re.fullmatch(r"rgba?\(([^)]*)\)", colour)
    if given is None:
        raise ValueError(f"{colour} is not read as a colour")
    red, green, blue, *rest = [float(part) for part in re.split(r"[\s,/]+", given[1].strip())]
    return red / 255, green / 255, blue / 255, rest[0] if rest else 1.0


def over(colour: Colour, ground: Colour) -> Colour:
    """A colour that lets a ground shine through."""
    red, green, blue = (colour[3] * c + (1 - colour[3]) * g for c, g in zip(colour[:3], ground))
    return red, green, blue, 1.0


def luminance(colour: Colour) -> float:
    """The relative luminance of sRGB, as WCAG 2.2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(text: Colour, ground: Colour) -> float:
    """The contrast ratio, from 1 to 21."""
    light, dark = sorted((luminance(over(text, ground)), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def rules(css: str) -> Rules:
    """Selectors and declarations, those of @media among them."""
    found = []
    for selectors, body in RULE.findall(COMMENT.sub("", css)):
        parts = (part.partition(":") for part in body.split(";"))
        declared = {name.strip(): value.strip() for name, _, value in parts if value}
        found.append(([one.strip().replace('"', "") for one in selectors.split(",")], declared))
    return found


class Theme:
    """Variables of one scheme, and what text is wrong with them."""

    def __init__(self, name: str, variables: dict[str, str], page: str) -> None:
        self.name, self.variables, self.page = name, variables, f"var(--{page})"
        self.wrong: list[str] = []
        self.count = 0

    def value(self, value: str) -> str:
        """What variables come to; one that is nowhere set leaves a text as its parent is."""
        for _ in range(9):
            value = VARIABLE.sub(lambda of: self.variables.get(of[1], "inherit"), value)
        return value.removesuffix("!important").strip()

    def compare(self, text: str, ground: str, words: str = "") -> None:
        """A text and its ground, as values of CSS; a ground may let the page through."""
        front, back, below = (self.value(value) for value in (text, ground, self.page))
        # What a parent decides is told of the parent.
        if front in ("inherit", "currentColor", "none"):
            return
        self.count += 1
        words = f"{self.name}: {words or f'{text} on {ground}'}"
        try:
            found = ratio(parsed(front), over(parsed(back), parsed(below)))
        except ValueError as error:
            self.wrong.append(f"{words}: {error}")
            return
        if found < LEAST:
            self.wrong.append(f"{words}: contrast {found:.2f}, less than {LEAST}")

    def compare_all(self, found: Rules, grounds: dict[str, list[str]]) -> None:
        """Each text that rules colour, on a ground of its own or on those that its variable names."""
        texts = set()
        for selectors, declared in found:
            drawn = any(one.startswith("svg") for one in selectors) and "stroke" not in declared
            own = declared.get("background") or declared.get("background-color") or ""
            own = own if own.startswith(("#", "rgb", "var(")) and "url" not in own else ""
            for text in [declared.get("color", ""), declared.get("fill", "") if drawn else ""]:
                texts |= {(text, own)} if text else set()
        for text, own in sorted(texts):
            name = next(iter(VARIABLE.findall(text)), "")
            if name in NO_TEXT:
                continue
            on = next(those for start, those in grounds.items() if name.startswith(start))
            for ground in [own] if own else [f"var(--{one})" for one in on]:
                self.compare(text, ground)


def check(html: Path) -> list[str]:
    """What is too faint, in a light scheme and in a dark one."""
    themes = of_theme(html)
    for style in sorted((ROOT / "web").glob("*/style.css")):
        themes += of_page(style)
    print(f"{sum(theme.count for theme in themes)} texts on their grounds in {len(themes)} schemes")
    none = [f"{theme.name}: no text was found" for theme in themes if not theme.count]
    return none + [problem for theme in themes for problem in theme.wrong]


def of_theme(html: Path) -> list[Theme]:
    """Text of the site: furo's, with what site.css has otherwise, and code."""
    static = html / "_static"
    names = ["sphinx-design.min.css", "styles/furo.css", "styles/furo-extensions.css"]
    head = "".join(re.findall(r"<style>(.*?)</style>", (html / "index.html").read_text(), re.DOTALL))
    sheets = [(static / name).read_text() for name in names] + [head, (static / "site.css").read_text()]
    all_rules = [rule for sheet in sheets for rule in rules(sheet)]
    themes = []
    variables: dict[str, str] = {}
    for name, roots in [("light", (":root", "body")), ("dark", ("body[data-theme=dark]",))]:
        for selectors, declared in all_rules:
            if any(root in selectors for root in roots):
                variables |= {key[2:]: value for key, value in declared.items() if key.startswith("--")}
        theme = Theme(f"the site, {name}", dict(variables), "color-background-primary")
        texts = [f"var(--sd-color-{part})" for part in DESIGN]
        texts += [declared["color"] for _, declared in rules(sheets[1]) if "color" in declared]
        theme.compare_all([([], {"color": text}) for text in texts] + rules(sheets[-1]), GROUNDS)
        before = "" if name == "light" else "body[data-theme=dark] "
        of_code(theme, before, rules((static / "pygments.css").read_text()))
        themes.append(theme)
    return themes


def of_code(theme: Theme, before: str, found: Rules) -> None:
    """Words of code, by their kinds."""
    for selectors, declared in found:
        for selector in selectors:
            kind = re.fullmatch(re.escape(before) + r"\.highlight \.(\w+)", selector)
            if kind is not None:
                ground = declared.get("background-color", "var(--color-code-background)")
                theme.compare(declared.get("color", "inherit"), ground, f"code .{kind[1]}")


def of_page(style: Path) -> list[Theme]:
    """Text of a page for browsers, whose colours are pairs of `light-dark`."""
    found = rules(style.read_text())
    themes = []
    for k, name in enumerate(["light", "dark"]):
        pairs = (
            (key[2:], re.fullmatch(r"light-dark\((.*),\s*(.*)\)", value))
            for selectors, declared in found
            if ":root" in selectors
            for key, value in declared.items()
        )
        colours = {key: pair[k + 1] for key, pair in pairs if pair is not None}
        theme = Theme(f"{style.parent.name}/{style.name}, {name}", colours, "ground")
        theme.compare_all(found, {"": ["ground", "panel"]})
        themes.append(theme)
    return themes
