//! Chooses the number of features of a plan.

use super::{Done, Rounds};
use crate::{
    Error, Result,
    analysis::{ExactKernel, expected_features},
    features::{Form, MapBuilder},
    kernels::gram,
    learn::choose::search::{Enough, Size, Trial, plan::Plan, trials::Extent},
    text::counted,
};

/// Number of rows of the compared kernel matrices.
const COMPARED: usize = 1000;
/// Maximum number of maps that are measured.
const MEASURED: usize = 10;
/// Stops when the ratio of the ends of the interval is below this.
const NARROW: f64 = 1.03;
/// Initial number of features for doubling.
const START: usize = 250;

/// Maximum number of features whose sums, `8 D^2` bytes, fit into `memory` bytes; an even number.
fn most_features(memory: u64) -> usize {
    let most = ((memory / 8) as f64).sqrt() as usize;
    (most - most % 2).max(2)
}

/// The next number to measure, between one that was too few and one that was enough: the squared
/// error decreases as 1 / D. `None` if the interval is narrow.
fn next(
    (features, found): (usize, f64),
    error: f64,
    (few, enough): (usize, usize),
) -> Option<usize> {
    if enough as f64 <= NARROW * few as f64 || enough <= few + 2 {
        return None;
    }
    let wanted = features as f64 * (found / error).powi(2) * NARROW.sqrt();
    let wanted = if wanted > few as f64 && wanted < enough as f64 {
        wanted
    } else {
        // Random variation exceeded the effect of the number.
        (few.max(1) as f64 * enough as f64).sqrt()
    };
    let even = 2 * (wanted / 2.0).ceil() as usize;
    // Both ends are even, too: paired features need an even number.
    let (least, most) = (few + 2 - few % 2, (enough - 1) / 2 * 2);
    Some(even.min(most).max(least))
}

impl Rounds<'_, '_> {
    /// The plan with the chosen number of features.
    pub(in crate::learn::choose::search) fn sized(
        &mut self,
        plan: Plan,
        enough: Enough,
    ) -> Result<(Plan, Size)> {
        let unsized_map = |map: &dyn MapBuilder| {
            let variant = map
                .features()
                .and_then(|d| map.variant(plan.kernel.clone(), d));
            variant.is_none()
        };
        if unsized_map(plan.builder.as_ref()) {
            return Err(Error::unsupported(
                "the number of features of this map is not its own to choose; give a number",
            ));
        }
        let most = most_features(self.sample.data().run.memory);
        match enough {
            Enough::KernelError(error) => self.by_kernel_error(plan, error, most),
            Enough::AccuracyLoss(loss) => self.by_accuracy(plan, loss, most),
        }
    }

    fn by_kernel_error(&mut self, plan: Plan, error: f64, most: usize) -> Result<(Plan, Size)> {
        let (rows, u_nd) = self.sample.compared(&plan, COMPARED)?;
        let exact_nn = gram(plan.kernel.as_ref(), u_nd.view());
        let exact = ExactKernel::from_matrix(exact_nn, rows)?;
        let first = expected_features(plan.kernel.as_ref(), &u_nd, Form::Paired, error);
        // Landmarks and grids have no closed form, and start with a generous number.
        let first = first.unwrap_or_else(|_| (1.0 / (error * error)).ceil() as usize);
        let mut features = first.clamp(2, most);
        let (mut few, mut tried) = (0, Vec::new());
        let mut found: Option<Plan> = None;
        while tried.len() < MEASURED {
            let sized = self.resized(plan.clone(), Some(features))?;
            let off = self.sample.kernel_error(&sized, &exact)?;
            tried.push((features, off));
            log::info!("{}: kernel error {off:.5}", counted(features, "feature"));
            let limited = off > error && features == most;
            if off <= error || limited {
                found = Some(sized);
            } else {
                few = few.max(features);
            }
            if limited {
                break;
            }
            let enough = found.as_ref().map_or(most + 1, |plan| plan.features);
            match next((features, off), error, (few, enough)) {
                Some(other) => features = other,
                None if found.is_some() => break,
                None => features = most,
            }
        }
        let plan = match found {
            Some(plan) => plan,
            None => self.resized(plan, Some(most))?,
        };
        let features = plan.features;
        let limited = !tried.iter().any(|&(d, off)| d == features && off <= error);
        let enough = Enough::KernelError(error);
        let size = Size {
            enough,
            features,
            tried,
            limited,
        };
        Ok((plan, size))
    }

    fn by_accuracy(&mut self, plan: Plan, loss: f64, most: usize) -> Result<(Plan, Size)> {
        let mut tried = Vec::new();
        let mut best: Option<Done> = None;
        let mut features = START.min(most);
        let mut limited = true;
        while features <= most {
            let sized = self.resized(plan.clone(), Some(features))?;
            let lambdas = match &best {
                Some(best) => self.near(best.plan.lambda),
                None => self.lambdas(),
            };
            let Some(done) = self.attempt(sized, &lambdas, Extent::All)? else {
                break;
            };
            tried.push((features, done.trial.error));
            if let Some(best) = &best
                && gain(&best.trial, &done.trial) < loss
            {
                limited = false;
                break;
            }
            best = Some(done);
            features *= 2;
        }
        let plan = match best {
            Some(best) => best.plan,
            None => self.resized(plan, Some(START.min(most)))?,
        };
        let size = Size {
            enough: Enough::AccuracyLoss(loss),
            features: plan.features,
            tried,
            limited,
        };
        Ok((plan, size))
    }
}

/// Relative decrease of the error from one trial to another, or of the root of the squared error if
/// that is larger.
fn gain(from: &Trial, to: &Trial) -> f64 {
    let share = |from: f64, to: f64| if from > 0.0 { 1.0 - to / from } else { 0.0 };
    let roots = share(from.squared.sqrt(), to.squared.sqrt());
    share(from.error, to.error).max(roots)
}

#[cfg(test)]
mod tests {
    use super::next;

    /// Numbers to try are between the measured ones and even, as pairs require.
    #[test]
    fn numbers_between_are_even() {
        for few in (0..60).step_by(2) {
            for enough in few + 3..70 {
                for found in [0.01, 0.09, 0.1, 0.11, 3.0] {
                    let Some(d) = next((few.max(2), found), 0.1, (few, enough)) else {
                        continue;
                    };
                    assert!(
                        d > few && d < enough && d % 2 == 0,
                        "{few} {enough} {found}: {d}"
                    );
                }
            }
        }
    }
}
