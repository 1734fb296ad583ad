//! Blocks of the kernel matrix: `k(x, landmark)` for every row and every landmark, and their
//! product with a matrix.

mod host;

use super::{
    Binding, Op,
    product::{HostFactor, product_into_rows},
};
use crate::{
    Error, Result,
    device::{
        CpuDevice, Device, GpuDevice, Matrix,
        gpu::{AdapterKind, Dispatch, shader::Constants},
    },
    error::Remedy,
    form::tile::{self, Tile},
    kernels::{BlockForm, Kernel},
    ops::dispatch::narrow,
    simd::rows_per_block,
};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::sync::Arc;

/// The op for the registry.
pub static OP: Op = Op {
    name: "kernel_block",
    source: include_str!("../../shaders/kernel_block.wgsl"),
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("norm"),
        Binding::Write("k"),
    ],
    variants: || {
        let menu = MENU.iter();
        menu.flat_map(|&t| FORMS.map(|form| variant(t, form)))
            .collect()
    },
};

/// The tile shapes of this op: through workgroup memory, and straight from the buffers.
pub const MENU: &[Tile] = &[tile::SHARED_64, tile::SHARED_64_HALF, tile::DIRECT_8X64];

/// Bytes of the kernel block that a product keeps on a GPU.
const SCRATCH_BYTES: usize = 32 << 20;

/// Every form, with any parameters.
const FORMS: [BlockForm; 11] = [
    BlockForm::Gaussian,
    BlockForm::Laplacian,
    BlockForm::Exponential,
    BlockForm::Matern32,
    BlockForm::Matern52,
    BlockForm::Cauchy,
    BlockForm::Hat,
    BlockForm::RationalQuadratic { alpha: 1.0 },
    BlockForm::ArcCosine { order: 0 },
    BlockForm::ArcCosine { order: 1 },
    BlockForm::ArcCosine { order: 2 },
];

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth4: u32,
    landmarks: u32,
    x_stride4: u32,
    w_stride4: u32,
    k_stride4: u32,
    row0: u32,
    alpha: f32,
}

/// The shader's constants FORM and PAIR.
fn codes(form: BlockForm) -> (i64, i64) {
    match form {
        BlockForm::Gaussian => (0, 0),
        BlockForm::Laplacian => (1, 1),
        BlockForm::Exponential => (2, 0),
        BlockForm::Matern32 => (3, 0),
        BlockForm::Matern52 => (4, 0),
        BlockForm::Cauchy => (5, 2),
        BlockForm::Hat => (6, 3),
        BlockForm::RationalQuadratic { .. } => (7, 0),
        BlockForm::ArcCosine { order } => (8 + i64::from(order), 4),
    }
}

fn variant(tile: Tile, form: BlockForm) -> (String, Constants) {
    let (form, pair) = codes(form);
    let mut constants = tile.constants();
    constants.insert("FORM".into(), form);
    constants.insert("PAIR".into(), pair);
    (format!("{}/{form}", tile.name), constants)
}

/// `k(x, landmark)` in f64, `[rows, m]`, from the f32 rows that the op sees.
pub fn reference(
    kernel: &dyn Kernel,
    x_nd: ArrayView2<'_, f32>,
    landmarks_md: ArrayView2<'_, f32>,
) -> Array2<f64> {
    let wide = |rows: ArrayView2<'_, f32>| -> Vec<Vec<f64>> {
        let rows = rows.rows().into_iter();
        rows.map(|row| row.iter().map(|&v| f64::from(v)).collect())
            .collect()
    };
    let (x, y) = (wide(x_nd), wide(landmarks_md));
    Array2::from_shape_fn((x.len(), y.len()), |(i, j)| kernel.evaluate(&x[i], &y[j]))
}

/// A kernel and its landmarks, loaded on a device.
///
/// Kernels with a [`BlockForm`] run everywhere, in f32, from coordinate differences
/// (`|x|^2 + |y|^2 - 2 x.y` would cancel); all others run on the CPU, in f64, through
/// [`Kernel::evaluate`].
#[derive(Debug)]
pub struct KernelBlock {
    device: Device,
    kernel: Arc<dyn Kernel>,
    form: Option<BlockForm>,
    depth: usize,
    landmarks: usize,
    /// The landmarks as the device takes them: GPU `[d, m]`, zero rows up to a multiple of four;
    /// CPU with a form, tiles `[ceil(m / 16) d, 16]`; CPU without one, `[m, d]`.
    w: Matrix,
    /// Lengths of the landmarks, padded with zeros.
    norm: Matrix,
    tile: Tile,
}

