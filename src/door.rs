//! The door of the library: builders on a map, what they take, and how they go on.
//!
//! A builder fills in a [`Job`](crate::job::Job), as the command line and Python do; nothing but
//! the public face, [`models`](crate::models), imports one.

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
