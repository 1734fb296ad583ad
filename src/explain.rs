//! Explanations of a model: which columns matter to it, how its predictions depend on each column,
//! and how much each column adds to the prediction of a row.
//!
//! * [`Importance`] ranks the columns: the rise of the error when a column is permuted between
//!   rows, and the column's share of the squared gradient.
//! * [`PartialDependence`] has the mean prediction with a column set to each value of a grid, and
//!   the curves of single rows.
//! * [`Shapley`] has the contribution of each column to the prediction of a row, against a
//!   background sample.
//! * [`Shapes`] has the component functions of an additive model, with their standard errors.
//!
//! A column is a column of the table: all columns that encode one text move together. The
//! explained outputs are amounts for regression; for classifiers they are probabilities, or scores
//! if the model has no probabilities. With two classes only the second is explained.
//!
//! ```
//! use bochner::{
//!     data::MemorySource, explain::{ExplainOptions, Explainer}, features::Identity, prelude::*,
//! };
//! let x = ndarray::Array2::from_shape_fn((200, 2), |(i, j)| ((i * (7 + 4 * j)) % 23) as f64);
//! let y = x.column(0).mapv(|x| 3.0 * x).insert_axis(ndarray::Axis(1));
//! let model = Ridge::on(Identity).lambda(1e-9).fit((&x, &y))?;
//! let mut rows = MemorySource::new(&x, Some(y))?;
//! let options = ExplainOptions::default();
//! let mut explainer = Explainer::new(model.linear(), &mut rows, options, &Device::cpu())?;
//! let importance = explainer.importance()?;
//! // For y = 3 x_0 the error rises by 2 * 9 var x_0.
//! let first = importance.columns[0];
//! assert_eq!(explainer.columns()[first.column].name, "0");
//! assert!((first.rise / (18.0 * x.column(0).var(0.0)) - 1.0).abs() < 0.1);
//! # Ok::<(), bochner::Error>(())
//! ```

mod band;
mod batches;
mod column;
mod dependence;
mod exact;
mod importance;
mod measure;
mod outputs;
mod parts;
mod shapes;
mod shapley;
#[cfg(test)]
mod tests;

pub use column::{Column, ColumnValue};
pub use dependence::PartialDependence;
pub use importance::{ColumnImportance, Importance};
pub use measure::Measure;
pub use outputs::OutputKind;
pub use shapes::{OtherPart, Shape, ShapeKind, Shapes};
pub use shapley::Shapley;

use crate::{
    Error, Result, Run, Step,
    data::{ChunkSource, RowSample},
    model::{LinearModel, Targets, linear::check_columns},
    seed::Seed,
};
use exact::Exact;
use measure::Judge;
use ndarray::Array2;
use outputs::Outputs;

/// Limit on the number of values in the sampled rows (rows times columns).
const VALUES: usize = 1 << 24;
/// Approximate limit on the rows predicted for the importance of all columns.
const EXCHANGED: usize = 1 << 20;
/// Minimum number of permuted rows, if the sample has that many.
const LEAST: usize = 100;
/// Number of rows that a partial dependence averages over.
const AVERAGED: usize = 500;
/// Number of rows whose curves are kept however many outputs there are.
const FEW_CURVES: usize = 5;
/// Approximate limit on the rows predicted for the Shapley values of all explained rows, and the
/// minimum size of their background sample.
const ON_THE_WAY: usize = 1 << 20;
const BACKGROUND: usize = 8;

/// Sample sizes and repeats of an [`Explainer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Seed of the sampling and the permutations.
    pub seed: Seed,
    /// Maximum number of rows; larger data are sampled uniformly.
    pub rows: usize,
    /// Number of permutations of each column.
    pub repeats: usize,
    /// Maximum number of grid values for a number or a date.
    pub grid: usize,
    /// Number of single-row curves in a partial dependence, divided by the number of outputs but at
    /// least five.
    pub curves: usize,
    /// Maximum number of background rows for Shapley values; many columns or rows lower it.
    pub background: usize,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        Self {
            seed: Seed(0),
            rows: 5000,
            repeats: 5,
            grid: 20,
            curves: 30,
            background: 64,
        }
    }
}

/// A model on a device, with the sample of rows that it is explained on.
#[derive(Debug)]
pub struct Explainer<'m> {
    model: &'m LinearModel,
    columns: Vec<Column>,
    outputs: Outputs<'m>,
    sample: RowSample,
    options: ExplainOptions,
    run: Run,
    /// Number of rows predicted so far.
    done: u64,
}

