//! Cross-validation by sums: if all folds share their features, rows are summed once per fold, and
//! each model is solved from the sums of the other folds.

use super::{CrossValidation, DrawnMap, Job, Meaning, Rows, Scales, cross_validation::score};
use crate::{
    Result, Run, Step,
    data::{ChunkSource, Folds, Part, Survey},
    features::FeatureMap,
    learn::{Basis, Fit, FitAnySums, require_groups_left_out},
    model::Targets,
    store::Store,
    sums::{AnySums, Sums},
};
use std::sync::Arc;

/// Largest size of the sums of all folds in bytes; above it, folds are fitted one by one.
const MOST_BYTES: usize = 1 << 30;

/// Map and targets shared by all folds, and the rows encoded for them.
struct SharedBasis<S> {
    basis: Basis,
    source: S,
}

impl Job<&dyn Fit> {
    /// Cross-validates as [`Self::cross_validate`] does, from sums: each row is featurized once for
    /// the sums and once for the scores, where K fits featurize it K times.
    ///
    /// Returns `None`, so that each fold needs a fit of its own, if the learner has no model of
    /// sums ([`Fit::of_sums`]); if scales, bandwidth, encoding or map depend on the rows, since
    /// held-out rows would then influence the model; if a penalty is chosen by groups or times of
    /// rows; and with a half-life, which depends on the rows of a fold.
    #[doc(hidden)]
    pub fn cross_validate_by_sums<S: ChunkSource>(
        &self,
        mut open: impl FnMut() -> Result<S>,
        meaning: Meaning,
        folds: &Folds,
        run: &Run,
    ) -> Result<Option<CrossValidation>> {
        let sums = self.learner.of_sums().filter(|sums| !sums.reads_twice());
        let sums = sums.filter(|_| self.half_life.is_none());
        let Some(learner) = sums else {
            return Ok(None);
        };
        // Sums store rows for leave-one-out errors of single rows only.
        let penalty = self
            .learner
            .penalised()
            .and_then(|fit| fit.lambda().given());
        if folds.groups().is_some() && penalty.is_none_or(|of| of.len() > 1) {
            return Ok(None);
        }
        let silent = run.silent();
        let Some(mut shared) = self.shared_basis(&mut open, meaning, folds, &silent)? else {
            return Ok(None);
        };
        let blocks = shared.blocks(learner, folds, &silent)?;
        let fold = |k| {
            run.say(Step::Fold(k + 1, folds.count()));
            let mut rest = blocks[0].of_no_rows()?;
            for (block, sums) in blocks.iter().enumerate() {
                if learns_from(folds, k, block) {
                    rest.merge(sums)?;
                }
            }
            let mut model = shared.basis.model(self.learner, &silent, |map, known| {
                learner.model_of(map, rest, known)
            })?;
            if let Some(groups) = folds.groups() {
                require_groups_left_out(&mut model, groups);
            }
            shared.source.rewind()?;
            let mut test = folds.part(&mut shared.source, k, Part::Test)?;
            score(&model, &mut test, &silent)
        };
        let folds = (0..folds.count()).map(fold).collect::<Result<_>>()?;
        Ok(Some(CrossValidation { folds }))
    }

    /// Returns the basis from all rows, if the training rows of each fold give the same one.
    /// Columns are centred by means of all rows, which changes no shift-invariant kernel.
    fn shared_basis<S: ChunkSource>(
        &self,
        open: &mut impl FnMut() -> Result<S>,
        meaning: Meaning,
        folds: &Folds,
        run: &Run,
    ) -> Result<Option<SharedBasis<S>>> {
        if self.bandwidth().is_rule() || !self.preparation.standardize.may_leave() {
            return Ok(None);
        }
        let mut source = open()?;
        let decides = self.deciding_rows((source.columns(), source.targets())) > 0;
        if decides || self.check_parts(source.is_weighted()).is_err() {
            return Ok(None);
        }
        let survey = self.survey(&mut source, run)?;
        let targets = meaning.targets(&survey, source.schema())?;
        let (job, _) = self.settled(&survey, &targets, run)?;
        let scales = job.scales(&survey)?;
        let drawn = job.drawn((&mut source, &survey), (&scales, &targets), run)?;
        let features = drawn.map.output_dim();
        if size_of::<f64>() * features * features * blocks_of(folds) > MOST_BYTES {
            return Ok(None);
        }
        let Some(map) = written(drawn.map.as_ref()) else {
            return Ok(None);
        };
        for k in 0..folds.count() {
            let mut other = open()?;
            let mut train = folds.part(&mut other, k, Part::Train)?;
            let own = self.survey(&mut train, run)?;
            let own_targets = meaning.targets(&own, train.schema())?;
            let own_map = job.drawn((&mut train, &own), (&scales, &targets), run)?;
            let own_map = written(own_map.map.as_ref());
            let alike = own_map.is_some_and(|own| own.difference(&map).is_none())
                && are_labels_alike(&own_targets, &targets)
                && job.scales(&own)?.scale_alike(&scales)
                && other.schema() == source.schema();
            if !alike {
                return Ok(None);
            }
        }
        let basis = Basis {
            kernel: drawn.kernel,
            seed: job.preparation.seed(),
            ..Basis::new(Arc::from(drawn.map), targets)
        };
        Ok(Some(SharedBasis { basis, source }))
    }

