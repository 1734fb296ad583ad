//! How many features are enough for a plan.

use super::{Done, Rounds};
use crate::{
    Error, Result,
    analysis::{ExactKernel, expected_features},
    features::{Form, MapBuilder},
    kernels::gram,
    learn::choose::search::{Enough, Size, Trial, plan::Plan, trials::Extent},
    text::counted,
};

/// Rows that kernel matrices are compared on.
const COMPARED: usize = 1000;
/// Maps that are measured, at most.
const MEASURED: usize = 10;
/// A number of features is known once the interval that holds it is so narrow.
const NARROW: f64 = 1.03;
/// Features that are doubled first.
const START: usize = 250;

/// The most features whose sums, `8 D^2` bytes, fit into so many bytes; an even number.
fn most_features(memory: u64) -> usize {
    let most = ((memory / 8) as f64).sqrt() as usize;
    (most - most % 2).max(2)
}

/// The next number to measure, between one that was too few and one that was enough: the square of
/// the error falls as 1 / D. `None` when the interval is narrow.
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
        // Chance moved the error more than the number did.
        (few.max(1) as f64 * enough as f64).sqrt()
    };
    let even = 2 * (wanted / 2.0).ceil() as usize;
    // Both ends are even, too: odd numbers cannot be paired.
    let (least, most) = (few + 2 - few % 2, (enough - 1) / 2 * 2);
    Some(even.min(most).max(least))
}

impl Rounds<'_, '_> {
    /// The plan with as many features as are enough.
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
        // Landmarks and grids have no closed form, and start where any map is not bad.
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

/// By what share one trial has less of the error than another, or less of the root of the squared
/// error where that is more.
fn gain(from: &Trial, to: &Trial) -> f64 {
    let share = |from: f64, to: f64| if from > 0.0 { 1.0 - to / from } else { 0.0 };
    let roots = share(from.squared.sqrt(), to.squared.sqrt());
    share(from.error, to.error).max(roots)
}

#[cfg(test)]
mod tests {
    use super::next;

    /// Numbers that are tried lie between those that were and are even: pairs have no half.
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
