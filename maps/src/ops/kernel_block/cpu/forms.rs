//! The kernels that f32 computes, from what the coordinates of two rows are gathered into.

use super::elementary::{Rounding, exp, exp_less_one, log_of_one_plus};

/// Landmarks beside each other, a whole vector or several.
pub(super) const LANES: usize = 16;

pub(super) type Lanes = [f32; LANES];

/// A kernel of coordinate differences. Everything is inlined: a call would leave the vector
/// instructions of the dispatch.
pub(super) trait Form: Copy {
    /// What the coordinates are gathered into, to start with.
    const START: f32 = 0.0;

    /// One coordinate more; squared differences unless said otherwise.
    #[inline(always)]
    fn gather<R: Rounding>(sum: f32, a: f32, b: f32) -> f32 {
        // Two operations where |a|^2 + |b|^2 - 2 a.b takes one: that form loses every digit of
        // the distance of neighbours, and a kernel lives on neighbours.
        R::mul_add(a - b, a - b, sum)
    }

    /// The kernel from what was gathered.
    fn value<R: Rounding>(self, sum: f32) -> f32;

    /// As [`Self::START`], for [`Self::below`].
    const START_BELOW: f32 = 0.0;

    /// As [`Self::gather`], for [`Self::below`].
    #[inline(always)]
    fn gather_below<R: Rounding>(sum: f32, a: f32, b: f32) -> f32 {
        Self::gather::<R>(sum, a, b)
    }

    /// The kernel less 1, to the relative precision of f32, from what was gathered for it.
    fn below<R: Rounding>(self, sum: f32) -> f32;
}

/// A form, less 1: what [`Form::below`] says, in place of the kernel.
#[derive(Clone, Copy)]
pub(super) struct Below<F>(pub(super) F);

impl<F: Form> Form for Below<F> {
    const START: f32 = F::START_BELOW;

    #[inline(always)]
    fn gather<R: Rounding>(sum: f32, a: f32, b: f32) -> f32 {
        F::gather_below::<R>(sum, a, b)
    }

    #[inline(always)]
    fn value<R: Rounding>(self, sum: f32) -> f32 {
        self.0.below::<R>(sum)
    }

    #[inline(always)]
    fn below<R: Rounding>(self, sum: f32) -> f32 {
        self.0.below::<R>(sum)
    }
}

macro_rules! forms {
    ($($name:ident, $sum:ident => $value:expr, $below:expr;)*) => {$(
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Form for $name {
            #[inline(always)]
            fn value<R: Rounding>(self, $sum: f32) -> f32 {
                $value
            }

            #[inline(always)]
            fn below<R: Rounding>(self, $sum: f32) -> f32 {
                $below
            }
        }
    )*};
}

forms! {
    Gaussian, r2 => exp::<R>(-0.5 * r2), exp_less_one::<R>(-0.5 * r2);
    Exponential, r2 => exp::<R>(-r2.sqrt()), exp_less_one::<R>(-r2.sqrt());
    Matern32, r2 => {
        let z = 1.732_050_8 * r2.sqrt();
        (1.0 + z) * exp::<R>(-z)
    }, {
        let z = 1.732_050_8 * r2.sqrt();
        let e = exp_less_one::<R>(-z);
        // (1 + z)(1 + e) - 1 without the two ones, which would swallow what is small.
        e + z * (1.0 + e)
    };
    Matern52, r2 => {
        let z = 2.236_068 * r2.sqrt();
        (1.0 + z + z * z / 3.0) * exp::<R>(-z)
    }, {
        let z = 2.236_068 * r2.sqrt();
        let e = exp_less_one::<R>(-z);
        // Likewise, with the polynomial 1 + p for 1 + z.
        e + (z + z * z / 3.0) * (1.0 + e)
    };
}

#[derive(Clone, Copy)]
pub(super) struct Laplacian;

impl Form for Laplacian {
    #[inline(always)]
    fn gather<R: Rounding>(sum: f32, a: f32, b: f32) -> f32 {
        sum + (a - b).abs()
    }

    #[inline(always)]
    fn value<R: Rounding>(self, r: f32) -> f32 {
        exp::<R>(-r)
    }

    #[inline(always)]
    fn below<R: Rounding>(self, r: f32) -> f32 {
        exp_less_one::<R>(-r)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Cauchy;

impl Form for Cauchy {
    const START: f32 = 1.0;

    /// The bounds keep the product finite; 1e-18 is zero beside 1.
    #[inline(always)]
    fn gather<R: Rounding>(product: f32, a: f32, b: f32) -> f32 {
        let near = (a - b).abs().min(1e9);
        (product * R::mul_add(near, near, 1.0)).min(1e18)
    }

    #[inline(always)]
    fn value<R: Rounding>(self, product: f32) -> f32 {
        1.0 / product
    }

    /// The product less 1.
    #[inline(always)]
    fn gather_below<R: Rounding>(rest: f32, a: f32, b: f32) -> f32 {
        let near = (a - b).abs().min(1e9);
        // (1 + rest)(1 + near^2) - 1.
        R::mul_add(near * near, 1.0 + rest, rest).min(1e18)
    }

    #[inline(always)]
    fn below<R: Rounding>(self, rest: f32) -> f32 {
        // 1 / (1 + rest) - 1.
        -rest / (1.0 + rest)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Hat;

impl Form for Hat {
    const START: f32 = 1.0;

    #[inline(always)]
    fn gather<R: Rounding>(product: f32, a: f32, b: f32) -> f32 {
        product * (1.0 - (a - b).abs()).max(0.0)
    }

    #[inline(always)]
    fn value<R: Rounding>(self, product: f32) -> f32 {
        product
    }

    /// The product less 1.
    #[inline(always)]
    fn gather_below<R: Rounding>(rest: f32, a: f32, b: f32) -> f32 {
        // (1 + rest)(1 - near) - 1; at near = 1 it is -1 and stays there.
        rest - (a - b).abs().min(1.0) * (1.0 + rest)
    }

    #[inline(always)]
    fn below<R: Rounding>(self, rest: f32) -> f32 {
        rest
    }
}

#[derive(Clone, Copy)]
pub(super) struct RationalQuadratic {
    alpha: f32,
}

impl RationalQuadratic {
    pub(super) fn new(alpha: f64) -> Self {
        Self {
            alpha: alpha as f32,
        }
    }
}

impl Form for RationalQuadratic {
    #[inline(always)]
    fn value<R: Rounding>(self, r2: f32) -> f32 {
        exp::<R>(-self.alpha * log_of_one_plus::<R>(r2 / (2.0 * self.alpha)))
    }

    #[inline(always)]
    fn below<R: Rounding>(self, r2: f32) -> f32 {
        exp_less_one::<R>(-self.alpha * log_of_one_plus::<R>(r2 / (2.0 * self.alpha)))
    }
}

/// The kernel of all sums.
#[inline(always)]
pub(super) fn values<R: Rounding, F: Form, const N: usize>(
    form: F,
    mut sums: [Lanes; N],
) -> [Lanes; N] {
    for sum in &mut sums {
        for s in sum {
            *s = form.value::<R>(*s);
        }
    }
    sums
}
