"""Scores of rows that a head predicts without having seen them."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Amounts(RegressorMixin, BaseEstimator):
    """Predicts what it is given."""

    def predict(self, predicted):
        return predicted


class _Labels(ClassifierMixin, BaseEstimator):
    """Predicts the class of the largest of the scores that it is given; of two classes by the sign."""

    def __init__(self, classes):
        self.classes_ = classes

    def decision_function(self, scores):
        return scores

    def predict(self, scores):
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]


class LeftOut:
    """Ridge regressions on a table, in float64, that predict each row from all others.

    With ``r`` the residual of a row and ``h`` its leverage, the fit without it is off by
    ``r / (1 - h)`` (Allen 1974); one decomposition has both for every alpha.
    """

    def __init__(self, X, y, weights, fit_intercept):
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        weights = np.ones(len(y)) if weights is None else weights
        share = weights / weights.sum()
        self._y = y
        self._center, self._own = 0.0, 0.0
        if fit_intercept:
            self._center, self._own = share @ y, share
            X = X - share @ X
        self._X, self._roots = X, np.sqrt(weights)[:, None]
        self._left, self._singular, self._right = np.linalg.svd(self._roots * X, full_matrices=False)

    def predict(self, alpha):
        """What each row has of the fit to the others, (n_samples, n_outputs)."""
        along = self._left.T @ (self._roots * (self._y - self._center))
        square = self._singular**2 + alpha
        beta = self._right.T @ ((self._singular / square)[:, None] * along)
        residual = self._y - self._center - self._X @ beta
        leverage = self._left**2 @ (self._singular**2 / square) + self._own
        return self._y - residual / (1.0 - leverage)[:, None]


def best_by(scorer, alphas, rows, fit_intercept, labels):
    """The alpha of the best score of rows left out, the first of several, and that score.

    ``rows`` are those of the fit; ``labels`` what a classifier's targets of -1 and 1 stand for, else
    None. Weights of rows are those of the score, too, as scikit-learn has it.
    """
    X, y, weights = rows
    left_out = LeftOut(X, y, weights, fit_intercept)
    if labels is None:
        predictor, truth = _Amounts(), y
    else:
        predictor, truth = _Labels(np.unique(labels)), labels
    more = {} if weights is None else {"sample_weight": weights}
    best = None
    for alpha in alphas:
        predicted = left_out.predict(alpha)
        one = predicted.shape[1] == 1
        of = truth[:, 0] if labels is None and one else truth
        score = scorer(predictor, predicted[:, 0] if one else predicted, of, **more)
        if best is None or score > best[1]:
            best = alpha, score
    return best
