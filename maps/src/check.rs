//! Parity: every op against its f64 reference, on any device, at sizes around every tile edge. The
//! check of an op lies beside it, in `ops/NAME/check.rs`; this is what they share.
//!
//! The integration tests and `bochner bench --check` run the same suites. Outputs hold NaN before
//! each run, so that an element nobody writes cannot pass; bounds are derived from the size of the
//! sums; and every suite has a negative control: references that are wrong in one place and must be
//! noticed.

use crate::{
    Device, Matrix, Result,
    form::{Tile, Way, tile},
    seed::{Seed, Stream},
};
use ndarray::{Array2, ArrayView2};

/// Half a unit in the last place of 1 in f32.
pub(crate) const EPS: f64 = 1.0 / 16_777_216.0;

/// What a suite found on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Number of comparisons.
    pub cases: usize,
    /// The largest ratio of error to bound; below 1 is right.
    pub worst: f64,
    /// Where that was.
    pub worst_case: String,
    /// Number of wrong references.
    pub controls: usize,
    /// The smallest ratio that a wrong reference reached; above 1 is noticed.
    pub control: f64,
    /// Which wrong reference that was.
    pub control_case: String,
}

impl Outcome {
    pub(crate) fn new() -> Self {
        Self {
            cases: 0,
            worst: 0.0,
            worst_case: String::new(),
            controls: 0,
            control: f64::INFINITY,
            control_case: String::new(),
        }
    }

    /// Whether everything agreed and every wrong reference was noticed, with at least one of each.
    pub fn passed(&self) -> bool {
        self.cases > 0 && self.worst < 1.0 && self.controls > 0 && self.control > 1.0
    }

    pub(crate) fn case(&mut self, ratio: f64, name: impl FnOnce() -> String) {
        self.cases += 1;
        // NaN is worse than anything.
        if ratio.is_nan() || ratio >= self.worst {
            self.worst = if ratio.is_nan() { f64::INFINITY } else { ratio };
            self.worst_case = name();
        }
    }

    pub(crate) fn control(&mut self, ratio: f64, name: impl FnOnce() -> String) {
        self.controls += 1;
        if ratio.is_nan() || ratio < self.control {
            self.control = if ratio.is_nan() { 0.0 } else { ratio };
            self.control_case = name();
        }
    }
}

/// How many of an op's variants a check goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// On software adapters, whose drivers take a second of processors to compile a variant, one
    /// tile shape for each branch that the text of a shader has, and each nonlinearity in some of
    /// them; all else as [`Self::Whole`]. A fault in a branch is seen as there, one that only two
    /// of them together have may not be.
    Short,
    /// Every tile shape with every nonlinearity.
    Whole,
}

impl Extent {
    /// What tests take: the short one, unless BOCHNER_WHOLE is 1.
    pub fn of_tests() -> Self {
        match std::env::var("BOCHNER_WHOLE").as_deref() {
            Ok("1") => Self::Whole,
            _ => Self::Short,
        }
    }

    /// Whether something is left out on this device.
    pub(crate) fn is_short_on(self, device: &Device) -> bool {
        self == Self::Short && device.gpu().is_ok_and(|gpu| gpu.is_software())
    }
}

/// Rows, depth and frequencies around every tile edge; the last are more rows of tiles than a band
/// has.
pub(crate) const SIZES: &[(usize, usize, usize)] = &[
    (1, 1, 1),
    (1, 784, 2),
    (3, 5, 7),
    (7, 17, 63),
    (8, 16, 64),
    (9, 15, 65),
    (63, 64, 31),
    (64, 33, 64),
    (65, 4, 129),
    (131, 101, 67),
    (257, 8, 50),
    (1153, 6, 257),
];

/// The tile shapes to check of those that a device has and tells apart: the CPU has one way.
pub(crate) fn menu(device: &Device, extent: Extent, all: &[Tile]) -> Vec<Tile> {
    match device {
        Device::Gpu(gpu) => {
            let short = extent.is_short_on(device);
            let able = all.iter().filter(|tile| tile.check(gpu).is_ok());
            able.filter(|tile| !short || tile::BRANCHES.contains(tile))
                .copied()
                .collect()
        }
        Device::Cpu(_) => all[..1].into(),
    }
}

/// The forms to check at size number `at` with tile shape number `tile`: all on the CPU, which has
/// no tile shapes; two on a GPU, in turn, so that every shape of the menu meets every form at
/// several sizes without compiling and running all of them; two of a shape, in turn, where it is
/// short.
pub(crate) fn in_turn<T: Clone>(
    device: &Device,
    extent: Extent,
    forms: &[T],
    [tile, at]: [usize; 2],
) -> Vec<T> {
    let numbers = if !device.is_gpu() {
        (0..forms.len()).collect()
    } else if extent.is_short_on(device) {
        vec![2 * tile + at % 2]
    } else {
        vec![2 * at, 2 * at + 1]
    };
    numbers
        .into_iter()
        .map(|i| forms[i % forms.len()].clone())
        .collect()
}

/// A matrix of NaN.
pub(crate) fn poisoned(device: &Device, rows: usize, cols: usize) -> Result<Matrix> {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view())
}

/// Standard normal numbers, the same on every platform.
pub fn normal(rows: usize, cols: usize, block: u64) -> Array2<f32> {
    let mut draws = Seed(7).stream(Stream::Sample, block);
    Array2::from_shape_simple_fn((rows, cols), || draws.normal() as f32)
}

/// The Euclidean norm of each row.
pub(crate) fn norms(x: &Array2<f32>) -> Vec<f64> {
    let square = |v: &f32| f64::from(*v).powi(2);
    let rows = x.rows().into_iter();
    rows.map(|row| row.iter().map(square).sum::<f64>().sqrt())
        .collect()
}

/// The largest ratio of error to allowed error; a NaN counts as infinite, as do different shapes.
pub fn worst(
    got: ArrayView2<'_, f32>,
    reference: ArrayView2<'_, f64>,
    allowed: impl Fn(usize, usize) -> f64,
) -> f64 {
    if got.dim() != reference.dim() {
        return f64::INFINITY;
    }
    let ratio = |((i, j), &g): ((usize, usize), &f32)| {
        let ratio = (f64::from(g) - reference[[i, j]]).abs() / allowed(i, j);
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    };
    got.indexed_iter().map(ratio).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_passes_only_when_all_agree_and_every_control_is_noticed() {
        let mut outcome = Outcome::new();
        assert!(!outcome.passed(), "nothing was compared");
        outcome.case(0.5, || "a".into());
        assert!(!outcome.passed(), "no wrong reference was tried");
        let mut unseen = Outcome::new();
        unseen.control(3.0, || "b".into());
        assert!(!unseen.passed(), "nothing right was compared");
        outcome.control(3.0, || "b".into());
        assert!(outcome.passed());
        let mut silent = outcome.clone();
        silent.control(0.9, || "c".into());
        assert!(!silent.passed() && silent.control_case == "c");
        let mut wrong = outcome.clone();
        wrong.case(1.5, || "d".into());
        wrong.case(0.1, || "e".into());
        assert!(!wrong.passed() && wrong.worst_case == "d");
        outcome.case(f64::NAN, || "f".into());
        assert!(!outcome.passed());
    }
}
