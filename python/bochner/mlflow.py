"""MLflow flavour that stores models in this library's file format, without pickle.

Examples
--------
::

    import bochner.mlflow
    import mlflow

    with mlflow.start_run():
        known = bochner.mlflow.log_model(model, name="prices")
    bochner.mlflow.load_model(known.model_uri)  # the estimator
    mlflow.pyfunc.load_model(known.model_uri)  # what MLflow serves
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import mlflow
from mlflow.models import Model
from sklearn.utils.validation import check_is_fitted

import bochner

if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

#: Name of the flavour in ``MLmodel``.
FLAVOR_NAME = "bochner"
_MODEL = "bochner.model"
_ENVIRONMENT = "conda.yaml"
_REQUIREMENTS = "requirements.txt"


def save_model(
    estimator: Any,
    path: str | PathLike[str],
    *,
    mlflow_model: Model | None = None,
    signature: Any = None,
    metadata: dict[str, Any] | None = None,
    pip_requirements: list[str] | None = None,
    pyfunc_predict_fn: str = "predict",
) -> None:
    """Save a fitted estimator as an MLflow model.

    Parameters
    ----------
    estimator : object
        Fitted estimator of this package with a `save` method. (Transformers have none;
        ``mlflow.sklearn`` pickles them.)

    path : str or path
        Folder to create.

    mlflow_model : mlflow.models.Model, default=None
        Model to which this flavour is added; None for a new one.

    signature : mlflow.models.ModelSignature, default=None
        Signature, for example from ``mlflow.models.infer_signature``.

    metadata : dict, default=None
        Additional metadata of the model.

    pip_requirements : list of str, default=None
        Requirements for predictions; None for this version of the package.

    pyfunc_predict_fn : str, default='predict'
        Method that MLflow serves, such as ``'predict_proba'``.
    """
    check_is_fitted(estimator)
    if not callable(getattr(estimator, pyfunc_predict_fn, None)):
        raise ValueError(f"{type(estimator).__name__} has no method {pyfunc_predict_fn!r}")
    if not hasattr(estimator, "save") or not hasattr(bochner, type(estimator).__name__):
        raise TypeError(
            f"{type(estimator).__name__} is no learner of bochner that has a file; use mlflow.sklearn"
        )
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=False)
    estimator.save(folder / _MODEL)
    needed = pip_requirements or [f"bochner=={bochner.__version__}"]
    (folder / _REQUIREMENTS).write_text("".join(f"{line}\n" for line in ["mlflow", *needed]))
    (folder / _ENVIRONMENT).write_text(_environment(["mlflow", *needed]))

    model = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        model.signature = signature
    if metadata is not None:
        model.metadata = metadata
    model.add_flavor(
        FLAVOR_NAME,
        bochner_version=bochner.__version__,
        data=_MODEL,
        estimator=type(estimator).__name__,
        parameters=json.dumps(_plain(estimator.get_params(deep=False))),
        predict_fn=pyfunc_predict_fn,
    )
    mlflow.pyfunc.add_to_model(
        model, loader_module="bochner.mlflow", data=_MODEL, conda_env=_ENVIRONMENT
    )
    model.save(str(folder / "MLmodel"))


def log_model(estimator: Any, name: str | None = None, **options: Any) -> Any:
    """Log a model to the active MLflow run, or to a new one.

    Parameters
    ----------
    estimator : object
        Fitted estimator, as in `save_model`.

    name : str, default=None
        Name of the model in the run.

    **options
        Options of `save_model` and ``mlflow.models.Model.log``, such as ``registered_model_name``.

    Returns
    -------
    known : mlflow.models.model.ModelInfo
    """
    return Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], estimator=estimator, **options
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Load a saved or logged estimator.

    Parameters
    ----------
    model_uri : str
        Folder, or URI of MLflow such as ``models:/prices/1``.

    dst_path : str, default=None
        Folder for downloads; None for a temporary one.

    Returns
    -------
    estimator : object
        Fitted estimator of the saved class. Parameters that are strings, numbers or None are
        restored, others have their defaults.
    """
    folder = mlflow.artifacts.download_artifacts(artifact_uri=model_uri, dst_path=dst_path)
    return _load(Path(folder))[0]


def _load(folder):
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(f"{folder} holds a model of {', '.join(flavors)}, not of {FLAVOR_NAME}")
    own = flavors[FLAVOR_NAME]
    learner = getattr(bochner, own["estimator"])
    estimator = learner.load(folder / own["data"], **json.loads(own["parameters"]))
    return estimator, own["predict_fn"]


def _load_pyfunc(path):
    # MLflow passes the path of the model file inside the folder.
    return _Served(*_load(Path(path).parent))


class _Served:
    """Wrapper with the interface that MLflow's pyfunc calls for predictions."""

    def __init__(self, estimator, method):
        self.estimator, self.method = estimator, method

    def get_raw_model(self):
        return self.estimator

    def predict(self, model_input, params=None):
        return getattr(self.estimator, self.method)(model_input)


def _plain(parameters):
    """Parameters that JSON can store."""
    kinds = (type(None), bool, int, float, str)
    return {name: value for name, value in parameters.items() if isinstance(value, kinds)}


def _environment(needed):
    python = ".".join(map(str, sys.version_info[:3]))
    lines = ["name: bochner", "channels:", "- conda-forge", "dependencies:"]
    lines += [f"- python={python}", "- pip", "- pip:", *(f"  - {line}" for line in needed)]
    return "\n".join(lines) + "\n"
