//! Dense maps, featurized again chunk by chunk for every product: memory grows neither with rows nor with rows x features.

use super::FeatureProducts;
use crate::{
    Device, Error, Matrix, Result,
    data::{ChunkSource, Rows},
    features::{FeatureMap, LoadedMap, require_dense},
    plan::{RowNeeds, chunk_rows_on},
    stream::{Portions, for_each_chunk},
};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul, s};
use rayon::prelude::*;

/// Columns that a thread sums at a time.
const COLUMNS: usize = 256;
/// Rows that a thread multiplies at a time.
const ROWS: usize = 256;
/// Fewer targets than this are summed one by one, more by matrix products.
const FEW: usize = 4;

/// Dense maps over a source of rows. Features are computed on a device in f32, products on the host in f64.
pub struct StreamedRows<'a> {
    maps: Vec<Part<'a>>,
    source: &'a mut dyn ChunkSource,
    rows: usize,
    chunk: usize,
    device: Device,
    portions: Portions,
    /// The maps on the device, each with the matrices of a chunk.
    loaded: Vec<Loaded>,
}

/// A map, the first of its columns, and the factor of its features.
struct Part<'a> {
    map: &'a dyn FeatureMap,
    offset: usize,
    root: f64,
}

struct Loaded {
    map: Box<dyn LoadedMap>,
    x_nd: Matrix,
    z_nd: Matrix,
}

impl Loaded {
    fn new(map: &dyn FeatureMap, device: &Device, rows: usize) -> Result<Self> {
        Ok(Self {
            map: map.load(device)?,
            x_nd: Matrix::new(device, rows, map.input_dim())?,
            z_nd: Matrix::new(device, rows, map.output_dim())?,
        })
    }
}

impl std::fmt::Debug for StreamedRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} maps over {} rows", self.maps.len(), self.rows)
    }
}

