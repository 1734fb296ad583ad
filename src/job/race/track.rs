//! Evaluation of candidates on the sampled rows.

use super::{
    ENOUGH, ROWS,
    deciding::{Amounts, Deciding, Errors, How, Judged},
    kernel_values::KernelValues,
    order::RowOrder,
    runner::{BEYOND, DIGITS, Runner, none, rounded},
};
use crate::{
    Error, Result, Run,
    data::{Survey, median_distance},
    features::{
        Bandwidth, ColumnPart, Linear, MapBuilder, Scaling, Standardize, by_parts, line_weight,
    },
    kernels::Kernel,
    progress::Step,
};
use ndarray::{Array1, Array2, Axis};
use std::{cell::Cell, ops::Range};

/// Lengthscales of the first candidates, in median distances. The narrow ones find oscillations
/// along few columns, which look like noise at every other lengthscale.
pub(super) const MULTIPLES: [f64; 8] = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Largest multiple for piecewise constant features: at 4 medians and 40 grids most rows fall into
/// one bin of each grid.
const MAX_PIECEWISE_MULTIPLE: f64 = 2.0;
/// Ratio of standard deviations up to which raw columns count as equally scaled.
const EQUAL: f64 = 1.25;

/// Options of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// Map whose kernel values are used.
    pub(super) map: &'a dyn MapBuilder,
    /// Order of the sampled rows.
    pub(super) order: &'a RowOrder,
    /// Preparation of the columns; [`Standardize::Auto`] for all that differ.
    pub(super) standardize: Standardize,
    /// Whether candidates have a linear part; [`Linear::Auto`] for both.
    pub(super) linear: Linear,
    /// Penalties, if they are given.
    pub(super) penalties: Option<&'a [f64]>,
    /// Whether lengthscales per column are tried.
    pub(super) weighs: bool,
    /// Whether targets are also compared on other scales.
    pub(super) scales_differ: bool,
    /// Progress callback.
    pub(super) run: &'a Run,
}

/// Evaluator of candidates: sampled rows, kernel values and scales of the columns.
pub(super) struct Track<'a> {
    run: &'a Run,
    /// Number of evaluated candidates.
    looked_at: Cell<usize>,
    rows: Deciding,
    kernel_values: KernelValues<'a>,
    kernel: &'a dyn Kernel,
    is_piecewise_constant: bool,
    survey: &'a Survey,
    /// Parts of a sum of kernels, each on some of the columns.
    parts: Option<Vec<ColumnPart>>,
    /// Default, none, standardised, divided by ranges, and as requested.
    scalings: [Scaling; 5],
    /// Whether lengthscales per column are tried.
    weighs: bool,
}

impl<'a> Track<'a> {
    /// Creates an evaluator from options, rows and the source of kernel values.
    pub(super) fn new(
        asked: &Asked<'a>,
        (rows, kernel_values, kernel): (Deciding, KernelValues<'a>, &'a dyn Kernel),
        (survey, parts): (&'a Survey, Option<Vec<ColumnPart>>),
    ) -> Self {
        let decide = |standardize: Standardize| standardize.decide(survey, true);
        let may_weigh = matches!(asked.standardize, Standardize::Auto | Standardize::Yes);
        Self {
            run: asked.run,
            looked_at: Cell::new(0),
            rows,
            kernel_values,
            kernel,
            is_piecewise_constant: asked.map.is_piecewise_constant(),
            survey,
            scalings: [
                Standardize::Auto,
                Standardize::No,
                Standardize::Yes,
                Standardize::Range,
                asked.standardize,
            ]
            .map(decide),
            weighs: asked.weighs && may_weigh && parts.is_none(),
            parts,
        }
    }

    /// Returns the first candidates of each preparation.
    pub(super) fn candidates(
        &self,
        standardize: Standardize,
        linear: Linear,
    ) -> Result<Vec<Vec<Runner>>> {
        let preparations = match standardize {
            Standardize::Auto => self.preparations(),
            given => vec![given],
        };
        let lines: &[bool] = match linear {
            Linear::Auto => &[false, true],
            Linear::Yes => &[true],
            Linear::No => &[false],
        };
        let prepared = |preparation| {
            let of_lines = lines
                .iter()
                .map(|&linear| self.prepared(preparation, linear));
            Ok(of_lines
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect())
        };
        preparations.into_iter().map(prepared).collect()
    }

    /// Returns the number of rows of the fit that `rows` leave-one-out rows stand for.
    pub(super) fn all_rows(&self, rows: usize) -> f64 {
        self.rows.all_rows(rows)
    }
}

impl Track<'_> {
    fn scaling(&self, standardize: Standardize) -> &Scaling {
        match standardize {
            Standardize::Auto => &self.scalings[0],
            Standardize::No => &self.scalings[1],
            Standardize::Yes | Standardize::Learned => &self.scalings[2],
            Standardize::Range => &self.scalings[3],
            // These are tried only on request.
            Standardize::Robust | Standardize::Rank => &self.scalings[4],
        }
    }

