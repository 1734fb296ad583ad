//! Learners that grow feature by feature or block by block, beside a fit to all features at once.

#[cfg(test)]
mod tests;

use crate::models::{
    Fit, FitAnySums, FitData, FitSums, Known, LinearModel, Summed, Sums, fit::centred,
    predict::worse, sums::fit_sums::fit_sums,
};
use crate::{
    Error, Result,
    data::{ChunkSource, Part, Split},
    features::FeatureMap,
    normal::{NormalEquations, SUM_BYTES},
    settings::Settings,
    solve::{Boosting, Greedy, Stagewise},
    store::Store,
};

/// What [`GreedyRegressor`] and [`GreedyClassifier`] have of their own: [`Greedy`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GreedyOptions {
    /// Most steps, and so the most features with a coefficient.
    pub steps: usize,
    /// Share of the rows that is held out: up to the step with the least error on them all rows
    /// are fitted. 0 takes the last.
    pub held_out: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
}

impl Default for GreedyOptions {
    /// At most 200 steps, a fifth of the rows held out, with an intercept.
    fn default() -> Self {
        Self {
            steps: 200,
            held_out: 0.2,
            intercept: true,
        }
    }
}

/// What [`BoostingRegressor`] and [`BoostingClassifier`] have of their own: [`Boosting`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostingOptions {
    /// Features of a block.
    pub block: usize,
    /// How much of a weak learner is added, in (0, 1].
    pub shrinkage: f64,
    /// The penalty per sample of a weak learner, lambda > 0.
    pub lambda: f64,
    /// Most stages.
    pub stages: usize,
    /// Share of the rows that is held out: up to the stage with the least error on them all rows
    /// are fitted. 0 takes the last.
    pub held_out: f64,
    /// Whether an intercept is fitted.
    pub intercept: bool,
}

impl Default for BoostingOptions {
    /// Blocks of 50 features, a tenth of each added, lambda = 1e-6, at most 2000 stages, a fifth of
    /// the rows held out, with an intercept.
    fn default() -> Self {
        Self {
            block: 50,
            shrinkage: 0.1,
            lambda: 1e-6,
            stages: 2000,
            held_out: 0.2,
            intercept: true,
        }
    }
}

/// Steps without a smaller error on rows held out after which there is none to come.
const PATIENCE: usize = 50;

/// Bytes of each pair of features that the factors of boosting's blocks take beside the sums: 14
/// were measured at 2,000 features in one block.
const BLOCK_BYTES: u32 = 16;

/// Bytes of each pair of features: the sums, those of the rows held out, and `solver` more.
fn staged_bytes(held_out: f64, solver: u32) -> u32 {
    SUM_BYTES + solver + if held_out > 0.0 { 8 } else { 0 }
}

/// Rows held out in a file of sums.
const HELD_OUT: &str = "held_out";

/// The sums of rows that are fitted and of those that are held out.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutSums {
    /// Of rows that are fitted.
    pub fitted: NormalEquations,
    /// Of rows that say when to stop, if there are to be some.
    pub held_out: Option<NormalEquations>,
}

/// A learner that grows stage by stage.
trait Grows {
    /// Grows by the rows of `sums`, up to the stage that is best on those held out.
    fn grow(&self, sums: &NormalEquations, held_out: Option<&NormalEquations>)
    -> Result<Stagewise>;
    /// Grows so many stages, which may be none.
    fn stages(&self, sums: &NormalEquations, count: usize) -> Result<Stagewise>;
}

impl Grows for Greedy {
    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        self.solve(sums, held_out)
    }
    fn stages(&self, sums: &NormalEquations, count: usize) -> Result<Stagewise> {
        self.solve_steps(sums, count)
    }
}

impl Grows for Boosting {
    fn grow(
        &self,
        sums: &NormalEquations,
        held_out: Option<&NormalEquations>,
    ) -> Result<Stagewise> {
        self.solve(sums, held_out)
    }
    fn stages(&self, sums: &NormalEquations, count: usize) -> Result<Stagewise> {
        self.solve_stages(sums, count)
    }
}

