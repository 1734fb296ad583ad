//! Gram sums of so many rows that plain f32 loses some of them.
//!
//! Entries are whole numbers of at most 63: whatever the order, sums of 4096 products are below
//! 2^24 and exact in f32, and what a running sum loses beyond is a whole number as well. A
//! compensated pair therefore ends at the exact sum, on every device and however its rows are cut,
//! and a pair that keeps anything less does not.

use crate::{
    Device, Matrix, Result,
    check::{Extent, Outcome, menu},
    device::GpuDevice,
    form::tile,
    ops::gram::{self, GramAccumulator, GramSums, Panels, tiles::Form},
    seed::{Draws, Seed, Stream},
};
use ndarray::{Array2, Axis, s};

/// Rows of which every sum is exact in f32.
const RUN: usize = 4096;
/// Rows on the device at a time.
const CHUNK: usize = 16 * RUN;
/// The largest entry: 4096 * 63^2 < 2^24.
const LARGEST: u64 = 63;
/// Half of what exact sums can be off.
const ALLOWED: f64 = 0.5;

/// Rows, after which plain f32 is off by hundreds, in the shape that the device takes.
const MANY: usize = 1_000_000;
/// The same where the check is short.
const FEWER: usize = 250_000;
/// Rows in every other shape: beyond 2^24, where plain f32 loses odd numbers.
const SOME: usize = 12 * RUN + 100;

/// Columns and targets: more than a vec4 of each.
const SIZE: (usize, usize) = (6, 5);

pub(super) fn run(device: &Device, extent: Extent, outcome: &mut Outcome) -> Result<()> {
    let (d, t) = SIZE;
    let sums = GramAccumulator::new(device, d, t)?;
    let rows = if extent.is_short_on(device) {
        FEWER
    } else {
        MANY
    };
    compare(device, sums, rows, outcome)?;
    if let Device::Gpu(gpu) = device {
        for tile in menu(device, extent, tile::SQUARE_MENU) {
            run_in(gpu, Form::Tile(tile), outcome)?;
        }
    }
    Ok(())
}

/// In a form of a GPU.
pub(super) fn run_in(gpu: &GpuDevice, form: Form, outcome: &mut Outcome) -> Result<()> {
    let sums = GramAccumulator::from_parts(gpu, SIZE, form, Panels::WHOLE)?;
    compare(&Device::Gpu(gpu.clone()), sums, SOME, outcome)
}

/// Adds so many rows, a chunk at a time, and holds the sums against f64 and against plain f32.
fn compare(
    device: &Device,
    mut sums: GramAccumulator,
    rows: usize,
    outcome: &mut Outcome,
) -> Result<()> {
    let way = sums.form().map_or("in one way".into(), |form| form.name());
    let (d, t) = SIZE;
    let mut draws = Seed(11).stream(Stream::Sample, 0);
    let mut exact = zeros();
    // Negative control: the same runs of rows added up in f32.
    let mut plain = [Array2::<f32>::zeros((d, d)), Array2::zeros((d, t))];
    for row0 in (0..rows).step_by(CHUNK) {
        let here = CHUNK.min(rows - row0);
        let all = whole(here, d + t, &mut draws);
        let (z, y) = (all.slice(s![.., ..d]), all.slice(s![.., d..]));
        sums.add(&Matrix::upload(device, z)?, &Matrix::upload(device, y)?)?;
        for (z, y) in z
            .axis_chunks_iter(Axis(0), RUN)
            .zip(y.axis_chunks_iter(Axis(0), RUN))
        {
            let run = gram::reference(z, y);
            plain[0] += &run.gram_dd.mapv(|v| v as f32);
            plain[1] += &run.zty_dt.mapv(|v| v as f32);
            exact.gram_dd += &run.gram_dd;
            exact.zty_dt += &run.zty_dt;
        }
    }
    let [zz, zy] = off(&sums.finish()?, &exact);
    outcome.case(zz.max(zy), || {
        format!("{rows} rows of whole numbers, {way}")
    });
    let plain = GramSums {
        gram_dd: plain[0].mapv(f64::from),
        zty_dt: plain[1].mapv(f64::from),
    };
    let [zz, zy] = off(&plain, &exact);
    outcome.control(zz.min(zy), || format!("{rows} rows in plain f32"));
    Ok(())
}

/// Whole numbers from 1 to the largest.
fn whole(rows: usize, cols: usize, draws: &mut Draws) -> Array2<f32> {
    Array2::from_shape_simple_fn((rows, cols), || (1 + draws.below(LARGEST)) as f32)
}

fn zeros() -> GramSums {
    let (d, t) = SIZE;
    GramSums {
        gram_dd: Array2::zeros((d, d)),
        zty_dt: Array2::zeros((d, t)),
    }
}

/// The largest difference of each half, in what is allowed.
fn off(sums: &GramSums, exact: &GramSums) -> [f64; 2] {
    let largest = |a: &Array2<f64>, b: &Array2<f64>| {
        let each = a.iter().zip(b).map(|(a, b)| (a - b).abs() / ALLOWED);
        // A NaN is worse than anything.
        each.fold(0.0, |worst, e| {
            if e.is_nan() {
                f64::INFINITY
            } else {
                e.max(worst)
            }
        })
    };
    [
        largest(&sums.gram_dd, &exact.gram_dd),
        largest(&sums.zty_dt, &exact.zty_dt),
    ]
}