    /// Returns the number of rows of the last leave-one-out round: fewer if a hold-out set follows.
    pub(super) fn all(&self) -> usize {
        if self.has_more() {
            ROWS / 2
        } else {
            self.rows.few()
        }
    }

    /// Returns the number of rows of the round before the last.
    pub(super) fn before_all(&self) -> usize {
        if self.has_more() {
            ROWS / 4
        } else if self.all() <= ROWS / 2 {
            self.all().min(ROWS / 4)
        } else {
            ROWS / 2
        }
    }

    /// Evaluates a candidate by leave-one-out errors of the first `rows` rows.
    pub(super) fn run(&self, runner: &mut Runner, rows: usize) -> Result<()> {
        if runner.of.rows == rows {
            return Ok(());
        }
        let errors = self.judge(runner, Judged::LeftOut(0, rows))?;
        runner.run(errors, self.all_rows(rows));
        Ok(())
    }

    /// Returns the errors of a candidate on some rows.
    pub(super) fn judge(&self, runner: &Runner, judged: Judged) -> Result<Option<Errors>> {
        let near = Some(runner.penalty).filter(|penalty| penalty.is_finite());
        self.errors(runner, |how| {
            self.rows.errors(judged, &self.kernel_values, (how, near))
        })
    }

    /// Returns mean squared slopes along standardised columns of a candidate fitted to these rows.
    pub(super) fn slopes(
        &self,
        runner: &Runner,
        rows: Range<usize>,
    ) -> Result<Option<Array1<f64>>> {
        let penalty = runner.penalty;
        self.errors(runner, |how| {
            let squares_d = self
                .rows
                .slopes(rows, &self.kernel_values, (how, penalty))?;
            let seen = how.scaling.input(how.lengthscales)?;
            let scales = self
                .scaling(Standardize::Yes)
                .scale()
                .iter()
                .zip(seen.scale());
            let ratios = scales.map(|(unit, seen)| {
                if *unit == 0.0 {
                    0.0
                } else {
                    (seen / unit).powi(2)
                }
            });
            let ratios_d: Array1<f64> = ratios.collect();
            Ok(squares_d.map(|squares_d| squares_d * ratios_d))
        })
    }

    /// Returns the median distance of standardised columns times `roots_d`; `None` if most rows are
    /// equal.
    pub(super) fn median_distance(&self, roots_d: &Array1<f64>) -> Result<Option<f64>> {
        let standardised = self.scaling(Standardize::Yes);
        let v_md = standardised.apply(&self.rows.few_md().to_owned())? * roots_d;
        Ok(median_distance(v_md.view(), self.kernel.norm()).ok())
    }

    /// Returns the number of leave-one-out rows without a hold-out set.
    pub(super) fn few(&self) -> usize {
        self.rows.few()
    }

    /// Returns the number of sampled rows.
    pub(super) fn kept(&self) -> usize {
        self.rows.all()
    }

    /// Returns the number of varying columns if lengthscales per column are tried, else 0.
    pub(super) fn weighable(&self) -> usize {
        let survey = self.survey;
        let varying = (0..survey.mean.len()).filter(|&j| !survey.is_constant(j));
        if self.weighs { varying.count() } else { 0 }
    }

