//! The dense feature map.

pub(super) mod bounds;

pub(in crate::ops) use bounds::{away_from_jumps, bound, dense};

use crate::{
    Device, Matrix, Result,
    check::{Extent, Outcome, SIZES, in_turn, menu, normal, poisoned, worst},
    form::{DenseForm, tile},
    ops::{
        Nonlinearity,
        projection::{self, DenseMap, Projection},
    },
    sampling::round_to_11_bits,
    simd::cos2pi::{reference_cos, reference_sin},
};
use ndarray::{Array2, concatenate};

/// Sizes of phases, in turns; the last tells quarters of a turn apart.
const TURNS: [f32; 5] = [1.0, 16.0, 1e3, 1e5, 2e6];
/// What every device promises of cosines and sines, at any phase.
const COSINE_ERROR: f64 = 2e-7;

/// Depth and frequencies of rows that come alone or in pairs: around the edges of a panel (32), of
/// panels abreast (192) and of a stretch of depth (256), and large enough to be shared by up to
/// five threads of a CPU.
const ALONE: [(usize, usize); 8] = [
    (1, 1),
    (255, 31),
    (256, 193),
    (257, 2047),
    (513, 2048),
    (784, 1024),
    (784, 1700),
    (1030, 2049),
];

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for (shape, tile) in menu(device, extent, tile::MENU).into_iter().enumerate() {
        for (at, &(rows, d, s)) in SIZES.iter().enumerate() {
            for f in in_turn(device, extent, &Nonlinearity::examples(), [shape, at]) {
                let map = dense(d, s, f.clone(), 0.3);
                let mut x = normal(rows, d, 1);
                away_from_jumps(&map, &mut x);
                let z = featurize(device, &map, &x, tile.into())?;
                let bound = bound(&map, &x);
                let reference = projection::reference(&map, x.view());
                let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
                outcome.case(ratio, || format!("{rows} x {d} -> {s} {f:?} {}", tile.name));
            }
        }
        controls(device, tile.into(), &mut outcome)?;
    }
    phases(device, &mut outcome)?;
    halves(device, &mut outcome)?;
    rows_alone(device, &mut outcome)?;
    super::units::check::run(device, &mut outcome)?;
    Ok(outcome)
}

/// Cosines and sines of a dense grid of phases.
fn phases(device: &Device, outcome: &mut Outcome) -> Result<()> {
    for turns in TURNS {
        let t = Array2::from_shape_fn((1 << 14, 1), |(i, _)| turns * (i as f32 / 8192.0 - 1.0));
        let z = of_turns(device, &t)?;
        let ratio = |off| worst(z.view(), waves(&t, off).view(), |_, _| COSINE_ERROR);
        outcome.case(ratio(0.0), || format!("phases up to {turns} turns"));
        // Negative control: 1.5e-6 where the slope is steepest.
        outcome.control(ratio(2.0_f64.powi(-22)), || {
            format!("2^-22 of a turn on phases up to {turns} turns")
        });
    }
    Ok(())
}

/// Phases where rounding to a whole turn can go wrong: halves and quarters of a turn and whole
/// turns, with their neighbours among floats, up to 2^24, beyond which every float is a whole and
/// even number. `floor(t + 0.5)` in the place of a rounding is a turn off at odd turns above 2^23.
fn halves(device: &Device, outcome: &mut Outcome) -> Result<()> {
    let powers = (1..=24).map(|k| 1_u32 << k);
    let turns = powers.chain([1_000_000]).flat_map(|n| [n - 1, n, n + 1]);
    let quarters = turns.flat_map(|n| [0.0, 0.25, 0.5, 0.75].map(|q| n as f32 + q));
    let all = quarters.flat_map(|t| [t.next_down(), t, t.next_up()]);
    let t: Vec<f32> = all.flat_map(|t| [t, -t]).collect();
    let t = Array2::from_shape_vec((t.len(), 1), t).expect("one column");
    let z = of_turns(device, &t)?;
    let ratio = |off| worst(z.view(), waves(&t, off).view(), |_, _| COSINE_ERROR);
    outcome.case(ratio(0.0), || "phases around halves of a turn".into());
    outcome.control(ratio(2.0_f64.powi(-22)), || {
        "2^-22 of a turn around halves of a turn".into()
    });
    Ok(())
}