impl HeldOutSums {
    /// Sums rows, of which this share is held out: their features decide which ones, so that equal
    /// rows stay together, in whatever order, steps or shards they come. Errors as
    /// [`NormalEquations::accumulate`] does, and with [`Error::Parameter`] on a share that is none.
    fn of(share: f64, map: &dyn FeatureMap, data: Summed<'_>) -> Result<Self> {
        let Summed {
            source,
            targets,
            seed,
            run,
            ..
        } = data;
        if !(0.0..1.0).contains(&share) {
            return Err(Error::parameter(format!(
                "the share of rows to hold out is {share}; it must lie between 0 and 1"
            )));
        }
        let sum =
            |source: &mut dyn ChunkSource| NormalEquations::of_part(map, source, targets, run);
        if share == 0.0 {
            return Ok(Self {
                fitted: sum(source)?,
                held_out: None,
            });
        }
        // Other draws than those that split or sample rows with the same seed.
        let seed = seed.0 ^ u64::from_le_bytes(*b"stages..");
        let part = |part, source: &mut dyn ChunkSource| {
            source.rewind()?;
            sum(&mut Split::by_contents(source, part, share, seed))
        };
        Ok(Self {
            fitted: part(Part::Train, &mut *source)?,
            held_out: Some(part(Part::Test, source)?),
        })
    }

    /// Grows to the stage that is best on the rows held out, then so many stages on all rows; all
    /// stages where there are no rows of both parts.
    fn solve(mut self, learner: &dyn Grows) -> Result<(Stagewise, u64)> {
        let rows = self.rows();
        let Some(held_out) = self.held_out.take() else {
            return Ok((learner.grow(&self.fitted, None)?, rows));
        };
        let chosen = match self.fitted.weight > 0.0 && held_out.weight > 0.0 {
            true => Some(learner.grow(&self.fitted, Some(&held_out))?),
            false => None,
        };
        self.fitted.merge(&held_out)?;
        drop(held_out);
        let Some(chosen) = chosen else {
            return Ok((learner.grow(&self.fitted, None)?, rows));
        };
        let held_out_error = chosen.held_out_error;
        worse::than_mean(held_out_error.unwrap_or(0.0), rows);
        let all = learner.stages(&self.fitted, chosen.stages)?;
        let solved = Stagewise {
            held_out_error,
            ..all
        };
        Ok((solved, rows))
    }
}

impl Sums for HeldOutSums {
    const NAME: &'static str = "held-out-sums";

    fn rows(&self) -> u64 {
        self.fitted.rows + self.held_out.as_ref().map_or(0, |held| held.rows)
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.fitted.merge(&other.fitted)?;
        match (&mut self.held_out, &other.held_out) {
            (Some(own), Some(other)) => own.merge(other),
            _ => Ok(()),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        let mut fitted = self.fitted.clone();
        fitted.subtract(&other.fitted)?;
        if let (Some(own), Some(other)) = (&mut self.held_out, &other.held_out) {
            own.subtract(other)?;
        }
        self.fitted = fitted;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        // One part without rows is none: all rows are fitted then.
        let parts = [Some(&self.fitted), self.held_out.as_ref()];
        let mut some = parts.into_iter().flatten().filter(|sums| sums.weight > 0.0);
        match some.next() {
            None => self.fitted.check(),
            Some(first) => some.try_fold(first.check()?, |(), sums| sums.check()),
        }
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.fitted.are_of(features, outputs)
    }

    fn write(&self, store: &mut Store) {
        let parts = [
            ("fitted", Some(&self.fitted)),
            (HELD_OUT, self.held_out.as_ref()),
        ];
        for (name, sums) in parts {
            if let Some(sums) = sums {
                let mut inner = Store::default();
                sums.write(&mut inner);
                store.nest(name, inner);
            }
        }
    }

    fn read(store: &Store) -> Result<Self> {
        let fitted = NormalEquations::read(&store.nested("fitted"))?;
        let inner = store.nested(HELD_OUT);
        let held_out = match inner.has_property("rows") {
            true => Some(NormalEquations::read(&inner)?),
            false => None,
        };
        match &held_out {
            Some(held) if held.zty_dt.dim() != fitted.zty_dt.dim() => Err(Error::format(
                "the sums of rows that are fitted and held out do not go together",
            )),
            _ => Ok(Self { fitted, held_out }),
        }
    }
}

impl Fit for GreedyOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("greedy")
            .text("steps", self.steps)
            .number("held-out", self.held_out)
            .flag("no-intercept", !self.intercept)
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        staged_bytes(self.held_out, 0)
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors as [`Greedy::solve`] and [`NormalEquations::accumulate`] do, and with
    /// [`Error::Parameter`] on a share to hold out that is none.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        centred::fit(self.intercept, map, data, |map, data| {
            fit_sums(self, map, data)
        })
    }
}

