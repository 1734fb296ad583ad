//! Learners of other losses than squares.

pub(super) mod laplace;
pub(super) mod logistic;
pub(super) mod minimise;
pub(super) mod support_vector;
