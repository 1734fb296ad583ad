"""Plots as SVG text: axes, lines, bands and dots, without a dependency."""

import math
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

# Okabe and Ito's colours, which people who tell few colours apart can tell apart.
STYLE = """
text{font:13px system-ui,sans-serif;fill:#444}
.title{font-weight:600;font-size:15px;fill:#111}
.grid{stroke:#ddd;fill:none}
.frame{stroke:#999;fill:none}
.ours{stroke:#0b6bcb;stroke-width:2.5;fill:none}
.dot{fill:#0b6bcb}
.other{stroke:#c2410c;stroke-width:1.8;stroke-dasharray:6 4;fill:none}
.third{stroke:#009e73;stroke-width:2;stroke-dasharray:2 3;fill:none}
.dot-other{fill:#c2410c}
.dot-third{fill:#009e73}
.dot-grey{fill:#555}
.dot-0{fill:#0072b2;fill-opacity:.65}
.dot-1{fill:#d55e00;fill-opacity:.65}
.dot-2{fill:#009e73;fill-opacity:.65}
.dot-3{fill:#cc79a7;fill-opacity:.65}
.band{fill:#0b6bcb;fill-opacity:.16;stroke:none}
text.ours{stroke:none;fill:#0b6bcb;font-weight:600}
text.other{stroke:none;fill:#c2410c}
text.third{stroke:none;fill:#007a59}
"""


class Panel:
    """One plot. `scale` says of x and y whether each is "log" or "linear"."""

    def __init__(self, left, x_range, y_range, scale=("log", "log")):
        self.box = (left, 64, 330, 200)
        self.ranges = (x_range, y_range)
        self.forms = [math.log if kind == "log" else float for kind in scale]
        self.parts = []

    def share(self, axis, value):
        form, (low, high) = self.forms[axis], self.ranges[axis]
        return (form(value) - form(low)) / (form(high) - form(low))

    def at(self, x, y):
        left, top, width, height = self.box
        return left + width * self.share(0, x), top + height * (1 - self.share(1, y))

    def text(self, x, y, words, extra=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{words}</text>')

    def axes(self, title, below, x_ticks, y_ticks):
        left, top, width, height = self.box
        self.text(left - 44, top - 26, title, 'class="title"')
        self.text(left + width / 2, top + height + 40, below, 'text-anchor="middle"')
        for value, label in y_ticks:
            y = self.at(self.ranges[0][0], value)[1]
            self.parts.append(f'<path class="grid" d="M{left} {y:.1f}h{width}"/>')
            self.text(left - 8, y + 4, label, 'text-anchor="end"')
        for value, label in x_ticks:
            x = self.at(value, self.ranges[1][0])[0]
            self.parts.append(f'<path class="grid" d="M{x:.1f} {top + height}v5"/>')
            self.text(x, top + height + 19, label, 'text-anchor="middle"')

    def frame(self, title, below):
        """A box without figures, for places that have no unit."""
        left, top, width, height = self.box
        self.text(left - 44, top - 26, title, 'class="title"')
        self.text(left + width / 2, top + height + 22, below, 'text-anchor="middle"')
        self.parts.append(
            f'<rect class="frame" x="{left}" y="{top}" width="{width}" height="{height}"/>'
        )

    def path(self, points):
        return "L".join(f"{x:.1f} {y:.1f}" for x, y in (self.at(*point) for point in points))

    def line(self, points, kind, dots=False):
        self.parts.append(f'<path class="{kind}" d="M{self.path(points)}"/>')
        if dots:
            self.dots(points, {"ours": "dot"}.get(kind, f"dot-{kind}"), 3.5)

    def band(self, lower, upper):
        """What lies between two lines of (x, y)."""
        edge = self.path(list(lower) + list(reversed(upper)))
        self.parts.append(f'<path class="band" d="M{edge}Z"/>')

    def dots(self, points, kind, radius=2.5):
        dot = '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>'
        self.parts.extend(dot.format(kind, *self.at(*point), radius) for point in points)

    def label(self, x, y, words, kind, extra=""):
        self.text(*self.at(x, y), words, f'class="{kind}" {extra}')


def save(name, panels, words):
    """Writes docs/NAME, panels side by side; `words` say what is seen to those who cannot see."""
    body = "\n".join(part for panel in panels for part in panel.parts)
    (DOCS / name).write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 850 330" role="img" '
        f'aria-label="{words}"><style>{STYLE}</style><rect width="850" height="330" rx="10" '
        f'fill="#fff"/>\n{body}\n</svg>\n'
    )
