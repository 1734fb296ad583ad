"""Scikit-learn's classes computed by this package, in programs that name scikit-learn alone.

``python -m bochner.accel script.py`` runs a script so, and `install` does the same from within.
Instances stay of scikit-learn's classes. Those of `sklearn.kernel_approximation` are fitted by
scikit-learn; `transform` runs here, on what the fit learnt. KernelRidge and KernelPCA are taken where
they are asked for, and then are approximations: the kernel at some of the rows takes the place of that
at all. What this package does not cover falls through to scikit-learn.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
import time
from functools import wraps
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from scipy import fft, sparse
from sklearn.utils._set_output import _wrap_method_output
from sklearn.utils.validation import check_is_fitted

from . import _accel_machines as machines
from . import _native
from ._accel_machines import NotCovered as _NotCovered
from ._arrays import dense, lengthscale, means, table
from ._chi2 import INTERVALS
from ._memory import empty
from ._rows import checked

if TYPE_CHECKING:
    from typing import Any

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

#: Approximations, by where scikit-learn has them.
_MACHINES = {
    "KernelRidge": ("sklearn.kernel_ridge", ("fit", "predict")),
    "KernelPCA": ("sklearn.decomposition", ("fit", "fit_transform", "transform")),
}
#: Landmarks of approximations unless somebody says otherwise.
_LANDMARKS = 4000

_theirs = {}
_fitted = WeakKeyDictionary()
_calls = {}
_maps = WeakKeyDictionary()


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
        estimator.skewedness, "phase", np.ascontiguousarray(weights.T), turns.tolist()
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
            out = empty(rows.shape[0], native.n_components, dtype)
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


def _machine(name, method, theirs, landmarks):
    """A method of KernelRidge or KernelPCA, here or there."""

    def here(self, X, *arguments, **named):
        if method == "predict":
            return machines.predict_ridge(self, X, _fitted.get(self))
        if method == "transform":
            return machines.transform_components(self, X, _fitted.get(self))
        _fitted.pop(self, None)
        if name == "KernelRidge":
            y, sample_weight = (*arguments, None)[:2] if arguments else (None, None)
            y, sample_weight = named.get("y", y), named.get("sample_weight", sample_weight)
            _fitted[self] = machines.fit_ridge(self, X, y, sample_weight, landmarks)
            return self
        _fitted[self] = machines.fit_components(self, X, landmarks)
        # As there, for rows of the fit.
        return self if method == "fit" else self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    @wraps(theirs)
    def either(self, X, *arguments, **named):
        start = time.perf_counter()
        try:
            result = here(self, X, *arguments, **named)
        except Exception as reason:
            # Errors are scikit-learn's to say.
            start = time.perf_counter()
            try:
                return theirs(self, X, *arguments, **named)
            finally:
                _note(f"{name}.{method}", "scikit-learn", start, str(reason).split("\n")[0])
        _note(f"{name}.{method}", "bochner", start, f"{landmarks} landmarks")
        return result

    return either


def _note(name, where, start, reason=None):
    kept = _calls.setdefault((name, where, reason), [0, 0.0])
    kept[0] += 1
    kept[1] += time.perf_counter() - start


def install(*names: str, n_components: int = _LANDMARKS) -> None:
    """Let this package compute for scikit-learn's classes from now on.

    Parameters
    ----------
    *names : str
        Classes of `sklearn.kernel_approximation`, whose `transform` is computed; all of them if none
        is named. Of ``'KernelRidge'`` and ``'KernelPCA'`` fits and predictions are approximated, with
        the kernels rbf and laplacian, and more rows than landmarks.

    n_components : int, default=4000
        Landmarks of these approximations: rows at which the kernel stands for that at all. Fits take
        n n_components^2 operations and no n^2 numbers, in the place of n^3 and those. With fewer rows
        scikit-learn is exact, and does it.

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
    for name in names or _LEARNT:
        if name not in _LEARNT and name not in _MACHINES:
            raise ValueError(f"{name!r} is none of {', '.join([*_LEARNT, *_MACHINES])}")
        module, methods = _MACHINES.get(name, (_MODULE, ("transform",)))
        kind = getattr(importlib.import_module(module), name)
        if (kind, methods[0]) in _theirs:
            continue
        for method in methods:
            theirs = _theirs[kind, method] = kind.__dict__[method]
            # Without the wrapper that makes data frames, which goes around the new one.
            frames = method in ("transform", "fit_transform")
            plain = getattr(theirs, "__wrapped__", theirs) if frames else theirs
            if name in _LEARNT:
                own = _transform_of(name, plain)
            else:
                own = _machine(name, method, plain, n_components)
            setattr(kind, method, _wrap_method_output(own, "transform") if frames else own)


def uninstall() -> None:
    """Leave scikit-learn as it was, and forget what was called."""
    for (kind, method), theirs in _theirs.items():
        setattr(kind, method, theirs)
    for kept in (_theirs, _calls, _maps, _fitted):
        kept.clear()


def profile() -> list[dict[str, Any]]:
    """What was called since `install`.

    Returns
    -------
    calls : list of dict
        ``class`` (of approximations with the method), ``where`` (``'bochner'`` or
        ``'scikit-learn'``), ``reason`` (why scikit-learn did it, or by how many landmarks it was
        approximated), ``calls`` and ``seconds``.
    """
    names = ("class", "where", "reason")
    return [
        {**dict(zip(names, key)), "calls": calls, "seconds": seconds}
        for key, (calls, seconds) in _calls.items()
    ]


def _report(file):
    print(f"{'what':<24}{'computed by':<14}{'calls':>6}{'seconds':>10}", file=file)
    for call in profile():
        line = "{class:<24}{where:<14}{calls:>6}{seconds:>10.3f}".format(**call)
        print(line + (f"  {call['reason']}" if call["reason"] else ""), file=file)


def _main():
    parser = argparse.ArgumentParser(
        prog="python -m bochner.accel",
        description="Runs a script with sklearn.kernel_approximation computed by bochner.",
    )
    parser.add_argument("--profile", action="store_true", help="print what was called, on stderr")
    parser.add_argument(
        "--also",
        metavar="CLASSES",
        type=lambda text: text.split(","),
        default=[],
        help="KernelRidge, KernelPCA or both with a comma: approximated by some of the rows",
    )
    parser.add_argument(
        "--components", metavar="D", type=int, default=_LANDMARKS, help="landmarks of --also [4000]"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="script is a module's name")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    unknown = [name for name in options.also if name not in _MACHINES]
    if unknown:
        parser.error(f"--also takes {' and '.join(_MACHINES)}, and not {unknown[0]}")
    install()
    if options.also:
        install(*options.also, n_components=options.components)
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
