//! What a fit found, in its report.

use super::{
    chosen::{Chosen, Takes},
    lambda, lengthscales,
};
use crate::report::{Report, fact, six_digits};
use bochner::models::{LinearModel, Targets};

pub(super) fn describe(model: &LinearModel, chosen: &Chosen, searched: bool, report: &mut Report) {
    let takes = chosen.takes;
    report.set("learner", &*model.learner);
    report.set("lambda", model.lambda);
    if let Some(curve) = &model.lambda_curve {
        lambda::describe(model.lambda, curve, report);
    } else if chosen.leaves_penalty() {
        let text = format!("{}, the usual one", six_digits(model.lambda));
        report.line("lambda", text);
    } else if searched {
        let text = format!("{}, the best on rows held out", six_digits(model.lambda));
        report.line("lambda", text);
    }
    if let Some(found) = &model.lengthscales {
        lengthscales::describe(found, report);
    }
    for (name, &value) in &model.facts {
        report.set(name, value);
        report.line(name.replace('_', " "), fact(value));
    }
    if let Some(times) = model.times {
        report.seconds("fit", times.accumulate.as_secs_f64());
        report.seconds("solve", times.solve.as_secs_f64());
        report.throughput(model.rows, times.accumulate.as_secs_f64());
        report.line("solve", format!("{:.3} s", times.solve.as_secs_f64()));
    }
    if let Takes::Rows(found) = takes {
        report.set("task", found);
        return;
    }
    match &model.targets {
        Targets::Real { columns, .. } => {
            report.set("task", "regression");
            report.set("targets", *columns);
        }
        Targets::Classes(labels) => {
            report.set("task", "classification");
            match &model.class_names {
                Some(names) => report.set("classes", names.as_slice()),
                None => report.set("classes", labels.as_slice()),
            }
        }
    }
}
