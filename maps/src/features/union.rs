//! Maps side by side: `z(x) = [sqrt(w_1) z_1(x), sqrt(w_2) z_2(x), ...]`, whose kernel is
//! `sum_i w_i k_i(x, y)`.

mod describe;
mod loaded;

pub(super) use loaded::room;

use super::{
    Affine, BinningMap, FeatureMap, Formula, LoadedMap, MapBuilder, MapData, PartFormula, Reader,
    Structure, builder::part_seed, names::UNION, require_dense,
};
use crate::{
    Device, Error, Result,
    kernels::{Domain, Kernel},
    limits::UNION_PARTS,
    ops::place::Place,
    store::Store,
};
use loaded::{LoadedPart, LoadedUnion};
use std::sync::Arc;

/// Feature maps side by side, each with a weight, as Rahimi & Recht 2007 (sec. 5) combine binning
/// and Fourier features.
///
/// With dense parts only it is a dense map like any other; with a binning part it is fitted by
/// conjugate gradients.
#[derive(Debug)]
pub struct Union {
    input: Affine,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    map: Box<dyn FeatureMap>,
    weight: f64,
    /// Scale and shift of each column, from rows prepared for the union to rows prepared for this
    /// part; none when equal.
    rescale: Option<Vec<[f32; 2]>>,
}

impl Union {
    /// Puts maps of the same raw columns side by side, with their weights w_i > 0. Rows are
    /// prepared once, for the binning part, or else for the first part that centres its columns, or
    /// else for the first, and rescaled on the device for parts of other lengthscales. A column
    /// that this part drops, its scale being 0, is prepared as the next part has it that sees it.
    ///
    /// Errors with [`Error::Parameter`] on no parts, more than 1024 or a weight that is not
    /// positive and finite, with [`Error::Shape`] when the parts take other numbers of columns, and
    /// with [`Error::Unsupported`] when two binning parts differ in the lengthscale of a column
    /// that both see.
    pub fn new(parts: Vec<(Box<dyn FeatureMap>, f64)>) -> Result<Self> {
        let Some((first, _)) = parts.first() else {
            return Err(Error::parameter("a union of no maps; give at least one"));
        };
        // The same for maps that are drawn as for maps that are read: what is fitted can be read.
        require_count(parts.len())?;
        if let Some((_, weight)) = parts.iter().find(|(_, w)| !(*w > 0.0 && w.is_finite())) {
            return Err(Error::parameter(format!(
                "a weight is {weight}; it must be positive and finite"
            )));
        }
        // Bins admit no rounding, so the rows are theirs.
        let exact = parts.iter().find(|(map, _)| is_of_bins(map.as_ref()));
        // Otherwise those of a map that centres, if there is one: f32 keeps no more digits than the
        // rows prepared have.
        let centred = || parts.iter().find(|(map, _)| map.input().centres());
        let base = exact.or_else(centred).map_or(first, |(map, _)| map);
        // What one part refuses, all refuse.
        let domain = |(map, _): &(Box<dyn FeatureMap>, f64)| map.input().domain();
        let narrow = parts.iter().map(domain).find(|&d| d != Domain::Any);
        let input = base.input().clone();
        let input = if input.is_logarithm() {
            input
        } else {
            let input = input.within(narrow.unwrap_or_default());
            let of_bins = parts.iter().filter(|(map, _)| is_of_bins(map.as_ref()));
            let centred = parts.iter().filter(|(map, _)| map.input().centres());
            let others = of_bins.chain(centred).chain(&parts);
            input.with_columns_of(others.map(|(map, _)| map.input()))
        };
        let parts = parts.into_iter().map(|(map, weight)| {
            let rescale = map.input().relative_to(&input)?;
            // Columns that are taken as they are, or left out, are not rounded again.
            let exact = |of: &[[f32; 2]]| of.iter().all(|of| matches!(of, [0.0 | 1.0, 0.0]));
            if is_of_bins(map.as_ref()) && rescale.as_deref().is_some_and(|of| !exact(of)) {
                return Err(Error::unsupported(
                    "the binning parts of a union must share the lengthscales of their columns; \
                     use one binning part, or one lengthscale",
                ));
            }
            Ok(Part {
                map,
                weight,
                rescale,
            })
        });
        Ok(Self {
            parts: parts.collect::<Result<_>>()?,
            input,
        })
    }

