"""What long work says of itself."""

import sys
from contextlib import contextmanager


@contextmanager
def heard(verbose, total=None):
    """What the native half calls as work proceeds: a bar of tqdm, else a line on stderr; None if quiet.

    Parameters
    ----------
    verbose : bool or int
        Whether anything is said.

    total : int, default=None
        Rows of a pass, where they are known.
    """
    if not verbose:
        yield None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        progress = _Line(total)
    else:
        progress = _Bar(tqdm, total)
    try:
        yield progress
    finally:
        progress.close()


#: What is counted but rows, and what its number says.
_STEPS = {"iteration": "{:.1e} left", "trial": "{:.4f} at best"}


class _Bar:
    """A bar for each pass."""

    def __init__(self, tqdm, total):
        self._tqdm, self._total, self._what, self._bar = tqdm, total, None, None

    def __call__(self, what, done, left=None):
        steps = what in _STEPS
        if what != self._what or done < self._bar.n:
            self.close()
            total, unit = (None, f" {what}s") if steps else (self._total, " rows")
            self._bar = self._tqdm(total=total, desc=what, unit=unit, file=sys.stderr)
            self._what = what
        self._bar.update(done - self._bar.n)
        if left is not None:
            self._bar.set_postfix_str(_STEPS[what].format(left))

    def close(self):
        if self._bar is not None:
            self._bar.close()


class _Line:
    """One line that is written over."""

    def __init__(self, total):
        self._of = "" if total is None else f" of {total:,}"
        self._said = False

    def __call__(self, what, done, left=None):
        if what in _STEPS:
            text = f"{what} {done}: {_STEPS[what].format(left)}"
        else:
            text = f"{what}: {done:,}{self._of} rows"
        print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)
        self._said = True

    def close(self):
        if self._said:
            print(file=sys.stderr)
