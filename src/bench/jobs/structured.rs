//! Walsh-Hadamard transforms and the maps made of them.

use super::{Job, REFERENCE_WORK, TARGETS, block_rows, blocks, draw, head, relative, rows_of_map};
use crate::{
    Device, Matrix, Result,
    bench::Shape,
    device::cpu::instruction_set,
    features::{Affine, Fastfood, Sorf},
    kernels::Gaussian,
    ops::{
        structured::{self, Structured, StructuredMap},
        walsh_hadamard::{self, WalshHadamard},
    },
};
use ndarray::Array2;

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
            match self.x_nd.device() {
                // In place, as others on the CPU do it. The numbers grow to infinity, which additions take no longer for.
                Device::Cpu(_) => self.op.run(&mut self.y_nd)?,
                Device::Gpu(_) => self.op.run_into(&self.x_nd, &mut self.y_nd)?,
            }
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        self.x_nd.set_rows(self.block)?;
        self.y_nd.set_rows(self.block)?;
        self.op.run_into(&self.x_nd, &mut self.y_nd)?;
        let rows = self.block.min(4);
        let got = head(&mut self.y_nd, rows)?;
        let reference = walsh_hadamard::reference(draw(rows, self.op.len(), 1.0, 19).view());
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        let device = self.x_nd.device();
        match (device, self.op.exchange(device, self.block)) {
            (Device::Cpu(_), _) => instruction_set().into(),
            (_, Some(exchange)) => exchange.name().into(),
            (_, None) => passes(self.op.passes()),
        }
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

struct Map {
    host: StructuredMap,
    op: Structured,
    rows: usize,
    block: usize,
    x_nd: Matrix,
    /// z of the features, y of the prediction.
    out: Matrix,
    beta: Option<(Array2<f32>, Matrix)>,
}

pub(in crate::bench) fn fastfood(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    job(device, shape, fastfood_map(shape)?, false)
}

pub(in crate::bench) fn fastfood_predict(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    job(device, shape, fastfood_map(shape)?, true)
}

pub(in crate::bench) fn sorf(device: &Device, shape: Shape) -> Result<Box<dyn Job>> {
    let input = Affine::identity(shape.dim);
    let map = Sorf::new(Gaussian).features(shape.features).build(input)?;
    job(device, shape, map.parameters().clone(), false)
}

fn fastfood_map(shape: Shape) -> Result<StructuredMap> {
    let input = Affine::identity(shape.dim);
    let map = Fastfood::new(Gaussian)
        .features(shape.features)
        .build(input)?;
    Ok(map.parameters().clone())
}

fn job(device: &Device, shape: Shape, host: StructuredMap, fused: bool) -> Result<Box<dyn Job>> {
    let op = Structured::load(device, &host)?;
    let columns = if fused { TARGETS } else { op.outputs() };
    let widest = shape.dim.max(columns);
    let block = block_rows(device, shape.rows, widest, shape.dim + columns)?;
    let beta = match fused {
        true => {
            let beta = draw(op.outputs(), TARGETS, 1.0, 5);
            let loaded = Matrix::upload(device, beta.view())?;
            Some((beta, loaded))
        }
        false => None,
    };
    Ok(Box::new(Map {
        rows: shape.rows,
        block,
        x_nd: Matrix::upload(device, rows_of_map(block, shape.dim).view())?,
        out: Matrix::new(device, block, columns)?,
        host,
        op,
        beta,
    }))
}

impl Job for Map {
    fn run(&mut self) -> Result<()> {
        for rows in blocks(self.rows, self.block) {
            self.x_nd.set_rows(rows)?;
            self.out.set_rows(rows)?;
            match &self.beta {
                None => self.op.run(&self.x_nd, &mut self.out)?,
                Some((_, beta)) => self.op.predict(&self.x_nd, beta, &mut self.out)?,
            }
        }
        Ok(())
    }

    fn error(&mut self) -> Result<f64> {
        // A transform of the reference visits every element log2(n) times.
        let rows = REFERENCE_WORK / (32 * self.host.outputs().max(self.host.padded));
        let rows = rows.clamp(1, 64).min(self.block);
        self.x_nd.set_rows(self.block)?;
        self.out.set_rows(self.block)?;
        self.rows = self.rows.max(self.block);
        self.run()?;
        let got = head(&mut self.out, rows)?;
        let x = rows_of_map(rows, self.host.depth);
        let z = structured::reference(&self.host, x.view());
        let reference = match &self.beta {
            None => z,
            Some((beta, _)) => z.dot(&beta.mapv(f64::from)),
        };
        Ok(relative(got.view(), reference.view()))
    }

    fn tile(&self) -> String {
        match self.x_nd.device() {
            Device::Cpu(_) => instruction_set().into(),
            Device::Gpu(_) => passes(self.op.passes()),
        }
    }

    fn blocks(&self) -> usize {
        self.rows.div_ceil(self.block)
    }
}