impl<'a> StreamedRows<'a> {
    /// Loads maps, each with the first of its columns and a factor of its features (the root of a weight), over a source of
    /// `rows` rows.
    ///
    /// Errors with [`Error::Unsupported`] on a map whose features cannot be stored, and with [`Error::Limit`] when not even
    /// 8 rows fit `memory`.
    pub fn new(
        maps: &[(&'a dyn FeatureMap, usize, f64)],
        source: &'a mut dyn ChunkSource,
        rows: usize,
        device: &Device,
        memory: u64,
    ) -> Result<Self> {
        let widths = maps
            .iter()
            .map(|(map, ..)| map.output_dim().max(map.input_dim()));
        let needs = RowNeeds {
            columns: source.columns(),
            widest: widths.max().unwrap_or(1),
            // Features once on the device and once as they are read back.
            device_columns: maps
                .iter()
                .map(|(m, ..)| m.input_dim() + 2 * m.output_dim())
                .sum(),
        };
        let chunk = chunk_rows_on(device, needs, memory)?.min(rows.max(1));
        let maps = maps.iter().map(|&(map, offset, root)| {
            require_dense(map)?;
            Ok(Part { map, offset, root })
        });
        Ok(Self {
            maps: maps.collect::<Result<_>>()?,
            source,
            rows,
            chunk,
            device: device.clone(),
            portions: Portions::new(chunk),
            loaded: Vec::new(),
        })
    }

    /// Hands the features of all maps to `work`, chunk by chunk, with the number of the chunk's first row. Each block of
    /// features comes with its first column and its factor.
    fn pass(&mut self, mut work: impl FnMut(usize, &[Block<'_>])) -> Result<()> {
        let Self {
            maps,
            source,
            rows,
            chunk,
            device,
            portions,
            loaded,
        } = self;
        let mut row0 = 0;
        let seen = for_each_chunk(*source, *chunk, &mut |_| {}, |data| {
            if row0 + data.x.nrows() > *rows {
                // Reported below, with the count.
                row0 += data.x.nrows();
                return Ok(());
            }
            portions.each(data.x.nrows(), |range, most| {
                let x = data.x.part(range);
                let read = featurize(maps, loaded, &x, device, most)?;
                let mut blocks = Vec::new();
                for ((part, loaded), read) in maps.iter().zip(&*loaded).zip(&read) {
                    let z = match read {
                        Some(z) => z.as_slice().expect("standard layout"),
                        None => loaded.z_nd.cpu("z")?,
                    };
                    blocks.push(Block {
                        z,
                        columns: loaded.z_nd.cols(),
                        offset: part.offset,
                        root: part.root,
                    });
                }
                work(row0, &blocks);
                row0 += x.nrows();
                Ok(Ok(()))
            })
        })?;
        if seen != *rows as u64 {
            return Err(Error::shape(format!(
                "the data had {rows} rows and now has {seen}; it must not change during a fit"
            )));
        }
        Ok(())
    }
}

/// The features of `x` from every map: left where they are on the CPU, read back from a GPU. Loads the maps for chunks of
/// `rows` rows unless they are.
fn featurize(
    maps: &[Part<'_>],
    loaded: &mut Vec<Loaded>,
    x: &Rows,
    device: &Device,
    rows: usize,
) -> Result<Vec<Option<Array2<f32>>>> {
    if loaded.iter().any(|l| l.x_nd.capacity_rows() != rows) {
        loaded.clear();
    }
    if loaded.len() < maps.len() {
        let all = maps.iter().map(|part| Loaded::new(part.map, device, rows));
        *loaded = all.collect::<Result<_>>()?;
    }
    let both = maps.iter().zip(loaded);
    both.map(|(part, loaded)| {
        part.map.input().load(x, &mut loaded.x_nd)?;
        loaded.z_nd.set_rows(x.nrows())?;
        loaded.map.featurize(&loaded.x_nd, &mut loaded.z_nd)?;
        match device {
            Device::Cpu(_) => Ok(None),
            Device::Gpu(_) => loaded.z_nd.download().map(Some),
        }
    })
    .collect()
}

/// Features of a chunk from one map.
struct Block<'a> {
    /// `[rows, columns]`.
    z: &'a [f32],
    columns: usize,
    offset: usize,
    root: f64,
}

impl Block<'_> {
    fn add_product(&self, beta_td: ArrayView2<'_, f64>, mut r_tm: ArrayViewMut2<'_, f64>) {
        let beta_td = beta_td.slice(s![.., self.offset..self.offset + self.columns]);
        let targets = beta_td.nrows();
        if targets < FEW {
            for (beta, mut r) in beta_td.rows().into_iter().zip(r_tm.rows_mut()) {
                let beta = beta.to_slice().expect("contiguous");
                let r = r.as_slice_mut().expect("contiguous");
                r.par_iter_mut()
                    .zip(self.z.par_chunks(self.columns))
                    .with_min_len(16)
                    .for_each(|(r, z)| {
                        *r += self.root * pulp::Arch::new().dispatch(|| dot(z, beta));
                    });
            }
            return;
        }
        let blocks = self.z.par_chunks(ROWS * self.columns);
        let products: Vec<Array2<f64>> = blocks
            .map(|z| {
                let z = z.iter().map(|&z| f64::from(z)).collect();
                let z: Array2<f64> = self.matrix(z);
                let mut product = Array2::zeros((z.nrows(), targets));
                multiply(product.view_mut(), z.view(), beta_td.t(), self.root);
                product
            })
            .collect();
        for (b, product) in products.iter().enumerate() {
            let rows = b * ROWS..b * ROWS + product.nrows();
            let mut r = r_tm.slice_mut(s![.., rows]);
            r += &product.t();
        }
    }

    fn matrix(&self, values: Vec<f64>) -> Array2<f64> {
        let shape = (values.len() / self.columns, self.columns);
        Array2::from_shape_vec(shape, values).expect("whole rows")
    }

    /// Adds `Z' r`: a thread owns columns and takes the rows in order.
    fn add_transposed(&self, r_tm: ArrayView2<'_, f64>, mut out_td: ArrayViewMut2<'_, f64>) {
        let mut out_td = out_td.slice_mut(s![.., self.offset..self.offset + self.columns]);
        if r_tm.nrows() < FEW {
            for (r, mut out) in r_tm.rows().into_iter().zip(out_td.rows_mut()) {
                let out = out.as_slice_mut().expect("contiguous");
                out.par_chunks_mut(COLUMNS)
                    .enumerate()
                    .for_each(|(c, out)| {
                        pulp::Arch::new().dispatch(|| {
                            for (z, &r) in self.z.chunks_exact(self.columns).zip(r) {
                                let r = self.root * r;
                                for (out, &z) in out.iter_mut().zip(&z[c * COLUMNS..]) {
                                    *out += f64::from(z) * r;
                                }
                            }
                        });
                    });
            }
            return;
        }
        let blocks: Vec<_> = out_td.axis_chunks_iter_mut(Axis(1), COLUMNS).collect();
        blocks.into_par_iter().enumerate().for_each(|(c, out)| {
            let mut out = out;
            let columns = out.ncols();
            for (b, z) in self.z.chunks(ROWS * self.columns).enumerate() {
                let rows = z.len() / self.columns;
                let z = z.chunks_exact(self.columns);
                let z = z.flat_map(|z| z[c * COLUMNS..][..columns].iter().map(|&z| f64::from(z)));
                let z = Array2::from_shape_vec((rows, columns), z.collect()).expect("a block");
                let r = r_tm.slice(s![.., b * ROWS..b * ROWS + rows]);
                multiply(out.view_mut(), r, z.view(), self.root);
            }
        });
    }

    fn add_moments(&self, sums: &mut [f64], squares: &mut [f64]) {
        let range = self.offset..self.offset + self.columns;
        let (sums, squares) = (&mut sums[range.clone()], &mut squares[range]);
        for z in self.z.chunks_exact(self.columns) {
            for ((sum, square), &z) in sums.iter_mut().zip(&mut *squares).zip(z) {
                let z = self.root * f64::from(z);
                *sum += z;
                *square += z * z;
            }
        }
    }
}

/// `c += factor a b` on one thread.
fn multiply(
    c: ArrayViewMut2<'_, f64>,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    factor: f64,
) {
    general_mat_mul(factor, &a, &b, 1.0, &mut { c });
}

/// Eight running sums, for vectors.
#[inline(always)]
fn dot(z: &[f32], beta: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (z8, rest) = z.as_chunks::<8>();
    let (b8, beta_rest) = beta.as_chunks::<8>();
    for (z, b) in z8.iter().zip(b8) {
        for ((sum, &z), &b) in sums.iter_mut().zip(z).zip(b) {
            *sum += f64::from(z) * b;
        }
    }
    let rest = rest.iter().zip(beta_rest).map(|(&z, &b)| f64::from(z) * b);
    sums.into_iter().chain(rest).sum()
}

impl FeatureProducts for StreamedRows<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        let ends = self.maps.iter().map(|m| m.offset + m.map.output_dim());
        ends.max().unwrap_or(0)
    }

    fn add_product(&mut self, beta_td: ArrayView2<'_, f64>, r_tn: &mut Array2<f64>) -> Result<()> {
        self.pass(|row0, blocks| add_product(row0, blocks, beta_td, r_tn))
    }

    fn transposed(&mut self, r_tn: ArrayView2<'_, f64>, out_td: &mut Array2<f64>) -> Result<()> {
        self.clear(out_td);
        self.pass(|row0, blocks| add_transposed(row0, blocks, r_tn, out_td))
    }

    fn round_trip(
        &mut self,
        beta_td: ArrayView2<'_, f64>,
        r_tn: &mut Array2<f64>,
        out_td: &mut Array2<f64>,
    ) -> Result<()> {
        self.clear(out_td);
        self.pass(|row0, blocks| {
            add_product(row0, blocks, beta_td, r_tn);
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
}

fn add_product(
    row0: usize,
    blocks: &[Block<'_>],
    beta_td: ArrayView2<'_, f64>,
    r_tn: &mut Array2<f64>,
) {
    for block in blocks {
        let rows = row0..row0 + block.z.len() / block.columns;
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
        let rows = row0..row0 + block.z.len() / block.columns;
        block.add_transposed(r_tn.slice(s![.., rows]), out_td.view_mut());
    }
}

impl StreamedRows<'_> {
    /// Zeros in the columns that this operator owns.
    fn clear(&self, out: &mut Array2<f64>) {
        for part in &self.maps {
            let own = part.offset..part.offset + part.map.output_dim();
            out.slice_mut(s![.., own]).fill(0.0);
        }
    }
}
