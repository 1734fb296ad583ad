//! Sums of small maps, one for each column: generalised additive models on any kernel.

use super::{Bandwidth, ColumnPart, FeatureMap, MapBuilder, MapData, Union, builder::part_seed};
use crate::{
    Error, Result,
    data::{Survey, TableColumn},
    kernels::{Domain, Kernel},
    sampling::Sampling,
    seed::Seed,
    settings::Settings,
    text::spelled,
};
use std::{fmt, str::FromStr, sync::Arc};

/// Whether a fit is of a sum of functions of single columns, a generalised additive model (Hastie &
/// Tibshirani 1986).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Additive {
    /// It is of all columns together.
    #[default]
    No,
    /// One small map looks at each column of the table: `f(x) = b + sum_j f_j(x_j)`.
    Columns,
    /// Maps of pairs of columns stand beside them, of those that tell more together than the sum
    /// of what each tells: at most 10, and at most as many as there are columns
    /// (Lou, Caruana, Gehrke & Hooker 2013).
    Pairs,
}

impl fmt::Display for Additive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "no",
            Self::Columns => "columns",
            Self::Pairs => "pairs",
        })
    }
}

impl FromStr for Additive {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::No, Self::Columns, Self::Pairs];
        spelled("an additive model", text, &all)
    }
}

/// Features of a part at least, where the map has as many.
const LEAST: usize = 20;
/// Shares of the features that a pair has, of which a column has one.
const OF_PAIR: usize = 2;

/// Small maps of one kind side by side, each of which looks at one column of the table or at two.
/// All count alike: k(x, y) is the mean of their kernels.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct AdditiveMap {
    map: Arc<dyn MapBuilder>,
    columns: Vec<TableColumn>,
    pairs: Vec<[usize; 2]>,
    words: Additive,
}

impl AdditiveMap {
    /// A share of `map` for each column of the table that varies. Errors with
    /// [`Error::Unsupported`] on a map that comes in no other size or names its columns itself, and
    /// with [`Error::Numerical`] where no column varies.
    pub fn of_columns(map: Arc<dyn MapBuilder>, survey: &Survey, words: Additive) -> Result<Self> {
        if !Self::takes(map.as_ref()) {
            return Err(Error::unsupported(NO_PARTS));
        }
        if map.column_parts(survey)?.is_some() {
            let problem = "the map names its columns already; leave out the names, or what makes \
                           it additive";
            return Err(Error::unsupported(problem));
        }
        let varies = |column: &TableColumn| {
            let mut places = column.places.clone();
            places.any(|j| !survey.is_constant(j))
        };
        let columns: Vec<_> = survey.table_columns().into_iter().filter(varies).collect();
        if columns.is_empty() {
            return Err(Error::numerical(
                "no column varies, so there is nothing to add up",
            ));
        }
        Ok(Self {
            map,
            columns,
            pairs: Vec::new(),
            words,
        })
    }

    /// Whether parts can be made of a map.
    pub fn takes(map: &dyn MapBuilder) -> bool {
        map.resized(LEAST).is_some()
    }

    /// The columns of the table that have a part each.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// With maps of these pairs of [`Self::columns`] beside.
    pub fn with_pairs(mut self, pairs: Vec<[usize; 2]>) -> Self {
        self.pairs = pairs;
        self
    }

    /// The columns of numbers that each part looks at, and its share of the features.
    fn parts(&self) -> Vec<(Vec<usize>, usize)> {
        let places = |j: usize| self.columns[j].places.clone();
        let columns = (0..self.columns.len()).map(|j| (places(j).collect(), 1));
        let pairs = self.pairs.iter().map(|&[i, j]| {
            let mut both: Vec<usize> = places(i).chain(places(j)).collect();
            both.sort_unstable();
            (both, OF_PAIR)
        });
        let shares: usize = self.columns.len() + OF_PAIR * self.pairs.len();
        let all = self.map.features().or_else(|| self.said("features"));
        let all = all.unwrap_or(super::MapSpec::FEATURES);
        let of = move |share: usize| {
            let even = all * share / shares / 2 * 2;
            even.max((LEAST * share).min(all))
        };
        let parts = columns.chain(pairs);
        parts.map(|(places, share)| (places, of(share))).collect()
    }

    /// The seed of the draws: of the job, or the map's own.
    fn seed(&self, given: Option<Seed>) -> Seed {
        let own = || self.said("seed").map(Seed);
        given.or_else(own).unwrap_or_default()
    }

    /// A number that the map says of itself.
    fn said<T: FromStr>(&self, name: &str) -> Option<T> {
        self.map.settings().get(name)?.parse().ok()
    }
}

/// Why a map has no parts.
pub const NO_PARTS: &str = "an additive model takes maps of any number of features: fourier, \
                            fastfood, sorf, nystrom and binning";

impl MapBuilder for AdditiveMap {
    fn settings(&self) -> Settings {
        self.map.settings().text("additive", self.words)
    }

