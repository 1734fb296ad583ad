//! Rows to fit, rows kept back, rows that are scored: which of which file.

use super::{
    Args, TestRows,
    chosen::{Chosen, Takes},
};
use crate::report::{Usage, counted};
use anyhow::Result;
use bochner::{
    Error,
    data::{ChunkSource, ColumnChoice, Part, Schema, Split, TargetUse},
};

use std::sync::Arc;

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
                train,
                kept_back,
                test,
            });
        };
        let (again, _) = self.train_and_test(takes, known)?;
        Ok(Sources {
            train: Box::new(Split::new(train, Part::Train, fraction, seed)?),
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
            let compares = self.test.is_some() || self.folds.is_asked();
            if compares || self.test_input.is_some() || self.calibrate.is_some() {
                let problem = format!(
                    "--test, --test-input, --cv and --calibrate compare predictions with targets, \
                     and {found} have none; leave them out"
                );
                return Err(Usage(problem).into());
            }
            return Ok((self.data.open(&self.input, TargetUse::Ignored)?, None));
        }
        let open = || self.opened(known);
        if let Some((folds, k)) = &self.held_out {
            let part = |part| Ok::<_, anyhow::Error>(folds.part(open()?, *k, part)?);
            return Ok((
                Box::new(part(Part::Train)?),
                Some(Box::new(part(Part::Test)?)),
            ));
        }
        if let Some(TestRows::Share(fraction)) = self.test {
            let part = |part| {
                Split::new(open()?, part, fraction, self.map.kernel.seed)
                    .map_err(anyhow::Error::new)
            };
            return Ok((
                Box::new(part(Part::Train)?),
                Some(Box::new(part(Part::Test)?)),
            ));
        }
        let train = open()?;
        let Some(path) = &self.test_input else {
            return Ok((train, None));
        };
        let columns = train.column_names().map(ColumnChoice::Matching);
        let known = known.map(|schema| ColumnChoice::Known(Box::new(schema.clone())));
        let columns = known.or(columns);
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
        Ok((train, Some(test)))
    }
}
