"""Progress bars for long computations."""

import sys
from contextlib import contextmanager


@contextmanager
def heard(verbose, total=None):
    """Context manager for a callback that shows progress, or None if not ``verbose``.

    Progress is shown by tqdm if that is installed, otherwise in one line on stderr.

    Parameters
    ----------
    verbose : bool or int
        Whether to show progress.

    total : int, default=None
        Number of samples in a pass; None if unknown.
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


#: Steps that are counted in other units than samples, and the format of their value.
_STEPS = {"iteration": "{:.1e} left", "trial": "{:.4f} at best"}


class _Bar:
    """Shows a tqdm bar for each pass."""

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
    """Shows progress in one line that is overwritten."""

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
