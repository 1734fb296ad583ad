//! The exact kernel machine, as libsvm has it: the hinge, a machine for each pair of classes.

use super::{COST, Digits, GAMMA};
use crate::reproduce::Context;
use anyhow::Result;
use bochner::{
    features::{Bandwidth, Landmarks, Nystrom, Standardize},
    kernels::Gaussian,
    models::{MarginLoss, SupportVectorClassifier},
};
use ndarray::Axis;

/// The share of test rows with the right label. Nystrom features of all rows of a pair reproduce
/// its kernel, so that the machine on them is that on the kernel itself.
pub(super) fn accuracy(context: &Context<'_>, digits: &Digits) -> Result<f64> {
    let classes = 9_u8;
    let mut votes = vec![[0_u32; 9]; digits.labels_test.len()];
    for high in 1..classes {
        for low in 0..high {
            let of_pair = |&(_, label): &(usize, &u8)| *label == low || *label == high;
            let rows: Vec<usize> = digits
                .labels
                .iter()
                .enumerate()
                .filter(of_pair)
                .map(|(i, _)| i)
                .collect();
            let x = digits.x.select(Axis(0), &rows);
            let labels: Vec<u8> = rows.iter().map(|&i| digits.labels[i]).collect();
            let map = Nystrom::new(Gaussian).landmarks(Landmarks::Rows(x.clone()));
            let machine = SupportVectorClassifier::on(map)
                .bandwidth(Bandwidth::Gamma(GAMMA))
                .standardize(Standardize::No)
                .loss(MarginLoss::Hinge)
                .lambda(1.0 / (rows.len() as f64 * COST))
                .device(context.device())
                .fit((&x, labels.as_slice()))?;
            let predicted: Vec<u8> = machine.predict(&digits.x_test)?;
            for (votes, label) in votes.iter_mut().zip(predicted) {
                votes[usize::from(label)] += 1;
            }
        }
    }
    // Of equal votes the first class has it.
    let most = |votes: &[u32; 9]| {
        (0..classes).fold(0, |best, c| {
            let more = votes[usize::from(c)] > votes[usize::from(best)];
            if more { c } else { best }
        })
    };
    let labels: Vec<u8> = votes.iter().map(most).collect();
    Ok(digits.accuracy(&labels))
}
