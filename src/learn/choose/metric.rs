//! Metrics learnt from the directions that matter to a fitted model, and kernels that use them.
//!
//! The average gradient outer product of a model, `M = (1/n) sum_i grad f(x_i) grad f(x_i)'`, is
//! large along the directions in which its predictions change. A kernel that measures distances by
//! M has learnt features; alternating fits and outer products learn more of them (Radhakrishnan,
//! Beaglehole, Pandit & Belkin 2024, "Mechanism for feature learning in neural networks and
//! backpropagation-free machine learning models", Science 383).

mod drawn;
mod importance;
mod learned;
mod neighbours;
mod outer_product;

pub use drawn::{RowsForMap, draw};
pub use importance::importance;
pub use learned::MetricOptions;
pub(in crate::learn) use neighbours::Neighbours;
pub use outer_product::average_gradient_outer_product;
pub(in crate::learn) use outer_product::by_prepared;
pub(crate) use outer_product::outer_product_of_rows;
