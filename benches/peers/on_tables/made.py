"""Tables that are made, whose noise is known: of each the mean of its amounts, or the probability of its labels, is kept as
the truth, and what the truth itself gets wrong is the floor of every error."""

from dataclasses import dataclass
from typing import Callable

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

# Effects of levels are those of the table, whatever rows are drawn.
EFFECTS = 20_000
SHOPS, KINDS = 400, 40
# The logarithm of odds of `rare`, intercept and slope: one in a hundred is positive.
RARE_INTERCEPT, RARE_SLOPE = -23.645874, 10.0


@dataclass(frozen=True)
class Made:
    """`draw(random, rows)` gives columns by name and the truth; `noise` is the deviation of amounts about it, None of labels."""

    what: str
    rows: int
    draw: Callable
    noise: float | None
    least_rows: int = 300

    @property
    def labels(self):
        return self.noise is None

    def rows_of(self, random, rows):
        """Columns, truth and targets of so many rows; labels are 0 and 1."""
        columns, truth = self.draw(random, rows)
        if self.labels:
            return columns, truth, (random.random(rows) < truth).astype(int)
        return columns, truth, truth + self.noise * random.standard_normal(rows)


def named(x):
    return {f"x{j}": column for j, column in enumerate(x.T)}


def friedman(make):
    """Friedman (1991) and Breiman (1996), as scikit-learn draws them, before the noise."""

    def draw(random, rows):
        x, truth = make(rows, noise=0.0, random_state=int(random.integers(2**31)))
        return named(x), truth

    return draw


def borehole(random, rows):
    """Flow of water through a borehole in m3 a year (Harper & Gupta 1983), by the laws of Morris, Mitchell & Ylvisaker (1993)."""
    radius = random.normal(0.10, 0.0161812, rows)
    influence = np.exp(random.normal(7.71, 1.0056, rows))
    ranges = [(63070, 115600), (990, 1110), (63.1, 116), (700, 820), (1120, 1680), (9855, 12045)]
    upper, upper_head, lower, lower_head, length, conductivity = (random.uniform(*ends, rows) for ends in ranges)
    reach = np.log(influence / radius)
    leak = 2 * length * upper / (reach * radius**2 * conductivity)
    flow = 2 * np.pi * upper * (upper_head - lower_head) / (reach * (1 + leak + upper / lower))
    return named(np.stack([radius, influence, upper, upper_head, lower, lower_head, length, conductivity], 1)), flow


def jumps(random, rows):
    """Steps, a box and stairs: constant between its jumps. Three of eight columns say nothing."""
    x = random.random((rows, 8))
    truth = 2.0 * (x[:, 0] > 0.3) - 1.0 * (x[:, 1] > 0.6) + 3.0 * ((x[:, 2] < 0.5) & (x[:, 3] > 0.5))
    return named(x), truth + np.floor(4 * x[:, 4])


def noise_columns(random, rows):
    """Five normal columns tell of the target, fifty tell nothing."""
    x = random.standard_normal((rows, 55))
    return named(x), np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * x[:, 3] ** 2 + x[:, 4]


def rare(random, rows):
    """One label in a hundred is positive. The logarithm of its odds is linear in u = (x0 + |x1| sign(x2)) / sqrt(2), which is
    normal; seven more columns tell nothing."""
    x = random.standard_normal((rows, 10))
    u = (x[:, 0] + np.abs(x[:, 1]) * np.sign(x[:, 2])) / np.sqrt(2)
    return named(x), 1 / (1 + np.exp(-RARE_INTERCEPT - RARE_SLOPE * u))


def effects():
    """What a shop adds, and the slope of a kind."""
    random = np.random.default_rng(EFFECTS)
    return random.standard_normal(SHOPS), random.standard_normal(KINDS)


def levels(random, rows):
    """Two columns of texts, of 400 and of 40 levels, beside two of numbers: y = a_shop + b_kind x0 + sin(3 x1)."""
    shop, kind = random.integers(SHOPS, size=rows), random.integers(KINDS, size=rows)
    x = np.stack([random.standard_normal(rows), random.uniform(-1, 1, rows)], 1)
    shift, slope = effects()
    texts = {"shop": np.char.add("shop ", shop.astype(str)), "kind": np.char.add("kind ", kind.astype(str))}
    return named(x) | texts, shift[shop] + slope[kind] * x[:, 0] + np.sin(3 * x[:, 1])


MADE = {
    "friedman-1": Made("Friedman's first, 5 of 10 columns say nothing", 2000, friedman(make_friedman1), 1.0),
    "friedman-2": Made("Friedman's second, impedance of a circuit", 2000, friedman(make_friedman2), 125.0),
    "friedman-3": Made("Friedman's third, phase of a circuit", 2000, friedman(make_friedman3), 0.1),
    "borehole": Made("a smooth formula of physics, 8 columns", 2000, borehole, 2.0),
    "jumps": Made("constant between jumps", 2000, jumps, 0.3),
    "noise-columns": Made("50 of 55 columns say nothing", 2000, noise_columns, 0.5),
    "rare": Made("1 % of labels are positive", 10_000, rare, None, least_rows=3000),
    "levels": Made("texts of 400 and of 40 levels", 8000, levels, 0.5),
}
