//! The ops as jobs: data drawn and loaded once, run many times, a part of the result compared with
//! f64.

mod cholesky;
mod kernels;
mod map;
mod moves;
mod structured;

pub(super) use cholesky::cholesky;
pub(super) use kernels::{binning, kernel_block, nystrom};
pub(super) use map::{predict, projection_paired, projection_phase};
pub(super) use moves::{additive_chi2, complex_product, copy, place};
pub(super) use structured::{fastfood, fastfood_predict, sorf, walsh_hadamard};

use super::{COMPARED_COLUMNS, COMPARED_ROWS, MEMORY, Shape, TARGETS};
use crate::{
    Device, Error, Matrix, Result,
    form::DenseForm,
    instructions::instruction_set,
    ops::{
        gram::{self, GramAccumulator, GramSums},
        product,
    },
    seed::{Seed, Stream},
};
use ndarray::{Array2, ArrayView2, Axis, s};
use std::sync::OnceLock;

/// Something to time.
pub(super) trait Job {
    /// Puts the input back, outside the time.
    fn reset(&mut self) {}
    /// Does the work once; on a GPU it records it.
    fn run(&mut self) -> Result<()>;
    /// Largest error over largest value of the reference, on a part of the result.
    fn error(&mut self) -> Result<f64>;
    /// Tile shape on a GPU, vector instructions on the CPU.
    fn tile(&self) -> String;
    /// Row blocks of a run.
    fn blocks(&self) -> usize {
        1
    }
}

/// Standard normal numbers times `scale`, drawn once and repeated from place to place.
fn draw(rows: usize, cols: usize, scale: f32, start: usize) -> Array2<f32> {
    static POOL: OnceLock<Vec<f32>> = OnceLock::new();
    // A prime, so that rows do not repeat at the same columns.
    let pool = POOL.get_or_init(|| {
        let mut draws = Seed(0).stream(Stream::Sample, 0);
        (0..524_287).map(|_| draws.normal() as f32).collect()
    });
    let mut values = pool.iter().cycle().skip(start % pool.len());
    Array2::from_shape_simple_fn((rows, cols), || {
        scale * values.next().copied().unwrap_or(0.0)
    })
}

/// Rows worked on at a time: what fits a binding, a dispatch and the memory of a case.
fn block_rows(device: &Device, rows: usize, widest: usize, columns: usize) -> Result<usize> {
    let by_binding = device.max_matrix_bytes() / (4 * widest.next_multiple_of(4) as u64).max(1);
    let by_memory = MEMORY / (4 * columns as u64).max(1);
    let by_dispatch = if device.is_gpu() {
        65_535 * 8
    } else {
        u64::MAX
    };
    let most = by_binding.min(by_memory).min(by_dispatch) as usize;
    if most == 0 {
        return Err(Error::unsupported(format!(
            "a row of {widest} columns does not fit one binding"
        )));
    }
    let blocks = rows.div_ceil(most).max(1);
    Ok(rows.div_ceil(blocks).next_multiple_of(8).min(rows.max(1)))
}

/// The rows of each block.
fn blocks(rows: usize, block: usize) -> impl Iterator<Item = usize> {
    (0..rows)
        .step_by(block.max(1))
        .map(move |at| block.min(rows - at))
}

/// How an op goes about it on a device, for the table: vector instructions on the CPU.
fn way(device: &Device, on_gpu: impl FnOnce() -> String) -> String {
    if device.is_gpu() {
        on_gpu()
    } else {
        instruction_set().to_string()
    }
}

fn form_name(form: Option<DenseForm>) -> String {
    form.map_or_else(|| instruction_set().to_string(), |form| form.name())
}

/// Largest difference over largest value.
fn relative(got: ArrayView2<'_, f32>, reference: ArrayView2<'_, f64>) -> f64 {
    let largest = reference.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let pairs = got.iter().zip(&reference);
    let error = pairs.map(|(&g, &r)| (f64::from(g) - r).abs());
    error.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) }) / largest
}

