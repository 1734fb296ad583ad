//! Learners whose penalty trials may choose.

use crate::{
    learn::{Fit, Lambda},
    solve::Intercept,
};

/// A learner of least squares with a penalty on the squares of its coefficients: trials of a
/// [`Search`](crate::models::Search) and of [`Leaves`](crate::models::Leaves) solve sums of its
/// rows for one penalty after the other, and it is fitted with the best.
pub trait FitPenalised: Fit {
    /// The penalty per sample, or how it is chosen.
    fn lambda(&self) -> &Lambda;

    /// The intercept; trials leave it free where there is one.
    fn intercept(&self) -> Intercept;

    /// The same learner with another penalty.
    fn with_lambda(&self, lambda: Lambda) -> Box<dyn FitPenalised>;

    /// Whether there is an intercept.
    fn has_intercept(&self) -> bool {
        self.intercept() != Intercept::None
    }
}
