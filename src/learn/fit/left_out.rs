//! What rows left out of a fit say of its model: probabilities of classes, and how far amounts are
//! off. No second fit, and no rows that are kept back.

#[cfg(test)]
mod tests;

use crate::{
    Result,
    model::{
        CalibratedOn, ClassSets, Conformal, LeftOutScores, LinearModel, Probabilities, Targets,
    },
};
use ndarray::Array2;

/// Fewer rows are too few for probabilities.
pub(super) const FEWEST: usize = 20;

/// Gives a model what the scores of rows say that its fit had not seen: a classifier probabilities,
/// as [`Probabilities::fitted`] has them, if there are 20 rows, of two classes at least; a
/// regression the errors that intervals are made of. Nothing where rounding hides one of the
/// scores.
pub(in crate::learn) fn keep_left_out(model: &mut LinearModel, rows: LeftOutScores) -> Result<()> {
    if rows.len() == 0 || !rows.are_known() {
        return Ok(());
    }
    match &model.targets {
        Targets::Classes(_) if rows.len() < FEWEST => {}
        Targets::Classes(labels) => {
            let class_m = classes(&rows);
            let mut seen = vec![false; labels.len()];
            class_m.iter().for_each(|&class| seen[class] = true);
            if seen.into_iter().filter(|seen| *seen).count() >= 2 {
                judge_classes(model, rows.scores(), (&class_m, &rows.weight_m), rows.on);
            }
        }
        Targets::Real { .. } => {
            let errors_mt = rows.error_mt.mapv(f64::abs);
            model.conformal = Some(Conformal::of_left_out(&errors_mt, &rows.weight_m, rows.on)?);
        }
    }
    model.left_out = Some(rows);
    Ok(())
}

/// Gives a classifier probabilities, and what sets of classes go by, from the scores of rows that a
/// fit had not seen, `[m, classes]`, the classes of these and what they count for.
pub(super) fn judge_classes(
    model: &mut LinearModel,
    scores_mt: Array2<f64>,
    (class_m, weight_m): (&[usize], &[f64]),
    on: CalibratedOn,
) {
    let probabilities = Probabilities::fitted(&scores_mt, class_m, weight_m);
    let p_mt = probabilities.apply(scores_mt);
    model.class_sets = Some(ClassSets::of_rows(&p_mt, class_m, weight_m, on));
    model.probabilities = Some(probabilities);
}

/// Takes back what rows left out alone said of a model whose rows have groups: nothing of one that
/// is unseen.
pub(crate) fn require_groups_left_out(model: &mut LinearModel) {
    let on = model.left_out.as_ref().map(|rows| rows.on);
    if on == Some(CalibratedOn::LeftOut) {
        (model.probabilities, model.class_sets) = (None, None);
        (model.conformal, model.left_out) = (None, None);
    }
}

/// Which class each row is of.
fn classes(rows: &LeftOutScores) -> Vec<usize> {
    let largest = |y_t: ndarray::ArrayView1<'_, f64>| {
        (1..y_t.len()).fold(0, |best, k| if y_t[k] > y_t[best] { k } else { best })
    };
    rows.y_mt.rows().into_iter().map(largest).collect()
}
