//! What a model goes by: which columns matter to it, along which curves its predictions go, and
//! what each column adds to the prediction of a row.
//!
//! * [`Importance`] says which columns matter: the rise of the error when a column is exchanged
//!   between rows, beside its share in the squared gradient.
//! * [`PartialDependence`] has the mean prediction with a column set to each of some values, and
//!   the curves of single rows.
//! * [`Shapley`] says what each column adds to the prediction of a row, against a background.
//! * [`Shapes`] are the functions that an additive model is the sum of, with their standard errors.
//!
//! A column is one of the table: all columns that a text became go together. What is explained are
//! amounts, of classifiers probabilities, or scores where there are none; of two classes those of
//! the second alone.
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
//! // Of y = 3 x_0 the error rises by 2 * 9 var x_0.
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

/// Values of the rows that are looked at, however many columns they have.
const VALUES: usize = 1 << 24;
/// Rows that are predicted for the importance of all columns, about.
const EXCHANGED: usize = 1 << 20;
/// Rows at least, where there are so many.
const LEAST: usize = 100;
/// Rows that a partial dependence is the mean over.
const AVERAGED: usize = 500;
/// Rows whose curves of all outputs are kept, however many there are.
const FEW_CURVES: usize = 5;
/// Rows that are predicted on the way to the Shapley values of all rows, about, and rows of their
/// background at least.
const ON_THE_WAY: usize = 1 << 20;
const BACKGROUND: usize = 8;

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainOptions {
    /// By which rows are sampled and exchanged.
    pub seed: Seed,
    /// Rows of the data at most: of more a uniform sample is taken.
    pub rows: usize,
    /// How often each column is exchanged.
    pub repeats: usize,
    /// Values that a number or a date is set to, at most.
    pub grid: usize,
    /// Rows whose own curves are kept: of several outputs so many curves, but five rows at least.
    pub curves: usize,
    /// Rows of the background of Shapley values, at most: fewer of many columns or rows.
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

/// A model on a device with rows that it is explained on.
#[derive(Debug)]
pub struct Explainer<'m> {
    model: &'m LinearModel,
    columns: Vec<Column>,
    outputs: Outputs<'m>,
    sample: RowSample,
    options: ExplainOptions,
    run: Run,
    /// Rows that were predicted.
    done: u64,
}

impl<'m> Explainer<'m> {
    /// Reads `source` once, and keeps some of its rows. With targets these are those of the model,
    /// in its order; without any, importance is by how far predictions move. `run` is a `&Device`
    /// or a [`Run`].
    ///
    /// Errors with [`Error::Unsupported`] for models without targets, with [`Error::Shape`] where
    /// the data has no rows, other columns or another number of targets, and as sources and devices
    /// do.
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

    /// The place of the column of this name. Errors with [`Error::Parameter`] where there is none.
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

    /// Rows that are looked at.
    pub fn rows(&self) -> usize {
        self.sample.x_nd.nrows()
    }

    /// Whether the rows have targets.
    pub fn has_targets(&self) -> bool {
        self.sample.y_nt.ncols() > 0
    }

    /// What the outputs are.
    pub fn output_kind(&self) -> OutputKind {
        self.outputs.kind()
    }

    /// What the outputs are called: targets, or classes.
    pub fn output_names(&self) -> Vec<String> {
        self.outputs.names()
    }

    /// Who hears of the work from now on: [`Step::Rows`] counts predicted rows, of about
    /// [`Self::planned_rows`].
    pub fn progress(&mut self, hear: impl Fn(Step) + Send + Sync + 'static) {
        self.run = self.run.clone().progress(hear);
    }

    /// About how many rows importance, the dependence on so many columns and Shapley values of so
    /// many rows take.
    pub fn planned_rows(&self, drawn: usize, explained: usize) -> u64 {
        let exchanged = self.exchanged_rows() * (1 + self.columns.len() * self.options.repeats);
        let averaged = self.rows().min(AVERAGED) * self.options.grid * drawn;
        let explained = explained.min(self.rows());
        let each = self.background_rows(explained) * self.rows_between();
        (exchanged + averaged + explained * each) as u64
    }

    /// What Shapley values are exact of; `None` where orders of the columns are sampled.
    fn exact(&self) -> Option<Exact<'m>> {
        Exact::of(self.model, &self.columns, self.outputs.is_sum())
    }

    /// Rows between a row of the background and an explained one.
    fn rows_between(&self) -> usize {
        let columns = self.columns.len();
        match self.exact() {
            Some(exact) => exact.rows_of(columns),
            None => shapley::rows_of(columns),
        }
    }

    /// Rows of the background of so many explained rows.
    fn background_rows(&self, explained: usize) -> usize {
        let each = (explained * self.rows_between()).max(1);
        let most = (ON_THE_WAY / each).max(BACKGROUND);
        self.rows().min(self.options.background).min(most).max(1)
    }

    /// Rows that are exchanged: fewer of many columns.
    fn exchanged_rows(&self) -> usize {
        let each = (self.columns.len() * self.options.repeats).max(1);
        self.rows().min((EXCHANGED / each).max(LEAST))
    }

    /// Which columns matter, the most important first.
    ///
    /// Of a model that is linear in independent columns, `f = sum_j beta_j x_j`, the squared error
    /// rises by `2 beta_j^2 var x_j`, and the share in the squared gradient is that of `beta_j^2
    /// var x_j`. Columns that tell the same share what they tell: exchanged alone, neither matters
    /// much.
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

    /// The columns to look along: those that matter most and have an axis, at most so many.
    pub fn most_important(&self, importance: &Importance, most: usize) -> Vec<usize> {
        let all = importance.columns.iter().map(|of| of.column);
        let drawn = all.filter(|&j| self.columns[j].has_axis());
        drawn.take(most).collect()
    }

    /// How outputs go along the column at this place, with all other columns as they are in the
    /// rows. Errors with [`Error::Unsupported`] for a column of hashed texts or words, which has no
    /// axis, and as devices do.
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

    /// What each column adds to the prediction of at most so many of the rows, evenly spread over
    /// them. Errors with [`Error::Parameter`] for none, and as devices do.
    ///
    /// Of a linear model the value of column j is `beta_j (x_j - mean_j)`, with the mean over the
    /// background. Of a sum of functions of at most six columns each, and of a model of at most six
    /// columns, values are exact ([`Shapley::is_exact`]): of a sum `sum_p f_p` that of a column is
    /// the sum of its values in each `f_p`, which for a function of it alone is
    /// `f_p(x_j) - mean f_p`. Of others orders of the columns are sampled.
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

    /// The values of the columns in the row at this place in the data, if it is looked at.
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

/// Outputs by `ask`, each call of which is counted and told of.
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
