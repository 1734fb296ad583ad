//! Fused predict: `y = f(x W + phase) beta`, the features never stored.

use super::{
    Binding, Op,
    projection::{self, DenseMap, Nonlinearity, Projection, narrow, rows_per_block},
    tile::{self, Tile},
};
use crate::{
    Error, Result,
    device::{CpuDevice, Device, GpuDevice, Matrix, gpu::Dispatch, gpu::shader::Constants},
};
use faer::{Accum, MatMut, MatRef, linalg::matmul::matmul};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

/// The op for the registry.
pub static OP: Op = Op {
    name: "predict",
    source: include_str!("../../shaders/predict.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("feature"),
        Binding::Read("beta"),
        Binding::Write("y"),
    ],
    variants: || {
        let mut all = Vec::new();
        for &tile in tile::MENU {
            for f in Nonlinearity::ALL {
                all.extend(QUADS.map(|q| variant(tile, f, q)));
            }
        }
        all
    },
};

/// Targets of one dispatch, in fours; more go in turns.
const QUADS: [usize; 3] = [1, 2, 4];

fn variant(tile: Tile, f: Nonlinearity, quads: usize) -> (String, Constants) {
    let (name, mut constants) = projection::variant(tile, f);
    constants.insert("Q".into(), quads as i64);
    (format!("{name}/{quads}"), constants)
}

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth4: u32,
    freqs: u32,
    x_stride4: u32,
    w_stride4: u32,
    beta_stride4: u32,
    q0: u32,
    y_stride4: u32,
}

/// `y = f(x W + phase) beta` in f64, from the f32 inputs that the op sees.
pub fn reference(
    map: &DenseMap,
    x_nd: ArrayView2<'_, f32>,
    beta_dt: ArrayView2<'_, f32>,
) -> Array2<f64> {
    projection::reference(map, x_nd).dot(&beta_dt.mapv(f64::from))
}

impl Projection {
    /// Writes `y = f(x W + phase) beta`, shape `[rows, t]`, for coefficients `beta` of shape `[D, t]`.
    /// Errors with [`Error::Shape`] on other shapes.
    pub fn predict(&self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.check_input(x_nd)?;
        if beta_dt.rows() != self.outputs() {
            return Err(Error::Shape(format!(
                "coefficients are for {} features, the map gives {}",
                beta_dt.rows(),
                self.outputs()
            )));
        }
        if (y_nt.rows(), y_nt.cols()) != (x_nd.rows(), beta_dt.cols()) {
            return Err(Error::Shape(format!(
                "y is {} x {}, the prediction {} x {}",
                y_nt.rows(),
                y_nt.cols(),
                x_nd.rows(),
                beta_dt.cols()
            )));
        }
        match &self.device {
            Device::Cpu(cpu) => self.predict_cpu(cpu, x_nd, beta_dt, y_nt),
            Device::Gpu(gpu) => self.predict_gpu(gpu, x_nd, beta_dt, y_nt),
        }
    }

    fn predict_gpu(
        &self,
        gpu: &GpuDevice,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
    ) -> Result<()> {
        let total = beta_dt.stride() / 4;
        let mut q0 = 0;
        while q0 < total {
            let left = total - q0;
            let quads = *QUADS.iter().find(|&&q| q >= left).unwrap_or(&QUADS[2]);
            let params = Params {
                rows: narrow(x_nd.rows())?,
                depth4: narrow(self.depth.div_ceil(4))?,
                freqs: narrow(self.freqs)?,
                x_stride4: narrow(x_nd.stride() / 4)?,
                w_stride4: narrow(self.w_ds.stride() / 4)?,
                beta_stride4: narrow(total)?,
                q0: narrow(q0)?,
                y_stride4: narrow(y_nt.stride() / 4)?,
            };
            let (name, constants) = variant(self.tile, self.nonlinearity, quads);
            gpu.dispatch(&Dispatch {
                op: &OP,
                variant: &name,
                constants: &constants,
                params: bytemuck::bytes_of(&params),
                buffers: &[
                    x_nd.gpu(gpu, "x")?,
                    self.w_ds.gpu(gpu, "w")?,
                    self.feature.gpu(gpu, "the phases")?,
                    beta_dt.gpu(gpu, "the coefficients")?,
                    y_nt.gpu(gpu, "y")?,
                ],
                workgroups: [params.rows.div_ceil(self.tile.rows()), 1, 1],
            })?;
            q0 += quads;
        }
        Ok(())
    }

    fn predict_cpu(
        &self,
        cpu: &CpuDevice,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
    ) -> Result<()> {
        let (outputs, targets) = (self.outputs(), beta_dt.cols());
        let x = x_nd.cpu("x")?;
        let beta = beta_dt.cpu("the coefficients")?;
        let block = rows_per_block(x_nd.rows(), cpu.threads());
        let y = y_nt.cpu_mut("y")?;
        cpu.install(|| {
            y.par_chunks_mut(block * targets)
                .zip(x.par_chunks(block * self.depth))
                .for_each_init(
                    || (Vec::new(), Vec::new()),
                    |(t, z), (y, x)| {
                        let rows = x.len() / self.depth;
                        z.resize(rows * outputs, 0.0);
                        self.featurize_block(x, t, z);
                        matmul(
                            MatMut::from_row_major_slice_mut(y, rows, targets),
                            Accum::Replace,
                            MatRef::from_row_major_slice(&*z, rows, outputs),
                            MatRef::from_row_major_slice(beta, outputs, targets),
                            1.0,
                            faer::Par::Seq,
                        );
                    },
                );
        });
        Ok(())
    }
}
