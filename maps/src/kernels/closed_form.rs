use super::{BlockForm, Mixture, Product};

/// k(x, y) written out, for runtimes other than this library. Rows are at unit scale.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ClosedForm<'k> {
    /// What blocks of a kernel matrix are computed by.
    Block(BlockForm),
    /// (1/pi) |x|^n |y|^n J_n(theta) of rows with one more column, which holds the bias.
    ArcCosine {
        /// n = 0, 1 or 2.
        order: u32,
        /// What the column holds.
        bias: f64,
    },
    /// (x'y + c)^p.
    Polynomial {
        /// p.
        degree: u32,
        /// c.
        constant: f64,
    },
    /// sum_m 2 x_m y_m / (x_m + y_m), 0 where both are 0.
    AdditiveChi2,
    /// prod_m 2 sqrt(x_m + c) sqrt(y_m + c) / (x_m + y_m + 2 c).
    SkewedChi2 {
        /// c.
        skewedness: f64,
    },
    /// A weighted mean of kernels.
    Mixture(&'k Mixture),
    /// A product of kernels.
    Product(&'k Product),
}