    /// The maps and their weights.
    pub fn parts(&self) -> impl Iterator<Item = (&dyn FeatureMap, f64)> {
        self.parts
            .iter()
            .map(|part| (part.map.as_ref(), part.weight))
    }

    pub(super) fn read(store: &Store, read: Reader) -> Result<Self> {
        let count: usize = store.get("parts")?;
        require_count(count)?;
        let weights = store.vector("weights", count)?;
        let parts = weights
            .iter()
            .enumerate()
            .map(|(i, &weight)| Ok((read(&store.nested(&format!("part{i}")))?, weight)));
        Self::new(parts.collect::<Result<_>>()?)
    }
}

fn require_count(parts: usize) -> Result<()> {
    if parts > UNION_PARTS {
        return Err(Error::parameter(format!(
            "a union of {parts} maps, and a model holds {UNION_PARTS}; use fewer columns or parts"
        )));
    }
    Ok(())
}

/// Whether rows must come to it without another rounding.
fn is_of_bins(map: &dyn FeatureMap) -> bool {
    require_dense(map).is_err()
}

/// Builds a [`Union`] of maps that are still to be drawn: they share rows, bandwidth and
/// standardisation. The seed of a learner gives each part numbers of its own; parts that keep their
/// own seeds should differ in them.
///
/// ```
/// use bochner::prelude::*;
/// let maps = UnionBuilder::new()
///     .part(0.3, Fourier::new(Laplacian).features(64))
///     .part(0.7, Nystrom::new(Laplacian).features(4));
/// let x = ndarray::array![[0.0], [0.5], [2.0], [3.0]];
/// let model = Ridge::on(maps).device(&Device::cpu()).fit((&x, &[0.1, 0.4, -0.2, 0.3]))?;
/// assert_eq!(model.linear().map.output_dim(), 64 + 4);
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct UnionBuilder {
    parts: Vec<(Box<dyn MapBuilder>, f64)>,
}

impl UnionBuilder {
    /// No maps yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more map, whose kernel counts `weight` times in the sum.
    pub fn part(mut self, weight: f64, map: impl MapBuilder + 'static) -> Self {
        self.parts.push((Box::new(map), weight));
        self
    }
}

impl MapBuilder for UnionBuilder {
    /// That of the first part.
    fn kernel(&self) -> Option<Arc<dyn Kernel>> {
        self.parts.iter().find_map(|(map, _)| map.kernel())
    }

    fn is_piecewise_constant(&self) -> bool {
        self.parts
            .iter()
            .any(|(map, _)| map.is_piecewise_constant())
    }

    fn is_shift_invariant(&self) -> bool {
        self.parts.iter().all(|(map, _)| map.is_shift_invariant())
    }

    /// That of the first part which does not take every number.
    fn domain(&self) -> Domain {
        let mut parts = self.parts.iter().map(|(map, _)| map.domain());
        parts.find(|&d| d != Domain::Any).unwrap_or_default()
    }

    fn sample_rows(&self) -> usize {
        let rows = self.parts.iter().map(|(map, _)| map.sample_rows());
        rows.max().unwrap_or(0)
    }

    fn build_from(&self, data: MapData<'_>) -> Result<Box<dyn FeatureMap>> {
        let mut built = Vec::with_capacity(self.parts.len());
        for (i, (map, weight)) in self.parts.iter().enumerate() {
            let part = MapData {
                input: data.input.clone(),
                source: &mut *data.source,
                seed: data.seed.map(|seed| part_seed(seed, i)),
                columns: data.columns.clone(),
                ..data
            };
            built.push((map.build_from(part)?, *weight));
        }
        Ok(Box::new(Union::new(built)?))
    }
}

