//! Fused predict: `y = f(x W + phase) beta`, the features never stored.

use super::{
    Binding, Nonlinearity, Op,
    dispatch::narrow,
    few::{self, FewRows},
    projection::{self, DenseMap, GpuMap, HostMap, Loaded, Projection},
};
use crate::{
    Error, Result,
    device::{CpuDevice, Device, GpuDevice, Matrix, gpu::Dispatch, gpu::shader::Constants},
    form::{
        self,
        tile::{self, Form, Tile},
        tuning::{self, Class, TunedOp},
    },
    simd::{Epilogue, ThroughCache, rows_per_block},
};
use ndarray::{Array2, ArrayView2};
use pulp::Simd;
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
        for &tile in tile::PREDICT_MENU {
            for f in Nonlinearity::ALL {
                all.extend(QUADS.map(|q| variant(tile, f, q)));
            }
        }
        all
    },
};

/// Frequencies are split at multiples of this: whole tiles of every shape, so that all of them sum
/// in one order.
const SPLIT_COLS: usize = 64;
/// Bytes that the sums of all parts may take.
const SPLIT_BYTES: usize = 32 << 20;
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
    row0: u32,
    split_cols4: u32,
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
    /// Writes `y = f(x W + phase) beta`, shape `[rows, t]`, for coefficients `beta` of shape
    /// `[D, t]`. Errors with [`Error::Shape`] on other shapes.
    pub fn predict(&self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        self.check_input(x_nd)?;
        if beta_dt.rows() != self.outputs() {
            return Err(Error::shape(format!(
                "coefficients are for {} features, the map gives {}",
                beta_dt.rows(),
                self.outputs()
            )));
        }
        if (y_nt.rows(), y_nt.cols()) != (x_nd.rows(), beta_dt.cols()) {
            return Err(Error::shape(format!(
                "y is {} x {}, the prediction {} x {}",
                y_nt.rows(),
                y_nt.cols(),
                x_nd.rows(),
                beta_dt.cols()
            )));
        }
        if y_nt.rows() == 0 || y_nt.cols() == 0 {
            return Ok(());
        }
        match &self.loaded {
            Loaded::Cpu(cpu, map) => {
                let x = x_nd.cpu("x")?;
                let beta = beta_dt.cpu("the coefficients")?;
                let targets = beta_dt.cols();
                let y = y_nt.cpu_mut("y")?;
                map.predict(cpu, x, beta, y, targets);
                Ok(())
            }
            Loaded::Gpu(gpu, map) => self.predict_gpu(gpu, map, x_nd, beta_dt, y_nt),
        }
    }

    /// The form that [`Self::predict`] takes for so many rows; `None` on the CPU.
    pub fn predict_form(&self, rows: usize) -> Option<Form> {
        match &self.loaded {
            Loaded::Cpu(..) => None,
            Loaded::Gpu(gpu, map) => Some(map.form.unwrap_or_else(|| {
                // A workgroup walks over all features: the rows alone have to fill the adapter.
                tuning::few(gpu, rows, 1, self.depth)
                    .unwrap_or_else(|| tuning::tile(gpu, self.predict_class(rows)).into())
            })),
        }
    }

    fn predict_class(&self, rows: usize) -> Class {
        Class::of(TunedOp::Predict, rows, self.depth, self.freqs)
    }

    /// Few rows: their features, which all workgroups share in, then the product with the
    /// coefficients.
    fn predict_few(
        &self,
        gpu: &GpuDevice,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
    ) -> Result<()> {
        let device = Device::Gpu(gpu.clone());
        let mut z_nd = Matrix::new(&device, x_nd.rows(), self.outputs())?;
        self.run(x_nd, &mut z_nd)?;
        let few = FewRows {
            a_nk: &z_nd,
            b_kt: beta_dt,
            cols: beta_dt.cols(),
            features: None,
            z_nt: y_nt,
            row0: 0,
            splits: form::few::splits(
                gpu.report().kind,
                x_nd.rows(),
                beta_dt.cols(),
                self.outputs(),
            ),
        };
        few.run(gpu)
    }

    fn predict_gpu(
        &self,
        gpu: &GpuDevice,
        map: &GpuMap,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
    ) -> Result<()> {
        let Some(Form::Tile(tile)) = self.predict_form(x_nd.rows()) else {
            return self.predict_few(gpu, x_nd, beta_dt, y_nt);
        };
        if map.form.is_none() {
            let class = self.predict_class(x_nd.rows());
            tuning::worked(gpu, class, self.row_work() * x_nd.rows() as f64)?;
        }
        // Blocks of rows run one after another: each has to fill the adapter.
        let mut blocks = gpu.row_blocks(x_nd.rows(), self.prediction_work());
        let rows = blocks.next().map_or(0, |block| block.len());
        let splits = form::few::feature_splits(gpu.report().kind, rows, self.freqs);
        let sum_bytes = 4 * x_nd.rows() * beta_dt.stride();
        let splits = splits.clamp(1, (SPLIT_BYTES / sum_bytes).max(1));
        self.predict_split(gpu, map, (x_nd, beta_dt), y_nt, (tile, splits))
    }

    /// Operations of one row in one dispatch: products, cosines, and up to 16 targets.
    fn prediction_work(&self) -> f64 {
        self.row_work() + f64::from(60 + 64) * self.freqs as f64
    }

    /// As [`Self::predict`] on a GPU, in `splits` parts instead of as many as suit the adapter; for
    /// checks, which have shapes that fit and a map that was loaded with a tile.
    pub(crate) fn predict_in_splits(
        &self,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
        splits: usize,
    ) -> Result<()> {
        let (Loaded::Gpu(gpu, map), Some(Form::Tile(tile))) =
            (&self.loaded, self.predict_form(x_nd.rows()))
        else {
            return Err(Error::unsupported("splits are of tiles on a GPU"));
        };
        self.predict_split(gpu, map, (x_nd, beta_dt), y_nt, (tile, splits))
    }

    /// Frequencies in `splits` parts, so that fewer rows keep the adapter busy too; the sums of the
    /// parts are added in order.
    fn predict_split(
        &self,
        gpu: &GpuDevice,
        map: &GpuMap,
        (x_nd, beta_dt): (&Matrix, &Matrix),
        y_nt: &mut Matrix,
        (tile, splits): (Tile, usize),
    ) -> Result<()> {
        let (rows, total) = (x_nd.rows(), beta_dt.stride() / 4);
        let parts = self.freqs.div_ceil(SPLIT_COLS);
        let per_split = parts.div_ceil(splits.clamp(1, parts));
        let splits = parts.div_ceil(per_split);
        let scratch = match splits {
            1 => None,
            _ => {
                let bytes = 16 * (splits * rows * total) as u64;
                Some(gpu.buffer(bytes, || "the parts of predictions".into())?)
            }
        };
        let y = y_nt.gpu(gpu, "y")?;
        let row_work = self.prediction_work();
        for q0 in (0..total).step_by(QUADS[2]) {
            let left = total - q0;
            let quads = *QUADS.iter().find(|&&q| q >= left).unwrap_or(&QUADS[2]);
            let (name, constants) = variant(tile, self.nonlinearity, quads);
            for block in gpu.row_blocks(rows, row_work) {
                let params = Params {
                    rows: narrow(rows)?,
                    depth4: narrow(self.depth.div_ceil(4))?,
                    freqs: narrow(self.freqs)?,
                    x_stride4: narrow(x_nd.stride() / 4)?,
                    w_stride4: narrow(map.w_ds.stride() / 4)?,
                    beta_stride4: narrow(total)?,
                    q0: narrow(q0)?,
                    y_stride4: narrow(y_nt.stride() / 4)?,
                    row0: narrow(block.start)?,
                    split_cols4: narrow(per_split * SPLIT_COLS / 4)?,
                };
                gpu.dispatch(&Dispatch {
                    op: &OP,
                    variant: &name,
                    constants: &constants,
                    params: bytemuck::bytes_of(&params),
                    buffers: &[
                        x_nd.gpu(gpu, "x")?,
                        map.w_ds.gpu(gpu, "w")?,
                        map.feature.gpu(gpu, "the phases")?,
                        beta_dt.gpu(gpu, "the coefficients")?,
                        scratch.as_deref().unwrap_or(y),
                    ],
                    workgroups: [
                        narrow(block.len())?.div_ceil(tile.rows()),
                        narrow(splits)?,
                        1,
                    ],
                    work: row_work * block.len() as f64,
                })?;
            }
        }
        match scratch {
            None => Ok(()),
            Some(scratch) => few::add_splits(gpu, &scratch, splits, y_nt),
        }
    }
}