    /// Returns errors and log densities of a candidate, on the original scale of the target.
    pub(super) fn amounts(&self, runner: &Runner) -> Result<Option<Amounts>> {
        let judged = if self.has_more() {
            Judged::HeldOut
        } else {
            Judged::LeftOut(0, self.all())
        };
        let rescale = self.survey.rescale.as_ref();
        self.errors(runner, |how: How<'_>| {
            (self.rows).amounts(judged, &self.kernel_values, (how, rescale))
        })
    }

    /// Calls `errors` with the preparation of a candidate; `None` if prepared columns leave the
    /// range of f32.
    fn errors<T>(
        &self,
        runner: &Runner,
        errors: impl FnOnce(How<'_>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let scaling = self.scaling(runner.of.standardize);
        let lengthscales = (runner.of.bandwidth).lengthscales(self.kernel, self.survey, scaling);
        let narrower = by_parts(
            &runner.of.bandwidth,
            (self.kernel, self.parts.as_deref()),
            self.survey,
        );
        let lengthscales =
            lengthscales.map(|all| all.iter().map(|l| l * narrower).collect::<Vec<_>>());
        self.looked_at.set(self.looked_at.get() + 1);
        self.run.pause(Step::Candidate(self.looked_at.get()))?;
        let squares = match lengthscales.as_deref() {
            Ok(lengthscales) => {
                let input = scaling.input(lengthscales);
                let line = |input| line_weight(&input, self.survey);
                errors(How {
                    scaling,
                    lengthscales,
                    line: input.ok().filter(|_| runner.of.linear).and_then(line),
                })
            }
            Err(_) => Ok(None),
        };
        match squares {
            Err(Error::Parameter(_) | Error::Numerical(_)) => Ok(None),
            squares => squares,
        }
    }

    /// Whether there are enough rows for a hold-out set.
    pub(super) fn has_more(&self) -> bool {
        self.rows.all() >= ENOUGH
            && !self.rows.are_cells()
            && matches!(self.kernel_values, KernelValues::Features(..))
    }

    /// Evaluates a candidate on the hold-out set, fitted to the other sampled rows.
    pub(super) fn hold_out(&self, runner: &mut Runner) -> Result<()> {
        let errors = self.judge(runner, Judged::HeldOut)?;
        runner.squares_m = errors.map_or_else(none, |errors| errors.squares_m);
        runner.of.error = runner.squares_m.mean().unwrap_or(f64::INFINITY);
        (runner.ahead, runner.of.rows) = (runner.of.error, self.rows.all());
        Ok(())
    }

    /// Returns the largest lengthscale of the first candidates, in median distances.
    pub(super) fn max_multiple(&self) -> f64 {
        if self.is_piecewise_constant {
            MAX_PIECEWISE_MULTIPLE
        } else {
            MULTIPLES[MULTIPLES.len() - 1]
        }
    }

    /// Returns the candidates of a preparation, with or without a linear part; none if most rows
    /// are equal.
    fn prepared(&self, standardize: Standardize, linear: bool) -> Result<Vec<Runner>> {
        let u_md = self
            .scaling(standardize)
            .apply(&self.rows.few_md().to_owned())?;
        let Some(median) = self.median_of_parts(&u_md) else {
            return Ok(Vec::new());
        };
        // With a linear part, the widest kernel adds nothing to it.
        let alone = linear.then_some(BEYOND);
        let multiples = MULTIPLES
            .into_iter()
            .filter(|of| *of <= self.max_multiple());
        let runners = multiples.chain(alone).map(|multiple| {
            let sigma = Bandwidth::Sigma(rounded(multiple * median, DIGITS));
            Runner::new(standardize, (sigma, Some(multiple)), linear)
        });
        Ok(runners.collect())
    }

    /// Returns the median distance at unit lengthscale; for parts, the median over the parts that
    /// have one.
    fn median_of_parts(&self, u_md: &Array2<f64>) -> Option<f64> {
        let median = |u_md: &Array2<f64>| median_distance(u_md.view(), self.kernel.norm()).ok();
        let Some(parts) = &self.parts else {
            return median(u_md);
        };
        let of_part = |part: &ColumnPart| median(&u_md.select(Axis(1), &part.places));
        let medians = ascending(parts.iter().filter_map(of_part));
        let middle = medians.get(medians.len() / 2).copied();
        middle.or_else(|| median(u_md))
    }

    /// Returns the columns whose scales may differ.
    fn scaled(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let survey = self.survey;
        let is_scaled = |j: &usize| !survey.is_constant(*j) && !survey.of_words[*j];
        (0..survey.mean.len()).filter(is_scaled)
    }

    /// Returns the standard deviations of the columns, ascending.
    fn deviations(&self) -> Vec<f64> {
        ascending(self.scaled().map(|j| self.survey.variance[j].sqrt()))
    }

    /// Returns the preparations that differ: standardised; raw, unless the deviations are nearly
    /// equal; and divided by ranges, if most columns share a unit and some do not.
    fn preparations(&self) -> Vec<Standardize> {
        let survey = self.survey;
        let ranges = ascending(self.scaled().map(|j| survey.max[j] - survey.min[j]));
        let median = ranges.get(ranges.len() / 2).copied().unwrap_or(0.0);
        let of_one_unit = ranges
            .iter()
            .filter(|&&range| range <= EQUAL * median && median <= EQUAL * range);
        let most = 2 * of_one_unit.count() > ranges.len();
        let mut all = vec![Standardize::Yes];
        if !are_alike(&self.deviations()) {
            all.push(Standardize::No);
            if most && !are_alike(&ranges) {
                all.push(Standardize::Range);
            }
        }
        all
    }

    /// Returns the preparation of the rule: standardised unless another is requested, so that units
    /// change nothing.
    pub(super) fn usual(&self, asked: Standardize) -> Standardize {
        match asked {
            Standardize::Auto => Standardize::Yes,
            asked => asked,
        }
    }
}

fn ascending(widths: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut widths: Vec<f64> = widths.collect();
    widths.sort_unstable_by(f64::total_cmp);
    widths
}

/// Whether ascending deviations are within a factor [`EQUAL`] of each other.
fn are_alike(widths: &[f64]) -> bool {
    match widths {
        [low, .., high] => *high <= EQUAL * low,
        _ => true,
    }
}
