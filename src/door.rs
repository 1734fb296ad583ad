//! Builders on a map: the learners' Rust interface, the data that they accept, and incremental
//! fits.
//!
//! A builder fills in a [`Job`](crate::job::Job), as the command line and Python do. Outside tests
//! only [`models`](crate::models), which re-exports it, and `hypothesis` import this module.

mod class_weights;
mod features;
mod growing;
pub(crate) mod learner;
mod learners;
mod renumbered;
mod train;
mod warm;

pub use features::{Features, FittedFeatures, OfRows};
pub use growing::Growing;
pub use learner::{Functions, Labels, Learner, Numbers, RowsAlone};
pub use learners::*;
pub use train::{LabelledData, RowData, TrainingData};
