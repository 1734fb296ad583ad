//! Arrays as rows and targets: of any layout, owned or borrowed, of any number type.

use super::Rows;
use ndarray::{Array2, ArrayBase, ArrayView1, ArrayView2, Axis, Data, Ix1, Ix2};

/// A number that rows and targets can hold.
pub trait Number: Copy {
    /// The rows in the precision that holds every value of this type (f64 rounds whole numbers
    /// beyond 2^53).
    fn rows(x_nd: ArrayView2<'_, Self>) -> Rows;

    /// The value in double precision.
    fn to_f64(self) -> f64;
}

/// Rows `[n, d]` from memory: arrays and views of any layout, by value or by reference, of floats,
/// whole numbers or booleans.
pub trait ToRows {
    /// The rows, copied.
    fn to_rows(&self) -> Rows;
}

/// Numbers to fit from memory: `[n]` or `[n, t]`.
pub trait ToTargets {
    /// What a model fitted to these gives back: one value a row, or `t`.
    type Predicted;

    /// The targets `[n, t]`, copied.
    fn to_targets(&self) -> Array2<f64>;
}

macro_rules! numbers {
    ($($number:ty => $precision:ident $(via $exact:ty)?),*) => {$(
        impl Number for $number {
            fn rows(x_nd: ArrayView2<'_, Self>) -> Rows {
                numbers!(@rows x_nd, $precision $(, $exact)?)
            }
            fn to_f64(self) -> f64 {
                numbers!(@f64 self, $precision $(, $exact)?)
            }
        }
    )*};
    (@rows $x:ident, same) => { Rows::from($x) };
    (@rows $x:ident, single, $exact:ty) => { Rows::from($x.mapv(f32::from)) };
    (@rows $x:ident, double, $exact:ty) => { Rows::from($x.mapv(f64::from)) };
    (@rows $x:ident, rounded) => { Rows::from($x.mapv(Number::to_f64)) };
    (@f64 $value:ident, same) => { f64::from($value) };
    (@f64 $value:ident, single, $exact:ty) => { f64::from($value) };
    (@f64 $value:ident, double, $exact:ty) => { f64::from($value) };
    (@f64 $value:ident, rounded) => { $value as f64 };
}
numbers!(
    f32 => same, f64 => same,
    i8 => single via f32, u8 => single via f32, i16 => single via f32, u16 => single via f32,
    bool => single via f32,
    i32 => double via f64, u32 => double via f64,
    i64 => rounded, u64 => rounded, isize => rounded, usize => rounded
);

impl<S: Data<Elem = T>, T: Number> ToRows for ArrayBase<S, Ix2> {
    fn to_rows(&self) -> Rows {
        T::rows(self.view())
    }
}

impl ToRows for Rows {
    fn to_rows(&self) -> Rows {
        self.clone()
    }
}

impl<X: ToRows + ?Sized> ToRows for &X {
    fn to_rows(&self) -> Rows {
        (**self).to_rows()
    }
}

/// One column.
fn column<T: Number>(y_n: ArrayView1<'_, T>) -> Array2<f64> {
    y_n.mapv(T::to_f64).insert_axis(Axis(1))
}

impl<S: Data<Elem = T>, T: Number> ToTargets for ArrayBase<S, Ix1> {
    type Predicted = ndarray::Array1<f64>;
    fn to_targets(&self) -> Array2<f64> {
        column(self.view())
    }
}

impl<S: Data<Elem = T>, T: Number> ToTargets for ArrayBase<S, Ix2> {
    type Predicted = Array2<f64>;
    fn to_targets(&self) -> Array2<f64> {
        self.mapv(T::to_f64)
    }
}

impl<T: Number> ToTargets for [T] {
    type Predicted = ndarray::Array1<f64>;
    fn to_targets(&self) -> Array2<f64> {
        column(ArrayView1::from(self))
    }
}

impl<T: Number> ToTargets for Vec<T> {
    type Predicted = ndarray::Array1<f64>;
    fn to_targets(&self) -> Array2<f64> {
        self.as_slice().to_targets()
    }
}

impl<T: Number, const N: usize> ToTargets for [T; N] {
    type Predicted = ndarray::Array1<f64>;
    fn to_targets(&self) -> Array2<f64> {
        self.as_slice().to_targets()
    }
}

impl<Y: ToTargets + ?Sized> ToTargets for &Y {
    type Predicted = Y::Predicted;
    fn to_targets(&self) -> Array2<f64> {
        (**self).to_targets()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, s};

    #[test]
    fn every_number_and_layout_is_read() {
        let expected = array![[1.0, 0.0], [0.0, 1.0]];
        assert_eq!(
            array![[true, false], [false, true]].to_rows(),
            Rows::F32(expected.mapv(|v: f64| v as f32))
        );
        assert_eq!(
            array![[1_i32, 0], [0, 1]].to_rows(),
            Rows::F64(expected.clone())
        );
        assert_eq!(
            array![[1_u64, 0], [0, 1]].to_rows(),
            Rows::F64(expected.clone())
        );
        let wide = array![[1.0_f32, 9.0, 0.0, 9.0], [0.0, 9.0, 1.0, 9.0]];
        let view = wide.slice(s![.., ..;2]);
        assert_eq!(
            ToRows::to_rows(&view),
            Rows::F32(expected.mapv(|v| v as f32))
        );
        let transposed = array![[1.0, 2.0], [3.0, 4.0]];
        assert_eq!(
            transposed.t().to_rows(),
            Rows::F64(array![[1.0, 3.0], [2.0, 4.0]])
        );
        assert_eq!(
            array![[9_007_199_254_740_992_i64]].to_rows(),
            Rows::F64(array![[2_f64.powi(53)]])
        );
    }

    #[test]
    fn targets_are_columns() {
        let expected = array![[3.0], [4.0]];
        assert_eq!(array![3_u8, 4].to_targets(), expected);
        assert_eq!(vec![3.0_f32, 4.0].to_targets(), expected);
        assert_eq!(ToTargets::to_targets(&[3_i64, 4]), expected);
        assert_eq!(array![[3.0, 4.0]].slice(s![0, ..]).to_targets(), expected);
        assert_eq!(
            array![[3, 5], [4, 6]].to_targets(),
            array![[3.0, 5.0], [4.0, 6.0]]
        );
    }
}
