//! Learners whose penalty can be chosen by trials.

use crate::{
    learn::{Fit, Lambda},
    solve::Intercept,
};

/// Least squares with an L2 penalty: trials of a [`Search`](crate::models::Search) and of
/// [`Leaves`](crate::models::Leaves) solve its sums for several penalties, and the final fit uses
/// the best.
pub trait FitPenalised: Fit {
    /// The penalty per sample, or how it is chosen.
    fn lambda(&self) -> &Lambda;

    /// Kind of intercept; trials do not penalise it.
    fn intercept(&self) -> Intercept;

    /// The same learner with another penalty.
    fn with_lambda(&self, lambda: Lambda) -> Box<dyn FitPenalised>;

    /// Whether there is an intercept.
    fn has_intercept(&self) -> bool {
        self.intercept() != Intercept::None
    }
}
