//! Rows to fit, rows kept back, rows that are scored: which of which file.

use super::{
    Args, TestRows,
    chosen::{Chosen, Takes},
};
use crate::report::{Usage, counted};
use anyhow::Result;
use bochner::{
    Error,
    data::{ChunkSource, ColumnChoice, Part, Schema, Split, Survey, TargetUse},
};
use std::{path::Path, sync::Arc};

pub(super) type Source = Box<dyn ChunkSource>;

/// Rows to fit, rows that intervals are calibrated on, rows that are scored.
pub(super) struct Sources {
    pub(super) train: Source,
    pub(super) kept_back: Option<Source>,
    pub(super) test: Option<Source>,
}

impl Args {
    /// Where rows come from; what their columns are made of, if that is known.
    pub(super) fn sources(&self, chosen: &Chosen, known: Option<&Schema>) -> Result<Sources> {
        let takes = chosen.takes;
        let (train, test) = self.train_and_test(takes, known)?;
        let job = self.job(chosen, Arc::new(self.map.spec()));
        let Some((fraction, seed)) = job.kept_back() else {
            let kept_back = None;
            return Ok(Sources {
                train: Box::new(job.forgetting(train)?),
                kept_back,
                test,
            });
        };
        let (again, _) = self.train_and_test(takes, known)?;
        let train = Split::new(train, Part::Train, fraction, seed)?;
        Ok(Sources {
            train: Box::new(job.forgetting(train)?),
            kept_back: Some(Box::new(Split::new(again, Part::Test, fraction, seed)?)),
            test,
        })
    }

    /// The rows of the input, which know what was said of groups and times.
    fn opened(&self, known: Option<&Schema>) -> Result<Source> {
        let source = match known {
            Some(schema) => self.data.open_again(&self.input, schema),
            None => self.data.open(&self.input, TargetUse::Required),
        }?;
        Ok(match &self.parted {
            Some(folds) => folds.all(source)?,
            None => source,
        })
    }

    /// Training rows, and test rows where asked for.
    fn train_and_test(
        &self,
        takes: Takes,
        known: Option<&Schema>,
    ) -> Result<(Source, Option<Source>)> {
        if let Takes::Rows(found) = takes {
            self.check_untested(found)?;
            return Ok((self.data.open(&self.input, TargetUse::Ignored)?, None));
        }
        let open = || self.opened(known);
        if let Some((folds, k)) = &self.held_out {
            let part = |part| -> Result<Source> { Ok(Box::new(folds.part(open()?, *k, part)?)) };
            return Ok((part(Part::Train)?, Some(part(Part::Test)?)));
        }
        if let Some(TestRows::Share(fraction)) = self.test {
            let seed = self.map.kernel.seed;
            let part = |part| -> Result<Source> {
                Ok(Box::new(Split::new(open()?, part, fraction, seed)?))
            };
            return Ok((part(Part::Train)?, Some(part(Part::Test)?)));
        }
        let train = open()?;
        let test = match &self.test_input {
            Some(path) => {
                let known = known.map(|schema| ColumnChoice::Known(Box::new(schema.clone())));
                let matching = || train.column_names().map(ColumnChoice::Matching);
                Some(self.open_test(path, &train, known.or_else(matching))?)
            }
            None => None,
        };
        Ok((train, test))
    }

    /// Test rows of a file of their own whose missing values get the means of the training rows, if
    /// these are numbers without missing values.
    pub(super) fn filled_test(&self, train: &Source, survey: &Survey) -> Result<Option<Source>> {
        let (Some(path), Some(names)) = (&self.test_input, &survey.names) else {
            return Ok(None);
        };
        let (names, means) = (names.clone(), survey.mean.clone());
        let columns = Some(ColumnChoice::Imputed { names, means });
        self.open_test(path, train, columns).map(Some)
    }

    /// Errors where rows without targets, in which a learner finds these, are to be scored.
    fn check_untested(&self, found: &str) -> Result<()> {
        let compares = self.test.is_some() || self.folds.is_asked();
        if compares || self.test_input.is_some() || self.calibrate.is_some() {
            let problem = format!(
                "--test, --test-input, --cv and --calibrate compare predictions with targets, \
                 and {found} have none; leave them out"
            );
            return Err(Usage(problem).into());
        }
        Ok(())
    }

    /// The file of rows that are scored. Errors unless it has the columns of the training rows.
    fn open_test(
        &self,
        path: &Path,
        train: &Source,
        columns: Option<ColumnChoice>,
    ) -> Result<Source> {
        let test = self.data.open_beside(
            path,
            self.test_targets.as_deref(),
            (TargetUse::Required, columns),
            Some(train.columns()),
        )?;
        for (what, test, train) in [
            ("feature", test.columns(), train.columns()),
            ("target", test.targets(), train.targets()),
        ] {
            if test != train {
                let test = counted(test as u64, &format!("{what} column"));
                let problem = format!(
                    "has {test}, but {} has {train}; give both the same columns",
                    self.input.display()
                );
                return Err(Error::data(path, problem).into());
            }
        }
        Ok(test)
    }
}
