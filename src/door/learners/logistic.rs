//! The builder of logistic regression.

use crate::{
    door::learner::{Labels, Learner},
    learn::{ClassWeights, LogisticOptions, Stopping},
};

/// The likeliest class by a linear model of log odds on random features, with probabilities
/// ([`Model::predict_probabilities`](crate::models::Model::predict_probabilities)).
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
    /// The penalty of squares; 1e-5 until said otherwise.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.job.learner.lambda = lambda;
        self
    }

    /// The penalty of absolute values; none until said otherwise.
    pub fn l1(mut self, l1: f64) -> Self {
        self.job.learner.l1 = l1;
        self
    }

    /// The bound of `sqrt(D) |beta_j|`; none until said otherwise.
    pub fn bound(mut self, bound: f64) -> Self {
        self.job.learner.bound = Some(bound);
        self
    }

    /// Whether an intercept is fitted; it is, until said otherwise.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.job.learner.intercept = intercept;
        self
    }

    /// How much classes count; all the same until said otherwise.
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.job.learner.class_weights = weights;
        self
    }

    /// When the solver ends.
    pub fn stopping(mut self, stopping: Stopping) -> Self {
        self.job.learner.stopping = stopping;
        self
    }

    /// Whether probabilities are averaged over the posterior of the coefficients, by the Laplace
    /// approximation (MacKay 1992; Rasmussen & Williams 2006, section 3.4): the mode is that of
    /// logistic regression, where the prior is `beta ~ N(0, I / (lambda n))`, and the covariance
    /// the inverse of the Hessian there, of [`Laplace::new`](crate::solve::Laplace::new). They are
    /// `E 1 / (1 + exp(-s))` with s normal around the log odds, by quadrature to about 1e-9: nearer
    /// 1/2 the less the rows say, and on rows like those of the fit often too near (Kuss &
    /// Rasmussen 2005, "Assessing approximate inference for binary Gaussian process
    /// classification"). Labels stay as they are. It is of squares alone, and not until said
    /// otherwise.
    ///
    /// Of C > 2 classes the Hessian is `sum_i w_i (diag(p_i) - p_i p_i') (x) z_i z_i'` beside the
    /// prior (Boehning 1992), along the C - 1 directions among scores that a softmax depends on.
    /// It is taken whole for up to 3,000 unknowns, `(C - 1)(D + 1)`; with more it is taken in
    /// blocks, one for each eigenvector of the mean of `diag(p_i) - p_i p_i'`, and what is between
    /// them, which is 0 on the average of the rows, is left out. Probabilities are the means of
    /// softmaxes over 512 points of the normal law, the same for all rows, to some 1e-3.
    ///
    /// Of two classes it takes two more passes, `D^3` operations and `24 D^2` bytes; the model
    /// keeps `8 D^2`, and a probability takes `D^2` operations. Of more, with P unknowns: two
    /// passes, `n P^2 / 2 + P^3` operations on the host and `32 P^2` bytes, of which the model
    /// keeps 8; in blocks as of two classes, once for each direction. The fact
    /// `log_marginal_likelihood` compares penalties and bandwidths; a row of weight w counts as w
    /// rows.
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
