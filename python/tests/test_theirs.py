"""scikit-learn's own tests of ridge regression, with the heads in the place of its classes.

Not among them are those of what docs/heads.md says is not there: solvers, an alpha of 0 or for each
target, results of folds; and those of more digits than predictions, or fits to fewer rows than
columns, have in float32.
"""

import pytest

import bochner

theirs = pytest.importorskip("sklearn.linear_model.tests.test_ridge")

TESTS = [
    "test_class_weight_vs_sample_weight",
    "test_class_weights",
    "test_class_weights_cv",
    "test_dense_sparse",
    "test_raises_value_error_if_sample_weights_greater_than_1d",
    "test_ridge_best_score",
    "test_ridge_classifier_with_scoring",
    "test_ridge_cv_custom_multioutput_scorer",
    "test_ridge_fit_intercept_sparse",
    "test_ridge_intercept",
    "test_ridge_loo_cv_asym_scoring",
    "test_ridge_regression_custom_scoring",
    "test_ridge_sample_weight_consistency",
    "test_ridgecv_alphas_conversion",
    "test_ridgecv_alphas_scalar",
    "test_ridgecv_alphas_validation",
    "test_ridgecv_alphas_zero",
    "test_ridgecv_int_alphas",
    "test_ridgecv_sample_weight",
    "test_solver_consistency",
    "test_sparse_design_with_sample_weights",
]
# Of a version of scikit-learn that has one no more, one test fewer is collected.
globals().update({name: getattr(theirs, name) for name in TESTS if hasattr(theirs, name)})

#: What scikit-learn's classes take beside ours; it says how they work, not what they give.
HOW = {"copy_X", "max_iter", "tol", "solver", "random_state", "gcv_mode"}
NOT_THERE = {"positive", "store_cv_results", "alpha_per_target"}


def taking_theirs(own, factor=1.0):
    """A class of the heads that takes parameters of scikit-learn's, and alpha times a factor."""

    class Head(own):
        def __init__(self, *alpha, **given):
            for name in NOT_THERE:
                if given.pop(name, False):
                    pytest.skip(f"{name} is not there")
            given = {"device": "cpu"} | {name: v for name, v in given.items() if name not in HOW}
            own.__init__(self, *alpha, **given)

        def _fixed_alpha(self):
            return factor * super()._fixed_alpha()

        @classmethod
        def _get_param_names(cls):
            return own._get_param_names()

    Head.__name__ = own.__name__
    return Head


@pytest.fixture(autouse=True)
def heads(monkeypatch):
    for name in ("Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"):
        monkeypatch.setattr(theirs, name, taking_theirs(getattr(bochner, name)))


@pytest.fixture
def global_random_seed():
    return 42


def test_an_alpha_that_is_off_is_seen(monkeypatch):
    monkeypatch.setattr(theirs, "Ridge", taking_theirs(bochner.Ridge, factor=1.03))
    with pytest.raises(AssertionError):
        theirs.test_ridgecv_sample_weight()