/// The paired features of one column with frequency 1, whose phases reach the polynomial without a
/// rounding.
fn of_turns(device: &Device, t: &Array2<f32>) -> Result<Array2<f32>> {
    let map = DenseMap {
        w_ds: Array2::ones((1, 1)),
        phase_s: vec![0.0],
        amplitude_s: vec![1.0],
        nonlinearity: Nonlinearity::CosSin,
    };
    let op = Projection::load(device, &map)?;
    let t_nd = Matrix::upload(device, t.view())?;
    let mut z_nd = poisoned(device, t.nrows(), 2)?;
    op.run(&t_nd, &mut z_nd)?;
    z_nd.download()
}

/// The cosines and sines of phases that are `off` more turns.
fn waves(t: &Array2<f32>, off: f64) -> Array2<f64> {
    let cos = t.mapv(|t| reference_cos(f64::from(t) + off));
    let sin = t.mapv(|t| reference_sin(f64::from(t) + off));
    concatenate![ndarray::Axis(1), cos, sin]
}

/// One row, two, and three as the first number that is a batch, with frequencies as maps draw them:
/// on 11 bits. A CPU keeps those in 16 bits for one row and two, and shares the frequencies of few
/// rows among its threads.
fn rows_alone(device: &Device, outcome: &mut Outcome) -> Result<()> {
    for (d, s) in ALONE {
        let mut map = dense(d, s, Nonlinearity::CosSin, 0.3);
        map.w_ds.mapv_inplace(|w| round_to_11_bits(w.into()));
        let op = Projection::load(device, &map)?;
        // Rows of unit length, so that phases and with them the bound stay small.
        let x = normal(3, d, 1) / (d as f32).sqrt();
        let (bound, reference) = (bound(&map, &x), projection::reference(&map, x.view()));
        // Negative control: the last frequency exchanged with the first, and the last coordinate
        // lost.
        let mut exchanged = reference.clone();
        exchanged.column_mut(s - 1).assign(&reference.column(0));
        let mut lost = map.clone();
        lost.w_ds.row_mut(d - 1).fill(0.0);
        let lost = projection::reference(&lost, x.view());
        for rows in 1..=3 {
            let x = x.slice(ndarray::s![..rows, ..]);
            let x_nd = Matrix::upload(device, x)?;
            let mut z_nd = poisoned(device, rows, op.outputs())?;
            op.run(&x_nd, &mut z_nd)?;
            let z = z_nd.download()?;
            let ratio = |exact: &Array2<f64>| {
                let exact = exact.slice(ndarray::s![..rows, ..]);
                worst(z.view(), exact, |i, j| bound[[i, j]])
            };
            let name = || format!("{rows} x {d} -> {s} on 11 bits");
            outcome.case(ratio(&reference), name);
            outcome.control(ratio(&lost), || format!("a lost coordinate of {}", name()));
            if s > 1 {
                let ratio = ratio(&exchanged);
                outcome.control(ratio, || format!("an exchanged frequency of {}", name()));
            }
        }
    }
    Ok(())
}

/// A bandwidth 1 per mille off, a lost phase and two swapped frequencies must all be noticed.
fn controls(device: &Device, form: DenseForm, outcome: &mut Outcome) -> Result<()> {
    let map = dense(16, 64, Nonlinearity::CosSin, 0.3);
    let x = normal(9, 16, 1);
    let bound = bound(&map, &x);
    let z = featurize(device, &map, &x, form)?;
    let mut wrongs = [
        ("a bandwidth 1 per mille off", map.clone()),
        ("a lost phase", map.clone()),
        ("two swapped frequencies", map),
    ];
    wrongs[0].1.w_ds *= 1.001;
    wrongs[1].1.phase_s[63] = 0.0;
    wrongs[2].1.w_ds.swap([0, 0], [0, 1]);
    for (what, wrong) in &wrongs {
        let reference = projection::reference(wrong, x.view());
        let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
        outcome.control(ratio, || (*what).to_owned());
    }
    Ok(())
}

pub(in crate::ops) fn featurize(
    device: &Device,
    map: &DenseMap,
    x: &Array2<f32>,
    form: DenseForm,
) -> Result<Array2<f32>> {
    let op = Projection::load_with(device, map, form)?;
    let x_nd = Matrix::upload(device, x.view())?;
    let mut z_nd = poisoned(device, x.nrows(), op.outputs())?;
    op.run(&x_nd, &mut z_nd)?;
    z_nd.download()
}
