//! What a fit is worth: scores of rows held out, once or in folds.

use super::{Args, Fitting, Task, fitting::Prepared};
use crate::{
    evaluate::{Judged, Scored, score},
    report::{InFold, Report, Value, counted, six_digits},
};
use anyhow::Result;
use bochner::{
    Error, Step,
    data::{ChunkSource, Folds, TargetUse},
    job::{CrossValidation, FoldMean, FoldScores},
    models::{Conformal, LinearModel},
};
use serde_json::{Map, json};

impl Fitting {
    /// Calibrates intervals on rows that were kept back, and scores rows held out, if there are
    /// some.
    pub(super) fn score(&mut self, model: &mut LinearModel) -> Result<Option<Scored>> {
        let (console, report) = (&self.console, &mut self.report);
        if let Some(kept_back) = &mut self.sources.kept_back {
            let calibrated = console.timed(|| model.calibrate(kept_back, &self.run));
            report.seconds("calibrate", calibrated?.1);
            let rows = model.conformal.as_ref().map_or(0, Conformal::rows);
            report.set("calibration_rows", rows);
            let text = format!("calibrated on {}", counted(rows as u64, "row"));
            report.line("intervals", text);
        }
        let Some(test) = &mut self.sources.test else {
            return Ok(None);
        };
        let of = Judged {
            stage: "test",
            rows: "test rows",
            advice: &self.args.advice(self.along.as_ref()),
        };
        let (scores, seconds) = score(model, &self.run, test, console, &of, None)?;
        report.seconds("test", seconds);
        report.set("test_rows", scores.rows());
        scores.describe(report, "held-out rows");
        Ok(Some(scores))
    }

    /// Fits what was `asked` for to each of the folds once more, or makes their models of sums, and
    /// says what they scored.
    pub(super) fn cross_validate(
        &mut self,
        asked: &Args,
        at: &Prepared,
        folds: &Folds,
    ) -> Result<()> {
        // Folds keep the task of the whole fit: the targets of some rows may look like another one.
        let asked = Args {
            task: Task::of_targets(&at.targets),
            ..asked.clone()
        };
        let timed = self.console.timed(|| match self.folds_of_sums(at, folds)? {
            Some(all) => Ok(all),
            None => self.folds_of_fits(&asked, folds),
        });
        let (all, seconds) = timed?;
        let (by, how) = self.args.folds.by(&at.targets);
        let names = self.sources.train.target_names();
        self.report.seconds("folds", seconds);
        describe(&all, by, how, names.as_deref(), &mut self.report);
        Ok(())
    }

    /// The folds by sums, if nothing before these hangs on rows.
    fn folds_of_sums(&self, at: &Prepared, folds: &Folds) -> Result<Option<CrossValidation>> {
        let Some((job, meaning)) = self.unraced_job(at) else {
            return Ok(None);
        };
        let count = folds.count();
        let bar = self.console.steps("folds", Some(count as u64));
        let run = self.run.clone().progress(move |step: Step| {
            if let Step::Fold(k, _) = step {
                bar.say(format!("fold {k}"));
                bar.set_position(k as u64);
            }
        });
        let open = || {
            let opened = self.args.data.open(&self.args.input, TargetUse::Required);
            // The same file was opened in the same way before.
            opened.map_err(|error| {
                let other = |error: anyhow::Error| Error::parameter(error.to_string());
                error.downcast::<Error>().unwrap_or_else(other)
            })
        };
        let all = job.cross_validate_by_sums(open, meaning, folds, &run)?;
        for (k, scores) in all.iter().flat_map(|all| all.folds.iter().enumerate()) {
            self.console.detail(&of_one(k, count, scores));
        }
        Ok(all)
    }

    /// Each fold by a fit of its own.
    fn folds_of_fits(&self, asked: &Args, folds: &Folds) -> Result<CrossValidation> {
        let count = folds.count();
        let bar = self.console.steps("folds", Some(count as u64));
        let mut all = CrossValidation::default();
        for k in 0..count {
            bar.say(format!("fold {}", k + 1));
            let scores = {
                let _notes = InFold::new(k + 1);
                self.fold(asked.clone(), (folds.clone(), k))?
            };
            bar.above(|| self.console.detail(&of_one(k, count, &scores)));
            all.folds.push(scores);
            bar.set_position(k as u64 + 1);
        }
        Ok(all)
    }

    /// One fold: a fit of its own, scored.
    fn fold(&self, args: Args, fold: (Folds, usize)) -> Result<FoldScores> {
        let mut fitting = self.of_fold(args, fold)?;
        let mut at = fitting.prepare()?;
        let model = fitting.model(&mut at)?;
        let mut model = model.ok_or_else(|| anyhow::anyhow!("a fold has no model"))?;
        let scored = fitting.score(&mut model)?;
        let scored = scored.ok_or_else(|| anyhow::anyhow!("a fold has no rows held out"))?;
        Ok(scored.of_fold(model.rows))
    }
}

