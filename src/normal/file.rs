//! Serialization of sums.

use super::{KIND, NormalEquations};
use crate::{
    Error, Result,
    linalg::symmetric::{lower_entries, of_lower_entries},
    store::Store,
};
use ndarray::Array2;
use std::path::Path;

/// Lower triangle of the Gram matrix.
const TRIANGLE: &str = "gram_triangle";
/// Its compensation (rounding errors): the entries above the diagonal, row by row.
const ABOVE: &str = "gram_rest";
/// Compensation of the other sums.
const REST: &str = "rest";
/// Sum of logarithms of weights, as text, because JSON cannot represent infinite numbers.
const LOG_WEIGHT: &str = "log_weight";
/// Sum of squared weights, also as text, and its compensation.
const WEIGHT_SQUARES: &str = "weight_squares";
const SQUARES_REST: &str = "weight_squares_rest";

impl NormalEquations {
    /// Writes each sum under its name, the Gram matrix as its lower triangle, row by row.
    pub(crate) fn write(&self, store: &mut Store) {
        store.set("rows", self.rows);
        store.set("weight", self.weight);
        store.put_vector(TRIANGLE, &lower_entries(&self.gram_dd));
        let rows = self.gram_dd.rows().into_iter().enumerate();
        let above = rows.flat_map(|(i, row)| row.into_iter().skip(i + 1).copied());
        if above.clone().any(|rest| rest != 0.0) {
            store.put_vector(ABOVE, &above.collect::<Vec<_>>());
        }
        if let Some((&of_squares, rest)) = self.rest.split_last() {
            store.put_vector(REST, rest);
            store.set(SQUARES_REST, of_squares.to_string());
        }
        store.put_f64("zty", self.zty_dt.view());
        store.set(LOG_WEIGHT, self.log_weight.to_string());
        store.set(WEIGHT_SQUARES, self.weight_squares.to_string());
        for (name, vector) in [
            ("z_sum", &self.z_sum_d),
            ("y_sum", &self.y_sum_t),
            ("y_square", &self.y_square_t),
        ] {
            store.put_vector(name, &vector.to_vec());
        }
    }

    /// Reads a file of [`Self::save`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let store = Store::load(KIND, path)?;
        Self::read(&store).map_err(|e| Error::in_model(path, &e))
    }

    /// Reads the entries of [`Self::write`].
    pub(crate) fn read(store: &Store) -> Result<Self> {
        let zty_dt = store.f64("zty")?;
        let (features, targets) = zty_dt.dim();
        // Older files have the whole square.
        let gram_dd = if store.has(TRIANGLE) {
            square(store, features)?
        } else {
            store.f64("gram")?
        };
        if gram_dd.dim() != (features, features) {
            return Err(Error::format(format!(
                "a Gram matrix of shape {:?} does not go with {features} features",
                gram_dd.dim()
            )));
        }
        let rows: u64 = store.get("rows")?;
        // Files of versions without weights do not have it.
        let weight = if store.has_property("weight") {
            store.get("weight")?
        } else {
            rows as f64
        };
        let (log_weight, weight_squares) = if weight == rows as f64 {
            (0.0, weight)
        } else {
            (f64::NAN, f64::NAN)
        };
        let log_weight = number(store, LOG_WEIGHT)?.unwrap_or(log_weight);
        let weight_squares = number(store, WEIGHT_SQUARES)?.unwrap_or(weight_squares);
        let beside = features * (targets + 1) + 2 * targets + 2;
        let rest = if store.has(REST) {
            let mut rest = store.vector(REST, features + beside)?.to_vec();
            rest.push(number(store, SQUARES_REST)?.unwrap_or(0.0));
            rest
        } else {
            Vec::new()
        };
        Ok(Self {
            rows,
            weight,
            log_weight,
            weight_squares,
            gram_dd,
            rest,
            zty_dt,
            z_sum_d: store.vector("z_sum", features)?,
            y_sum_t: store.vector("y_sum", targets)?,
            y_square_t: store.vector("y_square", targets)?,
        })
    }
}

/// Parses a number stored as text, if present.
fn number(store: &Store, name: &str) -> Result<Option<f64>> {
    if !store.has_property(name) {
        return Ok(None);
    }
    let text = store.text(name)?;
    let problem = || Error::format(format!("{name} is {text:?}, no number"));
    text.parse().map(Some).map_err(|_| problem())
}

/// The lower triangle of a file expanded to a square, with its compensation if present.
fn square(store: &Store, features: usize) -> Result<Array2<f64>> {
    let entries = features
        .checked_add(1)
        .and_then(|f| f.checked_mul(features));
    let entries = entries.ok_or_else(|| Error::format("too many features for this machine"))?;
    let mut gram_dd = of_lower_entries(features, store.vector(TRIANGLE, entries / 2)?);
    if store.has(ABOVE) {
        let mut values = store.vector(ABOVE, entries / 2 - features)?.into_iter();
        for (i, mut row) in gram_dd.rows_mut().into_iter().enumerate() {
            for (entry, value) in row.iter_mut().skip(i + 1).zip(&mut values) {
                *entry = value;
            }
        }
    }
    Ok(gram_dd)
}
