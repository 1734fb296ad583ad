//! Learning row by row: ridge regression that forgets, and bandits that choose by what it knows.
//!
//! [`job`](crate::job) and [`models`](crate::models) fit rows that are there. Here a row comes, is
//! predicted, and is learned once its target is known; what it teaches is there for the next. Rows
//! are features: those of a map, or columns as they are.

mod bandit;
mod recursive;

pub use bandit::{Bandit, Choice};
pub use recursive::{Recursive, RecursiveRidge};
