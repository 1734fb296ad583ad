//! Dense linear algebra in f64, which knows no problem.

pub mod cholesky;
pub mod compensated;
pub mod eigen;
pub mod entries;
pub mod leading;
pub mod nystrom;
pub mod products;
pub mod symmetric;