impl<'m> Explainer<'m> {
    /// Reads `source` once and keeps a sample of its rows. Targets, if the source has any, are
    /// those of the model in its order; without targets importance measures how far predictions
    /// move. `run` is a `&Device` or a [`Run`].
    ///
    /// Errors with [`Error::Unsupported`] for models without targets, with [`Error::Shape`] if the
    /// data has no rows, other columns or another number of targets, and with the errors of sources
    /// and devices.
    pub fn new(
        model: &'m LinearModel,
        source: &mut dyn ChunkSource,
        options: ExplainOptions,
        run: impl Into<Run>,
    ) -> Result<Self> {
        let run = run.into();
        let outputs = Outputs::new(model, &run.silent())?;
        check_columns(model, source)?;
        let wanted = match &model.targets {
            Targets::Real { columns, .. } => *columns,
            Targets::Classes(_) => 1,
        };
        let given = source.targets();
        if given != 0 && given != wanted {
            return Err(Error::shape(format!(
                "the data has {given} target columns, and the model predicts {wanted}; give those, \
                 or none"
            )));
        }
        let most = (VALUES / source.columns().max(1))
            .max(LEAST)
            .min(options.rows);
        let sample = RowSample::draw(source, most, options.seed.0)?;
        Ok(Self {
            model,
            columns: Column::of_model(model),
            outputs,
            sample,
            options,
            run,
            done: 0,
        })
    }

