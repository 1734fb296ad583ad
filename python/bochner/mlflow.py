"""Models in MLflow, as the file that the command line and the library read, without a pickle.

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

#: The flavour's name in ``MLmodel``.
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
    """Write a folder that MLflow takes for a model.

    Parameters
    ----------
    estimator : object
        A learner of this package, fitted. (Transformers have no file; ``mlflow.sklearn`` pickles
        them.)

    path : str or path
        The folder, which is not there yet.

    mlflow_model : mlflow.models.Model, default=None
        What is known of the model already, to which this flavour is added.

    signature : mlflow.models.ModelSignature, default=None
        Of ``mlflow.models.infer_signature``.

    metadata : dict, default=None
        What else is to be said of it.

    pip_requirements : list of str, default=None
        What it needs to predict; None for this version of the package.

    pyfunc_predict_fn : str, default='predict'
        The method that MLflow serves, such as ``'predict_proba'``.
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
    """Save a model as one of the run that is on, or of a new one.

    Parameters
    ----------
    estimator : object
        As that of `save_model`.

    name : str, default=None
        Its name in the run.

    **options
        Of `save_model`, and of ``mlflow.models.Model.log``, such as ``registered_model_name``.

    Returns
    -------
    known : mlflow.models.model.ModelInfo
    """
    return Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], estimator=estimator, **options
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """The estimator that was saved or logged, fitted.

    Parameters
    ----------
    model_uri : str
        Where it is: a folder, or an address of MLflow's such as ``models:/prices/1``.

    dst_path : str, default=None
        A folder to copy to; None for a temporary one.

    Returns
    -------
    estimator : object
        Of the class that was saved, with the parameters that are words, numbers or None.
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
    # MLflow names the file, which lies in the model's folder.
    return _Served(*_load(Path(path).parent))


class _Served:
    """What MLflow calls for predictions."""

    def __init__(self, estimator, method):
        self.estimator, self.method = estimator, method

    def get_raw_model(self):
        return self.estimator

    def predict(self, model_input, params=None):
        return getattr(self.estimator, self.method)(model_input)


def _plain(parameters):
    """Those that JSON has words for."""
    kinds = (type(None), bool, int, float, str)
    return {name: value for name, value in parameters.items() if isinstance(value, kinds)}


def _environment(needed):
    python = ".".join(map(str, sys.version_info[:3]))
    lines = ["name: bochner", "channels:", "- conda-forge", "dependencies:"]
    lines += [f"- python={python}", "- pip", "- pip:", *(f"  - {line}" for line in needed)]
    return "\n".join(lines) + "\n"
