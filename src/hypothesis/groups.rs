//! Maps that depend on separate groups of columns.

use crate::{
    Error, Result,
    data::{ChunkSource, Schema, Survey},
    features::{Bandwidth, FeatureMap, MapBuilder, MapData, part_seed},
    flow::Run,
    job::Preparation,
};
use std::sync::Arc;

/// Columns, and the builder of their map.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    /// Its name in messages, for example `x`.
    pub(super) name: &'static str,
    pub(super) columns: Vec<usize>,
    pub(super) map: &'a Arc<dyn MapBuilder>,
}

/// Maps drawn for groups of columns of one source.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) run: Run,
    pub(super) rows: u64,
    pub(super) maps: Vec<Box<dyn FeatureMap>>,
}

impl Drawn {
    /// Surveys `source` once, which may infer a schema, determines the scales of each group from
    /// its own columns, and draws its map with a separate seed. Every map takes all columns of the
    /// source, and scales columns of other groups by 0, so that its kernel does not depend on them.
    ///
    /// Errors on a group without columns or with constant columns only, on an invalid column, and
    /// as surveys, bandwidths and maps do.
    pub(super) fn draw(
        (preparation, run): (&Preparation, Run),
        source: &mut dyn ChunkSource,
        groups: &[Group<'_>],
    ) -> Result<Self> {
        let read = source.columns();
        let all = source.schema().map_or(read, |s| s.features().len());
        for group in groups {
            group.check(all)?;
        }
        // Each group has its own map.
        let bandwidth = preparation.bandwidth_or(Bandwidth::Scale);
        let of_maps = groups.iter().map(|group| group.map.sample_rows());
        let sample = of_maps.max().unwrap_or(0).max(bandwidth.sample_rows());
        let seed = preparation.seed();
        let mut survey = Survey::watched(source, sample, seed.0, &|step| run.say(step))?;
        let mut groups = groups.to_vec();
        if let Some(schema) = source.schema() {
            schema.keep_scales_of_texts(&mut survey);
            for group in &mut groups {
                group.become_columns(schema)?;
            }
        }
        let all = source.columns();
        let mut maps = Vec::with_capacity(groups.len());
        for (i, group) in groups.iter().enumerate() {
            let own = group.survey(&survey)?;
            let scales = preparation.scales_for(group.map, &own, bandwidth.clone())?;
            let input = scales.input()?.among(&group.columns, all);
            let mut data = MapData::new(input, &survey, source, &run);
            // Maps with the same frequencies would have correlated errors.
            data.seed = match (i, preparation.seed) {
                (0, own) => own,
                _ => Some(part_seed(seed, i)),
            };
            let map = group.map.build_from(data)?;
            log::info!(
                "{}: {}, scales {}",
                group.name,
                map.describe(),
                scales.scaling
            );
            maps.push(map);
        }
        source.rewind()?;
        Ok(Self {
            run,
            rows: survey.rows,
            maps,
        })
    }
}

impl Group<'_> {
    /// Restricts a survey of all columns to these. Errors with [`Error::Shape`] if all of them are
    /// constant.
    fn survey(&self, survey: &Survey) -> Result<Survey> {
        let own = survey.select(&self.columns);
        if (0..own.mean.len()).all(|j| own.is_constant(j)) {
            return Err(Error::shape(format!(
                "all of {} is constant, so nothing can depend on it; leave it out",
                self.name
            )));
        }
        Ok(own)
    }

    /// Replaces columns of a table by the columns that the schema derives from them. Errors with
    /// [`Error::Shape`] if none is left.
    fn become_columns(&mut self, schema: &Schema) -> Result<()> {
        let became = self.columns.iter().map(|&j| schema.columns_of(j));
        let mut columns: Vec<usize> = became.flatten().collect();
        // Removes duplicates.
        columns.sort_unstable();
        columns.dedup();
        if columns.is_empty() {
            let fields = self
                .columns
                .iter()
                .map(|&j| schema.features()[j].to_string());
            return Err(Error::shape(format!(
                "nothing is left of {} ({}); name other columns",
                self.name,
                fields.collect::<Vec<_>>().join("; ")
            )));
        }
        self.columns = columns;
        Ok(())
    }

    fn check(&self, all: usize) -> Result<()> {
        if self.columns.is_empty() {
            return Err(Error::shape(format!(
                "{} has no columns; give at least one",
                self.name
            )));
        }
        match self.columns.iter().find(|&&j| j >= all) {
            Some(j) => Err(Error::shape(format!(
                "{} names column {j}, but there are {all}, counted from 0",
                self.name
            ))),
            None => Ok(()),
        }
    }
}

/// Errors with [`Error::Shape`] if a column is in both groups.
pub(super) fn apart(a: (&str, &[usize]), b: (&str, &[usize])) -> Result<()> {
    match a.1.iter().find(|j| b.1.contains(j)) {
        Some(j) => Err(Error::shape(format!(
            "column {j} (counted from 0) is in {} and in {}; give each its own columns",
            a.0, b.0
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        data::MemorySource,
        features::{Bandwidth, Form, Fourier, Standardize, featurize},
        hypothesis::Independence,
        kernels::Gaussian,
        seed::Seed,
    };
    use ndarray::{Array2, array};

    /// At the centre of the data, features with phases are functions of the phases alone.
    #[test]
    fn every_group_has_draws_of_its_own_and_sees_its_own_columns() {
        let map = Fourier::new(Gaussian).form(Form::Phase).features(16);
        let learner = Independence::on(map).device(&Device::cpu()).seed(Seed(3));
        let learner = learner.bandwidth(Bandwidth::Sigma(1.0));
        let learner = learner.standardize(Standardize::No);
        let group = |name, j| Group {
            name,
            columns: vec![j],
            map: &learner.job.preparation.map,
        };
        let groups = [group("x", 0), group("y", 1)];
        let source = |x: Array2<f64>| MemorySource::new(x, None).expect("finite");
        let mut rows = source(array![[-1.0, -1.0], [1.0, 1.0]]);
        let drawn = {
            let run = Run::on(&Device::cpu());
            Drawn::draw((&learner.job.preparation, run), &mut rows, &groups)
        };
        let drawn = drawn.expect("draws");
        let features = |map: &dyn FeatureMap, x: Array2<f64>| {
            let mut all: Vec<f32> = Vec::new();
            let run = &drawn.run;
            featurize(map, &mut source(x), run, |z| {
                all.extend(z.iter().copied());
                Ok(())
            })
            .expect("features");
            all
        };
        let [x, y] = [0, 1].map(|k| drawn.maps[k].as_ref());
        let centre = || array![[0.0, 0.0]];
        assert_ne!(features(x, centre()), features(y, centre()));
        let moved = || array![[0.0, 0.7]];
        assert_eq!(features(x, centre()), features(x, moved()));
        assert_ne!(features(y, centre()), features(y, moved()));
    }
}
