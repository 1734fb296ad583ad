//! Warnings about fits that are worse than, or little better than, the mean.

use crate::{
    data::Survey,
    model::{LinearModel, Targets},
};

/// Facts of a model that compare it with the mean of the targets.
const COMPARED: [&str; 2] = ["held_out_r2", "estimated_r2"];
/// R2 below which a fit with more columns than rows suggests a sparse learner.
const LITTLE: f64 = 0.3;

/// Drops meaningless figures, and warns if another learner may do better.
pub(super) fn judge(model: &mut LinearModel, survey: &Survey) {
    let varies = survey.targets.iter().any(|target| target.min < target.max);
    if !varies {
        forget_r2(model);
    }
    if varies && keeps_nothing(model) {
        log::warn!(
            "the penalty of absolute values left no coefficient, so that every prediction is the \
             same; a smaller one keeps some (--l1)"
        );
    }
    if let Some(warning) = too_wide(model, survey) {
        log::warn!("{warning}");
    }
}

/// Drops R2, which is undefined for constant targets.
fn forget_r2(model: &mut LinearModel) {
    let compares = |name: &String| COMPARED.contains(&name.as_str());
    model.facts.retain(|name, _| !compares(name));
}

/// Whether all coefficients of a lasso are zero.
fn keeps_nothing(model: &LinearModel) -> bool {
    model.learner == "lasso" && model.coefficients.beta_dt.iter().all(|beta| *beta == 0.0)
}

/// Returns the advice for a fit with more columns than rows and a small R2: a sparse penalty finds
/// k of d columns from about `k log d` rows (Wainwright 2009).
fn too_wide(model: &LinearModel, survey: &Survey) -> Option<String> {
    let (columns, rows) = (survey.mean.len(), survey.rows);
    let is_tried = model.learner == "lasso" && model.map.name() == "identity";
    if columns as u64 <= rows || is_tried {
        return None;
    }
    let instead = match model.targets {
        Targets::Real { .. } => {
            "a lasso of the columns themselves may find them (--model lasso --map identity)"
        }
        Targets::Classes(_) => {
            "logistic regression of the columns themselves with a penalty of absolute values may \
             find them (--model logistic --map identity --l1 0.02)"
        }
    };
    let r2 = COMPARED.iter().find_map(|name| model.facts.get(*name))?;
    (*r2 < LITTLE).then(|| {
        format!(
            "{columns} columns of {rows} rows, and R2 {r2:.2} on rows left out: if few columns \
             matter, {instead}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::MemorySource,
        features::Identity,
        job::{Job, Meaning},
        learn::{LassoOptions, RidgeOptions},
        seed::{Seed, Stream},
    };
    use ndarray::{Array1, Array2};

    fn fitted(
        learner: &dyn crate::learn::Fit,
        rows: usize,
        constant: bool,
    ) -> (LinearModel, Survey) {
        let mut draws = Seed(5).stream(Stream::Data, 0);
        let x = Array2::from_shape_simple_fn((rows, 60), || draws.normal());
        let y = Array1::from_shape_fn(rows, |i| {
            if constant {
                3.5
            } else {
                x[[i, 3]] - 2.0 * x[[i, 40]]
            }
        });
        let mut source = MemorySource::new(x, Some(y.insert_axis(ndarray::Axis(1)))).expect("rows");
        let job = Job::new(learner, Identity);
        let run = Run::on(&Device::cpu());
        let survey = job.survey(&mut source, &run).expect("a survey");
        let model = job
            .fit(&mut source, Meaning::Amounts, &run)
            .expect("fits")
            .model;
        (model, survey)
    }

    #[test]
    fn targets_without_spread_have_no_r2() {
        let (model, _) = fitted(&RidgeOptions::default(), 90, true);
        assert!(
            !model.facts.contains_key("held_out_r2"),
            "{:?}",
            model.facts
        );
        let (model, _) = fitted(&RidgeOptions::default(), 90, false);
        assert!(model.facts["held_out_r2"] > 0.9, "{:?}", model.facts);
    }

    #[test]
    fn a_lasso_that_keeps_nothing_is_told() {
        for (l1, nothing) in [(100.0, true), (1e-3, false)] {
            let learner = LassoOptions {
                l1: Some(l1),
                ..LassoOptions::default()
            };
            let (model, _) = fitted(&learner, 90, false);
            assert_eq!(keeps_nothing(&model), nothing, "{l1}");
        }
    }

    #[test]
    fn wide_tables_are_told_of_the_lasso() {
        let (mut model, survey) = fitted(&RidgeOptions::default(), 40, false);
        model.facts.insert("held_out_r2".into(), 0.1);
        let said = too_wide(&model, &survey).expect("poor");
        assert!(
            said.contains("60 columns of 40 rows") && said.contains("lasso"),
            "{said}"
        );
        model.targets = Targets::Classes(vec![0.0, 1.0]);
        let said = too_wide(&model, &survey).expect("poor");
        assert!(
            said.contains("--model logistic --map identity --l1"),
            "{said}"
        );
        model.facts.insert("held_out_r2".into(), 0.9);
        assert_eq!(too_wide(&model, &survey), None);
        let (mut model, survey) = fitted(&RidgeOptions::default(), 90, false);
        model.facts.insert("held_out_r2".into(), 0.1);
        assert_eq!(too_wide(&model, &survey), None);
        let (mut model, survey) = fitted(&LassoOptions::default(), 40, false);
        model.facts.insert("estimated_r2".into(), 0.1);
        assert_eq!(too_wide(&model, &survey), None);
    }
}
