"""Tests of AutoRegressor and AutoClassifier."""

import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import bochner
from bochner import AutoClassifier, AutoRegressor, KernelRidgeClassifier, KernelRidgeRegressor


# Few features and trials to save time; the checks do not depend on their number.
@parametrize_with_checks(
    [kind(n_components=40, budget=2) for kind in (AutoRegressor, AutoClassifier)],
    expected_failed_checks=lambda estimator: {
        "check_classifiers_train": "offsets that calibrate probabilities move the likeliest class",
    }
    if isinstance(estimator, AutoClassifier)
    else {},
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    """Targets that depend on two of six columns, one with small values."""
    random = np.random.RandomState(0)
    X = random.normal(size=(1000, 6))
    y = np.sin(2 * X[:, 1]) + 0.5 * X[:, 4] ** 2 + 0.1 * random.normal(size=1000)
    X[:, 4] *= 1e-3
    return X[:700], y[:700], X[700:], y[700:]


@pytest.fixture(scope="module")
def found(rows):
    X, y, _, _ = rows
    options = {"n_components": 200, "standardize": "yes", "random_state": 0}
    return AutoRegressor(bag=1, beside="none", budget=None, **options).fit(X, y)


def test_it_finds_the_columns(found, rows):
    X, y, X_test, y_test = rows
    assert found.metric_.shape == (6, 6)
    assert found.best_params_["metric"] in ("diagonal", "full")
    assert set(np.argsort(found.feature_importances_)[-2:]) == {1, 4}
    assert found.feature_importances_[[1, 4]].sum() > 0.9
    assert found.feature_importances_.sum() == pytest.approx(1.0)
    assert np.trace(found.metric_) == pytest.approx(6.0)
    plain = KernelRidgeRegressor(n_components=200, standardize="yes", penalty="auto", random_state=0)
    plain.fit(X, y)
    assert 1 - found.score(X_test, y_test) < 0.5 * (1 - plain.score(X_test, y_test))


def test_the_table_of_trials(found, rows):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(found.results_)
    assert len(table) > 15 and set(table.kernel) >= {"gaussian", "laplacian"}
    assert set(table.metric) >= {"none", "diagonal"}
    last = table[table.n_components == 200]
    # The best trial with all features comes first, and was selected.
    assert (last.error * last.squared_error).is_monotonic_increasing
    first = last.iloc[0]
    assert (first.kernel, first.metric) == (
        found.best_params_["kernel"],
        found.best_params_["metric"],
    )
    assert first.gamma == pytest.approx(found.best_params_["gamma"])
    assert first.penalty == found.penalty_ == found.best_params_["penalty"]
    # The hold-out error agrees with the error on new samples.
    _, _, X_test, y_test = rows
    new = np.sqrt(1 - found.score(X_test, y_test))
    assert first.error == pytest.approx(new, rel=0.3)
    assert (table.seconds > 0).all() and 500 < table.n_samples.max() < 620


def test_what_was_chosen_fits_the_same(rows):
    X, y, X_test, _ = rows
    options = {"n_components": 200, "random_state": 3}
    alone = {"metric": "none", "bag": 1, "beside": "none"}
    model = AutoRegressor(standardize="yes", **alone, **options).fit(X, y)
    chosen = dict(model.best_params_)
    assert chosen.pop("metric") == "none" and model.metric_ is None
    again = KernelRidgeRegressor(**chosen, **options).fit(X, y)
    assert_allclose(again.predict(X_test), model.predict(X_test), atol=1e-3)
    # Without a metric, importances come from the gradients of the fit.
    assert set(np.argsort(model.feature_importances_)[-2:]) == {1, 4}


def test_a_mean_of_several_is_one_model(rows, tmp_path):
    X, y, X_test, y_test = rows
    options = {"n_components": 60, "standardize": "yes", "random_state": 3}
    alone = AutoRegressor(bag=1, beside="none", **options).fit(X, y)
    mean = AutoRegressor(bag=4, beside="none", **options).fit(X, y)
    # Errors of different draws of 60 features partly cancel, and bad draws get no weight.
    assert 1 - mean.score(X_test, y_test) < 1.3 * (1 - alone.score(X_test, y_test))
    mean.save(tmp_path / "mean.model")
    loaded = AutoRegressor.load(tmp_path / "mean.model")
    assert_allclose(loaded.predict(X_test), mean.predict(X_test))
    assert str(mean.job_["bag"]) == "4" and "beside" not in mean.job_
    assert mean.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("beside", ["binning", "nystrom", "binning+nystrom"])
def test_what_may_stand_beside_is_tried(rows, beside):
    X, y, X_test, y_test = rows
    options = {"n_components": 60, "standardize": "yes", "random_state": 3, "bag": 1}
    model = AutoRegressor(beside=beside, **options).fit(X, y)
    assert set(model.results_["map"]) == {"fourier", *beside.split("+")}
    assert model.job_["beside"] == beside
    assert model.score(X_test, y_test) > 0.8


def test_importances_are_shares_of_squared_gradients():
    X = np.random.RandomState(0).uniform(-1, 1, size=(2000, 2))
    X[:, 1] *= 10
    # Slopes 1 and 0.2 of columns whose scales are 1 to 10: squared gradients are 1 to 4 after
    # standardisation.
    y = X[:, 0] + 0.2 * X[:, 1]
    model = AutoRegressor(metric="none", standardize="yes", n_components=200, random_state=0)
    shares = model.fit(X, y).feature_importances_
    assert_allclose(shares, [0.2, 0.8], atol=0.004)
    model.set_params(standardize="no", kernel="gaussian", gamma=0.01)
    # Without standardisation they are 25 to 1.
    assert_allclose(model.fit(X, y).feature_importances_, [25 / 26, 1 / 26], atol=0.004)


def test_what_is_given_stays(rows):
    X, y, _, _ = rows
    model = AutoRegressor(
        kernel="matern52",
        gamma=0.3,
        penalty=1e-3,
        metric="none",
        n_components=100,
        random_state=0,
    ).fit(X, y)
    assert set(model.results_["kernel"]) == {"matern52"}
    assert_allclose(model.results_["gamma"], 0.3)
    assert set(model.results_["penalty"]) == {1e-3}
    assert model.penalty_ == 1e-3 and set(model.results_["metric"]) == {"none"}
    model.set_params(metric="full", budget=6).fit(X, y)
    assert model.best_params_["metric"] == "full" and model.metric_[0, 1] != 0.0


def test_budgets(rows):
    X, y, _, _ = rows
    options = {"n_components": 60, "random_state": 0}
    assert len(AutoRegressor(budget=3, **options).fit(X, y).results_["error"]) == 3
    everything = len(AutoRegressor(budget=None, **options).fit(X, y).results_["error"])
    assert len(AutoRegressor(**options).fit(X, y).results_["error"]) < 0.6 * everything
    assert len(AutoRegressor(budget="0.001s", **options).fit(X, y).results_["error"]) == 1
    assert len(AutoRegressor(budget="1h", **options).fit(X, y).results_["error"]) == everything
    for wrong in ("60", "soon", "-3s"):
        with pytest.raises(ValueError, match="number of trials"):
            AutoRegressor(budget=wrong).fit(X, y)
    with pytest.raises(ValueError, match="budget"):
        AutoRegressor(budget=0).fit(X, y)


def test_digits(tmp_path):
    X, y = load_digits(return_X_y=True)
    names = np.array("zero one two three four five six seven eight nine".split())
    model = AutoClassifier(n_components=400, budget=12, probability=True, random_state=0)
    model.fit(X[:1200], names[y[:1200]])
    assert model.score(X[1200:], names[y[1200:]]) > 0.94
    assert_allclose(model.predict_proba(X[1200:]).sum(axis=1), 1.0)
    model.save(tmp_path / "digits.model")
    # The file contains a ridge regression model with a metric.
    for again in (
        AutoClassifier.load(tmp_path / "digits.model"),
        KernelRidgeClassifier.load(tmp_path / "digits.model"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert (again.predict(X) == model.predict(X)).all()
    loaded = AutoClassifier.load(tmp_path / "digits.model")
    if model.metric_ is not None:
        assert_allclose(loaded.metric_, model.metric_)
        assert_allclose(loaded.feature_importances_, model.feature_importances_)


def test_weights_and_scans(rows, tmp_path):
    X, y, X_test, _ = rows
    options = {"n_components": 60, "budget": 4, "random_state": 0}
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    scanned = AutoRegressor(**options).fit(bochner.scan(tmp_path / "rows.npz"))
    plain = AutoRegressor(**options)
    held = clone(plain).fit(X, y)
    # Few rows of an array are sorted, which changes the hold-out set.
    assert np.std(scanned.predict(X_test) - held.predict(X_test)) < 0.5 * np.std(y)
    # Samples of weight 0 are ignored.
    weights = (np.arange(len(X)) < 600).astype(float)
    assert_allclose(
        clone(plain).fit(X, y, sample_weight=weights).predict(X_test),
        clone(plain).fit(X[:600], y[:600]).predict(X_test),
    )


def test_few_rows_are_not_held_out(rows):
    X, y, _, _ = rows
    with pytest.warns(UserWarning, match="too few to hold some out"):
        model = AutoRegressor(n_components=60, budget=None, random_state=0).fit(X[:39], y[:39])
    assert len(model.results_["error"]) == 0 and model.best_params_["kernel"] == "gaussian"
    # Leave-one-out errors select the penalty.
    chosen = {name: of for name, of in model.best_params_.items() if name != "metric"}
    chosen["penalty"] = "auto"
    again = KernelRidgeRegressor(**chosen, n_components=60, random_state=0).fit(X[:39], y[:39])
    assert again.penalty_ == model.penalty_ == model.best_params_["penalty"]
    # A wide kernel with a small penalty amplifies rounding; a gamma 3 % off would differ by 1e-2.
    assert_allclose(again.predict(X[:39]), model.predict(X[:39]), atol=6e-3)
    with pytest.warns(UserWarning, match="too few"):
        assert AutoRegressor(penalty=0.1, budget=None).fit(X[:39], y[:39]).penalty_ == 0.1


def test_progress(rows, capsys, monkeypatch):
    X, y, _, _ = rows
    monkeypatch.setitem(sys.modules, "tqdm", None)
    AutoRegressor(n_components=60, budget=3, verbose=True, random_state=0).fit(X, y)
    assert "trial " in (said := capsys.readouterr().err) and "at best" in said
