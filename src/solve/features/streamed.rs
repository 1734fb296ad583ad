//! Dense maps whose features are computed again for every product, chunk by chunk: memory does not
//! grow with the number of rows.

use super::{Between, FeatureProducts, TakeBlock, block::Block, weigh};
use crate::{
    Error, Result,
    data::{ChunkSource, Pieces},
    features::{Branch, Destination, FeatureMap, Featurizer},
    flow::Run,
};
use ndarray::{Array2, ArrayView1, ArrayView2, s};

/// Dense maps over a source of rows. Features are computed on a device in f32, products on the host
/// in f64; with a GPU, both overlap.
pub struct StreamedRows<'a> {
    places: Vec<MapColumns>,
    source: &'a mut dyn ChunkSource,
    rows: usize,
    featurizer: Featurizer<'a>,
}

/// First column of a map, and the factor of its features.
#[derive(Debug, Clone, Copy)]
struct MapColumns {
    offset: usize,
    columns: usize,
    root: f64,
}

impl std::fmt::Debug for StreamedRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} maps over {} rows", self.places.len(), self.rows)
    }
}

impl<'a> StreamedRows<'a> {
    /// Loads maps, each with its first column and a factor of its features (the root of a weight),
    /// over a source of `rows` rows. `run` is a `&Device` or a [`Run`]; it receives no progress,
    /// since a product is part of a longer step.
    ///
    /// Errors with [`Error::Unsupported`] on a map whose features cannot be stored, and with
    /// [`Error::Limit`] if not even 8 rows fit into the memory of `run`.
    pub fn new(
        maps: &[(&'a dyn FeatureMap, usize, f64)],
        source: &'a mut dyn ChunkSource,
        rows: usize,
        run: impl Into<Run>,
    ) -> Result<Self> {
        let branches = maps.iter().map(|(map, ..)| Branch::features(*map));
        let branches = branches.collect::<Result<_>>()?;
        let places = maps.iter().map(|&(map, offset, root)| MapColumns {
            offset,
            columns: map.output_dim(),
            root,
        });
        Ok(Self {
            places: places.collect(),
            featurizer: Featurizer::new(
                branches,
                source.targets(),
                Destination::Host,
                run.into().silent(),
            )?,
            source,
            rows,
        })
    }

    /// Calls `work` with the features of all maps, chunk by chunk, and the index of the chunk's
    /// first row.
    fn pass(&mut self, mut work: impl FnMut(usize, &[Block<'_>])) -> Result<()> {
        let places = self.places.clone();
        self.for_each_chunk(0, |row0, z| {
            let parts = z.iter().zip(&places);
            let blocks: Vec<_> = parts
                .map(|(z, p)| Block::new(*z, p.offset, p.root))
                .collect();
            work(row0, &blocks);
            Ok(())
        })
    }

    /// Calls `work` with the outputs of the branches for row `from` and later rows, chunk by chunk,
    /// and the index of the chunk's first row.
    fn for_each_chunk(
        &mut self,
        from: usize,
        mut work: impl FnMut(usize, &[ArrayView2<'_, f32>]) -> Result<()>,
    ) -> Result<()> {
        let rows = self.rows;
        let mut row0 = from;
        let none = |_: &_, _| ();
        let mut pieces = Pieces::new(&mut *self.source)?;
        let mut source = pieces.piece(from as u64, u64::MAX);
        self.featurizer.on_host(&mut source, none, |z, ()| {
            let more = z.first().map_or(0, ArrayView2::nrows);
            // Additional rows are reported below, with their number.
            if row0 + more <= rows {
                work(row0, z)?;
            }
            row0 += more;
            Ok(())
        })?;
        if row0 != rows {
            return Err(Error::shape(format!(
                "the data had {rows} rows and now has {row0}; it must not change during a fit"
            )));
        }
        Ok(())
    }

    /// Sets the columns of this operator to zero.
    fn clear(&self, out: &mut Array2<f64>) {
        for part in &self.places {
            let own = part.offset..part.offset + part.columns;
            out.slice_mut(s![.., own]).fill(0.0);
        }
    }
}

impl FeatureProducts for StreamedRows<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        let ends = self.places.iter().map(|p| p.offset + p.columns);
        ends.max().unwrap_or(0)
    }

    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        self.pass(|row0, blocks| add_product(row0, blocks, beta_td, r_tn))
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        self.clear(out_td);
        self.pass(|row0, blocks| add_transposed(row0, blocks, r_tn, out_td))
    }

    fn round_trip_through(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        between: &mut Between<'_>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.clear(out_td);
        self.pass(|row0, blocks| {
            add_product(row0, blocks, beta_td, r_tn);
            let rows = blocks.first().map_or(0, Block::rows);
            between(row0, r_tn.slice_mut(s![.., row0..row0 + rows]));
            add_transposed(row0, blocks, r_tn.view(), out_td);
        })
    }

    fn moments(&mut self, out_2d: &mut Array2<f64>) -> Result<()> {
        self.clear(out_2d);
        let (mut sums, mut squares) = out_2d.multi_slice_mut((s![0, ..], s![1, ..]));
        let sums = sums.as_slice_mut().expect("standard layout");
        let squares = squares.as_slice_mut().expect("standard layout");
        self.pass(|_, blocks| {
            for block in blocks {
                block.add_moments(sums, squares);
            }
        })
    }

    /// Holds the rows of one chunk.
    fn gram_product(
        &mut self,
        v_td: ArrayView2<'_, f64>,
        weights_n: Option<ArrayView1<'_, f64>>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.clear(out_td);
        self.pass(|row0, blocks| {
            let rows = blocks.first().map_or(0, Block::rows);
            let mut r_tm = Array2::zeros((v_td.nrows(), rows));
            for block in blocks {
                block.add_product(v_td, r_tm.view_mut());
            }
            weigh(r_tm.view_mut(), weights_n, row0);
            for block in blocks {
                block.add_transposed(r_tm.view(), out_td.view_mut());
            }
        })
    }

    fn blocks(&mut self, from: usize, take: &mut TakeBlock<'_>) -> Result<bool> {
        match self.places[..] {
            [place] if place.offset == 0 && place.root == 1.0 => self
                .for_each_chunk(from, |row0, z| take(row0, z[0]))
                .map(|()| true),
            _ => Ok(false),
        }
    }
}

fn add_product(
    row0: usize,
    blocks: &[Block<'_>],
    beta_td: ArrayView2<'_, f64>,
    r_tn: &mut Array2<f64>,
) {
    for block in blocks {
        let rows = row0..row0 + block.rows();
        block.add_product(beta_td, r_tn.slice_mut(s![.., rows]));
    }
}

fn add_transposed(
    row0: usize,
    blocks: &[Block<'_>],
    r_tn: ArrayView2<'_, f64>,
    out_td: &mut Array2<f64>,
) {
    for block in blocks {
        let rows = row0..row0 + block.rows();
        block.add_transposed(r_tn.slice(s![.., rows]), out_td.view_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Device,
        check::normal,
        data::MemorySource,
        features::{Affine, Fourier},
        kernels::Gaussian,
        solve::features::in_groups,
    };
    use ndarray::Array1;

    /// A product with the weighted Gram matrix in one pass over chunks equals that of all rows:
    /// with few targets and with many, on every device.
    #[test]
    fn a_gram_product_is_that_of_all_rows_on_devices() {
        let build = |features| {
            let map = Fourier::new(Gaussian).features(features);
            map.build(Affine::identity(3)).expect("builds")
        };
        let maps = [build(16), build(8)];
        let mut source = MemorySource::new(normal(300, 3, 1), None).expect("rows");
        let weights = Array1::from_shape_fn(300, |i| (i % 3) as f64);
        let mut devices = bochner_maps::under_test::gpus();
        devices.push(Device::cpu());
        for (device, targets) in devices.iter().flat_map(|d| [(d, 2), (d, 7)]) {
            let places = [(&maps[0] as &dyn FeatureMap, 0, 0.5), (&maps[1], 16, 2.0)];
            let run = Run::on(device).memory(20_000);
            let mut rows = StreamedRows::new(&places, &mut source, 300, run).expect("loads");
            let v_td = Array2::from_shape_fn((targets, 24), |(k, j)| ((k + 3 * j) as f64).sin());
            for weights_n in [None, Some(weights.view())] {
                let [mut one, mut all] = [(); 2].map(|()| Array2::from_elem((targets, 24), 9.0));
                rows.gram_product(v_td.view(), weights_n, &mut one)
                    .expect("a pass");
                in_groups(&mut rows, v_td.view(), weights_n, &mut all).expect("passes");
                let off = (&one - &all).fold(0.0, |m: f64, e| m.max(e.abs()));
                let size = all.fold(0.0, |m: f64, e| m.max(e.abs()));
                assert!(
                    off < 1e-12 * size && size > 1.0,
                    "{device:?}: {off:e} of {size}"
                );
            }
        }
    }
}
