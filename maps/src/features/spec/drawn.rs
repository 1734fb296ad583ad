//! From a description to a map.

use super::{LeverageSpec, MapKind, MapSpec};
use crate::{
    Error, Result,
    data::{ChunkSource, TableColumn},
    error::Remedy,
    features::{
        AdditiveChi2Features, Affine, ArcCosine, Binning, Fastfood, FeatureMap, Fourier,
        HadamardSketch, Identity, Nystrom, Precomputed, RandomProjection, SkewedChi2, Sorf,
        TensorSketch, Union, builder::part_seed, names,
    },
    flow::Run,
    kernels::{AdditiveChi2, Kernel, Linear, Polynomial},
    sampling::Sampling,
};
use ndarray::Array2;

/// What a map is drawn within.
pub(super) struct Within {
    /// The columns that parts may name.
    pub(super) table: Vec<TableColumn>,
    /// Those of numbers that parts look at which name none; `None` for all.
    pub(super) columns: Option<Vec<usize>>,
}

impl MapSpec {
    /// Draws the map. `input` takes raw columns to unit lengthscale; `sample` has raw rows,
    /// `[n, d]`, for landmarks and leverage scores ([`Self::sample_rows`]); `source` has all rows,
    /// which binning reads once. `run` is a `&Device` or a [`Run`], which hears
    /// [`Step::Map`](crate::Step::Map).
    ///
    /// Errors as the builders of the maps do, and on columns that the source does not have.
    pub fn build(
        &self,
        input: Affine,
        sample: &Array2<f64>,
        source: &mut dyn ChunkSource,
        run: impl Into<Run>,
    ) -> Result<Box<dyn FeatureMap>> {
        let within = Within {
            table: TableColumn::of_source(source),
            columns: None,
        };
        self.build_within(within, input, sample, source, &run.into())
    }

    /// As [`Self::build`], of a map that may look at some of the columns.
    pub(super) fn build_within(
        &self,
        within: Within,
        input: Affine,
        sample: &Array2<f64>,
        source: &mut dyn ChunkSource,
        run: &Run,
    ) -> Result<Box<dyn FeatureMap>> {
        let mut built = Vec::with_capacity(self.map.parts().len());
        for (i, (part, features)) in self.map.shares(self.features).enumerate() {
            let own = part.columns.as_ref();
            let own = own
                .map(|columns| columns.places(&within.table))
                .transpose()?;
            let columns = own.or_else(|| within.columns.clone());
            let mut one = self.clone();
            one.seed = part_seed(one.seed, i);
            let input = match &columns {
                Some(columns) => {
                    let shape = (features / 2, columns.len());
                    let usual = Sampling::Lattice.of_few(self.kernel.spectrum(), shape);
                    one.sampling = one.sampling.or(usual);
                    input.clone().only(columns)
                }
                None => input.clone(),
            };
            let map: Box<dyn FeatureMap> = match part.kind {
                MapKind::Fourier => {
                    let mut map = one.fourier(features).among(columns);
                    if let Some(LeverageSpec { lambda, pool }) = one.leverage {
                        let pool = pool.unwrap_or(4 * one.form.frequencies(features)?);
                        map = map.leverage(sample, lambda, pool);
                    }
                    Box::new(map.build(input)?)
                }
                MapKind::Nystrom => one.nystrom(features, input, sample)?,
                MapKind::Binning => {
                    let map = one.binning(features);
                    Box::new(map.fit(input, source, run)?)
                }
                kind => one.drawn(kind, features, input)?,
            };
            built.push((map, part.weight));
        }
        match built.pop() {
            Some((map, 1.0)) if built.is_empty() => Ok(map),
            last => {
                built.extend(last);
                Ok(Box::new(Union::new(built)?))
            }
        }
    }

    fn nystrom(
        self,
        features: usize,
        input: Affine,
        sample: &Array2<f64>,
    ) -> Result<Box<dyn FeatureMap>> {
        let map = Nystrom::new(self.kernel).landmarks(self.landmarks);
        let map = map.features(features).seed(self.seed);
        let map = match self.rank {
            Some(rank) => map.rank(rank),
            None => map,
        };
        Ok(Box::new(map.build(input, sample)?))
    }

    fn fourier(&self, features: usize) -> Fourier {
        Fourier::new(self.kernel.clone())
            .features(features)
            .form(self.form)
            .sampling(self.sampling)
            .seed(self.seed)
    }

    pub(super) fn binning(&self, grids: usize) -> Binning {
        Binning::new(self.kernel.clone())
            .grids(grids)
            .seed(self.seed)
    }

