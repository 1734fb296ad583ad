"""Boosted trees and kernel machines at their defaults. Each is made of what a table is (`about`), the number of threads and
a seed, and has `fit(frame, y)`, `predict(frame)` and `predict_proba(frame)`; y is amounts, or 0, 1 and so on."""

from dataclasses import dataclass
from importlib import metadata
from typing import Callable

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

# HistGradientBoosting takes no column of more levels than that for categories.
MOST_LEVELS = 255
# Share of the rows that xRFM is given to choose by, as its documents have it.
VALIDATION = 0.2


def xgboost(about, threads, seed):
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBClassifier if about["labels"] else XGBRegressor
    return kind(n_jobs=threads, random_state=seed, enable_categorical=bool(about["texts"]))


def lightgbm(about, threads, seed):
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if about["labels"] else LGBMRegressor
    return kind(n_jobs=threads, random_state=seed, verbosity=-1)


def histogram(about, threads, seed):
    """Its threads are those of OpenMP."""
    kind = HistGradientBoostingClassifier if about["labels"] else HistGradientBoostingRegressor
    return ManyLevels(kind(random_state=seed), seed) if about["texts"] else kind(random_state=seed)


class ManyLevels:
    """A learner behind scikit-learn's TargetEncoder of those columns that have more levels than it takes."""

    def __init__(self, learner, seed):
        self.learner, self.seed = learner, seed

    def fit(self, frame, y):
        texts = frame.select_dtypes("category")
        many = [column for column in texts if len(texts[column].cat.categories) > MOST_LEVELS]
        encoder = (TargetEncoder(random_state=self.seed), many)
        columns = make_column_transformer(encoder, remainder="passthrough").set_output(transform="pandas")
        self.pipeline = make_pipeline(columns, self.learner).fit(frame, y)
        self.predict = self.pipeline.predict
        self.predict_proba = getattr(self.pipeline, "predict_proba", None)
        return self


def catboost(about, threads, seed):
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if about["labels"] else CatBoostRegressor
    quiet = {"verbose": False, "allow_writing_files": False}
    return kind(thread_count=threads, random_seed=seed, cat_features=about["texts"], **quiet)


class Xrfm:
    """xRFM, prepared as its documents say: numbers standardised but for columns of 0 and 1, categories as columns of 0 and
    1, a fifth of the rows to choose by. Targets are standardised, which its documents leave open."""

    def __init__(self, about, threads, seed):
        self.about, self.threads, self.seed = about, threads, seed

    def fit(self, frame, y):
        import torch
        from xrfm import xRFM

        self.texts = list(frame.select_dtypes("category"))
        self.levels = {column: frame[column].cat.categories for column in self.texts}
        numbers = frame.drop(columns=self.texts).to_numpy(np.float64)
        flags = np.isin(numbers, (0, 1)).all(0)
        spread = numbers.std(0)
        self.mean = np.where(flags, 0.0, numbers.mean(0))
        self.spread = np.where(flags | (spread == 0), 1.0, spread)
        self.offset, self.scale = (0.0, 1.0) if self.about["labels"] else (y.mean(), y.std())
        y = y if self.about["labels"] else ((y - self.offset) / self.scale).astype(np.float32)
        parts = train_test_split(self.rows(frame), y, test_size=VALIDATION, random_state=self.seed)
        x, x_chooses, y, y_chooses = parts
        sets = {"n_threads": self.threads, "random_state": self.seed, "verbose": False}
        self.learner = xRFM(device=torch.device("cpu"), categorical_info=self.categories(numbers.shape[1]), **sets)
        self.learner.fit(x, y, x_chooses, y_chooses)
        return self

    def rows(self, frame):
        numbers = (frame.drop(columns=self.texts).to_numpy(np.float64) - self.mean) / self.spread
        flags = [frame[c].to_numpy(str)[:, None] == np.asarray(self.levels[c], str) for c in self.texts]
        return np.hstack([numbers, *flags]).astype(np.float32)

    def categories(self, begin):
        """Where the columns of each category stand, behind those of numbers."""
        import torch

        if not self.texts:
            return None
        info = {"numerical_indices": torch.arange(begin), "categorical_indices": [], "categorical_vectors": []}
        for levels in self.levels.values():
            info["categorical_indices"].append(torch.arange(begin, begin + len(levels)))
            info["categorical_vectors"].append(torch.eye(len(levels)))
            begin += len(levels)
        return info

    def predict(self, frame):
        said = np.asarray(self.learner.predict(self.rows(frame)))
        return said if self.about["labels"] else said.ravel() * self.scale + self.offset

    def predict_proba(self, frame):
        return self.learner.predict_proba(self.rows(frame))


@dataclass(frozen=True)
class Contestant:
    """Packages that it may come from, the module that they have, and how it is made."""

    packages: tuple
    module: str
    make: Callable
    # Whether columns of texts come as categories of pandas.
    categories: bool = True

    def version(self):
        """None where it is not installed."""
        for package in self.packages:
            try:
                return metadata.version(package)
            except metadata.PackageNotFoundError:
                pass
        return None


PEERS = {
    "XGBoost": Contestant(("xgboost", "xgboost-cpu"), "xgboost", xgboost),
    "LightGBM": Contestant(("lightgbm",), "lightgbm", lightgbm),
    "HistGradientBoosting": Contestant(("scikit-learn",), "sklearn", histogram),
    "CatBoost": Contestant(("catboost",), "catboost", catboost, categories=False),
    "xRFM": Contestant(("xrfm",), "xrfm", Xrfm),
}