    /// Draws the map for these scales and targets.
    fn drawn(
        &self,
        (source, survey): (&mut dyn ChunkSource, &Survey),
        (scales, targets): (&Scales, &Targets),
        run: &Run,
    ) -> Result<DrawnMap> {
        self.draw(
            Rows {
                source,
                survey,
                scales,
                targets,
                run,
            },
            None,
        )
    }
}

/// Returns the stored form of a map, if it can be stored.
fn written(map: &dyn FeatureMap) -> Option<Store> {
    let mut store = Store::default();
    map.write(&mut store).is_ok().then_some(store)
}

/// Whether both are numeric, whose shift affects no model, or have the same labels.
fn are_labels_alike(a: &Targets, b: &Targets) -> bool {
    match (a, b) {
        (Targets::Real { .. }, Targets::Real { .. }) => true,
        (a, b) => a == b,
    }
}

/// Returns the number of blocks that are summed: one per fold, or per block of time.
fn blocks_of(folds: &Folds) -> usize {
    folds.count() + usize::from(folds.is_ahead())
}

/// Whether a block is in the training rows of fold `k`.
fn learns_from(folds: &Folds, k: usize, block: usize) -> bool {
    if folds.is_ahead() {
        block <= k
    } else {
        block != k
    }
}

impl<S: ChunkSource> SharedBasis<S> {
    /// Returns the sums of each block.
    fn blocks(
        &mut self,
        learner: &dyn FitAnySums,
        folds: &Folds,
        run: &Run,
    ) -> Result<Vec<AnySums>> {
        let of_block = |block| {
            // Folds ahead in time hold out the block after their own, so the first block is never
            // held out.
            let (k, part) = match (folds.is_ahead(), block) {
                (false, block) => (block, Part::Test),
                (true, 0) => (0, Part::Train),
                (true, block) => (block - 1, Part::Test),
            };
            self.source.rewind()?;
            let mut rows = folds.part(&mut self.source, k, part)?;
            self.basis
                .sum(&mut rows, run, |map, data| learner.sum_any(map, data))
        };
        (0..blocks_of(folds)).map(of_block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::MemorySource,
        features::{Bandwidth, Standardize},
        learn::{Lambda, LogisticOptions, RidgeOptions},
        prelude::*,
        seed::Seed,
    };
    use ndarray::Array2;

    /// Rows with a trend in their order, so that folds in time differ from those dealt.
    fn rows() -> Result<MemorySource> {
        let x = Array2::from_shape_fn((150, 2), |(i, j)| ((i * (7 + 4 * j)) % 31) as f64 / 8.0);
        let y = Array2::from_shape_fn((150, 1), |(i, _)| {
            1e4 + x[[i, 0]].sin() * x[[i, 1]] + i as f64 / 99.0
        });
        MemorySource::new(x, Some(y))
    }

    fn job(ridge: &RidgeOptions) -> Job<&dyn Fit> {
        let map = Fourier::new(Gaussian).features(30);
        let mut job = Job::new(ridge as &dyn Fit, map);
        job.preparation.standardize = Standardize::No;
        job.preparation.bandwidth = Some(Bandwidth::Sigma(1.3));
        job
    }

    /// Folds by sums score what fits of their own do, with a penalty that is given and with one
    /// that is chosen, with and without an intercept, dealt and ahead in time.
    #[test]
    fn folds_by_sums_are_those_of_fits() {
        let run = Run::on(&Device::cpu());
        let times: Vec<f64> = (0..150).map(f64::from).collect();
        let all = [
            Folds::dealt(&mut rows().expect("rows"), 4, Seed(3)).expect("folds"),
            Folds::in_time(&times, 3).expect("folds"),
        ];
        for (folds, lambda, intercept) in [
            (&all[0], Lambda::default(), true),
            (&all[0], Lambda::Fixed(1e-3), false),
            (&all[1], Lambda::Fixed(1e-3), true),
        ] {
            let ridge = RidgeOptions {
                lambda,
                intercept,
                ..RidgeOptions::default()
            };
            let job = job(&ridge);
            let sums = job.cross_validate_by_sums(rows, Meaning::Amounts, folds, &run);
            let sums = sums.expect("scores").expect("all stand on one map");
            let fits = job.cross_validate_by_fits(rows, Meaning::Amounts, folds, &run);
            let fits = fits.expect("scores");
            assert_eq!(sums.folds.len(), folds.count());
            are_alike(&sums, &fits);
        }
    }

    /// Panics unless each fold scores the same.
    fn are_alike(found: &CrossValidation, known: &CrossValidation) {
        for (found, known) in found.folds.iter().zip(&known.folds) {
            assert_eq!(
                (found.train_rows, found.test_rows),
                (known.train_rows, known.test_rows)
            );
            for (found, known) in found.scores.iter().zip(&known.scores) {
                assert_eq!(found.name, known.name);
                let off = (found.value - known.value).abs() / known.value.abs();
                // Sums less a fold are rounded otherwise than sums of what is left, 2.3e-5 where a
                // penalty is small; a row more or less in a fold tells by far more.
                assert!(off < 1e-4, "{found:?} {known:?}");
            }
        }
    }

    /// Folds of labels by sums are those of fits, too: of labels that a fit to the rows held out
    /// would know better, for one in five is turned.
    #[test]
    fn folds_of_labels_by_sums_are_those_of_fits() {
        let run = Run::on(&Device::cpu());
        let labels = || {
            let x = Array2::from_shape_fn((150, 2), |(i, j)| ((i * (7 + 4 * j)) % 31) as f64 / 8.0);
            let label = |i: usize| (x[[i, 0]] > 2.0) != i.is_multiple_of(5);
            let y = Array2::from_shape_fn((150, 1), |(i, _)| f64::from(u8::from(label(i))));
            MemorySource::new(x, Some(y))
        };
        let folds = Folds::stratified(&mut labels().expect("rows"), 3, Seed(3)).expect("folds");
        let ridge = RidgeOptions::default();
        let job = job(&ridge);
        let sums = job.cross_validate_by_sums(labels, Meaning::Labels, &folds, &run);
        let sums = sums.expect("scores").expect("all stand on one map");
        let fits = job.cross_validate_by_fits(labels, Meaning::Labels, &folds, &run);
        are_alike(&sums, &fits.expect("scores"));
        let accuracy = sums.mean("accuracy").expect("labels").mean;
        assert!((0.6..0.85).contains(&accuracy), "{accuracy}");
    }

    /// What hangs on the rows of a fold, or on more than sums, is fitted fold by fold.
    #[test]
    fn folds_that_rows_decide_on_are_fits() {
        let run = Run::on(&Device::cpu());
        let folds = Folds::dealt(&mut rows().expect("rows"), 4, Seed(3)).expect("folds");
        let ridge = RidgeOptions::default();
        let by_sums = |job: &Job<&dyn Fit>| {
            let scored = job.cross_validate_by_sums(rows, Meaning::Amounts, &folds, &run);
            scored.expect("no error").is_some()
        };
        assert!(by_sums(&job(&ridge)));
        let mut other = job(&ridge);
        other.preparation.bandwidth = Some(Bandwidth::Chosen);
        assert!(!by_sums(&other), "a race");
        let mut other = job(&ridge);
        other.preparation.bandwidth = Some(Bandwidth::Median);
        assert!(!by_sums(&other), "a median of rows");
        let mut other = job(&ridge);
        other.preparation.standardize = Standardize::Yes;
        assert!(!by_sums(&other), "deviations of rows");
        let logistic = LogisticOptions::default();
        let mut other = job(&ridge);
        other.learner = &logistic;
        assert!(!by_sums(&other), "losses");
    }
}