    /// That of each part.
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        self.map.kernel()
    }

    fn is_piecewise_constant(&self) -> bool {
        self.map.is_piecewise_constant()
    }

    fn is_of_its_kernel(&self) -> bool {
        false
    }

    fn is_shift_invariant(&self) -> bool {
        self.map.is_shift_invariant()
    }

    fn domain(&self) -> Domain {
        self.map.domain()
    }

    fn sample_rows(&self) -> usize {
        self.map.sample_rows()
    }

    /// Those of all parts.
    fn features(&self) -> Option<usize> {
        self.map.features()?;
        Some(self.parts().iter().map(|(_, features)| features).sum())
    }

    fn sampling(&self) -> Option<Sampling> {
        self.map.sampling()
    }

    fn usual_bandwidth(&self) -> Option<Bandwidth> {
        self.map.usual_bandwidth()
    }

    fn column_parts(&self, _: &Survey) -> Result<Option<Vec<ColumnPart>>> {
        let parts = self.parts();
        let weight = 1.0 / parts.len() as f64;
        let part = |(places, _)| ColumnPart { places, weight };
        Ok(Some(parts.into_iter().map(part).collect()))
    }

    fn variant(&self, kernel: Arc<dyn Kernel>, features: usize) -> Option<Box<dyn MapBuilder>> {
        let map = self.map.variant(kernel, features)?;
        Some(Box::new(Self {
            map: map.into(),
            ..self.clone()
        }))
    }

    /// Each part draws from a seed of its own. Errors as the map does.
    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let parts = self.parts();
        let (weight, seed) = (1.0 / parts.len() as f64, self.seed(data.seed));
        let mut built = Vec::with_capacity(parts.len());
        for (i, (places, features)) in parts.into_iter().enumerate() {
            let own = MapData {
                input: data.input.clone(),
                source: &mut *data.source,
                seed: Some(part_seed(seed, i)),
                columns: None,
                ..data
            };
            let resized = self.map.resized(features);
            let map = resized.ok_or_else(|| Error::unsupported(NO_PARTS))?;
            built.push((map.build_from(own.of_columns(places))?, weight));
        }
        Ok(Box::new(Union::new(built)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device, Run,
        data::MemorySource,
        features::{Affine, Binning, Fourier, Identity},
        kernels::{Gaussian, Laplacian},
    };
    use ndarray::Array2;

    fn survey(x: &Array2<f64>) -> (MemorySource, Survey) {
        let mut source = MemorySource::new(x.clone(), None).expect("finite");
        let survey = Survey::new(&mut source, 0, 0).expect("surveys");
        (source, survey)
    }

    fn rows() -> Array2<f64> {
        Array2::from_shape_fn((30, 4), |(i, j)| match j {
            2 => 7.0,
            j => ((i * (3 * j + 5)) % 17) as f64,
        })
    }

    /// A part for each column that varies, each of its own draws whether the job has a seed or not;
    /// a pair has two shares.
    #[test]
    fn parts_are_of_columns_and_draw_for_themselves() {
        let (mut source, survey) = survey(&rows());
        let map = Fourier::new(Gaussian).features(102).seed(Seed(4));
        let of_columns = AdditiveMap::of_columns(Arc::new(map), &survey, Additive::Columns);
        let map = of_columns.expect("comes in parts").with_pairs(vec![[0, 2]]);
        assert_eq!(map.columns().len(), 3);
        assert_eq!(map.features(), Some(20 + 20 + 20 + 40));
        let run = Run::on(&Device::cpu());
        let mut of_seed = |seed| {
            let mut data = MapData::new(Affine::identity(4), &survey, &mut source, &run);
            data.seed = seed;
            let built = map.build_from(data).expect("draws");
            let mut store = crate::store::Store::default();
            built.write(&mut store).expect("writes");
            (built, store)
        };
        let (built, own) = of_seed(None);
        let crate::features::Structure::Union(union) = built.structure() else {
            panic!("a union");
        };
        let kept: Vec<_> = union.parts().map(|(part, _)| part.input().kept()).collect();
        assert_eq!(kept, [vec![0], vec![1], vec![3], vec![0, 3]]);
        // All count alike, a pair as a column, in the map and in what the file keeps.
        assert!(
            union
                .parts()
                .all(|(_, weight)| (weight - 0.25).abs() < 1e-15)
        );
        let kept_weights = own.vector("weights", 4).expect("weights");
        assert_eq!(kept_weights.to_vec(), [0.25; 4]);
        let weights = |i: usize, own: &crate::store::Store| {
            let part = own.nested(&format!("part{i}"));
            part.f32("frequencies")
                .expect("frequencies")
                .row(kept[i][0])
                .to_vec()
        };
        assert_ne!(weights(0, &own), weights(1, &own));
        assert_ne!(weights(1, &own), weights(2, &own));
        // The map's own seed, and another one.
        assert_eq!(weights(0, &own), weights(0, &of_seed(Some(Seed(4))).1));
        assert_ne!(weights(0, &own), weights(0, &of_seed(Some(Seed(5))).1));
    }

    #[test]
    fn what_has_no_parts_is_refused() {
        let (_, survey) = survey(&rows());
        let of = |map: Arc<dyn MapBuilder>| {
            AdditiveMap::of_columns(map, &survey, Additive::Columns).map(|_| ())
        };
        assert!(of(Arc::new(Binning::new(Laplacian))).is_ok());
        let error = of(Arc::new(Identity)).expect_err("refused").to_string();
        assert!(error.contains("any number of features"), "{error}");
        let kernel: Arc<dyn Kernel> = Arc::new(Gaussian);
        let named = super::super::MapSpec::new("fourier[0]".parse().expect("a map"), kernel);
        let error = of(Arc::new(named)).expect_err("refused").to_string();
        assert!(error.contains("names its columns"), "{error}");
    }
}