/// Lanes that a prediction is summed in; their sum comes last, in a fixed order.
const LANES: usize = 32;
/// Bytes that the sums of a block of rows may take.
const SUM_BYTES: usize = 512 << 10;

impl HostMap {
    /// Writes `f(x W + phase) beta`, block by block; features live in registers and first-level
    /// cache only.
    pub(super) fn predict(
        &self,
        cpu: &CpuDevice,
        x: &[f32],
        beta: &[f32],
        y: &mut [f32],
        targets: usize,
    ) {
        let rows = y.len() / targets;
        if rows == 0 {
            return;
        }
        let depth = x.len() / rows;
        let outputs = self.outputs();
        // [t, D]: the coefficients of a target lie beside each other.
        let mut beta_td = vec![0.0; beta.len()];
        for (j, row) in beta.chunks_exact(targets).enumerate() {
            for (k, &b) in row.iter().enumerate() {
                beta_td[k * outputs + j] = b;
            }
        }
        let fits = (SUM_BYTES / (4 * LANES * targets)).max(1);
        let block = rows_per_block(rows, cpu.threads()).min(fits);
        let work = |sums: &mut Vec<f32>, y: &mut [f32], x: &[f32]| {
            sums.clear();
            sums.resize(y.len() * LANES, 0.0);
            let epilogue = Predictions {
                map: self,
                beta_td: &beta_td,
                targets,
                sums,
                z: [0.0; 2 * LANES],
            };
            self.project(x, y.len() / targets, self.panels().all(), epilogue);
            for (y, sums) in y.iter_mut().zip(sums.chunks_exact(LANES)) {
                *y = sums.iter().sum();
            }
        };
        if rows <= block {
            return work(&mut Vec::new(), y, x);
        }
        cpu.install(|| {
            y.par_chunks_mut(block * targets)
                .zip(x.par_chunks(block * depth))
                .for_each_init(Vec::new, |sums, (y, x)| work(sums, y, x));
        });
    }
}

