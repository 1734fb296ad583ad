//! Sums over rows that merge, subtract, and serialise to bytes.

mod any_sums;
mod embedding;
mod held_out;
mod ridge;
mod rows_to_sum;

pub use any_sums::{AnySums, OneOfSums};
pub use embedding::Embedding;
pub use held_out::HeldOutSums;
pub use ridge::RidgeSums;
pub use rows_to_sum::{ModelContext, RowsToSum};

pub use crate::normal::{Keep, Resume};
pub(crate) use crate::normal::{check_all_there, keeping};

use crate::{Error, Result, normal::NormalEquations, store::Store};
use std::fmt::Debug;

/// The kind in the header of serialised sums.
const KIND: &str = "sums";
/// The property that holds [`Sums::NAME`].
const NAME: &str = "sums";
/// The version of serialised sums, and its property. A reader rejects later versions.
const VERSION: u32 = 1;
const VERSION_NAME: &str = "sums_version";

/// Sums over rows, which can be merged with and subtracted from each other.
///
/// They move between processes and machines as bytes: [`Self::to_bytes`] returns a safetensors
/// file, the same bytes for the same sums, with numbers as little-endian f64 and the lower triangle
/// of each Gram matrix. `docs/long-runs.md` lists its arrays.
pub trait Sums: Clone + Debug + Send + Sync + Sized {
    /// The name of this kind of sums in serialised bytes.
    const NAME: &'static str;

    /// Number of rows.
    fn rows(&self) -> u64;

    /// Adds the sums of other rows. Errors if the shapes differ.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Subtracts the sums of some of the rows. Errors if the shapes differ or the other sums have
    /// more rows.
    fn subtract(&mut self, other: &Self) -> Result<()>;

    /// Multiplies the weight of every row by `share`, from 0 to 1: exponential forgetting.
    fn fade(&mut self, share: f64);

    /// Sums of the same shape, of no rows. Errors as [`Self::subtract`] does.
    fn of_no_rows(&self) -> Result<Self> {
        let mut none = self.clone();
        none.subtract(self)?;
        Ok(none)
    }

    /// Checks that a model can be fitted: errors with [`Error::Shape`] if there are no rows, and
    /// with [`Error::Data`] if all of them have weight 0.
    fn check(&self) -> Result<()>;

    /// Returns whether the sums have `features` features and `outputs` fitted columns.
    fn are_of(&self, features: usize, outputs: usize) -> bool;

    /// Writes the sums into a store.
    fn write(&self, store: &mut Store);

    /// Reads what [`Self::write`] wrote. Errors with [`Error::Format`], [`Error::Missing`] or
    /// [`Error::Shape`] on anything else.
    fn read(store: &Store) -> Result<Self>;

    /// The sums as bytes.
    ///
    /// ```
    /// use bochner::{models::Sums, solve::NormalEquations};
    /// let sums = NormalEquations::zero(3, 1);
    /// let bytes = Sums::to_bytes(&sums)?;
    /// assert_eq!(<NormalEquations as Sums>::from_bytes(&bytes)?, sums);
    /// # Ok::<(), bochner::Error>(())
    /// ```
    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut store = Store::default();
        self.write(&mut store);
        mark::<Self>(&mut store);
        store.to_bytes(KIND)
    }

    /// Reads bytes of [`Self::to_bytes`]. Errors with [`Error::Format`] on other bytes, on a later
    /// version, or on another kind of sums.
    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read_marked(&Store::from_bytes(bytes, KIND)?)
    }
}

/// Writes the kind and the version of the sums into the store.
pub(super) fn mark<S: Sums>(store: &mut Store) {
    store.set(NAME, S::NAME);
    store.set(VERSION_NAME, VERSION);
}

/// Reads sums that [`mark`] marked. Errors on others.
pub(super) fn read_marked<S: Sums>(store: &Store) -> Result<S> {
    let version = store.text(VERSION_NAME)?;
    if !matches!(version.parse::<u32>(), Ok(v) if (1..=VERSION).contains(&v)) {
        return Err(Error::format(format!(
            "sums of version {version}; this bochner reads up to {VERSION}: use a newer one"
        )));
    }
    let found = store.text(NAME)?;
    if found == S::NAME {
        S::read(store)
    } else {
        Err(Error::format(format!(
            "these are {found}, not {}; name sums of the same learner",
            S::NAME
        )))
    }
}

/// Errors if there are no rows, or if their total weight is 0.
pub(super) fn check_some(rows: u64, weight: f64) -> Result<()> {
    match () {
        () if rows == 0 => Err(Error::shape("the data has no rows")),
        () if weight == 0.0 => Err(Error::data("weights", "all rows have weight 0")),
        () => Ok(()),
    }
}

impl Sums for NormalEquations {
    const NAME: &'static str = "normal-equations";

    fn rows(&self) -> u64 {
        self.rows
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        Self::merge(self, other)
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        Self::subtract(self, other)
    }

    fn fade(&mut self, share: f64) {
        Self::fade(self, share);
    }

    fn check(&self) -> Result<()> {
        check_some(self.rows, self.weight)
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.zty_dt.dim() == (features, outputs)
    }

