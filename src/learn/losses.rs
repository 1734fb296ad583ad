//! Learners with losses other than squares.

pub(super) mod classes;
pub(super) mod logistic;
pub(super) mod minimise;
pub(super) mod residual;
pub(super) mod support_vector;
