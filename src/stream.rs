//! Online learning: ridge regression with exponential forgetting, and bandits on top of it.
//!
//! [`job`](crate::job) and [`models`](crate::models) fit stored rows. Here a row arrives, is
//! predicted, and is learned when its target is known; the next prediction uses it. Rows are
//! features, either those of a map or columns as they are.

mod bandit;
mod recursive;

pub use bandit::{Bandit, Choice};
pub use recursive::{Recursive, RecursiveRidge};