    /// The columns of the table.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the index of the column with this name, or [`Error::Parameter`] if there is none.
    pub fn place_of(&self, name: &str) -> Result<usize> {
        let found = self.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| {
            const NAMED: usize = 8;
            let names = self
                .columns
                .iter()
                .take(NAMED)
                .map(|column| column.name.as_str());
            let mut names = names.collect::<Vec<_>>().join(", ");
            if self.columns.len() > NAMED {
                names += " and so on";
            }
            Error::parameter(format!(
                "the model has no column {name:?}; it takes {names}"
            ))
        })
    }

    /// Number of sampled rows.
    pub fn rows(&self) -> usize {
        self.sample.x_nd.nrows()
    }

    /// Whether the rows have targets.
    pub fn has_targets(&self) -> bool {
        self.sample.y_nt.ncols() > 0
    }

    /// Returns the kind of the outputs.
    pub fn output_kind(&self) -> OutputKind {
        self.outputs.kind()
    }

    /// Names of the outputs: targets or classes.
    pub fn output_names(&self) -> Vec<String> {
        self.outputs.names()
    }

    /// Sets the callback for progress: [`Step::Rows`] counts predicted rows, out of about
    /// [`Self::planned_rows`].
    pub fn progress(&mut self, hear: impl Fn(Step) + Send + Sync + 'static) {
        self.run = self.run.clone().progress(hear);
    }

    /// Approximate number of predicted rows for the importance, the dependence on `drawn` columns
    /// and the Shapley values of `explained` rows.
    pub fn planned_rows(&self, drawn: usize, explained: usize) -> u64 {
        let exchanged = self.exchanged_rows() * (1 + self.columns.len() * self.options.repeats);
        let averaged = self.rows().min(AVERAGED) * self.options.grid * drawn;
        let explained = explained.min(self.rows());
        let each = self.background_rows(explained) * self.rows_between();
        (exchanged + averaged + explained * each) as u64
    }

    /// Returns the solver for exact Shapley values; `None` if permutations of the columns are
    /// sampled.
    fn exact(&self) -> Option<Exact<'m>> {
        Exact::of(self.model, &self.columns, self.outputs.is_sum())
    }

    /// Number of rows predicted for each pair of a background row and an explained row.
    fn rows_between(&self) -> usize {
        let columns = self.columns.len();
        match self.exact() {
            Some(exact) => exact.rows_of(columns),
            None => shapley::rows_of(columns),
        }
    }

    /// Number of background rows for `explained` explained rows.
    fn background_rows(&self, explained: usize) -> usize {
        let each = (explained * self.rows_between()).max(1);
        let most = (ON_THE_WAY / each).max(BACKGROUND);
        self.rows().min(self.options.background).min(most).max(1)
    }

    /// Number of permuted rows; it falls with the number of columns.
    fn exchanged_rows(&self) -> usize {
        let each = (self.columns.len() * self.options.repeats).max(1);
        self.rows().min((EXCHANGED / each).max(LEAST))
    }

    /// Importance of the columns, the most important first.
    ///
    /// For a model that is linear in independent columns, `f = sum_j beta_j x_j`, the squared error
    /// rises by `2 beta_j^2 var x_j`, and the share of the squared gradient is that of `beta_j^2
    /// var x_j`. Correlated columns share their importance: permuted alone, neither of two equal
    /// columns matters much.
    pub fn importance(&mut self) -> Result<Importance> {
        let measure = Measure::of_model(self.model, self.has_targets());
        let sample = self.sample.thinned(self.exchanged_rows());
        let mut predict = counting(&mut self.outputs, &self.run, &mut self.done, Outputs::all);
        let wanted_nt = match measure {
            Measure::Moved => predict(sample.x_nd.clone())?,
            _ => sample.y_nt,
        };
        let labels = match &self.model.targets {
            Targets::Classes(labels) => labels.as_slice(),
            Targets::Real { .. } => &[],
        };
        let judge = Judge {
            measure,
            labels,
            wanted_nt,
        };
        let (x_nd, columns) = (&sample.x_nd, self.columns.as_slice());
        let how = (self.options.repeats.max(1), self.options.seed);
        let (error, rises) = importance::by_permutation(&mut predict, x_nd, columns, &judge, how)?;
        let gradients = importance::by_gradients(self.model, x_nd, columns)?;
        Ok(Importance {
            measure: judge.measure,
            error,
            rows: x_nd.nrows(),
            repeats: how.0,
            columns: importance::in_order(rises, gradients),
        })
    }

    /// Returns the most important columns that have an axis to draw, at most `most`.
    pub fn most_important(&self, importance: &Importance, most: usize) -> Vec<usize> {
        let all = importance.columns.iter().map(|of| of.column);
        let drawn = all.filter(|&j| self.columns[j].has_axis());
        drawn.take(most).collect()
    }

    /// Partial dependence of the outputs on this column, with all other columns as in the sampled
    /// rows. Errors with [`Error::Unsupported`] for a column of hashed texts or words, which has no
    /// axis, and with the errors of devices.
    pub fn partial_dependence(&mut self, column: usize) -> Result<PartialDependence> {
        let of = self.columns.get(column).ok_or_else(|| {
            let count = self.columns.len();
            Error::parameter(format!(
                "there is no column {column} of {count}, counted from 0"
            ))
        })?;
        let levels = dependence::levels(of, &self.sample.x_nd, self.options.grid.max(2));
        if levels.is_empty() {
            let problem = format!(
                "column {:?} holds texts that are hashed, and has no axis to look along; name \
                 another column",
                of.name
            );
            return Err(Error::unsupported(problem));
        }
        let sample = self.sample.thinned(AVERAGED);
        let mut predict = counting(&mut self.outputs, &self.run, &mut self.done, Outputs::some);
        let curves_ngk = dependence::curves(&mut predict, &sample.x_nd, of, &levels)?;
        let outputs = curves_ngk.dim().2.max(1);
        let most = (self.options.curves / outputs).max(self.options.curves.min(FEW_CURVES));
        let kept = (sample.index_n.as_slice(), most);
        Ok(dependence::summed_up(column, levels, &curves_ngk, kept))
    }

    /// Shapley values of at most `rows` sampled rows, evenly spaced in the sample. Errors with
    /// [`Error::Parameter`] for 0 rows, and with the errors of devices.
    ///
    /// For a linear model the value of column j is `beta_j (x_j - mean_j)`, with the mean over the
    /// background. The values are exact ([`Shapley::is_exact`]) for a model of at most six columns
    /// and for a sum of functions of at most six columns each: a column's value is the sum of its
    /// values in each `f_p` of `sum_p f_p`, and `f_p(x_j) - mean f_p` for a function of that column
    /// alone. Other models use sampled permutations of the columns.
    pub fn shapley(&mut self, rows: usize) -> Result<Shapley> {
        if rows == 0 {
            return Err(Error::parameter(
                "there are no rows to explain; ask for one at least",
            ));
        }
        let explained = self.sample.thinned(rows);
        let background = self.background_rows(explained.x_nd.nrows());
        let background_bd = self.sample.thinned(background).x_nd;
        if let Some(exact) = self.exact() {
            return self.exact_shapley(exact, &explained, &background_bd);
        }
        let mut predict = counting(&mut self.outputs, &self.run, &mut self.done, Outputs::some);
        let of = (&explained.x_nd, explained.index_n.as_slice());
        shapley::shapley(
            &mut predict,
            of,
            &background_bd,
            &self.columns,
            self.options.seed,
        )
    }

    /// Returns the column values of the row with this index in the data, if it was sampled.
    pub fn values(&self, row: u64) -> Option<Vec<Option<ColumnValue>>> {
        let at = self.sample.index_n.binary_search(&row).ok()?;
        let row_d = self.sample.x_nd.row(at);
        Some(
            self.columns
                .iter()
                .map(|column| column.value(row_d))
                .collect(),
        )
    }
}

/// Wraps `ask` so that each call counts its rows and reports progress.
fn counting<'a, 'm>(
    outputs: &'a mut Outputs<'m>,
    run: &'a Run,
    done: &'a mut u64,
    ask: fn(&mut Outputs<'m>, Array2<f64>) -> Result<Array2<f64>>,
) -> impl FnMut(Array2<f64>) -> Result<Array2<f64>> + 'a {
    move |x_nd| {
        *done += x_nd.nrows() as u64;
        let found = ask(outputs, x_nd)?;
        run.pause(Step::Rows(*done))?;
        Ok(found)
    }
}