/// The first rows of a matrix.
fn head(matrix: &mut Matrix, rows: usize) -> Result<Array2<f32>> {
    let all = matrix.rows();
    matrix.set_rows(rows.min(all))?;
    let part = matrix.download();
    matrix.set_rows(all)?;
    part
}

struct Gram {
    device: Device,
    rows: usize,
    block: usize,
    z: Array2<f32>,
    z_nd: Matrix,
    y_nt: Matrix,
    sums: GramAccumulator,
}

pub(super) fn gram(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let block = block_rows(device, shape.rows, shape.features, 2 * shape.features)?;
    let z = draw(
        block,
        shape.features,
        (1.0 / shape.features as f32).sqrt(),
        3,
    );
    Ok(Box::new(Gram {
        device: device.clone(),
        rows: shape.rows,
        block,
        z_nd: Matrix::upload(device, z.view())?,
        y_nt: Matrix::upload(device, z.slice(s![.., ..1]))?,
        z,
        sums: GramAccumulator::new(device, shape.features, 1)?,
    }))
}

impl Job for Gram {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.z_nd.set_rows(rows)?;
            self.y_nt.set_rows(rows)?;
            self.sums.add(&self.z_nd, &self.y_nt)?;
        }
        // What is kept for later would be another run's work.
        self.sums.settle()
    }

    fn error(&mut self) -> Result<f64> {
        self.z_nd.set_rows(self.block)?;
        self.y_nt.set_rows(self.block)?;
        let features = self.z.ncols();
        let mut sums = GramAccumulator::new(&self.device, features, 1)?;
        sums.add(&self.z_nd, &self.y_nt)?;
        let GramSums { gram_dd, zty_dt } = sums.finish()?;
        let step = features.div_ceil(COMPARED_COLUMNS);
        let chosen: Vec<usize> = (0..features).step_by(step).collect();
        let z = self.z.select(Axis(1), &chosen);
        let reference = gram::reference(z.view(), self.z.slice(s![.., ..1]));
        let part = gram_dd.select(Axis(0), &chosen).select(Axis(1), &chosen);
        let difference = |got: &Array2<f64>, reference: &Array2<f64>| {
            let largest = reference.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let error = (got - reference).into_iter().map(f64::abs);
            error.fold(0.0, |m: f64, e| if e.is_nan() { e } else { m.max(e) }) / largest
        };
        let zty = zty_dt.select(Axis(0), &chosen);
        Ok(difference(&part, &reference.gram_dd).max(difference(&zty, &reference.zty_dt)))
    }

    fn tile(&self) -> String {
        form_name(self.sums.form())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

struct Product {
    rows: usize,
    block: usize,
    b: Array2<f32>,
    a_nk: Matrix,
    b_kt: Matrix,
    c_nt: Matrix,
}

pub(super) fn product(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let (k, t) = (shape.dim, shape.features);
    let block = block_rows(device, shape.rows, k.max(t), k + t)?;
    let b = draw(k, t, 1.0, 11);
    Ok(Box::new(Product {
        rows: shape.rows,
        block,
        a_nk: Matrix::upload(device, draw(block, k, 1.0, 13).view())?,
        b_kt: Matrix::upload(device, b.view())?,
        c_nt: Matrix::new(device, block, t)?,
        b,
    }))
}

impl Job for Product {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.a_nk.set_rows(rows)?;
            self.c_nt.set_rows(rows)?;
            product::product(&self.a_nk, &self.b_kt, &mut self.c_nt)?;
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        let rows = COMPARED_ROWS.min(self.block);
        self.a_nk.set_rows(self.block)?;
        self.c_nt.set_rows(self.block)?;
        product::product(&self.a_nk, &self.b_kt, &mut self.c_nt)?;
        let got = head(&mut self.c_nt, rows)?;
        let a = draw(rows, self.b.nrows(), 1.0, 13);
        let reference = product::reference(a.view(), self.b.view());
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        let form = product::form(&self.a_nk, &self.b_kt);
        form.map_or_else(|| instruction_set().to_string(), |form| form.name())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}
