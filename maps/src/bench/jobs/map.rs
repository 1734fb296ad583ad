//! Feature maps as jobs: their features, or predictions from them.

use super::{Job, TARGETS, block_rows, blocks, draw, form_name, head, relative};
use crate::{
    Device, Matrix, Result,
    bench::{COMPARED_ROWS, Shape},
    ops::{
        Nonlinearity,
        predict::Predict,
        projection::{self, DenseMap, Projection},
    },
};
use ndarray::{Array2, ArrayView2};

/// A loaded map beside what it was loaded from.
pub(super) trait Timed {
    fn outputs(&self) -> usize;
    fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()>;
    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()>;
    /// The features in f64.
    fn reference(&self, x_nd: ArrayView2<'_, f32>) -> Array2<f64>;
    /// The form that so many rows take, of the features or of the prediction.
    fn form(&self, rows: usize, predicts: bool) -> String;
}

struct Map<M> {
    map: M,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    /// z of the features, y of the prediction.
    out: Matrix,
    beta: Option<(Array2<f32>, Matrix)>,
}

/// The features of a map, or the prediction of [`TARGETS`] targets from them.
pub(super) fn job<M: Timed + 'static>(
    device: &Device,
    shape: Shape,
    map: M,
    predicts: bool,
) -> Result<Box<dyn Job>> {
    let columns = if predicts { TARGETS } else { map.outputs() };
    let widest = shape.dim.max(columns);
    let block = block_rows(device, shape.rows, widest, shape.dim + columns)?;
    let beta = if predicts {
        let beta = draw(map.outputs(), TARGETS, 1.0, 5);
        let loaded = Matrix::upload(device, beta.view())?;
        Some((beta, loaded))
    } else {
        None
    };
    Ok(Box::new(Map {
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, rows_of_map(block, shape.dim).view())?,
        out: Matrix::new(device, block, columns)?,
        map,
        beta,
    }))
}

impl<M: Timed> Job for Map<M> {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.x_nd.set_rows(rows)?;
            self.out.set_rows(rows)?;
            match &self.beta {
                None => self.map.run(&self.x_nd, &mut self.out)?,
                Some((_, beta)) => self.map.predict(&self.x_nd, beta, &mut self.out)?,
            }
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        let rows = COMPARED_ROWS.min(self.block);
        // The last block may have been a short one.
        self.x_nd.set_rows(self.block)?;
        self.out.set_rows(self.block)?;
        self.rows = self.rows.max(self.block);
        self.run()?;
        let got = head(&mut self.out, rows)?;
        let z = self
            .map
            .reference(rows_of_map(rows, self.x_nd.cols()).view());
        let reference = match &self.beta {
            None => z,
            Some((beta, _)) => z.dot(&beta.mapv(f64::from)),
        };
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        self.map
            .form(self.block.min(self.rows), self.beta.is_some())
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

struct Dense {
    host: DenseMap,
    op: Projection,
}

impl Timed for Dense {
    fn outputs(&self) -> usize {
        self.op.outputs()
    }

    fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.op.run(x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        Predict::new(&self.op).run(x_nd, beta_dt, y_nt)
    }

    fn reference(&self, x_nd: ArrayView2<'_, f32>) -> Array2<f64> {
        projection::reference(&self.host, x_nd)
    }

    fn form(&self, rows: usize, predicts: bool) -> String {
        form_name(if predicts {
            Predict::new(&self.op).form(rows)
        } else {
            self.op.form(rows)
        })
    }
}

pub(in crate::bench) fn projection_paired(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    dense(device, shape, Nonlinearity::CosSin, false)
}

pub(in crate::bench) fn projection_phase(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    dense(device, shape, Nonlinearity::Cos, false)
}

pub(in crate::bench) fn predict(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    dense(device, shape, Nonlinearity::CosSin, true)
}

fn dense(device: &Device, shape: Shape, f: Nonlinearity, predicts: bool) -> Result<Box<dyn Job>> {
    let host = dense_map(shape, f);
    let op = Projection::load(device, &host)?;
    job(device, shape, Dense { host, op }, predicts)
}

/// The frequencies of a Gaussian kernel at unit scale on 11 significant bits, and rows that carry
/// gamma = 1/d and turns.
fn dense_map(shape: Shape, nonlinearity: Nonlinearity) -> DenseMap {
    let freqs = (shape.features / nonlinearity.outputs()).max(1);
    let round = |w: f32| f32::from_bits((w.to_bits() + 0x0fff) & !0x1fff);
    let phase = |l: usize| match nonlinearity {
        Nonlinearity::CosSin => 0.0,
        _ => (l as f32 * 0.618_034).fract(),
    };
    DenseMap {
        w_ds: draw(shape.dim, freqs, 1.0, 1).mapv_into(round),
        phase_s: (0..freqs).map(phase).collect(),
        amplitude_s: vec![(2.0 / shape.features as f32).sqrt(); freqs],
        nonlinearity,
    }
}

fn rows_of_map(rows: usize, dim: usize) -> Array2<f32> {
    let scale = (2.0 / dim as f32).sqrt() / std::f32::consts::TAU;
    draw(rows, dim, scale, 77_777)
}
