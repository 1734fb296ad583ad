//! Hypothesis tests on features: whether two samples have the same distribution, whether columns
//! depend on each other, and whether they still do given other columns. All tests stream, in time
//! linear in rows, with fixed seeds. Every row has weight 1: weights of a source are ignored.
//!
//! | question | test |
//! |---|---|
//! | did the data change? | [`TwoSample`], by maximum mean discrepancy; [`column_shifts`]: where |
//! | did it, if only sums were kept? | [`sums_differ`], the same test on running sums |
//! | do targets still depend on rows as before? | [`SumsOutcome::of_targets`], on those sums |
//! | do x and y depend on each other? | [`Independence`], by the Hilbert-Schmidt criterion |
//! | do they still, given z? | [`ConditionalIndependence`], by RCoT or RCIT |
//!
//! The null hypothesis is equality of the distributions, or independence. A test rejects it at a
//! level (0.05) if its p-value is at most that level, which happens at that rate if the null
//! hypothesis holds.

mod columns;
mod conditional;
mod groups;
mod independence;
mod labels;
mod null;
mod of_sums;
mod pooled;
mod sums;
mod two_sample;

pub use columns::{ColumnShift, column_shifts};
pub use conditional::{
    ConditionalIndependence, ConditionalOptions, ConditionalOutcome, Variant, outer_features,
};
pub use independence::{Independence, IndependenceOptions, IndependenceOutcome};
pub use null::{Null, Outcome, WeightedChiSquares};
pub use of_sums::{SumsOutcome, TargetsOutcome, load_partial, partials_differ, sums_differ};
pub use pooled::Pooled;
pub use two_sample::{TwoSample, TwoSampleOptions, TwoSampleOutcome};