    fn write(&self, store: &mut Store) {
        Self::write(self, store);
    }

    fn read(store: &Store) -> Result<Self> {
        Self::read(store)
    }
}

/// Adds two row counts. Errors with [`Error::Format`] beyond 64 bits, which happens in damaged
/// files only.
pub(crate) fn rows_together(own: u64, other: u64) -> Result<u64> {
    own.checked_add(other).ok_or_else(|| {
        Error::format(format!(
            "sums of {own} and {other} rows have more rows together than can be counted; one of \
             the files is damaged"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::{AnySums, HeldOutSums};
    use ndarray::{Array, Array1, Array2};

    /// Sums in which all numbers differ and none is round.
    fn numbers(features: usize, targets: usize, from: f64) -> NormalEquations {
        let entry = |k: usize| (from + k as f64).sqrt();
        let gram_dd = Array2::from_shape_fn((features, features), |(i, j)| {
            if j <= i { entry(i * features + j) } else { 0.0 }
        });
        NormalEquations {
            rows: 7 + from as u64,
            weight: 9.5 + from,
            log_weight: -2.5 - from,
            weight_squares: 13.25 + from,
            gram_dd,
            zty_dt: Array2::from_shape_fn((features, targets), |(i, k)| -entry(i + 100 * k)),
            z_sum_d: Array1::from_shape_fn(features, |i| entry(i + 1000)),
            y_sum_t: Array1::from_shape_fn(targets, |k| entry(k + 2000)),
            y_square_t: Array1::from_shape_fn(targets, |k| entry(k + 3000)),
            rest: Vec::new(),
        }
    }

    #[test]
    fn bytes_bring_every_bit_back_and_grow_with_the_triangle() {
        for (features, targets) in [(1, 0), (1, 1), (5, 2), (40, 3)] {
            let sums = numbers(features, targets, 3.0);
            let bytes = Sums::to_bytes(&sums).expect("writes");
            let read: NormalEquations = Sums::from_bytes(&bytes).expect("reads");
            assert_eq!(read, sums, "{features} {targets}");
            assert_eq!(bytes, Sums::to_bytes(&read).expect("writes"), "the same");
        }
        let bytes = |features| Sums::to_bytes(&numbers(features, 1, 1.0)).expect("writes");
        // 8 D (D + 1) / 2 bytes and a small header.
        let (small, large) = (bytes(100).len(), bytes(200).len());
        let triangles = 4 * (200 * 201 - 100 * 101);
        assert!(large - small - triangles < 4000, "{small} {large}");
        let held = HeldOutSums {
            fitted: numbers(6, 2, 1.0),
            held_out: Some(numbers(6, 2, 50.0)),
        };
        for held in [
            HeldOutSums {
                held_out: None,
                ..held.clone()
            },
            held,
        ] {
            let bytes = held.to_bytes().expect("writes");
            assert_eq!(HeldOutSums::from_bytes(&bytes).expect("reads"), held);
            let any = AnySums::HeldOut(Box::new(held));
            let bytes = any.to_bytes().expect("writes");
            assert_eq!(AnySums::from_bytes(&bytes).expect("reads"), any);
        }
    }

    /// Files without sums of squared weights imply them only if all weights are 1.
    #[test]
    fn older_files_know_squares_of_ones_alone() {
        for (weight, known) in [(10.0, Some(10.0)), (12.5, None)] {
            let sums = NormalEquations {
                weight,
                ..numbers(4, 1, 3.0)
            };
            let mut store = Store::default();
            sums.write(&mut store);
            let mut older = Store::default();
            for (name, value) in store.properties() {
                if !name.starts_with("weight_squares") {
                    older.set(name, value);
                }
            }
            for name in ["gram_triangle", "z_sum", "y_sum", "y_square"] {
                let array = store.f64(name).expect("an array");
                older.put_vector(name, &array.iter().copied().collect::<Vec<_>>());
            }
            older.put_f64("zty", store.f64("zty").expect("an array").view());
            let read = NormalEquations::read(&older).expect("reads");
            let found = (!read.weight_squares.is_nan()).then_some(read.weight_squares);
            assert_eq!(found, known);
        }
    }

    /// All sums are multiplied by the share, those of squared weights by its square, and rounding
    /// errors likewise.
    #[test]
    fn rows_of_the_past_fade() {
        let whole = NormalEquations {
            rest: (0..4 + 4 + 4 + 2 + 3)
                .map(|k| 1e-17 * f64::from(k))
                .collect(),
            ..numbers(4, 1, 3.0)
        };
        let mut faded = whole.clone();
        faded.fade(0.25);
        assert_eq!(faded.rows, whole.rows);
        assert_eq!(faded.gram_dd, &whole.gram_dd * 0.25);
        assert_eq!(faded.zty_dt, &whole.zty_dt * 0.25);
        assert_eq!(faded.z_sum_d, &whole.z_sum_d * 0.25);
        assert_eq!(faded.y_sum_t, &whole.y_sum_t * 0.25);
        assert_eq!(faded.y_square_t, &whole.y_square_t * 0.25);
        assert_eq!(faded.weight, whole.weight * 0.25);
        assert_eq!(faded.weight_squares, whole.weight_squares * 0.0625);
        let logs = whole.log_weight + whole.rows as f64 * 0.25_f64.ln();
        assert!((faded.log_weight - logs).abs() < 1e-12);
        let last = whole.rest.len() - 1;
        for (k, (a, b)) in faded.rest.iter().zip(&whole.rest).enumerate() {
            let share = [0.25, 1.0, 0.0625][(k + 2).saturating_sub(last).min(2)];
            let share = if k + 1 == last { 1.0 } else { share };
            assert_eq!(*a, b * share, "{k}");
        }
    }

    /// Merging in any order gives the same sums except for rounding, and counts each part once.
    #[test]
    fn bytes_merge_in_any_order() {
        let parts: Vec<_> = (0..4).map(|k| numbers(8, 2, 10.0 * f64::from(k))).collect();
        let bytes = parts.iter().map(|p| Sums::to_bytes(p).expect("writes"));
        let bytes: Vec<_> = bytes.collect();
        let read = |k: usize| -> NormalEquations { Sums::from_bytes(&bytes[k]).expect("reads") };
        let merged = |order: [usize; 4]| {
            let mut all = read(order[0]);
            for &k in &order[1..] {
                let other = read(k);
                all.merge(&other).expect("merges");
                all = Sums::from_bytes(&Sums::to_bytes(&all).expect("writes")).expect("reads");
            }
            all
        };
        let mut pairs = (read(0), read(2));
        pairs.0.merge(&read(1)).expect("merges");
        pairs.1.merge(&read(3)).expect("merges");
        pairs.0.merge(&pairs.1).expect("merges");
        let apart = |a: &NormalEquations, b: &NormalEquations| {
            let each = [(&a.gram_dd, &b.gram_dd), (&a.zty_dt, &b.zty_dt)];
            let worst = each.map(|(a, b)| (a - b).fold(0.0_f64, |m, v| m.max(v.abs())));
            assert_eq!((a.rows, a.weight), (b.rows, b.weight));
            assert!(worst.iter().all(|w| *w < 1e-13), "{worst:?}");
        };
        let one = merged([0, 1, 2, 3]);
        assert_eq!(one.rows, parts.iter().map(|p| p.rows).sum::<u64>());
        let expected: Array<f64, _> = parts
            .iter()
            .map(|p| &p.zty_dt)
            .fold(Array2::zeros((8, 2)), |sum: Array2<f64>, part| sum + part);
        assert!((&one.zty_dt - &expected).iter().all(|d| d.abs() < 1e-13));
        apart(&merged([3, 1, 0, 2]), &one);
        apart(&pairs.0, &one);
    }

    #[test]
    fn other_sums_versions_and_bytes_are_refused_by_name() {
        let sums = numbers(4, 1, 1.0);
        let bytes = Sums::to_bytes(&sums).expect("writes");
        let says = |result: Result<()>, part: &str| {
            let message = result.expect_err("refused").to_string();
            assert!(message.contains(part), "no {part:?} in {message:?}");
            assert!(!message.contains('\n'));
        };
        let as_held = HeldOutSums::from_bytes(&bytes);
        says(
            as_held.map(|_| ()),
            "these are normal-equations, not held-out-sums",
        );
        let read = |bytes: &[u8]| <NormalEquations as Sums>::from_bytes(bytes).map(|_| ());
        for end in [0, 7, 200, bytes.len() - 1] {
            says(read(&bytes[..end]), "truncated");
        }
        let mut store = Store::default();
        sums.write(&mut store);
        store.set(NAME, NormalEquations::NAME);
        store.set(VERSION_NAME, 2);
        says(read(&store.to_bytes(KIND).expect("writes")), "version 2");
        store.set(VERSION_NAME, 1);
        store.put_vector("gram_triangle", &[0.0; 9]);
        says(
            read(&store.to_bytes(KIND).expect("writes")),
            "gram_triangle",
        );
        says(
            read(&sums.to_bytes().expect("writes")),
            "holds normal-equations, not sums",
        );
        let (mut any, other) = (
            AnySums::Normal(Box::new(sums.clone())),
            AnySums::HeldOut(Box::new(HeldOutSums {
                fitted: sums.clone(),
                held_out: None,
            })),
        );
        says(any.merge(&other), "normal-equations and held-out-sums");
        says(any.subtract(&other), "different learners");
        let mut wide = sums;
        says(wide.merge(&numbers(5, 1, 1.0)), "do not merge");
    }

    /// The header of a file may claim any number of rows.
    #[test]
    fn rows_beyond_counting_are_refused() {
        assert_eq!(
            super::rows_together(u64::MAX - 1, 1).expect("counts"),
            u64::MAX
        );
        assert!(super::rows_together(u64::MAX, 1).is_err());
        let mut sums = numbers(2, 1, 1.0);
        let before = sums.clone();
        sums.rows = u64::MAX;
        let error = sums.merge(&before).expect_err("too many").to_string();
        assert!(error.contains("more rows"), "{error}");
        assert_eq!(sums.gram_dd, before.gram_dd, "nothing was added");
    }
}
