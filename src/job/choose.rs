//! Search for kernel, bandwidth, penalty and metric before the fit.

use super::{Hear, Job, Rows};
use crate::{
    Error, Result,
    learn::{Budget, Fit, FitPenalised, Found, Lambda, Search, SearchData},
    model::HeldOut,
};

/// Least number of rows for a search: a fifth of fewer rows is too small a hold-out set.
const LEAST_ROWS: u64 = 40;
/// Largest number of columns for a brief search: a metric takes 8 bytes per pair of columns.
const MOST_COLUMNS: usize = 2048;

/// Result of a search, and the learner for it.
#[derive(Debug)]
pub struct Chosen {
    /// Kernel, bandwidth, metric and size.
    pub found: Found,
    /// The learner with the chosen penalty.
    pub learner: Box<dyn Fit>,
}

impl Job<&dyn Fit> {
    /// Returns the learner if trials may choose its penalty, which searches and leaves require.
    pub(super) fn penalised(&self) -> Result<&dyn FitPenalised> {
        let problem = "a search and leaves are for ridge regression";
        self.learner
            .penalised()
            .ok_or_else(|| Error::unsupported(problem))
    }

    /// Returns the rows as input of a search.
    pub(super) fn search_data<'a>(
        &self,
        rows: Rows<'a>,
        options: &'a dyn FitPenalised,
    ) -> Result<SearchData<'a>> {
        let &[lengthscale] = rows.scales.lengthscales.as_slice() else {
            return Err(Error::unsupported(
                "a search takes one lengthscale for all columns; leave those of each to the metric",
            ));
        };
        Ok(SearchData {
            source: rows.source,
            survey: rows.survey,
            scaling: &rows.scales.scaling,
            lengthscale,
            targets: rows.targets,
            options,
            seed: self.preparation.seed(),
            run: rows.run,
        })
    }

    /// Runs `search` on held-out rows. With fewer than 40 rows kernel and bandwidth stay, the
    /// penalty is chosen by leave-one-out errors, and a warning says so.
    ///
    /// Errors with [`Error::Unsupported`] unless trials may choose the penalty of the learner, and
    /// as [`Search::run`] does.
    #[doc(hidden)]
    pub fn choose<'a>(&'a self, search: &Search, rows: Rows<'a>, hear: Hear<'_>) -> Result<Chosen> {
        let options = self.penalised()?;
        let is_brief = search.budget == Budget::Brief;
        let is_wide = rows.survey.mean.len() > MOST_COLUMNS;
        let few = rows.survey.rows < LEAST_ROWS || (is_brief && is_wide);
        let data = self.search_data(rows, options)?;
        let lengthscale = data.lengthscale;
        let unsearched = |kernel| Found {
            builder: self.preparation.map.clone(),
            kernel,
            metric: None,
            lengthscale,
            lambda: if search.lambda {
                Lambda::auto(HeldOut::LeaveOneOut)
            } else {
                options.lambda().settled()
            },
            scaling: None,
            members: Vec::new(),
            held_out: None,
            importance: None,
            size: None,
            trials: Vec::new(),
        };
        let found = match self.preparation.map.kernel() {
            // The number of features is chosen with any number of rows.
            Some(kernel) if few && search.features.is_none() => {
                if !is_brief {
                    log::warn!(
                        target: "bochner",
                        "fewer than {LEAST_ROWS} rows are too few to hold some out: the kernel and \
                         the bandwidth are those of a fit without a search, and the penalty is \
                         chosen by leave-one-out errors"
                    );
                }
                unsearched(kernel)
            }
            kernel => match (search.run(&self.preparation.map, data, hear), kernel) {
                // A brief search that cannot run falls back to a fit without one.
                (Err(Error::Numerical(_) | Error::Unsupported(_)), Some(kernel)) if is_brief => {
                    unsearched(kernel)
                }
                (found, _) => found?,
            },
        };
        let learner = found.learner(options);
        Ok(Chosen { found, learner })
    }
}

#[cfg(test)]
mod tests {
    use crate::{learn::Search, model::HeldOut, prelude::*};
    use ndarray::Array;

    /// Holds rows out from 40 rows on.
    #[test]
    fn few_rows_are_not_held_out() {
        for (rows, searched) in [(39, false), (40, true)] {
            let x = Array::from_shape_fn((rows, 1), |(i, _)| i as f64 / 6.0);
            let y = x.column(0).mapv(f64::sin);
            let ridge = Ridge::on(Fourier::new(Gaussian).features(20)).device(&Device::cpu());
            let search = Search {
                bandwidth: true,
                lambda: true,
                ..Search::default()
            };
            let model = ridge.search(search).fit((&x, &y)).expect("fits");
            let by = model.linear().lambda_curve.as_ref().map(|curve| curve.by);
            let left_out = by == Some(HeldOut::LeaveOneOut);
            assert_eq!(left_out, !searched, "{rows}: {by:?}");
        }
    }
}
