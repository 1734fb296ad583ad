//! Plain ways to do what the dense ops do, on a GPU: `cargo bench --bench dense` holds the ops
//! against them. Nothing else uses them.

use crate::{
    Error, Result,
    device::{Device, GpuDevice, Matrix, gpu::Dispatch, gpu::PooledBuffer},
};
use crate::{
    form::tile::Tile,
    ops::{
        Binding, Op, Variant,
        dispatch::narrow,
        gram::{self, GramParams, Way},
    },
};

/// The op for the registry: the cosine map, one invocation for each output.
pub(crate) static NAIVE: Op = Op {
    name: "projection_naive",
    source: bochner_shaders::PROJECTION_NAIVE,
    params_bytes: size_of::<Params>(),
    bindings: &[
        Binding::Read("x"),
        Binding::Read("w"),
        Binding::Read("feature"),
        Binding::Write("z"),
    ],
    variants: || vec![Variant::new([])],
};

/// The uniform parameters, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    rows: u32,
    depth: u32,
    freqs: u32,
    x_stride: u32,
    w_stride: u32,
    z_stride: u32,
}

/// Records `z = amplitude * cos 2 pi (x W + phase)`, shape `[rows, s]`, for `x` `[rows, d]`, `w`
/// `[d, s]` and `feature` `[1, 2 s]`, pairs of phase and amplitude. Errors with [`Error::Shape`] on
/// others.
pub fn naive(
    gpu: &GpuDevice,
    x_nd: &Matrix,
    w_ds: &Matrix,
    feature: &Matrix,
    z_ns: &mut Matrix,
) -> Result<()> {
    let (rows, d, s) = (x_nd.rows(), x_nd.cols(), w_ds.cols());
    if w_ds.rows() != d || feature.cols() != 2 * s || (z_ns.rows(), z_ns.cols()) != (rows, s) {
        return Err(Error::shape("x, w, feature and z do not fit"));
    }
    let params = Params {
        rows: narrow(rows)?,
        depth: narrow(d)?,
        freqs: narrow(s)?,
        x_stride: narrow(x_nd.stride())?,
        w_stride: narrow(w_ds.stride())?,
        z_stride: narrow(z_ns.stride())?,
    };
    gpu.dispatch(&Dispatch {
        op: &NAIVE,
        variant: Variant::new([]),
        params: bytemuck::bytes_of(&params),
        buffers: &[
            x_nd.gpu(gpu, "x")?,
            w_ds.gpu(gpu, "w")?,
            feature.gpu(gpu, "the phases")?,
            z_ns.gpu(gpu, "z")?,
        ],
        workgroups: [params.freqs.div_ceil(16), params.rows.div_ceil(16), 1],
        work: 2.0 * (rows * d) as f64 * s as f64,
    })
}

/// Sums as [`gram::GramAccumulator`] keeps them, with the tiles on both sides of the diagonal.
#[derive(Debug)]
pub struct SquareGram {
    gpu: GpuDevice,
    tile: Tile,
    tiles: usize,
    sums: PooledBuffer,
}

impl SquareGram {
    /// Sums of zero for `features` columns, in tiles of a square shape.
    /// Errors when they do not fit one binding, and with [`Error::Unsupported`] on the CPU.
    pub fn new(device: &Device, features: usize, tile: Tile) -> Result<Self> {
        let gpu = device.as_gpu();
        let gpu = gpu.ok_or_else(|| Error::unsupported("a baseline of GPUs"))?;
        let side = tile.cols() as usize;
        let tiles = features.div_ceil(side);
        // One column of tiles for a target.
        let bytes = 8 * (tiles * (tiles + 1) * side * side) as u64;
        let sums = gpu.buffer(bytes, || "a full Gram matrix".into())?;
        gpu.clear(&sums, bytes);
        Ok(Self {
            gpu: gpu.clone(),
            tile,
            tiles,
            sums,
        })
    }

    /// Adds `Z'Z` and `Z'y`.
    pub fn add(&mut self, z_nd: &Matrix, y_n1: &Matrix) -> Result<()> {
        let params = GramParams {
            row0: 0,
            row_end: narrow(z_nd.rows())?,
            z_stride4: narrow(z_nd.stride() / 4)?,
            y_stride4: narrow(y_n1.stride() / 4)?,
            z_tiles: narrow(self.tiles)?,
            y_tiles: 1,
            tile0: 0,
            tile_count: narrow(self.tiles * (self.tiles + 1))?,
            zero: 0,
        };
        let what = (&self.tile, Way::Square);
        gram::record(&self.gpu, what, &params, [z_nd, y_n1], &self.sums)
    }

    /// Entry `[i, j]` of `Z'Z` for every i and j of the first tile and the first two columns of
    /// tiles, `[side, 2 side]`.
    pub fn corner(&self) -> Result<ndarray::Array2<f32>> {
        let side = self.tile.cols() as usize;
        let mut corner = ndarray::Array2::zeros((side, 2 * side));
        let area = side * side;
        self.gpu.download(&self.sums, 3 * area, |data| {
            // The low parts of the first tile lie between.
            for (at, &v) in data.iter().enumerate().filter(|(at, _)| at / area != 1) {
                let (tile, within) = (at / (2 * area), at % area);
                corner[[within / side, tile * side + within % side]] = v;
            }
        })?;
        Ok(corner)
    }
}
