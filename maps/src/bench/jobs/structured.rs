//! Walsh-Hadamard transforms and the maps made of them.

use super::{
    Job, block_rows, blocks, draw, head,
    map::{Timed, job},
    relative, way,
};
use crate::{
    Device, Matrix, Result,
    bench::{COMPARED_TRANSFORMS, Shape},
    features::{Affine, Fastfood, Sorf},
    form::Way,
    kernels::Gaussian,
    ops::{
        structured::{self, Structured, StructuredMap},
        walsh_hadamard::{self, WalshHadamard},
    },
};
use ndarray::{Array2, ArrayView2};

struct Transform {
    op: WalshHadamard,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    y_nd: Matrix,
}

pub(in crate::bench) fn walsh_hadamard(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let n = shape.features;
    let block = block_rows(device, shape.rows, n, 2 * n)?;
    Ok(Box::new(Transform {
        op: WalshHadamard::new(n)?,
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, draw(block, n, 1.0, 19).view())?,
        y_nd: Matrix::upload(device, draw(block, n, 1.0, 19).view())?,
    }))
}

impl Job for Transform {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.x_nd.set_rows(rows)?;
            self.y_nd.set_rows(rows)?;
            if self.x_nd.device().is_gpu() {
                self.op.run_into(&self.x_nd, &mut self.y_nd)?
            } else {
                // In place, as others on the CPU do it. The numbers grow to infinity, which
                // additions take no longer for.
                self.op.run(&mut self.y_nd)?
            }
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        self.x_nd.set_rows(self.block)?;
        self.y_nd.set_rows(self.block)?;
        self.op.run_into(&self.x_nd, &mut self.y_nd)?;
        let rows = COMPARED_TRANSFORMS.min(self.block);
        let got = head(&mut self.y_nd, rows)?;
        let reference = walsh_hadamard::reference(draw(rows, self.op.len(), 1.0, 19).view());
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        let device = self.x_nd.device();
        way(device, || match self.op.exchange(device, self.block) {
            Some(exchange) => exchange.name().into(),
            None => passes(self.op.passes(device)),
        })
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}

/// Passes over memory, for the table.
fn passes(count: u32) -> String {
    match count {
        1 => "1 pass".into(),
        n => format!("{n} passes"),
    }
}

struct Blocks {
    host: StructuredMap,
    op: Structured,
    device: Device,
}

impl Timed for Blocks {
    fn outputs(&self) -> usize {
        self.op.outputs()
    }

    fn run(&self, x_nd: &Matrix, z_nd: &mut Matrix) -> Result<()> {
        self.op.run(x_nd, z_nd)
    }

    fn predict(&mut self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.op.predict(x_nd, beta_dt, y_nt)
    }

    fn reference(&self, x_nd: ArrayView2<'_, f32>) -> Array2<f64> {
        structured::reference(&self.host, x_nd)
    }

    fn form(&self, _: usize, _: bool) -> String {
        way(&self.device, || passes(self.op.passes()))
    }
}

pub(in crate::bench) fn fastfood(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    structured(device, shape, fastfood_map(shape)?, false)
}

pub(in crate::bench) fn fastfood_predict(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    structured(device, shape, fastfood_map(shape)?, true)
}

pub(in crate::bench) fn sorf(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let input = Affine::identity(shape.dim);
    let map = Sorf::new(Gaussian).features(shape.features).build(input)?;
    structured(device, shape, map.parameters().clone(), false)
}

fn fastfood_map(shape: Shape) -> Result<StructuredMap> {
    let input = Affine::identity(shape.dim);
    let map = Fastfood::new(Gaussian)
        .features(shape.features)
        .build(input)?;
    Ok(map.parameters().clone())
}

fn structured(
    device: &Device,
    shape: Shape,
    host: StructuredMap,
    predicts: bool,
) -> Result<Box<dyn Job>> {
    let op = Structured::load(device, &host)?;
    job(
        device,
        shape,
        Blocks {
            host,
            op,
            device: device.clone(),
        },
        predicts,
    )
}
