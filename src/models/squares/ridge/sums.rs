//! Ridge regression by sums: what is summed, and the model of it.

use super::{RidgeOptions, Solver, choice};
use crate::{
    Error, Result,
    data::{Keeping, KeptRows},
    error::Remedy,
    features::{FeatureMap, require_dense},
    models::{FitPenalised, FitSums, Known, LinearModel, Summed, Sums},
    normal::NormalEquations,
    store::Store,
};

/// Where the normal equations and the kept rows lie in a file.
const NORMAL: &str = "normal";
const KEPT: &str = "kept";

/// What ridge regression sums: the normal equations, and beside them, where a penalty is to be
/// chosen, some of the rows, by whose leave-one-out errors that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeSums {
    /// The sums of all rows.
    pub normal: NormalEquations,
    /// Rows that a penalty is chosen by.
    pub(super) kept: Option<KeptRows>,
}

impl RidgeSums {
    /// How many different rows are kept, if some are to be.
    pub fn kept_rows(&self) -> Option<usize> {
        self.kept.as_ref().map(KeptRows::len)
    }

    /// Both or neither keep rows.
    fn kept_of<'a>(
        &'a mut self,
        other: &'a Self,
    ) -> Result<Option<(&'a mut KeptRows, &'a KeptRows)>> {
        match (&mut self.kept, &other.kept) {
            (Some(own), Some(other)) => Ok(Some((own, other))),
            (None, None) => Ok(None),
            _ => Err(Error::shape(
                "sums that keep rows to choose a penalty by do not go with sums that keep none",
            )),
        }
    }
}

impl Sums for RidgeSums {
    const NAME: &'static str = "ridge-sums";

    fn rows(&self) -> u64 {
        self.normal.rows
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let mut normal = std::mem::replace(&mut self.normal, NormalEquations::zero(0, 0));
        let merged = normal.merge(&other.normal);
        self.normal = normal;
        merged?;
        match self.kept_of(other)? {
            Some((own, other)) => own.merge(other),
            None => Ok(()),
        }
    }

    fn subtract(&mut self, other: &Self) -> Result<()> {
        let mut left = self.clone();
        left.normal.subtract(&other.normal)?;
        if let Some((own, other)) = left.kept_of(other)? {
            own.subtract(other)?;
        }
        *self = left;
        Ok(())
    }

    fn of_no_rows(&self) -> Result<Self> {
        Ok(Self {
            normal: self.normal.of_no_rows()?,
            // Nothing is forgotten of rows that were never there.
            kept: self.kept.as_ref().map(KeptRows::none),
        })
    }

    fn check(&self) -> Result<()> {
        self.normal.check()
    }

    fn are_of(&self, features: usize, outputs: usize) -> bool {
        self.normal.are_of(features, outputs)
    }

    fn write(&self, store: &mut Store) {
        let mut normal = Store::default();
        self.normal.write(&mut normal);
        store.nest(NORMAL, normal);
        if let Some(kept) = &self.kept {
            let mut rows = Store::default();
            kept.write(&mut rows);
            store.nest(KEPT, rows);
        }
        store.set(KEPT, self.kept.is_some());
    }

    fn read(store: &Store) -> Result<Self> {
        let kept: bool = store.get(KEPT)?;
        Ok(Self {
            normal: NormalEquations::read(&store.nested(NORMAL))?,
            kept: match kept {
                true => Some(KeptRows::read(&store.nested(KEPT))?),
                false => None,
            },
        })
    }
}

impl FitSums for RidgeOptions {
    type Sums = RidgeSums;

    /// Errors also with [`Error::Unsupported`] where the penalty or the solver needs the rows
    /// themselves.
    fn sum(&self, map: &dyn FeatureMap, data: Summed<'_>) -> Result<RidgeSums> {
        let direct = matches!(self.solver, Solver::Auto | Solver::Cholesky);
        if !direct || !self.lambda.goes_by_sums() {
            return Err(Error::unsupported(
                "sums alone give ridge regression of one penalty, or of the best by some rows that \
                 are kept, by a Cholesky factor; give one penalty or none, and no other solver",
            ));
        }
        if data.targets.outputs() == 0 {
            let problem = Error::missing("the data has no targets to fit");
            return Err(problem.help(Remedy::NameTargets));
        }
        require_dense(map)?;
        let Summed {
            source,
            targets,
            run,
            ..
        } = data;
        let size = (source.columns(), targets.outputs());
        let Some(most) = self.lambda.rows_kept(size) else {
            return Ok(RidgeSums {
                normal: NormalEquations::of_part(map, source, targets, run)?,
                kept: None,
            });
        };
        let mut keeping = Keeping::new(source, most);
        let normal = NormalEquations::of_part(map, &mut keeping, targets, run)?;
        Ok(RidgeSums {
            normal,
            kept: Some(keeping.into_kept()),
        })
    }

    /// With the penalty that was given, or the best by the rows that were kept.
    fn model(
        &self,
        map: Box<dyn FeatureMap>,
        sums: RidgeSums,
        known: Known<'_>,
    ) -> Result<LinearModel> {
        let RidgeSums { normal, kept } = sums;
        let targets = known.targets.clone();
        let Some(lambdas) = self.lambda.candidates() else {
            let lambda = self.lambda.fixed()?;
            let (coefficients, dimension) = self.intercept().solve(lambda, &normal)?;
            let mut model = LinearModel {
                lambda,
                rows: normal.rows,
                ..LinearModel::new(map, coefficients, targets, &known.run.device)
            };
            let name = "effective_dimension".to_owned();
            model.facts.extend(dimension.map(|d| (name, d)));
            return Ok(model);
        };
        let kept = kept.filter(|kept| !kept.is_empty()).ok_or_else(|| {
            Error::unsupported("these sums keep no rows to choose a penalty by; give one penalty")
        })?;
        let rows = (&normal, &kept);
        let chosen = choice::choose(map.as_ref(), rows, (self, &lambdas), known)?;
        Ok(chosen.model(map, normal.rows, known))
    }
}