impl FeatureMap for Union {
    fn name(&self) -> &'static str {
        UNION
    }

    fn describe(&self) -> String {
        describe::union(self)
    }

    fn input(&self) -> &Affine {
        &self.input
    }

    fn output_dim(&self) -> usize {
        self.parts().map(|(map, _)| map.output_dim()).sum()
    }

    fn remarks(&self) -> Vec<String> {
        self.parts().flat_map(|(map, _)| map.remarks()).collect()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Union(self)
    }

    /// Where every part has one.
    fn formula(&self) -> Result<Formula> {
        let parts = self.parts.iter().map(|part| {
            Ok(PartFormula {
                columns: part.map.output_dim(),
                root: part.weight.sqrt(),
                rescale: part.rescale.clone(),
                formula: part.map.formula()?,
            })
        });
        Ok(Formula::Union(parts.collect::<Result<_>>()?))
    }

    fn load(&self, device: &Device) -> Result<Box<dyn LoadedMap>> {
        let parts = self.parts.iter().map(|part| {
            let root = part.weight.sqrt() as f32;
            let rescale = part.rescale.as_deref().map(|f| Place::load(device, f));
            // A part that cannot write its features never needs their place.
            let features = match require_dense(part.map.as_ref()) {
                Ok(()) => part.map.output_dim(),
                Err(_) => 1,
            };
            Ok(LoadedPart {
                map: part.map.load(device)?,
                columns: part.map.output_dim(),
                root,
                rescale: rescale.transpose()?,
                features: Place::load(device, &vec![[root, 0.0]; features])?,
                x_nd: None,
                z_nd: None,
                beta_dt: None,
            })
        });
        Ok(Box::new(LoadedUnion {
            device: device.clone(),
            depth: self.input.columns(),
            parts: parts.collect::<Result<_>>()?,
            targets: None,
        }))
    }

    /// Rows rescaled for a part, and its features before they are placed or, of all parts together,
    /// one share of y.
    fn scratch_columns(&self, targets: Option<usize>) -> usize {
        let own = |part: &Part| {
            let rows = part.rescale.as_ref().map_or(0, Vec::len);
            let features = match targets {
                None => part.map.output_dim(),
                Some(_) => 0,
            };
            rows + features + part.map.scratch_columns(targets)
        };
        targets.unwrap_or(0) + self.parts.iter().map(own).sum::<usize>()
    }

    fn write(&self, store: &mut Store) -> Result<()> {
        store.set("map", UNION);
        store.set("parts", self.parts.len());
        let weights: Vec<f64> = self.parts.iter().map(|p| p.weight).collect();
        store.put_vector("weights", &weights);
        for (i, part) in self.parts.iter().enumerate() {
            let mut inner = Store::default();
            part.map.write(&mut inner)?;
            store.nest(&format!("part{i}"), inner);
        }
        Ok(())
    }
}

/// A leaf of a map: what a solver works on.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub enum Leaf<'a> {
    Dense(&'a dyn FeatureMap),
    Binning(&'a BinningMap),
}

/// The leaves of a map in the order of its columns, each with its first column and the root of its
/// weight.
#[doc(hidden)]
pub fn leaves(map: &dyn FeatureMap) -> Vec<(Leaf<'_>, usize, f64)> {
    fn add<'a>(
        map: &'a dyn FeatureMap,
        at: &mut usize,
        root: f64,
        out: &mut Vec<(Leaf<'a>, usize, f64)>,
    ) {
        let leaf = match map.structure() {
            Structure::Dense | Structure::Kernel(_) | Structure::Leaves(_) => Leaf::Dense(map),
            Structure::Binning(bins) => Leaf::Binning(bins),
            Structure::Union(union) => {
                for (part, weight) in union.parts() {
                    add(part, at, root * weight.sqrt(), out);
                }
                return;
            }
        };
        out.push((leaf, *at, root));
        *at += map.output_dim();
    }
    let mut out = Vec::new();
    add(map, &mut 0, 1.0, &mut out);
    out
}
