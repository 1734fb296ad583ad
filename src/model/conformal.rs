//! Conformal prediction: errors of a regression on unseen rows.

#[cfg(test)]
mod tests;

use crate::{Error, Result, error::Remedy, model::CalibratedOn, store::Store, text::counted};
use ndarray::{Array1, Array2, Axis};

/// Maximum number of leave-one-out errors kept per target, and over all targets.
const MOST: usize = 1024;
const MOST_OF_ALL: usize = 1 << 16;
const FEWEST: usize = 128;

const ERRORS: &str = "conformal";
const ON: &str = "conformal_on";

/// Errors of a regression on unseen rows.
///
/// From a calibration set this is split conformal prediction (Vovk, Gammerman & Shafer 2005; Lei,
/// G'Sell, Rinaldo, Tibshirani & Wasserman 2018, section 2.2): if new rows are exchangeable with
/// these, an interval of level p contains at least a share p of their targets, for any model, map
/// and distribution. From leave-one-out errors it is the jackknife: the share is near p if a fit
/// without one row is close to the fit to all rows (Barber, Candès, Ramdas & Tibshirani 2021,
/// "Predictive inference with the jackknife+", section 2.1), and no rows need to be held out.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformal {
    /// `|y - predicted|`, over the predicted standard deviation if the model has one, ascending,
    /// `[t, m]`.
    errors_tm: Array2<f64>,
    /// Source of the errors.
    on: CalibratedOn,
}

/// Index of the `ceil((m + 1) level)`-th smallest of m. Errors if the level is too high for m rows;
/// `of` names them in the message.
pub(super) fn rank_at_level(m: usize, level: f64, of: &str) -> Result<usize> {
    // Rounding of the level must not require one more row.
    let rank = ((m + 1) as f64 * level * (1.0 - f64::EPSILON)).ceil() as usize;
    if rank > m {
        // For example, a level of 0.9 needs 9 rows in spite of rounding.
        let needs = (level / (1.0 - level) * (1.0 - 1e-12)).ceil();
        return Err(Error::parameter(format!(
            "{} give nothing of level {level}; it takes {needs}",
            counted(m, of)
        ))
        .help(Remedy::words(
            "calibrate on more rows, or ask for a lower level",
        )));
    }
    Ok(rank.max(1) - 1)
}

/// At most `most` quantiles of the weighted `values`, at the shares `(k + 1/2) / most`, ascending;
/// the values themselves if their weights are equal and there are no more than that.
pub(crate) fn thinned(values: &[f64], weights: &[f64], most: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]));
    let alike = weights.iter().all(|weight| *weight == weights[0]);
    if alike && values.len() <= most {
        return order.into_iter().map(|i| values[i]).collect();
    }
    let most = most.min(values.len());
    let all: f64 = weights.iter().sum();
    let (mut place, mut below) = (0, 0.0);
    let at = |k: usize| {
        let share = (k as f64 + 0.5) / most as f64 * all;
        while place + 1 < order.len() && below + weights[order[place]] < share {
            below += weights[order[place]];
            place += 1;
        }
        values[order[place]]
    };
    (0..most).map(at).collect()
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
        Ok(Self {
            errors_tm,
            on: CalibratedOn::KeptBack,
        })
    }

    /// From absolute leave-one-out errors `[m, t]` and the weights of their rows: keeps at most
    /// 1024 per target.
    #[cfg_attr(
        not(feature = "learn"),
        expect(dead_code, reason = "what fits makes it")
    )]
    pub(crate) fn of_left_out(
        errors_mt: &Array2<f64>,
        weight_m: &[f64],
        on: CalibratedOn,
    ) -> Result<Self> {
        let most = (MOST_OF_ALL / errors_mt.ncols().max(1)).clamp(FEWEST, MOST);
        let columns = errors_mt.axis_iter(Axis(1));
        let errors_t = columns.map(|errors| thinned(&errors.to_vec(), weight_m, most));
        let known = Self::from_errors(errors_t.collect())?;
        Ok(Self { on, ..known })
    }

    /// Number of calibration rows, or of errors kept of them.
    pub fn rows(&self) -> usize {
        self.errors_tm.ncols()
    }

    /// Source of these rows.
    pub fn on(&self) -> CalibratedOn {
        self.on
    }

    /// Half width of an interval of `level` for each target: the `ceil((m + 1) level)`-th smallest
    /// error. Errors if the level is too high for m rows.
    pub(crate) fn half_width_t(&self, level: f64) -> Result<Array1<f64>> {
        let of = match self.on {
            CalibratedOn::KeptBack => "calibrated row",
            CalibratedOn::LeftOut | CalibratedOn::Folds(_) => "left-out row",
        };
        let rank = rank_at_level(self.rows(), level, of)?;
        Ok(self.errors_tm.column(rank).to_owned())
    }

    pub(crate) fn write(&self, store: &mut Store) {
        store.put_f64(ERRORS, self.errors_tm.view());
        self.on.write(ON, store);
    }

    pub(crate) fn read(store: &Store, targets: usize) -> Result<Option<Self>> {
        if !store.has(ERRORS) {
            return Ok(None);
        }
        let errors_tm = store.f64(ERRORS)?;
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
        Ok(Some(Self {
            errors_tm,
            on: CalibratedOn::read(ON, store)?,
        }))
    }
}
