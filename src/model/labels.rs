//! Class labels of type text, whole number, float or boolean; predictions have the type of the
//! input.

use crate::{Error, Result};
use ndarray::{Array2, ArrayBase, Data, Ix1};

/// A label as stored in a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Label<'a> {
    /// A number.
    Number(f64),
    /// Text.
    Text(&'a str),
}

/// Types of labels: `&str`, `String`, whole numbers, floats, `bool`.
pub trait IsLabel {
    /// Type of predicted labels: the same type, `String` for `&str`.
    type Owned: FromLabel;

    /// The stored label; `None` for a whole number that f64 cannot represent.
    fn label(&self) -> Option<Label<'_>>;
}

/// Types of predicted labels.
pub trait FromLabel: Sized {
    /// Name of the values of this type, for messages.
    const WHAT: &'static str;

    /// Converts the label to this type; `None` if it is not a value of it.
    fn from_label(label: Label<'_>) -> Option<Self>;
}

/// Labels in memory, one per row: slices, vectors and arrays of any type that implements
/// [`IsLabel`].
pub trait ToLabels {
    /// Type of predicted labels.
    type Owned: FromLabel;

    /// One column of numbers, and the names that they index if the labels are text.
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)>;
}

impl IsLabel for &str {
    type Owned = String;
    fn label(&self) -> Option<Label<'_>> {
        Some(Label::Text(self))
    }
}

impl IsLabel for String {
    type Owned = Self;
    fn label(&self) -> Option<Label<'_>> {
        Some(Label::Text(self))
    }
}
impl FromLabel for String {
    const WHAT: &'static str = "text";
    fn from_label(label: Label<'_>) -> Option<Self> {
        match label {
            Label::Text(text) => Some(text.to_owned()),
            Label::Number(_) => None,
        }
    }
}

impl IsLabel for bool {
    type Owned = Self;
    fn label(&self) -> Option<Label<'_>> {
        Some(Label::Number(f64::from(u8::from(*self))))
    }
}
impl FromLabel for bool {
    const WHAT: &'static str = "booleans";
    fn from_label(label: Label<'_>) -> Option<Self> {
        match label {
            Label::Number(0.0) => Some(false),
            Label::Number(1.0) => Some(true),
            _ => None,
        }
    }
}

macro_rules! numeric_labels {
    ($what:literal, $held:expr, $($number:ty),*) => {$(
        #[allow(
            clippy::cast_lossless,
            reason = "one text serves types that f64 holds and types that it rounds"
        )]
        impl IsLabel for $number {
            type Owned = Self;
            fn label(&self) -> Option<Label<'_>> {
                let value = *self as f64;
                let held: fn(Self, f64) -> bool = $held;
                held(*self, value).then_some(Label::Number(value))
            }
        }
        #[allow(
            clippy::cast_lossless,
            reason = "one text serves types that f64 holds and types that it rounds"
        )]
        impl FromLabel for $number {
            const WHAT: &'static str = $what;
            fn from_label(label: Label<'_>) -> Option<Self> {
                let Label::Number(value) = label else {
                    return None;
                };
                let narrow = value as Self;
                (narrow as f64 == value).then_some(narrow)
            }
        }
    )*};
}
// The largest whole numbers round up to 2^63 or 2^64, which casts back to them, so that a round
// trip does not detect them.
numeric_labels!(
    "whole numbers of this size",
    |own, value| value as Self == own && value.abs() < 2_f64.powi(63),
    i8,
    i16,
    i32,
    i64,
    isize,
    u8,
    u16,
    u32,
    u64,
    usize
);
numeric_labels!("floats", |_, _| true, f32, f64);

/// Keeps numbers, and encodes text as indices of the sorted distinct labels.
fn encode<'a, L: IsLabel + 'a>(
    labels: impl Iterator<Item = &'a L> + Clone,
) -> Result<(Array2<f64>, Option<Vec<String>>)> {
    let mut names: Vec<&str> = Vec::new();
    let mut numbers = Vec::new();
    for (i, label) in labels.clone().enumerate() {
        match label.label() {
            Some(Label::Number(value)) => numbers.push(value),
            Some(Label::Text(text)) => names.push(text),
            None => {
                let problem = format!(
                    "label {i} (counted from 0) is a whole number that f64 does not hold; give such labels as text"
                );
                return Err(Error::data("y", problem));
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    let text = !names.is_empty();
    if text {
        let place = |text| names.binary_search(&text).unwrap_or_default() as f64;
        numbers.extend(labels.filter_map(|label| match label.label() {
            Some(Label::Text(text)) => Some(place(text)),
            _ => None,
        }));
    }
    let rows = numbers.len();
    let column = Array2::from_shape_vec((rows, 1), numbers);
    let column = column.map_err(|e| Error::shape(e.to_string()))?;
    let names = names.into_iter().map(str::to_owned).collect();
    Ok((column, text.then_some(names)))
}

impl<L: IsLabel> ToLabels for [L] {
    type Owned = L::Owned;
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)> {
        encode(self.iter())
    }
}

impl<L: IsLabel> ToLabels for Vec<L> {
    type Owned = L::Owned;
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)> {
        encode(self.iter())
    }
}

impl<L: IsLabel, const N: usize> ToLabels for [L; N] {
    type Owned = L::Owned;
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)> {
        encode(self.iter())
    }
}

impl<S: Data<Elem = L>, L: IsLabel> ToLabels for ArrayBase<S, Ix1> {
    type Owned = L::Owned;
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)> {
        encode(self.iter())
    }
}

impl<Y: ToLabels + ?Sized> ToLabels for &Y {
    type Owned = Y::Owned;
    fn to_labels(&self) -> Result<(Array2<f64>, Option<Vec<String>>)> {
        (**self).to_labels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_counted_in_order() {
        let (codes, names) = ["b", "a", "b", "c"].to_labels().expect("labels");
        assert_eq!(codes.column(0).to_vec(), [1.0, 0.0, 1.0, 2.0]);
        assert_eq!(names.expect("text"), ["a", "b", "c"]);
        let (codes, names) = vec![7_i64, -2].to_labels().expect("labels");
        assert_eq!((codes.column(0).to_vec(), names), (vec![7.0, -2.0], None));
    }

    #[test]
    fn only_what_a_type_holds_comes_back() {
        assert_eq!(u8::from_label(Label::Number(3.0)), Some(3));
        for no in [-1.0, 256.0, 0.5, f64::NAN] {
            assert_eq!(u8::from_label(Label::Number(no)), None, "{no}");
        }
        assert_eq!(bool::from_label(Label::Number(2.0)), None);
        assert_eq!(f32::from_label(Label::Number(0.5)), Some(0.5));
        assert_eq!(f64::from_label(Label::Text("a")), None);
        assert_eq!(String::from_label(Label::Number(1.0)), None);
        let far = [(1_i64 << 53) + 1];
        let message = far.to_labels().expect_err("not held").to_string();
        assert!(message.starts_with("y: label 0"), "{message}");
        assert!([i64::MAX].to_labels().is_err() && [u64::MAX].to_labels().is_err());
    }
}
