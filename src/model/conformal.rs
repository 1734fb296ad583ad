//! Split conformal prediction: what a regression was off by on rows that it did not see.

#[cfg(test)]
mod tests;

use crate::{Error, Result, error::Remedy, store::Store, text::counted};
use ndarray::{Array1, Array2};

/// What a regression was off by on rows that it did not see: split conformal prediction (Vovk,
/// Gammerman & Shafer 2005; Lei, G'Sell, Rinaldo, Tibshirani & Wasserman 2018, section 2.2).
///
/// If new rows come as these did, an interval of level p holds a share of at least p of their
/// targets, whatever the model, the map and the law of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformal {
    /// `|y - predicted|`, over the predicted standard deviation where the model has one, ascending,
    /// `[t, m]`.
    errors_tm: Array2<f64>,
}

impl Conformal {
    /// From the errors of each target on m rows.
    pub(crate) fn from_errors(mut errors_t: Vec<Vec<f64>>) -> Result<Self> {
        let (targets, rows) = (errors_t.len(), errors_t.first().map_or(0, Vec::len));
        if rows == 0 {
            return Err(Error::shape(
                "there are no rows to calibrate intervals on; give at least one",
            ));
        }
        for errors in &mut errors_t {
            errors.sort_unstable_by(f64::total_cmp);
        }
        let errors_tm = Array2::from_shape_vec((targets, rows), errors_t.concat())
            .map_err(|e| Error::shape(e.to_string()))?;
        Ok(Self { errors_tm })
    }

    /// Rows that it was calibrated on.
    pub fn rows(&self) -> usize {
        self.errors_tm.ncols()
    }

    /// Half the width of an interval of `level` for each target: the `ceil((m + 1) level)`-th
    /// smallest error. Errors when m rows do not reach so high a level.
    pub(crate) fn half_width_t(&self, level: f64) -> Result<Array1<f64>> {
        let m = self.rows();
        // A last place too much must not ask for one more row.
        let rank = ((m + 1) as f64 * level * (1.0 - f64::EPSILON)).ceil() as usize;
        if rank > m {
            let needs = (level / (1.0 - level)).ceil();
            return Err(Error::parameter(format!(
                "{} give no interval of level {level}; it takes {needs}",
                counted(m, "calibrated row")
            ))
            .help(Remedy::words(
                "calibrate on more rows, or ask for a lower level",
            )));
        }
        Ok(self.errors_tm.column(rank.max(1) - 1).to_owned())
    }

    pub(crate) fn write(&self, store: &mut Store) {
        store.put_f64("conformal", self.errors_tm.view());
    }

    pub(crate) fn read(store: &Store, targets: usize) -> Result<Option<Self>> {
        if !store.has("conformal") {
            return Ok(None);
        }
        let errors_tm = store.f64("conformal")?;
        let ascends = |row: ndarray::ArrayView1<'_, f64>| {
            row.iter().all(|&e| e >= 0.0) && row.windows(2).into_iter().all(|w| w[0] <= w[1])
        };
        let rows = errors_tm.rows();
        if errors_tm.nrows() != targets || errors_tm.ncols() == 0 || !rows.into_iter().all(ascends)
        {
            return Err(Error::format(
                "the errors of calibration are not those of every target in ascending order",
            ));
        }
        Ok(Some(Self { errors_tm }))
    }
}