    /// A map that has a kernel of its own.
    fn other_kernel(&self, what: &str, known: &str, usual: &'static str) -> Error {
        let problem = format!("{what} have the kernel {known}, not {}", self.kernel.spec());
        Error::unsupported(problem)
            .help(Remedy::UseKernel(usual))
            .help(Remedy::UseMap(names::FOURIER))
    }

    /// The polynomial kernel of a sketch.
    fn polynomial(&self, what: &str) -> Result<Polynomial> {
        let known = "polynomial:DEGREE:CONSTANT";
        let other = || self.other_kernel(what, known, "polynomial:2:1");
        self.kernel.polynomial().ok_or_else(other)
    }

    /// The maps that are drawn without any data.
    pub(super) fn drawn(
        &self,
        kind: MapKind,
        features: usize,
        input: Affine,
    ) -> Result<Box<dyn FeatureMap>> {
        Ok(match kind {
            MapKind::Fourier => Box::new(self.fourier(features).build(input)?),
            MapKind::Fastfood => {
                let map = Fastfood::new(self.kernel.clone()).features(features);
                Box::new(map.form(self.form).seed(self.seed).build(input)?)
            }
            MapKind::Sorf => {
                let map = Sorf::new(self.kernel.clone()).features(features);
                let map = map.radii(self.radii).form(self.form).seed(self.seed);
                Box::new(map.build(input)?)
            }
            MapKind::ArcCosine => Box::new(self.arc_cosine()?.features(features).build(input)?),
            MapKind::Projection => {
                self.require_linear("random projections")?;
                let map = RandomProjection::new().entries(self.entries);
                let map = map.features(features).sampling(self.sampling);
                Box::new(map.seed(self.seed).build(input)?)
            }
            MapKind::TensorSketch => {
                let kernel = self.polynomial("tensor sketches")?;
                let map = TensorSketch::new(kernel.degree(), kernel.constant());
                Box::new(map.features(features).seed(self.seed).build(input)?)
            }
            MapKind::HadamardSketch => {
                let kernel = self.polynomial("Hadamard sketches")?;
                let map = HadamardSketch::new(kernel.degree(), kernel.constant());
                Box::new(map.features(features).seed(self.seed).build(input)?)
            }
            MapKind::SkewedChi2 => Box::new(self.skewed_chi2()?.features(features).build(input)?),
            MapKind::AdditiveChi2 => {
                Box::new(self.additive_chi2()?.features(features).build(input)?)
            }
            MapKind::Identity => {
                if self.map.parts().len() == 1 {
                    self.require_linear("columns as they are")?;
                }
                Box::new(Identity.build(input)?)
            }
            MapKind::Precomputed => {
                let map = self.precomputed()?;
                map.check(input.columns())?;
                Box::new(map.build()?)
            }
            MapKind::Nystrom | MapKind::Binning => {
                return Err(Error::unsupported(format!("a {kind} map needs data")));
            }
        })
    }

    /// Errors with [`Error::Unsupported`] where a kernel is asked for that `what` do not have.
    fn require_linear(&self, what: &str) -> Result<()> {
        if self.kernel.spec() == Linear.spec() {
            return Ok(());
        }
        Err(self.other_kernel(what, "linear", "linear"))
    }

    fn arc_cosine(&self) -> Result<ArcCosine> {
        let kernel = self.kernel.arc_cosine().ok_or_else(|| {
            self.other_kernel("arc-cosine features", "arc-cosine:ORDER", "arc-cosine:1")
        })?;
        let map = ArcCosine::new().order(kernel.order()).bias(kernel.bias());
        Ok(map.sampling(self.sampling).seed(self.seed))
    }

    fn skewed_chi2(&self) -> Result<SkewedChi2> {
        let kernel = self.kernel.skewed_chi2().ok_or_else(|| {
            let known = "skewed-chi2:SKEWEDNESS";
            self.other_kernel("skewed chi-squared features", known, "skewed-chi2:1")
        })?;
        let map = SkewedChi2::new().skewedness(kernel.skewedness());
        let map = map.form(self.form).sampling(self.sampling);
        Ok(map.seed(self.seed))
    }

    fn additive_chi2(&self) -> Result<AdditiveChi2Features> {
        let own = AdditiveChi2.spec();
        if self.kernel.spec() != own {
            let what = "additive chi-squared features";
            return Err(self.other_kernel(what, &own, "additive-chi2"));
        }
        let map = AdditiveChi2Features::new();
        Ok(match self.interval {
            Some(interval) => map.interval(interval),
            None => map,
        })
    }

    fn precomputed(&self) -> Result<Precomputed> {
        let map = self.precomputed.clone().ok_or_else(|| {
            let problem = "precomputed kernel values need that of their landmarks, too";
            Error::missing(problem).help(Remedy::words("give it"))
        })?;
        Ok(match self.rank {
            Some(rank) => map.rank(rank),
            None => map,
        })
    }
}