/// Features times coefficients, in lanes.
struct Predictions<'a> {
    map: &'a HostMap,
    beta_td: &'a [f32],
    targets: usize,
    /// `[rows, t, LANES]`.
    sums: &'a mut [f32],
    z: [f32; 2 * LANES],
}

impl Epilogue for Predictions<'_> {
    #[inline(always)]
    fn row<S: Simd>(&mut self, simd: S, row: usize, col: usize, t: &[f32]) {
        let (outputs, width) = (self.map.outputs(), t.len());
        let (z, second) = self.z.split_at_mut(LANES);
        self.map.apply(simd, t, col, z, second, &ThroughCache);
        let sums = &mut self.sums[row * self.targets * LANES..][..self.targets * LANES];
        let betas = self.beta_td.chunks_exact(outputs);
        for (sums, beta) in sums.chunks_exact_mut(LANES).zip(betas) {
            let mut from = col;
            for z in self.z.chunks_exact(LANES).take(self.map.parts()) {
                add_products(simd, &z[..width], &beta[from..from + width], sums);
                from += self.map.freqs();
            }
        }
    }
}

/// `sums += z * beta`, lane by lane: whole vectors and then the rest.
#[inline(always)]
fn add_products<S: Simd>(simd: S, z: &[f32], beta: &[f32], sums: &mut [f32]) {
    let (sums, sums_rest) = S::as_mut_simd_f32s(&mut sums[..z.len()]);
    let ((z, z_rest), (beta, beta_rest)) = (S::as_simd_f32s(z), S::as_simd_f32s(beta));
    for ((sum, &z), &b) in sums.iter_mut().zip(z).zip(beta) {
        *sum = simd.mul_add_e_f32s(z, b, *sum);
    }
    for ((sum, &z), &b) in sums_rest.iter_mut().zip(z_rest).zip(beta_rest) {
        *sum += z * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::normal;

    #[test]
    fn parts_of_the_frequencies_are_summed_in_one_order_by_every_tile() {
        for device in crate::under_test::gpus() {
            if !device.gpu().expect("a GPU").is_software() {
                println!("{device:?} may contract and reassociate: its bits are not compared");
                continue;
            }
            let map = DenseMap {
                w_ds: normal(9, 300, 1),
                phase_s: vec![0.1; 300],
                amplitude_s: vec![0.2; 300],
                nonlinearity: Nonlinearity::CosSin,
            };
            let up = |host: Array2<f32>| Matrix::upload(&device, host.view()).expect("fits");
            let (x_nd, beta_dt) = (up(normal(70, 9, 2)), up(normal(600, 3, 3)));
            let run = |&tile: &Tile, splits| {
                let op = Projection::load_with(&device, &map, tile.into()).expect("loads");
                let mut y_nt = Matrix::new(&device, 70, 3).expect("fits");
                op.predict_in_splits(&x_nd, &beta_dt, &mut y_nt, splits)
                    .expect("runs");
                y_nt.download().expect("reads back")
            };
            let mut results = tile::PREDICT_MENU.iter().map(|tile| run(tile, 3));
            let first = results.next().expect("a tile");
            assert!(results.all(|y| y == first), "{device:?}");
            // Negative control: other parts give other bits.
            assert!(run(&tile::PREDICT_MENU[0], 5) != first, "{device:?}");
        }
    }
}
