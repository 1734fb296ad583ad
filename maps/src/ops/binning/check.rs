//! Random binning: in every bit, at the edges of bins and for what is special among floats.

use crate::{
    Device, Matrix, Result,
    check::{Extent, Outcome, normal},
    ops::binning::{self, GridHash, Grids},
    seed::{Seed, Stream},
};
use ndarray::{Array2, s};

/// Rows, d, grids.
const SHAPES: [(usize, usize, usize); 6] = [
    (1, 1, 1),
    (3, 5, 63),
    (4, 4, 64),
    (5, 17, 65),
    (131, 101, 67),
    (9, 784, 3),
];

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (rows, d, count) in SHAPES {
        let (grids, x) = (grids(d, count), normal(rows, d, 1));
        for row0 in [0, rows / 2] {
            let got = hashes(device, &grids, &x, row0)?;
            let exact = binning::reference(&grids, x.slice(s![row0.., ..]));
            outcome.case(wrong_bits(&got, &exact), || {
                format!("{rows} x {d}, {count} grids from row {row0}")
            });
        }
    }
    let grids = grids(1, 70);
    let x = bin_edges(&grids);
    let got = hashes(device, &grids, &x, 0)?;
    let exact = binning::reference(&grids, x.view());
    outcome.case(wrong_bits(&got, &exact), || "edges of bins".into());
    // Negative control: a shift of 2^-16 bins shows at the edges.
    let mut wrong = grids;
    wrong.shift_dp.mapv_inplace(|o| o.wrapping_sub(1 << 16));
    let exact = binning::reference(&wrong, x.view());
    outcome.control(wrong_bits(&got, &exact), || {
        "a shift of 2^-16 bins at their edges".into()
    });
    halves(device, &mut outcome)?;
    Ok(outcome)
}

/// Values half-way between two of the fixed point's, in the finest of all pitches, where each of
/// those has a bin of its own.
fn halves(device: &Device, outcome: &mut Outcome) -> Result<()> {
    let grids = Grids {
        inverse_dp: Array2::from_elem((1, 1), u32::MAX),
        shift_dp: Array2::zeros((1, 1)),
    };
    let half = |k: u32| (2 * k + 1) as f32 / 131_072.0;
    let sizes = (0..23).flat_map(|e| [0, 1].map(|less| half((1 << e) - less)));
    let x: Vec<f32> = sizes.flat_map(|x| [x, -x]).collect();
    let x = Array2::from_shape_vec((x.len(), 1), x).expect("one column");
    let got = hashes(device, &grids, &x, 0)?;
    let ratio = |x: &Array2<f32>| wrong_bits(&got, &binning::reference(&grids, x.view()));
    outcome.case(ratio(&x), || "halves of a unit".into());
    // Negative control: halves that are rounded towards zero.
    let less = x.mapv(|x| x - x.signum() / 131_072.0);
    outcome.control(ratio(&less), || "halves of a unit towards zero".into());
    Ok(())
}

/// Twice the number of hashes that differ, so that 0 is right and a single one is noticed.
fn wrong_bits(got: &Array2<u64>, exact: &Array2<u64>) -> f64 {
    if got.dim() != exact.dim() {
        return f64::INFINITY;
    }
    2.0 * got.iter().zip(exact).filter(|(a, b)| a != b).count() as f64
}

/// Grids with the pitches of the Laplacian kernel, a gamma law of shape 2, and uniform shifts.
/// Drawn here, for the builder stands above ops.
fn grids(d: usize, count: usize) -> Grids {
    let mut draws = Seed(3).stream(Stream::Bins, 0);
    let mut shifts = Seed(3).stream(Stream::Bins, 1);
    Grids {
        inverse_dp: Array2::from_shape_simple_fn((d, count), || Grids::inverse(draws.gamma(2.0))),
        shift_dp: Array2::from_shape_simple_fn((d, count), || (shifts.next_u64() >> 32) as u32),
    }
}

fn hashes(device: &Device, grids: &Grids, x: &Array2<f32>, row0: usize) -> Result<Array2<u64>> {
    let op = GridHash::load(device, grids)?;
    let x_nd = Matrix::upload(device, x.view())?;
    let mut out = op.output(x.nrows() - row0)?;
    let nan = Array2::from_elem((out.rows(), out.cols()), f32::NAN);
    out.write(nan.view())?;
    op.run(&x_nd, row0, &mut out)?;
    binning::download(&out)
}

/// Values on, just below and just above every edge of the bins of grids over one column, and what
/// is special among floats.
pub fn bin_edges(grids: &Grids) -> Array2<f32> {
    let mut values = vec![
        0.0,
        -0.0,
        1e-45,
        -1e-45,
        1e-38,
        7.629e-6,
        -7.629e-6,
        7.63e-6,
        32767.99,
        -32767.99,
        32768.0,
        -32768.0,
        1e30,
        -1e30,
        f32::MAX,
        f32::MIN,
    ];
    for g in 0..grids.inverse_dp.ncols() {
        let (inverse, shift) = (grids.inverse_dp[[0, g]], grids.shift_dp[[0, g]]);
        for k in -3..4 {
            // X R + O = (k' + k) 2^32 where k' is the bin of zero.
            let zero =
                (f64::from(1_u32 << 31) * f64::from(inverse) + f64::from(shift)) / 2_f64.powi(32);
            let edge = ((zero.floor() + f64::from(k)) * 2_f64.powi(32) - f64::from(shift))
                / f64::from(inverse);
            let x = ((edge - 2_f64.powi(31)) / 65536.0) as f32;
            values.extend([
                x,
                x.next_down(),
                x.next_up(),
                x + 1.0 / 131_072.0,
                x - 1.0 / 131_072.0,
            ]);
        }
    }
    let rows = values.len();
    Array2::from_shape_fn((rows, 1), |(i, _)| values[i])
}
