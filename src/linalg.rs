//! Dense linear algebra in f64, which knows no problem.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod entries;
pub(crate) mod leading;
pub(crate) mod nystrom;
pub(crate) mod products;
