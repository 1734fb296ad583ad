//! What rows held out choose before the fit.

use super::{Hear, Job, Rows};
use crate::{
    Error, Result,
    models::{Fit, Found, HeldOut, Lambda, RidgeOptions, Search, SearchData},
};

/// Fewer rows are not held out: too few would be left to choose by.
const LEAST_ROWS: u64 = 40;

/// What was chosen.
#[derive(Debug)]
pub struct Chosen {
    /// Kernel, bandwidth, metric and size.
    pub found: Found,
    /// Ridge regression with the penalty that was chosen.
    pub options: RidgeOptions,
}

impl Job<&dyn Fit> {
    /// The options of ridge regression, which alone takes searches and leaves.
    pub(super) fn ridge(&self) -> Result<&RidgeOptions> {
        let problem = "a search and leaves are for ridge regression";
        self.learner
            .ridge()
            .ok_or_else(|| Error::unsupported(problem))
    }

    /// The rows as a search takes them.
    pub(super) fn search_data<'a>(
        &self,
        rows: Rows<'a>,
        options: &'a RidgeOptions,
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

    /// What `search` chooses by rows held out. Of fewer than 40 rows too few would be left: kernel
    /// and bandwidth stay, the penalty is chosen by leave-one-out errors, and a warning says so.
    ///
    /// Errors with [`Error::Unsupported`] unless the learner is ridge regression, and as
    /// [`Search::run`] does.
    pub fn choose<'a>(&'a self, search: &Search, rows: Rows<'a>, hear: Hear<'_>) -> Result<Chosen> {
        let options = self.ridge()?;
        let few = rows.survey.rows < LEAST_ROWS;
        let data = self.search_data(rows, options)?;
        let found = match self.preparation.map.kernel() {
            Some(kernel) if few => {
                log::warn!(
                    target: "bochner",
                    "fewer than {LEAST_ROWS} rows are too few to hold some out: the kernel and the \
                     bandwidth are those of a fit without a search, and the penalty is chosen by \
                     leave-one-out errors"
                );
                Found {
                    builder: self.preparation.map.clone(),
                    kernel,
                    metric: None,
                    lengthscale: data.lengthscale,
                    lambda: match search.lambda {
                        true => Lambda::auto(HeldOut::LeaveOneOut),
                        false => options.lambda.clone(),
                    },
                    size: None,
                    trials: Vec::new(),
                }
            }
            _ => search.run(&self.preparation.map, data, hear)?,
        };
        let options = found.options(options);
        Ok(Chosen { found, options })
    }
}
