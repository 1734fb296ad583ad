//! Fused predict on a GPU: by tiles that walk over the frequencies, in parts where rows are few, or
//! through the features.

use super::MENU;
use crate::{
    Result,
    device::{
        Device, Matrix,
        gpu::{Dispatch, fixed_block_rows},
    },
    form::{
        self, DenseForm, Shape,
        tile::{self, Tile},
    },
    ops::{
        Binding, Nonlinearity, Op, Variant,
        dispatch::narrow,
        few::{self, FewRows},
        projection::gpu::Map,
    },
};

/// The op for the registry.
pub(crate) static OP: Op = Op {
    name: "predict",
    source: bochner_shaders::PREDICT,
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
            for f in Nonlinearity::examples() {
                all.extend(QUADS.map(|q| variant(tile, &f, q)));
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

fn variant(tile: Tile, f: &Nonlinearity, quads: usize) -> Variant {
    f.add_to(tile.variant()).with_constant("Q", quads as i64)
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

impl Params {
    /// From the first row and target on, with so many parts of [`SPLIT_COLS`] frequencies a split.
    fn new(
        map: &Map,
        x_nd: &Matrix,
        (beta_stride4, y_stride): (usize, usize),
        per_split: usize,
    ) -> Result<Self> {
        Ok(Self {
            rows: narrow(x_nd.rows())?,
            depth4: narrow(map.depth.div_ceil(4))?,
            freqs: narrow(map.freqs)?,
            x_stride4: narrow(x_nd.stride() / 4)?,
            w_stride4: narrow(map.w_ds.stride() / 4)?,
            beta_stride4: narrow(beta_stride4)?,
            q0: 0,
            y_stride4: narrow(y_stride / 4)?,
            row0: 0,
            split_cols4: narrow(per_split * SPLIT_COLS / 4)?,
        })
    }
}

/// As the shader's workgroups share it: one column, since each walks over all frequencies.
fn shape(map: &Map, rows: usize) -> Shape {
    let (depth, cols) = (map.depth, 1);
    Shape { rows, depth, cols }
}

/// The form of a prediction of so many rows.
pub(super) fn form(map: &Map, rows: usize) -> DenseForm {
    let own = || form::choose(&map.gpu, &MENU, shape(map, rows));
    match map.forced {
        // Features that are summed up where they are made come in tiles.
        Some(DenseForm::Units { .. }) | None => own(),
        Some(form) => form,
    }
}

/// Records the prediction of the rows of x.
pub(super) fn run(map: &Map, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
    let (gpu, rows) = (&map.gpu, x_nd.rows());
    let tile = match form(map, rows) {
        DenseForm::Tile(tile) => tile,
        DenseForm::Few { .. } => return few_rows(map, x_nd, beta_dt, y_nt),
        DenseForm::Units { .. } => MENU.choice(gpu, shape(map, rows)),
    };
    // Blocks of rows run one after another: each has to fill the adapter. Splits show in the order
    // of sums, which no clock decides on.
    let block = fixed_block_rows(rows, row_work(map));
    let splits = form::few::feature_splits(gpu.report().kind, block, map.freqs);
    let sum_bytes = 4 * rows * beta_dt.stride();
    // Fewer splits rather than more memory: their sums are all that predictions keep beside y.
    let splits = splits.clamp(1, (SPLIT_BYTES / sum_bytes).max(1));
    tiled(map, x_nd, beta_dt, y_nt, (tile, splits))
}

/// Few rows: their features, which all workgroups share in, then the product with the
/// coefficients.
fn few_rows(map: &Map, x_nd: &Matrix, beta_dt: &Matrix, y_nt: &mut Matrix) -> Result<()> {
    let device = Device::Gpu(map.gpu.clone());
    let (rows, depth, cols) = (x_nd.rows(), beta_dt.rows(), beta_dt.cols());
    // From the pool: a serving model gets the same buffer at every call.
    let mut z_nd = Matrix::new(&device, rows, depth)?;
    map.run(x_nd, &mut z_nd)?;
    let few = FewRows {
        a_nk: &z_nd,
        b_kt: beta_dt,
        cols,
        features: None,
        z_nt: y_nt,
        row0: 0,
        splits: form::few::splits(map.gpu.report().kind, Shape { rows, depth, cols }),
    };
    few.run(&map.gpu)
}

/// Operations of one row in one dispatch: products, cosines, and up to 16 targets.
fn row_work(map: &Map) -> f64 {
    map.row_work() + f64::from(60 + 64) * map.freqs as f64
}

/// Frequencies in `splits` parts, so that fewer rows keep the adapter busy too; the sums of the
/// parts are added in order.
pub(super) fn tiled(
    map: &Map,
    x_nd: &Matrix,
    beta_dt: &Matrix,
    y_nt: &mut Matrix,
    (tile, splits): (Tile, usize),
) -> Result<()> {
    let gpu = &map.gpu;
    let (rows, total) = (x_nd.rows(), beta_dt.stride() / 4);
    // First whole parts of 64 frequencies, then as many of them a split: no split is empty, and the
    // last may be shorter.
    let parts = map.freqs.div_ceil(SPLIT_COLS);
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
    let all = Params::new(map, x_nd, (total, y_nt.stride()), per_split)?;
    let row_work = row_work(map);
    for q0 in (0..total).step_by(QUADS[2]) {
        // Features are computed anew for every 16 targets: registers hold no more sums.
        let left = total - q0;
        let quads = *QUADS.iter().find(|&&q| q >= left).unwrap_or(&QUADS[2]);
        for block in gpu.row_blocks(&OP, rows, row_work) {
            let params = Params {
                q0: narrow(q0)?,
                row0: narrow(block.start)?,
                ..all
            };
            gpu.dispatch(&Dispatch {
                op: &OP,
                variant: variant(tile, &map.nonlinearity, quads),
                params: bytemuck::bytes_of(&params),
                buffers: &[
                    x_nd.gpu(gpu, "x")?,
                    map.w_ds.gpu(gpu, "w")?,
                    map.feature.gpu(gpu, "the phases")?,
                    beta_dt.gpu(gpu, "the coefficients")?,
                    // Either all there is to y, or a split's share of it, one split after another.
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
