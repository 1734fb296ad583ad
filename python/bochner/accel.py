"""Scikit-learn's classes computed by this package, in programs that name scikit-learn alone.

``python -m bochner.accel script.py`` runs a script so, and `install` does the same from within.
Instances stay of scikit-learn's classes, and are fitted by scikit-learn; `transform` runs here, on
what the fit learnt. What this package does not cover falls through to scikit-learn.
"""

import argparse
import importlib
import runpy
import sys
import time
from functools import wraps
from weakref import WeakKeyDictionary

import numpy as np
from scipy import fft, sparse
from sklearn.utils._set_output import _wrap_method_output
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._arrays import dense, lengthscale, means, table
from ._chi2 import INTERVALS
from ._scan import checked

__all__ = ["install", "profile", "uninstall"]

#: What each class has learnt, which a map is made of.
_LEARNT = {
    "RBFSampler": ("random_weights_", "random_offset_"),
    "Nystroem": ("components_", "normalization_"),
    "PolynomialCountSketch": ("indexHash_", "bitHash_"),
    "SkewedChi2Sampler": ("random_weights_", "random_offset_"),
    "AdditiveChi2Sampler": (),
}
#: Whose features are of differences of rows.
_CENTRED = ("RBFSampler", "Nystroem")
#: Rows of sketches that are transformed back at a time.
_BACK = 1 << 13
_MODULE = "sklearn.kernel_approximation"
#: Phases of rows farther from where a map is centred than this lose digits in float32.
_FAR = 100.0

_theirs = {}
_calls = {}
_maps = WeakKeyDictionary()


class _NotCovered(Exception):
    """Why scikit-learn does it."""


def _sampler(estimator, center):
    """Features ``sqrt(2 / D) cos(x W + b)`` of rows near ``center``."""
    weights = estimator.random_weights_.astype(np.float64)
    turns = (estimator.random_offset_ + center @ weights) / (2 * np.pi)
    return _native.FeatureMap.from_frequencies(
        "gaussian",
        "phase",
        np.ascontiguousarray(weights.T),
        (turns - np.floor(turns)).tolist(),
        center.tolist(),
        [1.0] * len(center),
    )


def _nystroem(estimator, center):
    """The kernel with the landmarks of the fit, times the root of theirs."""
    kernel = {"rbf": "gaussian", "laplacian": "laplacian"}.get(
        estimator.kernel if isinstance(estimator.kernel, str) else None
    )
    if kernel is None:
        raise _NotCovered(f"kernel={estimator.kernel!r}")
    gamma = 1.0 / len(center) if estimator.gamma is None else estimator.gamma
    if gamma == 0:
        raise _NotCovered("gamma=0")
    return _native.FeatureMap.from_landmarks(
        kernel,
        dense(estimator.components_),
        center.tolist(),
        [1.0 / lengthscale(kernel, gamma)] * len(center),
    )


def _sketch(estimator, center):
    """The transform of the sketch with the hashes of the fit."""
    return _native.FeatureMap.from_hashes(
        estimator.coef0,
        estimator.n_components,
        estimator.indexHash_.astype(np.int64),
        estimator.bitHash_.astype(np.float64),
        [float(estimator.gamma) ** 0.5] * len(center),
    )


def _skewed(estimator, center):
    """Features of logarithms with the frequencies of the fit."""
    weights = estimator.random_weights_.astype(np.float64)
    turns = estimator.random_offset_ / (2 * np.pi)
    return _native.FeatureMap.from_logarithms(
        estimator.skewedness, np.ascontiguousarray(weights.T), turns.tolist()
    )


def _additive(estimator, center):
    """Samples of the spectrum at scikit-learn's distances."""
    steps, interval = estimator.sample_steps, estimator.sample_interval
    interval = INTERVALS[steps] if interval is None else interval
    return _native.FeatureMap.additive_chi2(len(center), steps, interval)