/// What one fold of so many scored, in words.
fn of_one(k: usize, count: usize, scores: &FoldScores) -> String {
    let said = scores.scores.iter().map(|score| {
        let name = score.name.replace('_', " ");
        format!("{name} {}", six_digits(score.value))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let rows = counted(scores.test_rows, "row");
    let from = counted(scores.train_rows, "row");
    format!("fold {} of {count}: {rows} from {from}: {said}", k + 1)
}

/// A mean with its deviation, over how many folds where others have none.
fn said(mean: &FoldMean, folds: usize) -> String {
    let value = six_digits(mean.mean);
    let off = mean.deviation.map(|off| format!(" +- {off:.1e}"));
    let over = (mean.folds < folds).then(|| format!(" over {} folds", mean.folds));
    format!(
        "{value}{}{}",
        off.unwrap_or_default(),
        over.unwrap_or_default()
    )
}

/// What folds scored, for people and under one key for programs.
fn describe(
    all: &CrossValidation,
    by: &'static str,
    how: &str,
    names: Option<&[String]>,
    report: &mut Report,
) {
    let means = all.means();
    let targets = means.last().map_or(0, |mean| mean.target + 1);
    let names: Vec<String> = (0..targets)
        .map(|target| match names.and_then(|names| names.get(target)) {
            Some(name) => name.clone(),
            None => format!("target {target}"),
        })
        .collect();
    say(all, &means, how, &names, report);
    let mut object = summary(&means, &names);
    object.insert("by".into(), by.into());
    let folds = all.folds.iter().map(|fold| of_fold(fold, targets));
    object.insert("folds".into(), folds.collect());
    report.set("cross_validation", object);
}

/// Means for people, in one line a target of several, and which rows they are of.
fn say(
    all: &CrossValidation,
    means: &[FoldMean],
    how: &str,
    names: &[String],
    report: &mut Report,
) {
    let count = all.folds.len();
    let rows = all.folds.iter().map(|fold| fold.test_rows);
    let (least, most) = (rows.clone().min().unwrap_or(0), rows.max().unwrap_or(0));
    let held_out = if least == most {
        counted(most, "row")
    } else {
        format!("{least} to {}", counted(most, "row"))
    };
    report.line(
        "folds",
        format!("{count}, {how}, of {held_out}; means +- deviations:"),
    );
    let label = |mean: &FoldMean| mean.name.replace('_', " ");
    if names.len() == 1 {
        for mean in means {
            report.line(format!("cv {}", label(mean)), said(mean, count));
        }
        return;
    }
    for (target, name) in names.iter().enumerate() {
        let own = means.iter().filter(|mean| mean.target == target);
        let texts = own.map(|mean| format!("{} {}", label(mean), said(mean, count)));
        report.line(format!("cv {name}"), texts.collect::<Vec<_>>().join(", "));
    }
}

/// Means and deviations for programs, in a list of targets where there are several.
fn summary(means: &[FoldMean], names: &[String]) -> Map<String, Value> {
    let of = |target: usize, value: fn(&FoldMean) -> Value| -> Map<String, Value> {
        let own = means.iter().filter(|mean| mean.target == target);
        own.map(|mean| (mean.name.to_owned(), value(mean)))
            .collect()
    };
    let scores = |target: usize| -> Map<String, Value> {
        let mut object = Map::new();
        let (means, deviations) = (
            of(target, |mean| json!(mean.mean)),
            of(target, |mean| json!(mean.deviation)),
        );
        object.insert("means".into(), means.into());
        object.insert("deviations".into(), deviations.into());
        object
    };
    if names.len() == 1 {
        return scores(0);
    }
    let one = |(target, name): (usize, &String)| {
        let mut object = scores(target);
        object.insert("target".into(), name.as_str().into());
        Value::Object(object)
    };
    let list: Vec<Value> = names.iter().enumerate().map(one).collect();
    Map::from_iter([("target_scores".to_owned(), Value::from(list))])
}

/// One fold for programs.
fn of_fold(fold: &FoldScores, targets: usize) -> Value {
    let scores = |target: usize| -> Map<String, Value> {
        let own = fold.scores.iter().filter(|score| score.target == target);
        own.map(|score| (score.name.to_owned(), json!(score.value)))
            .collect()
    };
    let scores = match targets {
        1 => json!(scores(0)),
        _ => json!((0..targets).map(scores).collect::<Vec<_>>()),
    };
    json!({"train_rows": fold.train_rows, "test_rows": fold.test_rows, "scores": scores})
}
