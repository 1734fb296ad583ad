//! Probabilities of classes and prediction errors from leave-one-out scores. This takes neither a
//! second fit nor a hold-out set.

#[cfg(test)]
mod tests;

use super::{probabilities::Calibration, with_probabilities::say_few_groups};
use crate::{
    Result,
    data::grouped,
    model::{
        CalibratedOn, ClassSets, Conformal, LeftOutScores, LinearModel, Probabilities, Targets,
    },
};
use ndarray::Array2;

/// Minimum number of observations for probabilities.
pub(super) const MIN_OBSERVATIONS: f64 = 20.0;

/// Adds to a model what leave-one-out scores give: probabilities of a classifier
/// ([`Probabilities::fitted`]) if there are at least 20 observations of at least two classes, or
/// the errors of a regression, from which intervals are computed. Adds nothing if rounding hides
/// one of the scores.
pub(in crate::learn) fn keep_left_out(model: &mut LinearModel, rows: LeftOutScores) -> Result<()> {
    if rows.len() == 0 || !rows.are_known() {
        return Ok(());
    }
    match &model.targets {
        Targets::Classes(_) if rows.observations() < MIN_OBSERVATIONS => {}
        Targets::Classes(labels) => {
            let class_m = classes(&rows);
            let mut seen = vec![false; labels.len()];
            class_m.iter().for_each(|&class| seen[class] = true);
            if seen.into_iter().filter(|seen| *seen).count() >= 2 {
                let of = (class_m.as_slice(), rows.weight_m.as_slice());
                let on = (rows.observations(), rows.on);
                // The slope comes from leave-one-out scores. For two classes the offset comes from
                // fitted scores, as in logistic regression with a free intercept. With more
                // classes, fitted scores are so far apart that their offsets would change the most
                // likely classes.
                let share_t = shares(of, labels.len());
                let scores_mt = match labels.len() {
                    2 => rows.fitted(),
                    _ => rows.scores(),
                };
                let match_shares = |probabilities: &mut Probabilities| {
                    probabilities.match_shares(&scores_mt, &rows.weight_m, &share_t);
                };
                judge_classes(model, rows.scores(), of, on, match_shares);
            }
        }
        Targets::Real { .. } => {
            let errors_mt = rows.error_mt.mapv(f64::abs);
            model.conformal = Some(Conformal::of_left_out(&errors_mt, &rows.weight_m, rows.on)?);
            let r2 = mean_r2(&rows);
            if r2.is_finite() {
                model.facts.entry("held_out_r2".into()).or_insert(r2);
            }
        }
    }
    model.left_out = Some(rows);
    Ok(())
}

/// Adds probabilities and thresholds of class sets to a classifier, from scores `[m, classes]` of
/// rows that the fit has not seen, their classes and weights, and the number of observations that
/// they represent. `adjust` may change the probabilities before thresholds are computed.
pub(super) fn judge_classes(
    model: &mut LinearModel,
    scores_mt: Array2<f64>,
    (class_m, weight_m): (&[usize], &[f64]),
    (observations, on): (f64, CalibratedOn),
    adjust: impl FnOnce(&mut Probabilities),
) {
    let of = (class_m, weight_m);
    let Calibration {
        mut probabilities,
        confirms_order,
    } = Probabilities::fitted(&scores_mt, of, observations);
    if !confirms_order {
        log::warn!(
            "probabilities are near the shares of the classes, because held-out rows do not \
             confirm the order of the scores; labels and rankings go by the scores"
        );
    }
    adjust(&mut probabilities);
    let p_mt = probabilities.apply(scores_mt);
    model.class_sets = Some(ClassSets::of_rows(&p_mt, class_m, weight_m, on));
    model.probabilities = Some(probabilities);
}

/// Whether a classifier is calibrated on single rows although they have groups: a few groups cannot
/// tell probabilities for others.
pub(in crate::learn) fn calibrates_on_rows(targets: &Targets, groups: Option<&[u32]>) -> bool {
    matches!(targets, Targets::Classes(_)) && groups.is_some_and(grouped::are_few)
}

/// Removes leave-one-out results from a model whose rows have groups, since they do not hold for
/// unseen groups. With only a few groups they are kept, with a warning.
pub(crate) fn require_groups_left_out(model: &mut LinearModel, groups: &[u32]) {
    let on = model.left_out.as_ref().map(|rows| rows.on);
    if on == Some(CalibratedOn::LeftOut) && calibrates_on_rows(&model.targets, Some(groups)) {
        say_few_groups(groups);
    } else if on == Some(CalibratedOn::LeftOut) {
        (model.probabilities, model.class_sets) = (None, None);
        (model.conformal, model.left_out) = (None, None);
    }
}

/// Share of each of `classes` classes in the weight of rows with these classes and weights.
pub(super) fn shares((class_m, weight_m): (&[usize], &[f64]), classes: usize) -> Vec<f64> {
    let mut share_t = vec![0.0; classes];
    for (&class, weight) in class_m.iter().zip(weight_m) {
        share_t[class] += weight;
    }
    let total = share_t.iter().sum::<f64>();
    share_t.iter().map(|share| share / total).collect()
}

/// Returns `1 - sum w e^2 / sum w (y - mean)^2`, averaged over targets that vary.
fn mean_r2(rows: &LeftOutScores) -> f64 {
    let total: f64 = rows.weight_m.iter().sum();
    let r2 = rows.y_mt.columns().into_iter().zip(rows.error_mt.columns());
    let r2 = r2.map(|(y_m, error_m)| {
        let sum = |term: &dyn Fn(usize) -> f64| -> f64 {
            let terms = rows.weight_m.iter().enumerate();
            terms.map(|(i, w)| w * term(i)).sum()
        };
        let mean = sum(&|i| y_m[i]) / total;
        1.0 - sum(&|i| error_m[i].powi(2)) / sum(&|i| (y_m[i] - mean).powi(2))
    });
    let r2: Vec<f64> = r2.filter(|r2| r2.is_finite()).collect();
    r2.iter().sum::<f64>() / r2.len() as f64
}

/// Which class each row is of.
fn classes(rows: &LeftOutScores) -> Vec<usize> {
    let largest = |y_t: ndarray::ArrayView1<'_, f64>| {
        (1..y_t.len()).fold(0, |best, k| if y_t[k] > y_t[best] { k } else { best })
    };
    rows.y_mt.rows().into_iter().map(largest).collect()
}