def _back(Z):
    """Sketches from their transforms."""
    components = Z.shape[1]
    real = components // 2 + 1
    root = np.full(real, 0.5**0.5)
    root[0] = 1.0
    if components % 2 == 0:
        root[-1] = 1.0
    for first in range(0, len(Z), _BACK):
        rows = Z[first : first + _BACK]
        turned = (rows[:, :real] * root).astype(np.complex128)
        turned.imag[:, 1 : (components + 1) // 2] = rows[:, real:] * -(0.5**0.5)
        rows[:] = fft.irfft(turned, n=components, axis=1, norm="ortho")


_BUILD = {
    "RBFSampler": _sampler,
    "Nystroem": _nystroem,
    "PolynomialCountSketch": _sketch,
    "SkewedChi2Sampler": _skewed,
    "AdditiveChi2Sampler": _additive,
}


def _dtype(name, estimator, given, rows):
    """The type of scikit-learn's features of these rows."""
    if name == "AdditiveChi2Sampler":
        # Those of integers are cut to integers there.
        if getattr(given, "dtype", rows.dtype) != rows.dtype:
            raise _NotCovered(f"rows of {given.dtype}")
        return rows.dtype
    if name == "PolynomialCountSketch" or (name == "Nystroem" and estimator.kernel == "laplacian"):
        # In float64 there.
        return np.float64
    return np.result_type(rows.dtype, getattr(estimator, _LEARNT[name][0]).dtype)


def _map_of(name, estimator, X):
    """The native map of what an estimator has learnt, drawn again once that is something else."""
    learnt = [getattr(estimator, attribute) for attribute in _LEARNT[name]]
    centred = name in _CENTRED and not sparse.issparse(X)
    center = means(X) if centred else np.zeros(X.shape[1])
    kept = _maps.get(estimator)
    if kept is not None:
        same = all(a is b for a, b in zip(kept[0], learnt)) and kept[1] == estimator.get_params()
        same = same and len(center) == len(kept[2])
        if same and (abs(center - kept[2]) * kept[3] <= _FAR).all():
            return kept[4]
    native = _BUILD[name](estimator, center)
    width = abs(learnt[0]).max(axis=1) if name == "RBFSampler" else np.ones(X.shape[1])
    _maps[estimator] = (learnt, estimator.get_params(), center, width, native)
    return native


def _transform_of(name, theirs):
    """`transform` of a class of scikit-learn, here or there."""

    @wraps(theirs)
    def transform(self, X):
        start = time.perf_counter()
        try:
            check_is_fitted(self)
            rows = checked(self, X)
            if name.endswith("Chi2Sampler") and sparse.issparse(rows):
                raise _NotCovered("sparse rows")
            dtype = _dtype(name, self, X, rows)
            native = _map_of(name, self, rows)
            out = np.empty((rows.shape[0], native.n_components), dtype=dtype)
            native.transform(table(rows), out, "auto")
            if name == "PolynomialCountSketch":
                _back(out)
        except Exception as reason:
            # Errors are scikit-learn's to say.
            start = time.perf_counter()
            try:
                return theirs(self, X)
            finally:
                _note(name, "scikit-learn", start, str(reason).split("\n")[0])
        _note(name, "bochner", start)
        return out

    return transform


def _note(name, where, start, reason=None):
    kept = _calls.setdefault((name, where, reason), [0, 0.0])
    kept[0] += 1
    kept[1] += time.perf_counter() - start


def install(*names):
    """Let this package compute `transform` of scikit-learn's classes from now on.

    Parameters
    ----------
    *names : str
        Of `sklearn.kernel_approximation`; all classes there if none is named.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import accel
    >>> from sklearn.kernel_approximation import RBFSampler
    >>> X = np.random.RandomState(0).normal(size=(50, 3))
    >>> sampler = RBFSampler(random_state=0).fit(X)
    >>> before = sampler.transform(X)
    >>> accel.install()
    >>> bool(abs(sampler.transform(X) - before).max() < 2e-3)
    True
    >>> [(call["class"], call["where"]) for call in accel.profile()]
    [('RBFSampler', 'bochner')]
    >>> accel.uninstall()
    """
    module = importlib.import_module(_MODULE)
    for name in names or _LEARNT:
        if name not in _LEARNT:
            raise ValueError(f"{name!r} is none of {', '.join(_LEARNT)}")
        if name in _theirs:
            continue
        kind = getattr(module, name)
        _theirs[name] = kind.transform
        # Without the wrapper that makes data frames, which goes around the new one.
        own = _transform_of(name, getattr(kind.transform, "__wrapped__", kind.transform))
        kind.transform = _wrap_method_output(own, "transform")


def uninstall():
    """Leave scikit-learn as it was, and forget what was called."""
    module = importlib.import_module(_MODULE)
    for name, transform in _theirs.items():
        getattr(module, name).transform = transform
    _theirs.clear()
    _calls.clear()
    _maps.clear()


def profile():
    """What was called since `install`.

    Returns
    -------
    calls : list of dict
        ``class``, ``where`` (``'bochner'`` or ``'scikit-learn'``), ``reason`` (of scikit-learn),
        ``calls`` and ``seconds``.
    """
    names = ("class", "where", "reason")
    return [
        {**dict(zip(names, key)), "calls": calls, "seconds": seconds}
        for key, (calls, seconds) in _calls.items()
    ]


def _report(file):
    print(f"{'transform of':<22}{'computed by':<14}{'calls':>6}{'seconds':>10}", file=file)
    for call in profile():
        line = "{class:<22}{where:<14}{calls:>6}{seconds:>10.3f}".format(**call)
        print(line + (f"  {call['reason']}" if call["reason"] else ""), file=file)


def _main():
    parser = argparse.ArgumentParser(
        prog="python -m bochner.accel",
        description="Runs a script with sklearn.kernel_approximation computed by bochner.",
    )
    parser.add_argument("--profile", action="store_true", help="print what was called, on stderr")
    parser.add_argument("-m", dest="module", action="store_true", help="script is a module's name")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    install()
    sys.argv = [options.script, *options.arguments]
    try:
        if options.module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(importlib.import_module("pathlib").Path(options.script).parent))
            runpy.run_path(options.script, run_name="__main__")
    finally:
        if options.profile:
            _report(sys.stderr)


if __name__ == "__main__":
    # The module as others import it, not a second one of this name.
    from bochner import accel

    accel._main()
