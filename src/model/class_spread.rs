//! Covariance of the scores of several classes.

use crate::{Error, Result, store::Store};
use ndarray::{Array1, Array2, ArrayView1, s};

/// The covariance of the scores of C classes along the U = C - 1 directions among them that a
/// softmax depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSpread {
    /// The directions, orthonormal and orthogonal to 1, `[C, U]`.
    pub turn_cu: Array2<f64>,
    /// With r(x) = root'z(x) - shift split into U parts of M numbers, the covariance of directions
    /// a and b is `r_a'r_b`. `[D, U M]`.
    pub root_dm: Array2<f64>,
    /// `[U M]`.
    pub shift_m: Array1<f64>,
    /// Whether directions are independent: all covariances between them are 0.
    pub apart: bool,
}

/// Key in model files.
const ROOT: &str = "class_spread_root";

impl ClassSpread {
    pub(crate) fn write(&self, store: &mut Store) {
        store.put_f64("class_spread_turn", self.turn_cu.view());
        store.put_f64(ROOT, self.root_dm.view());
        store.put_vector("class_spread_shift", &self.shift_m.to_vec());
        store.set("class_spread_apart", self.apart);
    }

    /// Whether a file has one.
    pub(crate) fn is_in(store: &Store) -> bool {
        store.has(ROOT)
    }

    /// Reads the entries of [`Self::write`], for these numbers of features and classes, if present.
    pub(crate) fn read(store: &Store, (features, classes): (usize, usize)) -> Result<Option<Self>> {
        if !Self::is_in(store) {
            return Ok(None);
        }
        let (turn_cu, root_dm) = (store.f64("class_spread_turn")?, store.f64(ROOT)?);
        let directions = classes.saturating_sub(1);
        let fits = turn_cu.dim() == (classes, directions) && root_dm.nrows() == features;
        let length = root_dm.ncols();
        if directions == 0 || length == 0 || !fits || !length.is_multiple_of(directions) {
            return Err(Error::format(format!(
                "a spread of shape {:?} does not go with {features} features of {classes} classes",
                root_dm.dim()
            )));
        }
        Ok(Some(Self {
            turn_cu,
            root_dm,
            shift_m: store.vector("class_spread_shift", length)?,
            apart: store.get("class_spread_apart")?,
        }))
    }

    /// The Cholesky factor of the covariance along the directions, `[U, U]`, from `root'z(x)` of
    /// one row. Directions that do not vary have columns of 0.
    pub(crate) fn factor(&self, rooted_m: ArrayView1<'_, f32>) -> Array2<f64> {
        let directions = self.turn_cu.ncols();
        let length = self.shift_m.len() / directions;
        let r_m = rooted_m.mapv(f64::from) - &self.shift_m;
        let part = |a: usize| r_m.slice(s![a * length..(a + 1) * length]);
        let mut lower = Array2::zeros((directions, directions));
        for a in 0..directions {
            let first = if self.apart { a } else { 0 };
            for b in first..=a {
                lower[[a, b]] = part(a).dot(&part(b));
            }
        }
        if self.apart {
            lower.mapv_inplace(f64::sqrt);
            return lower;
        }
        let least = 1e-12 * lower.diag().sum();
        for a in 0..directions {
            for b in 0..=a {
                let known: f64 = (0..b).map(|c| lower[[a, c]] * lower[[b, c]]).sum();
                let left = lower[[a, b]] - known;
                lower[[a, b]] = match (a == b, lower[[b, b]] > 0.0) {
                    (true, _) if left > least => left.sqrt(),
                    (false, true) => left / lower[[b, b]],
                    _ => 0.0,
                };
            }
        }
        lower
    }
}
