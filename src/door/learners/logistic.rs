//! The builder of logistic regression.

use crate::{
    door::learner::{Labels, Learner},
    learn::{ClassWeights, LogisticOptions, Stopping},
};

/// Logistic regression on random features, for two or more classes, with probabilities
/// ([`Model::predict_probabilities`](crate::models::Model::predict_probabilities)).
///
/// It minimises
///
/// ```text
/// sum_i w_i loss_i / sum_i w_i + lambda/2 |beta|^2 + l1 |beta|_1
/// ```
///
/// With two classes the loss is `log(1 + exp(-y s))` of one score `s = z(x)'beta + b`, y = 1 or -1.
/// With more it is `log(sum_k exp(s_k)) - s_c` for class c, with a score per class (multinomial).
///
/// ```
/// use bochner::prelude::*;
/// use bochner::models::LogisticRegression;
/// let x = ndarray::array![[0.0], [0.1], [2.0], [2.2]];
/// let labels = ["low", "low", "high", "high"];
/// let model = LogisticRegression::on(Fourier::new(Gaussian)).lambda(1e-3).fit((&x, labels))?;
/// assert_eq!(model.predict(&x)?, labels);
/// // One column per class, in the order of model.classes(): high, low.
/// assert!(model.predict_probabilities(&x)?[[0, 1]] > 0.9);
/// # Ok::<(), bochner::Error>(())
/// ```
pub type LogisticRegression = Learner<LogisticOptions, Labels>;

impl Learner<LogisticOptions, Labels> {
    /// Penalty lambda of the squared coefficients, per sample: positive, or 0 with `l1` or
    /// `bound`. Default: 1e-5.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// Penalty of the absolute values of the coefficients, positive. Default: none.
    pub fn l1(mut self, l1: f64) -> Self {
        self.job.learner.l1 = l1;
        self
    }

    /// Upper bound of `sqrt(D) |beta_j|` for each coefficient, positive; not with `l1`.
    /// Default: none.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// Whether to fit an intercept, which is not penalised. Default: true.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// Weights of the classes. Default: equal.
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.job.learner.class_weights = weights;
        self
    }

    /// Stopping rule of the solver. Default: 1e-4 of the initial gradient, at most 1000 passes.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = stopping;
        self
    }

    /// Whether to average probabilities over the posterior of the coefficients, by the Laplace
    /// approximation (MacKay 1992; Rasmussen & Williams 2006, section 3.4). The mode is the
    /// solution of logistic regression, with the prior `beta ~ N(0, I / (lambda n))`; the
    /// covariance is the inverse of the Hessian there
    /// ([`Laplace::new`](crate::solve::Laplace::new)). Probabilities are `E 1 / (1 + exp(-s))` with
    /// s normal around the log odds, by quadrature to about 1e-9. They are closer to 1/2 the less
    /// data there is, and often too close for rows like those of the fit (Kuss & Rasmussen 2005,
    /// "Assessing approximate inference for binary Gaussian process classification"). Predicted
    /// labels do not change. It cannot be combined with `l1` or `bound`. Default:
    /// false.
    ///
    /// With C > 2 classes the Hessian is `sum_i w_i (diag(p_i) - p_i p_i') (x) z_i z_i'` plus that
    /// of the prior (Boehning 1992), on the C - 1 directions of scores that a softmax depends on.
    /// It is used in full for up to 3,000 unknowns, `(C - 1)(D + 1)`. With more it is replaced by
    /// diagonal blocks, one for each eigenvector of the mean of `diag(p_i) - p_i p_i'`; the blocks
    /// between these are 0 on average over the rows. Probabilities are means of softmaxes over 512
    /// points of the normal distribution, equal for all rows, with an error of about 1e-3.
    ///
    /// With two classes this takes two more passes, `D^3` operations and `24 D^2` bytes; the model
    /// stores `8 D^2` bytes, and a probability takes `D^2` operations. With more classes and P
    /// unknowns it takes two passes, `n P^2 / 2 + P^3` operations on the host and `32 P^2` bytes,
    /// of which the model stores `8 P^2`; with blocks the cost is that of two classes for each
    /// direction. The fact `log_marginal_likelihood` compares penalties and bandwidths. A row of
    /// weight w counts as w rows.
    ///
    /// ```
    /// use bochner::{models::LogisticRegression, prelude::*};
    /// let x = ndarray::array![[0.0], [0.1], [0.3], [2.0], [2.1], [2.4]];
    /// let labels = ["low", "low", "low", "high", "high", "high"];
    /// let plain = LogisticRegression::on(Fourier::new(Gaussian)).lambda(1e-2);
    /// let [at_mode, averaged] = [plain.clone(), plain.laplace(true)]
    ///     .map(|learner| learner.fit((&x, labels)).and_then(|m| m.predict_probabilities(&x)));
    /// assert!(averaged?[[0, 1]] < at_mode?[[0, 1]]);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    pub fn laplace(mut self, laplace: bool) -> Self {
        self.job.learner.laplace = laplace;
        self
    }
}
