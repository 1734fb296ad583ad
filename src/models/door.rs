//! The door of the library: learners on a map, what they take, and what they give back.

pub(super) mod labels;
pub(super) mod learner;
pub(super) mod model;
pub(super) mod train;