impl KernelBlock {
    /// Uploads the landmarks, `[m, d]`, at unit scale.
    ///
    /// # Errors
    /// [`Error::Shape`] on an empty block; [`Error::Unsupported`] for a kernel without a
    /// [`BlockForm`] on a GPU; [`Error::Limit`] when the device cannot bind the landmarks.
    pub fn load(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
    ) -> Result<Self> {
        let angular = matches!(kernel.block_form(), Some(BlockForm::ArcCosine { .. }));
        let tile = match device {
            Device::Gpu(gpu) => match gpu.report().kind {
                AdapterKind::Software => tile::DIRECT_8X64,
                AdapterKind::Integrated => tile::SHARED_64_HALF,
                // Two sums an entry.
                _ if angular => tile::SHARED_64_HALF,
                _ => tile::SHARED_64,
            },
            Device::Cpu(_) => tile::SHARED_64,
        };
        Self::load_with(device, kernel, landmarks_md, tile)
    }

    /// As [`Self::load`], with a tile shape of [`MENU`] instead of the adapter's own.
    pub fn load_with(
        device: &Device,
        kernel: Arc<dyn Kernel>,
        landmarks_md: ArrayView2<'_, f32>,
        tile: Tile,
    ) -> Result<Self> {
        let (m, d) = landmarks_md.dim();
        if m == 0 || d == 0 {
            return Err(Error::shape(format!(
                "{m} landmarks of {d} columns are an empty block"
            )));
        }
        let form = kernel.block_form();
        let gpu = matches!(device, Device::Gpu(_));
        if gpu && form.is_none() {
            let problem = format!("the kernel {} has no shader", kernel.spec());
            return Err(Error::unsupported(problem).help(Remedy::UseCpu));
        }
        let lengths: Vec<f64> = landmarks_md
            .rows()
            .into_iter()
            .map(|row| {
                row.iter()
                    .map(|&v| f64::from(v).powi(2))
                    .sum::<f64>()
                    .sqrt()
            })
            .collect();
        let angular = matches!(form, Some(BlockForm::ArcCosine { .. }));
        let value = |j: usize, c: usize| match landmarks_md.get([j, c]) {
            Some(&v) if angular && lengths[j] > 0.0 => (f64::from(v) / lengths[j]) as f32,
            Some(&v) => v,
            // Padding.
            None => 0.0,
        };
        let host = if gpu {
            Array2::from_shape_fn((d.next_multiple_of(4), m), |(c, j)| value(j, c))
        } else if form.is_some() {
            let rows = m.div_ceil(host::LANES) * d;
            Array2::from_shape_fn((rows, host::LANES), |(row, lane)| {
                value(row / d * host::LANES + lane, row % d)
            })
        } else {
            landmarks_md.to_owned()
        };
        let padded = m.next_multiple_of(host::LANES);
        let norm = Array2::from_shape_fn((1, padded), |(_, j)| {
            lengths.get(j).map_or(0.0, |&l| l as f32)
        });
        Ok(Self {
            device: device.clone(),
            kernel,
            form,
            depth: d,
            landmarks: m,
            w: Matrix::upload(device, host.view())?,
            norm: Matrix::upload(device, norm.view())?,
            tile,
        })
    }

    /// Number of landmarks, m.
    pub fn landmarks(&self) -> usize {
        self.landmarks
    }

    /// The tile shape of its dispatches.
    pub(crate) fn tile(&self) -> Tile {
        self.tile
    }

    /// Writes `k = k(x, landmark)`, shape `[rows, m]`, for `x` of shape `[rows, d]` at unit scale.
    /// Errors with [`Error::Shape`] on other shapes and with [`Error::Device`] on a matrix of
    /// another device.
    pub fn run(&self, x_nd: &Matrix, k_nm: &mut Matrix) -> Result<()> {
        self.check(x_nd, k_nm, self.landmarks)?;
        match &self.device {
            Device::Cpu(cpu) => {
                let (rows, m) = (x_nd.rows(), self.landmarks);
                let x = x_nd.cpu("x")?;
                let k = k_nm.cpu_mut("the kernel block")?;
                let block = rows_per_block(rows, cpu.threads());
                cpu.install(|| {
                    k.par_chunks_mut(block * m)
                        .zip(x.par_chunks(block * self.depth))
                        .for_each(|(k, x)| self.host_block(x, k));
                });
                Ok(())
            }
            Device::Gpu(gpu) => self.run_gpu(gpu, x_nd, 0, k_nm),
        }
    }

    /// Writes `out = k(x, landmark) b`, shape `[rows, t]`, for `b` of shape `[m, t]`.
    ///
    /// On the CPU the kernel block stays in cache; a GPU keeps at most 32 MiB of it at a time in
    /// `scratch`, which is allocated at the first call and again only for more rows. Errors as
    /// [`Self::run`].
    pub fn times(
        &self,
        x_nd: &Matrix,
        b_mt: &Matrix,
        out_nt: &mut Matrix,
        scratch: &mut Option<Matrix>,
    ) -> Result<()> {
        self.check(x_nd, out_nt, b_mt.cols())?;
        if b_mt.rows() != self.landmarks {
            return Err(Error::shape(format!(
                "{} landmarks cannot be multiplied with {} rows",
                self.landmarks,
                b_mt.rows()
            )));
        }
        if out_nt.rows() == 0 || out_nt.cols() == 0 {
            return Ok(());
        }
        match &self.device {
            Device::Cpu(cpu) => self.times_cpu(cpu, x_nd, b_mt, out_nt),
            Device::Gpu(gpu) => self.times_gpu(gpu, x_nd, b_mt, out_nt, scratch),
        }
    }

