"""Leave-one-out predictions of ridge regression, and the scores by which alpha is selected."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _Predicted(RegressorMixin, BaseEstimator):
    """Estimator for scorers whose X are the predictions themselves."""

    def predict(self, predicted):
        return predicted


class _Labelled(ClassifierMixin, BaseEstimator):
    """Estimator for scorers whose X are class scores; with two classes one score, by its sign."""

    def __init__(self, classes):
        self.classes_ = classes

    def decision_function(self, scores):
        return scores

    def predict(self, scores):
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]


class Amounts:
    """Regression targets, and weights, for a scorer."""

    def __init__(self, y, weights):
        self._y, self._more = y, {} if weights is None else {"sample_weight": weights}

    def score(self, scorer, predicted, each):
        if each:
            pairs = zip(predicted.T, self._y.T)
            return np.array([scorer(_Predicted(), p, y, **self._more) for p, y in pairs])
        if predicted.shape[1] == 1:
            return scorer(_Predicted(), predicted[:, 0], self._y[:, 0], **self._more)
        return scorer(_Predicted(), predicted, self._y, **self._more)


class Labels:
    """Class labels, and weights, for a scorer."""

    def __init__(self, labels, weights):
        self._labels, self._more = labels, {} if weights is None else {"sample_weight": weights}
        self._predictor = _Labelled(np.unique(labels))

    def score(self, scorer, scores, each):
        scores = scores[:, 0] if scores.shape[1] == 1 else scores
        return scorer(self._predictor, scores, self._labels, **self._more)


class LeftOut:
    """Leave-one-out predictions of ridge regression, in float64.

    The leave-one-out error of a sample with residual ``r`` and leverage ``h`` is ``r / (1 - h)``
    (Allen 1974); one singular value decomposition gives both for every alpha.
    """

    def __init__(self, X, y, weights, fit_intercept):
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        weights = np.ones(len(y)) if weights is None else weights
        share = weights / weights.sum()
        self.y, self.weights = y, weights
        self._center, self._own = 0.0, 0.0
        if fit_intercept:
            self._center, self._own = share @ y, share
            X = X - share @ X
        self._X, self._roots = X, np.sqrt(weights)[:, None]
        self._left, self._singular, self._right = np.linalg.svd(self._roots * X, full_matrices=False)

    def predict(self, alpha):
        """Predict each sample by the fit to all others, (n_samples, n_outputs)."""
        along = self._left.T @ (self._roots * (self.y - self._center))
        square = self._singular**2 + alpha
        beta = self._right.T @ ((self._singular / square)[:, None] * along)
        residual = self.y - self._center - self._X @ beta
        leverage = self._left**2 @ (self._singular**2 / square) + self._own
        return self.y - residual / (1.0 - leverage)[:, None]


def best_of(left_out, alphas, targets, scorer, *, each=False, keep=False):
    """Select alpha by leave-one-out predictions.

    Parameters
    ----------
    left_out : LeftOut
        Leave-one-out predictions.

    alphas : ndarray of shape (n_alphas,)
        Candidates; of several with the best score, the first is selected.

    targets : Amounts or Labels
        Targets for the scorer.

    scorer : callable or None
        Scorer; None for the negative mean squared error, weighted as in scikit-learn.

    each : bool, default=False
        Whether to select an alpha for each target.

    keep : bool, default=False
        Whether to return results for all alphas.

    Returns
    -------
    alpha, score : float or ndarray of shape (n_targets,)
        Selected alpha and its score.

    found : ndarray of shape (n_samples, n_outputs, n_alphas) or None
        With ``keep``: weighted squared errors, or, with a scorer, leave-one-out predictions.
    """
    best, found = None, []
    for alpha in alphas:
        predicted = left_out.predict(alpha)
        if scorer is None:
            of_rows = left_out.weights[:, None] * (left_out.y - predicted) ** 2
            score = -of_rows.mean(axis=0) if each else -of_rows.mean()
        else:
            of_rows, score = predicted, targets.score(scorer, predicted, each)
        score = np.asarray(score)
        if keep:
            found.append(of_rows)
        if best is None:
            best = np.full(score.shape, alpha), score
        else:
            better = score > best[1]
            best = np.where(better, alpha, best[0]), np.where(better, score, best[1])
    alpha, score = (of if each else of[()] for of in best)
    return alpha, score, np.stack(found, axis=2) if keep else None
