//! A learner that was chosen, and what its targets are.

use bochner::models::{ClassWeights, Fit, Found, HeldOut, Lambda, RidgeOptions};

/// What the targets of a learner are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Amounts or labels, as `--task` says.
    NumbersOrLabels,
    /// Amounts.
    Numbers,
    /// Labels.
    Labels,
    /// None, to find these: targets are left alone.
    Rows(&'static str),
}

/// A learner as the command line uses it.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The learner.
    pub(super) fit: Box<dyn Fit>,
    /// What it is fitted to.
    pub(super) takes: Takes,
    /// Whether its progress is iterations rather than rows.
    pub(super) iterates: bool,
    /// How it solves, for the report.
    pub(super) solver: &'static str,
    /// Its options, if it is ridge regression, whose choices can be searched.
    pub(super) ridge: Option<RidgeOptions>,
    /// Whether a penalty, or some, are given.
    pub(super) lambda_given: bool,
    /// Whether it is to have probabilities.
    pub(super) probabilities: bool,
    /// What its classes count, if it does not weigh them itself.
    pub(super) class_weights: ClassWeights,
}

impl Chosen {
    /// Features whose eigenvectors take seconds, so that a penalty is chosen unasked.
    const CHEAP: usize = 2048;
    /// Outputs whose errors at all penalties are little beside these.
    const FEW_OUTPUTS: usize = 64;

    /// Ridge regression takes this penalty, unless one is given.
    pub(super) fn penalise(&mut self, lambda: Lambda) {
        if let Some(ridge) = &mut self.ridge
            && !self.lambda_given
        {
            self.solver = match lambda {
                Lambda::Fixed(_) if self.solver == "eigen" => "cholesky",
                _ => self.solver,
            };
            ridge.lambda = lambda;
            self.fit = Box::new(ridge.clone());
        }
    }

    /// Ridge regression takes what a search found; its penalty is given then if that was tried.
    pub(super) fn take(&mut self, found: &Found, tries: bool) {
        if let Some(ridge) = &self.ridge {
            self.fit = Box::new(found.options(ridge));
            self.lambda_given |= tries;
        }
    }

    /// Whether a penalty is chosen though nobody asked for that: who asks gets all rows.
    pub(super) fn chooses_unasked(&self) -> bool {
        let ours = |ridge: &RidgeOptions| match ridge.lambda {
            Lambda::Best { by, .. } => matches!(by, HeldOut::LeaveSomeOut(_)),
            _ => false,
        };
        self.ridge.as_ref().is_some_and(ours)
    }

    /// Leaves the penalty at the usual one where choosing it, which nobody asked for, takes long.
    pub(super) fn choose_if_cheap(&mut self, features: usize, outputs: usize) {
        if features > Self::CHEAP || outputs > Self::FEW_OUTPUTS {
            self.leave_usual();
        }
    }

    /// Whether the penalty is the usual one, where it could be chosen.
    pub(super) fn is_usual(&self) -> bool {
        let usual = RidgeOptions::default().lambda;
        let ridge = self.ridge.as_ref();
        !self.lambda_given && !self.iterates && ridge.is_some_and(|ridge| ridge.lambda == usual)
    }

    /// Leaves the penalty at the usual one, unless one is given or asked for.
    pub(super) fn leave_usual(&mut self) {
        if self.chooses_unasked() {
            self.penalise(RidgeOptions::default().lambda);
        }
    }
}
