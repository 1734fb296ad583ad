//! Fused predict on a GPU: by tiles that walk over the frequencies, in parts where rows are few, or
//! through the features.

use super::{super::gpu::Map, MENU};
use crate::{
    Result,
    device::{Device, Matrix, gpu::Dispatch},
    form::{
        self, Form, Shape,
        tile::{self, Tile},
    },
    ops::{
        Binding, Nonlinearity, Op, Variant,
        dispatch::narrow,
        few::{self, FewRows},
    },
};

/// The op for the registry.
pub static OP: Op = Op {
    name: "predict",
    source: include_str!("../../../../shaders/predict.wgsl"),
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

fn variant(tile: Tile, f: Nonlinearity, quads: usize) -> Variant {
    let constants = tile.variant().with("NONLINEARITY", f.code());
    constants.with("Q", quads as i64)
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

impl Map {
    /// As the shader's workgroups share it: one column, since each walks over all frequencies.
    fn predict_shape(&self, rows: usize) -> Shape {
        let (depth, cols) = (self.depth, 1);
        Shape { rows, depth, cols }
    }

    /// The form of a prediction of so many rows.
    pub(in super::super) fn predict_form(&self, rows: usize) -> Form {
        let own = || form::of(&self.gpu, &MENU, self.predict_shape(rows));
        self.forced.unwrap_or_else(own)
    }

    /// Records the prediction of the rows of x.
    pub(super) fn predict(&self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let (gpu, rows) = (&self.gpu, x_nd.rows());
        let tile = match self.predict_form(rows) {
            Form::Tile(tile) => tile,
            Form::Few { .. } => return self.predict_few(x_nd, beta_dt, y_nt),
        };
        if self.forced.is_none() {
            MENU.worked(gpu, self.predict_shape(rows), self.row_work() * rows as f64)?;
        }
        // Blocks of rows run one after another: each has to fill the adapter.
        let mut blocks = gpu.row_blocks(rows, self.prediction_work());
        let block = blocks.next().map_or(0, |block| block.len());
        let splits = form::few::feature_splits(gpu.report().kind, block, self.freqs);
        let sum_bytes = 4 * rows * beta_dt.stride();
        let splits = splits.clamp(1, (SPLIT_BYTES / sum_bytes).max(1));
        self.predict_split(x_nd, beta_dt, y_nt, (tile, splits))
    }

    /// Few rows: their features, which all workgroups share in, then the product with the
    /// coefficients.
    fn predict_few(&self, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
        let device = Device::Gpu(self.gpu.clone());
        let (rows, depth, cols) = (x_nd.rows(), beta_dt.rows(), beta_dt.cols());
        let mut z_nd = Matrix::new(&device, rows, depth)?;
        self.run(x_nd, &mut z_nd)?;
        let few = FewRows {
            a_nk: &z_nd,
            b_kt: beta_dt,
            cols,
            features: None,
            z_nt: y_nt,
            row0: 0,
            splits: form::few::splits(self.gpu.report().kind, Shape { rows, depth, cols }),
        };
        few.run(&self.gpu)
    }

    /// Operations of one row in one dispatch: products, cosines, and up to 16 targets.
    fn prediction_work(&self) -> f64 {
        self.row_work() + f64::from(60 + 64) * self.freqs as f64
    }

    /// Frequencies in `splits` parts, so that fewer rows keep the adapter busy too; the sums of the
    /// parts are added in order.
    pub(super) fn predict_split(
        &self,
        x_nd: &Matrix,
        beta_dt: &Matrix,
        y_nt: &mut Matrix,
        (tile, splits): (Tile, usize),
    ) -> Result<()> {
        let gpu = &self.gpu;
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
            for block in gpu.row_blocks(rows, row_work) {
                let params = Params {
                    rows: narrow(rows)?,
                    depth4: narrow(self.depth.div_ceil(4))?,
                    freqs: narrow(self.freqs)?,
                    x_stride4: narrow(x_nd.stride() / 4)?,
                    w_stride4: narrow(self.w_ds.stride() / 4)?,
                    beta_stride4: narrow(total)?,
                    q0: narrow(q0)?,
                    y_stride4: narrow(y_nt.stride() / 4)?,
                    row0: narrow(block.start)?,
                    split_cols4: narrow(per_split * SPLIT_COLS / 4)?,
                };
                gpu.dispatch(&Dispatch {
                    op: &OP,
                    variant: variant(tile, self.nonlinearity, quads),
                    params: bytemuck::bytes_of(&params),
                    buffers: &[
                        x_nd.gpu(gpu, "x")?,
                        self.w_ds.gpu(gpu, "w")?,
                        self.feature.gpu(gpu, "the phases")?,
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