impl FitSums for GreedyOptions {
    type Sums = HeldOutSums;

    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<HeldOutSums> {
        HeldOutSums::of(self.held_out, map, data)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: HeldOutSums,
        known: Known<'_>,
    ) -> Result<LinearModel> {
        let greedy = Greedy {
            steps: self.steps,
            intercept: self.intercept,
            patience: PATIENCE,
        };
        let solved = sums.solve(&greedy)?;
        Ok(model(("greedy", "steps"), map, solved, 0.0, known))
    }
}

impl Fit for BoostingOptions {
    fn settings(&self) -> Settings {
        Settings::of_learner("boosting")
            .text("steps", self.stages)
            .text("block", self.block)
            .number("shrinkage", self.shrinkage)
            .number("lambda", self.lambda)
            .number("held-out", self.held_out)
            .flag("no-intercept", !self.intercept)
    }

    fn square_bytes(&self, _features: usize) -> u32 {
        staged_bytes(self.held_out, BLOCK_BYTES)
    }

    fn of_sums(&self) -> Option<&dyn FitAnySums> {
        Some(self)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    /// Errors as [`Boosting::solve`] and [`NormalEquations::accumulate`] do, and with
    /// [`Error::Parameter`] on a share to hold out that is none.
    fn fit(&self, map: Box<dyn FeatureMap>, data: FitData<'_>) -> Result<LinearModel> {
        centred::fit(self.intercept, map, data, |map, data| {
            fit_sums(self, map, data)
        })
    }
}

impl FitSums for BoostingOptions {
    type Sums = HeldOutSums;

    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<HeldOutSums> {
        HeldOutSums::of(self.held_out, map, data)
    }

    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: HeldOutSums,
        known: Known<'_>,
    ) -> Result<LinearModel> {
        let boosting = Boosting {
            block: self.block,
            shrinkage: self.shrinkage,
            lambda: self.lambda,
            stages: self.stages,
            intercept: self.intercept,
            patience: PATIENCE,
        };
        let solved = sums.solve(&boosting)?;
        let names = ("boosting", "stages");
        Ok(model(names, map, solved, self.lambda, known))
    }
}

/// What was solved, as a model.
fn model(
    (learner, stages): (&str, &str),
    map: Box<dyn FeatureMap>,
    (solved, rows): (Stagewise, u64),
    lambda: f64,
    known: Known<'_>,
) -> LinearModel {
    let features = solved.coefficients.beta_dt.rows().into_iter();
    let used = features.filter(|b| b.iter().any(|b| *b != 0.0)).count();
    let targets = known.targets.clone();
    let mut model = LinearModel {
        learner: learner.into(),
        lambda,
        rows,
        ..LinearModel::new(map, solved.coefficients, targets, &known.run.device)
    };
    let facts = [
        (stages, Some(solved.stages as f64)),
        ("nonzero_features", Some(used as f64)),
        ("training_error", Some(solved.error)),
        ("held_out_error", solved.held_out_error),
    ];
    let facts = facts.into_iter();
    let facts = facts.filter_map(|(name, v)| v.map(|v| (name.to_owned(), v)));
    model.facts.extend(facts);
    model
}
