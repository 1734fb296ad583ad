/// The closed forms that blocks of a kernel matrix are computed by in f32, on the CPU and in a
/// shader ([`KernelBlock`](crate::ops::kernel_block::KernelBlock)). Rows are at unit scale; r =
/// |x - y|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BlockForm {
    /// exp(-r^2 / 2).
    Gaussian,
    /// exp(-|x - y|_1).
    Laplacian,
    /// exp(-r).
    Exponential,
    /// (1 + z) exp(-z), z = sqrt(3) r.
    Matern32,
    /// (1 + z + z^2/3) exp(-z), z = sqrt(5) r.
    Matern52,
    /// prod_m 1/(1 + (x_m - y_m)^2).
    Cauchy,
    /// prod_m max(0, 1 - |x_m - y_m|).
    Hat,
    /// (1 + r^2/(2 alpha))^-alpha.
    RationalQuadratic {
        /// The shape.
        alpha: f64,
    },
    /// (1/pi) |x|^n |y|^n J_n(theta).
    ArcCosine {
        /// n = 0, 1 or 2.
        order: u32,
    },
}
