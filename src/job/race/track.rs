//! What candidates of a race run on.

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

/// Lengthscales, in medians of the distances. The narrow ones are for waves of few columns, which
/// look like noise at every other width, so that nothing leads to them.
pub(super) const MULTIPLES: [f64; 8] = [0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Widest of these for features that are constant between cuts: at 4 medians and 40 grids most rows
/// fall into one bin of each grid.
const MAX_PIECEWISE_MULTIPLE: f64 = 2.0;
/// Columns whose deviations are within this factor are alike as they are.
const EQUAL: f64 = 1.25;

/// What a race is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// On which map candidates run.
    pub(super) map: &'a dyn MapBuilder,
    /// In which order it looks at the rows.
    pub(super) order: &'a RowOrder,
    /// With which preparation, or with all that differ where that is [`Standardize::Auto`].
    pub(super) standardize: Standardize,
    /// With a linear part beside, or with one and without where that is [`Linear::Auto`].
    pub(super) linear: Linear,
    /// At which penalties, where these are given.
    pub(super) penalties: Option<&'a [f64]>,
    /// Whether columns may be weighed by what they tell.
    pub(super) weighs: bool,
    /// Whether another race has them on another scale.
    pub(super) scales_differ: bool,
    /// Who hears of it.
    pub(super) run: &'a Run,
}

/// What candidates run on.
pub(super) struct Track<'a> {
    run: &'a Run,
    /// How many ran.
    looked_at: Cell<usize>,
    rows: Deciding,
    kernel_values: KernelValues<'a>,
    kernel: &'a dyn Kernel,
    is_piecewise_constant: bool,
    survey: &'a Survey,
    /// The parts of a sum of kernels that look at some of the columns.
    parts: Option<Vec<ColumnPart>>,
    /// As is usual, as they are, standardised, over their ranges, and as is asked.
    scalings: [Scaling; 5],
    /// Whether columns may be weighed by what they tell.
    weighs: bool,
}

impl<'a> Track<'a> {
    /// For what is asked, of rows and where their kernel values come from.
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

    /// All that start, by their preparation.
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

    /// Number of rows that the fit has, in proportion to `rows` that are left out in turn.
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
            // Only where it is asked for.
            Standardize::Robust | Standardize::Rank => &self.scalings[4],
        }
    }

    /// All rows that are left out in turn: fewer where the rows held out have the last word.
    pub(super) fn all(&self) -> usize {
        if self.has_more() {
            ROWS / 2
        } else {
            self.rows.few()
        }
    }

    /// Those of the round before the last.
    pub(super) fn before_all(&self) -> usize {
        if self.has_more() {
            ROWS / 4
        } else if self.all() <= ROWS / 2 {
            self.all().min(ROWS / 4)
        } else {
            ROWS / 2
        }
    }

    /// Has a candidate run on so many rows.
    pub(super) fn run(&self, runner: &mut Runner, rows: usize) -> Result<()> {
        if runner.of.rows == rows {
            return Ok(());
        }
        let errors = self.judge(runner, Judged::LeftOut(0, rows))?;
        runner.run(errors, self.all_rows(rows));
        Ok(())
    }

    /// How far these rows are off by a candidate.
    pub(super) fn judge(&self, runner: &Runner, judged: Judged) -> Result<Option<Errors>> {
        let near = Some(runner.penalty).filter(|penalty| penalty.is_finite());
        self.errors(runner, |how| {
            self.rows.errors(judged, &self.kernel_values, (how, near))
        })
    }

    /// Mean squared slopes of a candidate that is fitted to these rows, along standardised columns.
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

    /// The median distance of standardised columns times `roots_d`. None where most rows are alike.
    pub(super) fn median_distance(&self, roots_d: &Array1<f64>) -> Result<Option<f64>> {
        let standardised = self.scaling(Standardize::Yes);
        let v_md = standardised.apply(&self.rows.few_md().to_owned())? * roots_d;
        Ok(median_distance(v_md.view(), self.kernel.norm()).ok())
    }

    /// Rows that are left out in turn, where all are.
    pub(super) fn few(&self) -> usize {
        self.rows.few()
    }

    /// All rows that were kept.
    pub(super) fn kept(&self) -> usize {
        self.rows.all()
    }

    /// Columns that vary, where they may be weighed.
    pub(super) fn weighable(&self) -> usize {
        let survey = self.survey;
        let varying = (0..survey.mean.len()).filter(|&j| !survey.is_constant(j));
        if self.weighs { varying.count() } else { 0 }
    }

    /// How near amounts are to what a candidate predicts of them, on its last rows.
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

    /// What `errors` makes of how a candidate prepares rows; none where its columns leave the range
    /// of f32.
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

    /// Whether there are rows to hold a part out.
    pub(super) fn has_more(&self) -> bool {
        self.rows.all() >= ENOUGH
            && !self.rows.are_cells()
            && matches!(self.kernel_values, KernelValues::Features(..))
    }

    /// Has a candidate run on all rows that were kept.
    pub(super) fn hold_out(&self, runner: &mut Runner) -> Result<()> {
        let errors = self.judge(runner, Judged::HeldOut)?;
        runner.squares_m = errors.map_or_else(none, |errors| errors.squares_m);
        runner.of.error = runner.squares_m.mean().unwrap_or(f64::INFINITY);
        (runner.ahead, runner.of.rows) = (runner.of.error, self.rows.all());
        Ok(())
    }

    /// The widest lengthscale that candidates begin with, in medians of the distances.
    pub(super) fn max_multiple(&self) -> f64 {
        if self.is_piecewise_constant {
            MAX_PIECEWISE_MULTIPLE
        } else {
            MULTIPLES[MULTIPLES.len() - 1]
        }
    }

    /// All of one preparation, with a linear part or without. None where most rows are alike.
    fn prepared(&self, standardize: Standardize, linear: bool) -> Result<Vec<Runner>> {
        let u_md = self
            .scaling(standardize)
            .apply(&self.rows.few_md().to_owned())?;
        let Some(median) = self.median_of_parts(&u_md) else {
            return Ok(Vec::new());
        };
        // With a linear part beside, one so wide is the linear part alone.
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

    /// The median distance of rows at unit lengthscale; of parts the median of those that tell one.
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

    /// Columns whose scales may differ.
    fn scaled(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let survey = self.survey;
        let is_scaled = |j: &usize| !survey.is_constant(*j) && !survey.of_words[*j];
        (0..survey.mean.len()).filter(is_scaled)
    }

    /// The deviations of columns, ascending.
    fn deviations(&self) -> Vec<f64> {
        ascending(self.scaled().map(|j| self.survey.variance[j].sqrt()))
    }

    /// Preparations that differ: standardised columns; columns as they are, unless their deviations
    /// are alike already; and columns over their ranges, where most have one unit and some do not.
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

    /// How the usual prepares columns: standardised unless other is said, so that the unit of one
    /// changes nothing.
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

/// Whether ascending widths are within [`EQUAL`] of each other.
fn are_alike(widths: &[f64]) -> bool {
    match widths {
        [low, .., high] => *high <= EQUAL * low,
        _ => true,
    }
}
