//! Fits of a trial to the training rows of each split.

use super::{
    fitted::{Fitted, of_one, stacked},
    plan::Plan,
    score::{Tally, least, tally_rows},
    trials::{Extent, FEW_ROWS, HELD_OUT, Sample, Tried, run_of, seed_of_split},
};
use crate::{
    Device, Error, Result,
    data::{ChunkSource, Part},
    features::FeatureMap,
    learn::fit::apart::again,
    model::{Coefficients, LinearModel},
};

impl Sample<'_> {
    /// Runs a trial: fits the training rows of each split at several penalties, and keeps the
    /// penalty with the least mean loss of hold-out rows.
    pub(in crate::learn) fn run(
        &mut self,
        plan: &Plan,
        lambdas: &[f64],
        extent: Extent,
    ) -> Result<Tried> {
        let (targets, options, seed) = (self.data.targets, self.data.options, self.data.seed);
        let silent = run_of(plan, self.data.run);
        let deciding = self.deciding(extent);
        // Bins are numbered in the order of the rows.
        let is_sampled = plan.is_binned && extent != Extent::All;
        let map = self.draw(plan, is_sampled, &silent)?;
        let draws = seed.0.wrapping_add(4);
        let share = FEW_ROWS as f64 / self.rows.rows().unwrap_or(0).max(1) as f64;
        let mut few;
        let source: &mut dyn ChunkSource = match extent {
            Extent::All => &mut *self.data.source,
            Extent::Few if share < 1.0 => {
                few = (self.parting).take(self.rows.as_mut(), Part::Test, (share, draws))?;
                &mut few
            }
            _ => self.rows.as_mut(),
        };
        let is_dual = deciding < map.output_dim() as f64;
        let how = (lambdas, options.has_intercept());
        let mut fits = Vec::with_capacity(self.splits);
        for split in 0..self.splits {
            let of = (HELD_OUT, seed_of_split(seed, split));
            let mut rows = self.parting.take(&mut *source, Part::Train, of)?;
            let (rows, of) = ((&mut rows as &mut dyn ChunkSource, is_dual), (targets, how));
            fits.push(Fitted::new(map.as_ref(), rows, of, &silent)?);
            source.rewind()?;
        }
        let lambdas = solved_by_all(&fits)?;
        let own = |fit| at(fit, &lambdas, targets.outputs());
        let solved = fits.iter().map(own).collect::<Result<Vec<_>>>()?;
        let mut tally = Tally::new(lambdas.len(), targets);
        let mut models = Vec::with_capacity(fits.len());
        for (split, (map, solved)) in copies(map, fits.len())?.zip(solved).enumerate() {
            let model = stacked(map, solved, &silent.device);
            let of = (HELD_OUT, seed_of_split(seed, split));
            let mut held_out = self.parting.take(&mut *source, Part::Test, of)?;
            tally_rows(&mut tally, &model, &mut held_out, &silent)?;
            source.rewind()?;
            models.push(model);
        }
        let (best, (error, squared)) = least(&tally.errors(&self.variance_t))?;
        let first = fits.swap_remove(0);
        Ok(Tried {
            lambda: lambdas[best],
            error,
            squared,
            rows: first.rows,
            models: of_best(models, (best, targets.outputs()), &silent.device),
            sums: first.sums,
        })
    }
}

/// Returns a map and copies of it, `count` in all.
fn copies(
    map: Box<dyn FeatureMap>,
    count: usize,
) -> Result<impl Iterator<Item = Box<dyn FeatureMap>>> {
    let copies = (1..count).map(|_| again(map.as_ref()));
    let copies = copies.collect::<Result<Vec<_>>>()?;
    Ok(std::iter::once(map).chain(copies))
}

/// Returns the models with the coefficients of the penalty at index `best` alone.
fn of_best(
    models: Vec<LinearModel>,
    (best, outputs): (usize, usize),
    device: &Device,
) -> Vec<LinearModel> {
    let models = models.into_iter().map(|model| {
        let own = of_one(&model.coefficients, best, outputs);
        stacked(model.map, own, device)
    });
    models.collect()
}

/// Returns the penalties for which each fit could be solved.
fn solved_by_all(fits: &[Fitted]) -> Result<Vec<f64>> {
    let mut lambdas = fits[0].lambdas.clone();
    lambdas.retain(|lambda| fits.iter().all(|fit| fit.lambdas.contains(lambda)));
    if lambdas.is_empty() {
        return Err(Error::numerical(
            "no penalty is large enough for these features",
        ));
    }
    Ok(lambdas)
}

/// Returns the concatenated coefficients of a fit at these penalties.
fn at(fit: &Fitted, lambdas: &[f64], outputs: usize) -> Result<Coefficients> {
    if fit.lambdas == lambdas {
        return Ok(fit.solved.clone());
    }
    let places = fit.lambdas.iter().enumerate();
    let places = places.filter(|(_, lambda)| lambdas.contains(lambda));
    let own: Vec<_> = places
        .map(|(i, _)| of_one(&fit.solved, i, outputs))
        .collect();
    Coefficients::side_by_side(&own)
}