    fn times_gpu(
        &self,
        gpu: &GpuDevice,
        x_nd: &Matrix,
        b_mt: &Matrix,
        out_nt: &mut Matrix,
        scratch: &mut Option<Matrix>,
    ) -> Result<()> {
        let rows = x_nd.rows();
        let most = (SCRATCH_BYTES / (4 * self.landmarks.next_multiple_of(4))).max(1);
        let batch = most.min(rows);
        let k_nm = match scratch {
            Some(k) if k.capacity_rows() >= batch => k,
            none => none.insert(Matrix::new(&self.device, batch, self.landmarks)?),
        };
        for row0 in (0..rows).step_by(most) {
            k_nm.set_rows(batch.min(rows - row0))?;
            self.run_gpu(gpu, x_nd, row0, k_nm)?;
            product_into_rows(k_nm, b_mt, out_nt, row0)?;
        }
        Ok(())
    }

    fn check(&self, x_nd: &Matrix, out: &Matrix, cols: usize) -> Result<()> {
        if x_nd.cols() == self.depth && (out.rows(), out.cols()) == (x_nd.rows(), cols) {
            return Ok(());
        }
        Err(Error::shape(format!(
            "rows of {} columns and an output of {} x {} do not fit {} landmarks of {} columns",
            x_nd.cols(),
            out.rows(),
            out.cols(),
            self.landmarks,
            self.depth
        )))
    }

    /// The rows of x from `row0` on, as many as k has.
    fn run_gpu(
        &self,
        gpu: &GpuDevice,
        x_nd: &Matrix,
        row0: usize,
        k_nm: &mut Matrix,
    ) -> Result<()> {
        let form = self.form.expect("checked when loaded");
        let params = Params {
            rows: narrow(k_nm.rows())?,
            depth4: narrow(self.depth.div_ceil(4))?,
            landmarks: narrow(self.landmarks)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(self.w.stride() / 4)?,
            k_stride4: narrow(k_nm.stride() / 4)?,
            row0: narrow(row0)?,
            alpha: match form {
                BlockForm::RationalQuadratic { alpha } => alpha as f32,
                _ => 0.0,
            },
        };
        let (name, constants) = variant(self.tile, form);
        gpu.dispatch(&Dispatch {
            op: &OP,
            variant: &name,
            constants: &constants,
            params: bytemuck::bytes_of(&params),
            buffers: &[
                x_nd.gpu(gpu, "x")?,
                self.w.gpu(gpu, "the landmarks")?,
                self.norm.gpu(gpu, "the landmarks")?,
                k_nm.gpu(gpu, "the kernel block")?,
            ],
            workgroups: [
                params.landmarks.div_ceil(self.tile.cols()),
                params.rows.div_ceil(self.tile.rows()),
                1,
            ],
            work: 3.0 * (k_nm.rows() * self.depth) as f64 * self.landmarks as f64,
        })
    }

    fn times_cpu(
        &self,
        cpu: &CpuDevice,
        x_nd: &Matrix,
        b_mt: &Matrix,
        out_nt: &mut Matrix,
    ) -> Result<()> {
        let (rows, m, cols) = (x_nd.rows(), self.landmarks, b_mt.cols());
        let x = x_nd.cpu("x")?;
        let b = HostFactor::new(b_mt.cpu("the right factor")?, m, cols);
        let out = out_nt.cpu_mut("the product")?;
        // Few enough rows for the block of k to stay in cache.
        let block = rows_per_block(rows, cpu.threads()).min(128);
        cpu.install(|| {
            out.par_chunks_mut(block * cols.max(1))
                .zip(x.par_chunks(block * self.depth))
                .for_each_init(Vec::new, |k, (out, x)| {
                    k.resize(x.len() / self.depth * m, 0.0);
                    self.host_block(x, k);
                    b.times(k, out);
                });
        });
        Ok(())
    }

    /// Whole rows on one thread.
    fn host_block(&self, x: &[f32], k: &mut [f32]) {
        let d = self.depth;
        let w = self.w.cpu("the landmarks").expect("loaded on the CPU");
        if let Some(form) = self.form {
            let norm = self.norm.cpu("the landmarks").expect("loaded on the CPU");
            host::block(form, x, d, w, norm, k);
            return;
        }
        let wide = |row: &[f32]| -> Vec<f64> { row.iter().map(|&v| f64::from(v)).collect() };
        let landmarks: Vec<_> = w.chunks_exact(d).map(wide).collect();
        for (x, k) in x.chunks_exact(d).zip(k.chunks_exact_mut(self.landmarks)) {
            let x = wide(x);
            for (k, y) in k.iter_mut().zip(&landmarks) {
                *k = self.kernel.evaluate(&x, y) as f32;
            }
        }
    }
}
