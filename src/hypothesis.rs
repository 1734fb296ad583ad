//! Tests of hypothesis on features: whether two samples come from one law, whether columns depend
//! on each other, and whether they still do when others are given. All stream, in time linear in
//! rows, with fixed seeds. Every row counts once: weights of a source are left out.
//!
//! | question | test |
//! |---|---|
//! | did the data change? | [`TwoSample`], by maximum mean discrepancy; [`column_shifts`]: where |
//! | did it, where sums alone are left? | [`sums_differ`], the same by running sums |
//! | do targets still depend on rows as they did? | [`SumsOutcome::of_targets`], by those sums |
//! | do x and y depend on each other? | [`Independence`], by the Hilbert-Schmidt criterion |
//! | do they still, given z? | [`ConditionalIndependence`], by RCoT or RCIT |
//!
//! The null hypothesis is that nothing is there to be found: one law, or independence. A test
//! rejects it at a level (0.05) if its p-value is at most that, which happens at that rate where
//! the hypothesis holds.

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
