"""Acceleration of scikit-learn's own classes, without changes to programs that import them.

``python -m bochner.accel script.py`` runs a script with patched classes, and `install` patches them
in a running program. Objects remain instances of scikit-learn's classes. Classes of
`sklearn.kernel_approximation` are fitted by scikit-learn; this package computes `transform` from
the fitted attributes. KernelRidge and KernelPCA are only patched on request, and then approximated
with landmarks. Cases that this package does not cover are passed to scikit-learn's code.
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

#: Fitted attributes of each class that define the native map.
_LEARNT = {
    "RBFSampler": ("random_weights_", "random_offset_"),
    "Nystroem": ("components_", "normalization_"),
    "PolynomialCountSketch": ("indexHash_", "bitHash_"),
    "SkewedChi2Sampler": ("random_weights_", "random_offset_"),
    "AdditiveChi2Sampler": (),
}
#: Classes with shift-invariant kernels, for which samples can be centred.
_CENTRED = ("RBFSampler", "Nystroem")
#: Number of sketched samples per inverse Fourier transform.
_BACK = 1 << 13
_MODULE = "sklearn.kernel_approximation"
#: Maximum phase, in radians, by which the mean of samples may differ from the centre of a map;
#: larger phases lose digits in float32, and the map is built again.
_FAR = 100.0

#: Classes that are approximated: module in scikit-learn, and patched methods.
_MACHINES = {
    "KernelRidge": ("sklearn.kernel_ridge", ("fit", "predict")),
    "KernelPCA": ("sklearn.decomposition", ("fit", "fit_transform", "transform")),
}
#: Default number of landmarks of approximations.
_LANDMARKS = 4000

_theirs = {}
_fitted = WeakKeyDictionary()
_calls = {}
_maps = WeakKeyDictionary()


def _sampler(estimator, center):
    """Map ``sqrt(2 / D) cos(x W + b)``, for samples near ``center``."""
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
    """Map to kernel values at the landmarks, times the inverse root of their kernel matrix."""
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
    """Map to the Fourier transform of the sketch with the fitted hashes."""
    return _native.FeatureMap.from_hashes(
        estimator.coef0,
        estimator.n_components,
        estimator.indexHash_.astype(np.int64),
        estimator.bitHash_.astype(np.float64),
        [float(estimator.gamma) ** 0.5] * len(center),
    )


def _skewed(estimator, center):
    """Map to skewed chi-squared features with the fitted frequencies."""
    weights = estimator.random_weights_.astype(np.float64)
    turns = estimator.random_offset_ / (2 * np.pi)
    return _native.FeatureMap.from_logarithms(
        estimator.skewedness, "phase", np.ascontiguousarray(weights.T), turns.tolist()
    )


def _additive(estimator, center):
    """Map to additive chi-squared features with scikit-learn's sample interval."""
    steps, interval = estimator.sample_steps, estimator.sample_interval
    interval = INTERVALS[steps] if interval is None else interval
    return _native.FeatureMap.additive_chi2(len(center), steps, interval)


def _back(Z):
    """Overwrite Fourier transforms of sketches with the sketches."""
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
    """The dtype that scikit-learn's `transform` returns for these samples."""
    if name == "AdditiveChi2Sampler":
        # scikit-learn truncates features of integer samples to integers.
        if getattr(given, "dtype", rows.dtype) != rows.dtype:
            raise _NotCovered(f"rows of {given.dtype}")
        return rows.dtype
    if name == "PolynomialCountSketch" or (name == "Nystroem" and estimator.kernel == "laplacian"):
        # scikit-learn returns float64 here.
        return np.float64
    return np.result_type(rows.dtype, getattr(estimator, _LEARNT[name][0]).dtype)


def _map_of(name, estimator, X):
    """The cached native map of an estimator, rebuilt if its attributes or parameters changed."""
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
    """A `transform` method that tries this package first and falls back to scikit-learn's."""

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
            # Let scikit-learn raise its own error.
            start = time.perf_counter()
            try:
                return theirs(self, X)
            finally:
                _note(name, "scikit-learn", start, str(reason).split("\n")[0])
        _note(name, "bochner", start)
        return out

    return transform


def _machine(name, method, theirs, landmarks):
    """A method of KernelRidge or KernelPCA that tries this package first."""

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
        # `fit_transform` of scikit-learn returns the scaled eigenvectors.
        return self if method == "fit" else self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    @wraps(theirs)
    def either(self, X, *arguments, **named):
        start = time.perf_counter()
        try:
            result = here(self, X, *arguments, **named)
        except Exception as reason:
            # Let scikit-learn raise its own error.
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
    """Patch scikit-learn's classes to use this package.

    Parameters
    ----------
    *names : str
        Classes of `sklearn.kernel_approximation`, whose `transform` is patched; all of them if none
        is named. Also ``'KernelRidge'`` and ``'KernelPCA'``, whose fits and predictions are
        approximated with the kernels rbf and laplacian if there are more samples than landmarks.

    n_components : int, default=4000
        Number of landmarks of these approximations. A fit to n samples takes n n_components^2
        operations without an n x n matrix, instead of n^3 operations with one. scikit-learn's exact
        code runs with fewer samples.

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
            # Unwrap scikit-learn's `set_output` wrapper; the new method is wrapped again below.
            frames = method in ("transform", "fit_transform")
            plain = getattr(theirs, "__wrapped__", theirs) if frames else theirs
            if name in _LEARNT:
                own = _transform_of(name, plain)
            else:
                own = _machine(name, method, plain, n_components)
            setattr(kind, method, _wrap_method_output(own, "transform") if frames else own)


def uninstall() -> None:
    """Restore scikit-learn's classes, and clear the profile."""
    for (kind, method), theirs in _theirs.items():
        setattr(kind, method, theirs)
    for kept in (_theirs, _calls, _maps, _fitted):
        kept.clear()


def profile() -> list[dict[str, Any]]:
    """Calls of patched methods since `install`.

    Returns
    -------
    calls : list of dict
        ``class`` (with the method, for approximations), ``where`` (``'bochner'`` or
        ``'scikit-learn'``), ``reason`` (why scikit-learn ran, or the number of landmarks),
        ``calls`` and ``seconds``.
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
    # Run the imported module: `__main__` is a second copy with separate state.
    from bochner import accel

    accel._main()
