//! Ridge regression from sums.

use super::{RidgeOptions, Solver, choice, solver::of_sums};
use crate::{
    Error, Result,
    data::{Keeping, KeptRows},
    error::Remedy,
    features::{FeatureMap, require_dense},
    learn::{FitPenalised, FitSums, fit::left_out::keep_left_out},
    model::{LinearModel, Targets},
    normal::NormalEquations,
    solve::{LeftOut, LookedAt},
    sums::{Keep, ModelContext, Resume, RidgeSums, RowsToSum, keeping},
};

impl RidgeOptions {
    /// Asynchronous [`FitSums::sum`] of fewer than a million rows with targets, also for browsers,
    /// where blocking on a GPU is not possible.
    #[doc(hidden)]
    pub async fn sum_later(&self, map: &dyn FeatureMap, data: RowsToSum<'_>) -> Result<RidgeSums> {
        self.require_sums(map, data.targets)?;
        let RowsToSum {
            source,
            targets,
            run,
            ..
        } = data;
        let size = (source.columns(), targets.outputs());
        let most = self.lambda.rows_kept(size);
        let mut keeping = Keeping::new(source, most.unwrap_or(0));
        let normal = NormalEquations::of_part_later(map, &mut keeping, targets, run).await?;
        Ok(RidgeSums {
            normal,
            kept: most.map(|_| keeping.into_kept()),
        })
    }

    /// Errors if sums do not suffice, if there are no targets, or if the features of the map cannot
    /// be summed.
    fn require_sums(&self, map: &dyn FeatureMap, targets: &Targets) -> Result<()> {
        let direct = matches!(self.solver, Solver::Auto | Solver::Cholesky);
        if !direct || !self.lambda.goes_by_sums() {
            return Err(Error::unsupported(
                "sums alone give ridge regression of one penalty, or of the best by some rows that \
                 are kept, by a Cholesky factor; give one penalty or none, and no other solver",
            ));
        }
        if targets.outputs() == 0 {
            let problem = Error::missing("the data has no targets to fit");
            return Err(problem.help(Remedy::NameTargets));
        }
        require_dense(map)
    }
}

impl FitSums for RidgeOptions {
    type Sums = RidgeSums;

    /// Also errors with [`Error::Unsupported`] if the penalty or the solver needs the rows
    /// themselves.
    fn sum_on(
        &self,
        map: &dyn FeatureMap,
        data: RowsToSum<'_>,
        resume: Resume<'_, RidgeSums>,
    ) -> Result<RidgeSums> {
        self.require_sums(map, data.targets)?;
        let RowsToSum {
            source,
            targets,
            run,
            ..
        } = data;
        let size = (source.columns(), targets.outputs());
        // A resumed run samples rows anew: all of them pass again.
        let join = |normal| RidgeSums { normal, kept: None };
        let from = resume.from.map(|sums| sums.normal);
        let mut keep = (resume.keep).map(|keep| keeping(keep, join, |sums| Ok(sums.normal)));
        let keep = keep.as_mut().map(|keep| keep as &mut Keep<'_, _>);
        let resume = Resume { from, keep };
        let Some(most) = self.lambda.rows_kept(size) else {
            let normal = NormalEquations::of_part(map, source, targets, run, resume)?;
            return Ok(join(normal));
        };
        let mut keeping = Keeping::new(source, most);
        let normal = NormalEquations::of_part(map, &mut keeping, targets, run, resume)?;
        Ok(RidgeSums {
            normal,
            kept: Some(keeping.into_kept()),
        })
    }

    /// Uses the given penalty, or the best by the kept rows. These also give probabilities of
    /// classes and prediction errors.
    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: RidgeSums,
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let RidgeSums { normal, kept } = sums;
        let Some(lambdas) = self.lambda.candidates() else {
            let sums = (normal, kept.as_ref());
            return self.of_one(map, sums, known);
        };
        let kept = kept.filter(|kept| !kept.is_empty()).ok_or_else(|| {
            Error::unsupported("these sums keep no rows to choose a penalty by; give one penalty")
        })?;
        let rows = (&normal, &kept);
        let chosen = choice::choose(map.as_ref(), rows, (self, &lambdas), known)?;
        chosen.model(map, normal.rows, known)
    }
}

impl RidgeOptions {
    /// Model for a single given penalty.
    fn of_one(
        &self,
        map: Box<dyn FeatureMap>,
        (normal, kept): (NormalEquations, Option<&KeptRows>),
        known: ModelContext<'_>,
    ) -> Result<LinearModel> {
        let lambda = self.lambda.fixed()?;
        // Without a penalty, leave-one-out scores may be undefined, as a row can determine its own
        // score.
        let kept = kept.filter(|kept| lambda != 0.0 && !kept.is_empty());
        let rows = kept.map(|kept| LookedAt {
            kept,
            map: map.as_ref(),
            targets: known.targets,
            run: known.run,
        });
        let (coefficients, dimension, scores) = match rows {
            Some(rows) => {
                let one = LeftOut::solve_with_dimension(&normal, rows, lambda, self.intercept())?;
                (one.0.coefficients, one.1, Some(one.0.scores))
            }
            None => {
                let how = (lambda, self.intercept());
                let of = of_sums(map.as_ref(), how, &normal, &known.run.device)?;
                (of.0, of.1, None)
            }
        };
        let targets = known.targets.clone();
        let mut model = LinearModel {
            lambda,
            rows: normal.rows,
            ..LinearModel::new(map, coefficients, targets, &known.run.device)
        };
        let name = "effective_dimension".to_owned();
        model.facts.extend(dimension.map(|d| (name, d)));
        if let Some(scores) = scores {
            keep_left_out(&mut model, scores)?;
        }
        Ok(model)
    }
}
