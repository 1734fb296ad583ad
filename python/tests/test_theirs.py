"""scikit-learn's own tests of ridge regression, run with this package's heads.

Tests of features that docs/heads.md lists as missing are excluded, such as solvers, positive
coefficients and multilabel targets, and those that need more digits than predictions in float32.
"""

import importlib.util

import pytest
import sklearn.linear_model

import bochner

pytest.importorskip("sklearn.linear_model.tests.test_ridge")

TESTS = [
    "test_class_weight_vs_sample_weight",
    "test_class_weights",
    "test_class_weights_cv",
    "test_dense_sparse",
    "test_raises_value_error_if_sample_weights_greater_than_1d",
    "test_ridge_best_score",
    "test_ridge_classifier_with_scoring",
    "test_ridge_cv_custom_multioutput_scorer",
    "test_ridge_cv_individual_penalties",
    "test_ridge_fit_intercept_sparse",
    "test_ridge_gcv_cv_results_not_stored",
    "test_ridge_gcv_integer_arrays",
    "test_ridge_individual_penalties",
    "test_ridge_intercept",
    "test_ridge_loo_cv_asym_scoring",
    "test_ridge_regression_custom_scoring",
    "test_ridge_regression_unpenalized",
    "test_ridge_regression_unpenalized_hstacked_X",
    "test_ridge_regression_unpenalized_vstacked_X",
    "test_ridge_sample_weight_consistency",
    "test_ridge_vs_lstsq",
    "test_ridgecv_alphas_conversion",
    "test_ridgecv_alphas_scalar",
    "test_ridgecv_alphas_validation",
    "test_ridgecv_alphas_zero",
    "test_ridgecv_int_alphas",
    "test_ridgecv_sample_weight",
    "test_ridgecv_store_cv_results",
    "test_solver_consistency",
    "test_sparse_design_with_sample_weights",
]

#: Tests that compare the selection of alpha with single fits to more digits than float32 has; the
#: single fits are therefore scikit-learn's.
OF_CHOICES = [
    "test_ridge_cv_multioutput_sample_weight",
    "test_ridge_cv_results_predictions",
    "test_ridge_gcv_sample_weights",
]

#: Parameters of scikit-learn's classes that ours lack; they affect the computation, not the result.
HOW = {"copy_X", "max_iter", "tol", "solver", "random_state", "gcv_mode"}
HEADS = ("Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV")


def taking_theirs(own, factor=1.0):
    """Subclass of a head that accepts scikit-learn's parameters, and scales alpha by a factor."""

    class Head(own):
        def __init__(self, *alpha, **given):
            if given.pop("positive", False):
                pytest.skip("positive is not there")
            given = {"device": "cpu"} | {name: v for name, v in given.items() if name not in HOW}
            own.__init__(self, *alpha, **given)

        def _fixed_alpha(self):
            return factor * super()._fixed_alpha()

        @classmethod
        def _get_param_names(cls):
            return own._get_param_names()

    Head.__name__ = own.__name__
    return Head


def with_heads(factor=1.0, heads=HEADS):
    """scikit-learn's test module, imported while its class names refer to the heads.

    Test parameters contain classes, so that patching after the import would be too late.
    """
    spec = importlib.util.find_spec("sklearn.linear_model.tests.test_ridge")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as names:
        for name in heads:
            names.setattr(sklearn.linear_model, name, taking_theirs(getattr(bochner, name), factor))
        spec.loader.exec_module(module)
    return module


theirs = with_heads()
for module, tests in ((theirs, TESTS), (with_heads(heads=HEADS[1::2]), OF_CHOICES)):
    # Tests that a version of scikit-learn does not have are not collected.
    globals().update({name: getattr(module, name) for name in tests if hasattr(module, name)})


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=["long"])
def ols_ridge_dataset(global_random_seed, request):
    """Only data with more rows than columns.

    For wide data, the tests need seven digits of predictions, which have six; `test_head_results`
    compares coefficients instead.
    """
    made = theirs.ols_ridge_dataset
    return getattr(made, "__wrapped__", made)(global_random_seed, request)


def test_an_alpha_that_is_off_is_seen():
    with pytest.raises(AssertionError):
        with_heads(1.03).test_ridgecv_sample_weight()
