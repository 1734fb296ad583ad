//! Fastfood and SORF: fused, in steps for long rows, and their predictions.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, norms, poisoned, worst},
    ops::{
        Nonlinearity,
        structured::{self, Mixing, Structured, StructuredMap},
    },
    seed::{Seed, Stream},
};
use ndarray::Array2;

pub(crate) fn run(device: &Device, extent: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    features_at_every_length(device, extent, &mut outcome)?;
    controls(device, extent, &mut outcome)?;
    predictions(device, &mut outcome)?;
    Ok(outcome)
}

fn features_at_every_length(device: &Device, extent: Extent, outcome: &mut Outcome) -> Result<()> {
    for k in 1..=17_u32 {
        let n = 1_usize << k;
        // Rows, d, s: whole and odd depths, one frequency, part of a block, several blocks.
        let cases = match k {
            1..=8 => vec![(9, n, 1), (70, n / 2 + 1, n + 3), (3, n - n / 4, 3 * n - 1)],
            9..=12 => vec![(9, n - 1, 5), (2, n / 2 + 1, 2 * n + 3)],
            _ => vec![(2, n - 3, 77), (1, n / 2 + 1, n + 5)],
        };
        let forms: &[Nonlinearity] = match k {
            // Beyond one dispatch only the last step knows the form.
            15 | 16 if extent.is_short_on(device) => &[],
            14 | 16 => &[Nonlinearity::CosSin],
            15 | 17 => &[Nonlinearity::Cos],
            // Short: each length with one of them, in turn.
            _ if extent.is_short_on(device) && k % 2 == 0 => &[Nonlinearity::CosSin],
            _ if extent.is_short_on(device) => &[Nonlinearity::Cos],
            _ => &[Nonlinearity::CosSin, Nonlinearity::Cos],
        };
        for (rows, d, s) in cases {
            for form in forms {
                // Short: two lengths with one of the maps, the next two with the other; all of
                // those that take more than one dispatch.
                let maps = maps(d, s, form).into_iter().enumerate();
                let skips = |i| extent.is_short_on(device) && k < 13 && i != (k as usize / 2) % 2;
                for (_, map) in maps.filter(|(i, _)| !skips(*i)) {
                    let x = normal(rows, d, 1).mapv(|v| 0.3 * v);
                    let reference = structured::reference(&map, x.view());
                    let z = features(device, &map, &x)?;
                    let ratio = worst(z.view(), reference.view(), structured_bound(&map, &x));
                    outcome.case(ratio, || {
                        format!("{rows} x {d} -> {s} {}, {form:?}", name(&map))
                    });
                }
            }
        }
    }
    Ok(())
}

/// One wrong sign, two exchanged entries of the permutation, lost radii and a lost phase must all
/// be noticed, in the fused form and in the one for long rows, which begin beyond 4096 or 8192.
fn controls(device: &Device, extent: Extent, outcome: &mut Outcome) -> Result<()> {
    for (number, (d, s)) in [(50, 150), (5000, 9000), (9000, 17_000)]
        .into_iter()
        .enumerate()
    {
        let forms = [Nonlinearity::CosSin, Nonlinearity::Cos].into_iter();
        // Short: one of the forms, in turn.
        let turn = |i: usize| !extent.is_short_on(device) || i % 2 == number % 2;
        for (_, form) in forms.enumerate().filter(|(i, _)| turn(*i)) {
            let x = normal(3, d, 1);
            for map in maps(d, s, &form) {
                let z = features(device, &map, &x)?;
                let mut wrongs = Vec::new();
                let mut wrong = map.clone();
                wrong.signs[[map.signs.nrows() - 1, 0]] ^= 2;
                wrongs.push(("a wrong sign", wrong));
                let mut wrong = map.clone();
                wrong.radius_s.fill(map.radius_s[0]);
                wrongs.push(("lost radii", wrong));
                if map.phase_s[s - 1] > 0.0 {
                    let mut wrong = map.clone();
                    wrong.phase_s[s - 1] = 0.0;
                    wrongs.push(("a lost phase", wrong));
                }
                if let Mixing::Fastfood { permutation_bn, .. } = &map.mixing {
                    let mut permutation_bn = permutation_bn.clone();
                    permutation_bn.swap([0, 0], [0, 1]);
                    let mut wrong = map.clone();
                    if let Mixing::Fastfood {
                        permutation_bn: p, ..
                    } = &mut wrong.mixing
                    {
                        *p = permutation_bn;
                    }
                    wrongs.push(("a swapped permutation", wrong));
                }
                for (what, wrong) in &wrongs {
                    let reference = structured::reference(wrong, x.view());
                    let ratio = worst(z.view(), reference.view(), structured_bound(&map, &x));
                    outcome.control(ratio, || {
                        format!("{what} of {d} -> {s} {}, {form:?}", name(&map))
                    });
                }
            }
        }
    }
    Ok(())
}

fn predictions(device: &Device, outcome: &mut Outcome) -> Result<()> {
    // The last needs two batches of features on a GPU.
    for (rows, d, s, t) in [
        (1, 3, 5, 1),
        (70, 20, 40, 3),
        (33, 100, 130, 70),
        (5, 5000, 900, 2),
        (2100, 6, 4000, 1),
    ] {
        for map in maps(d, s, &Nonlinearity::CosSin) {
            // Rows of about unit length: the bound of a sum is that of all its features, and one
            // must show above it.
            let x = normal(rows, d, 1) / (d as f32).sqrt();
            let beta = normal(map.outputs(), t, 2);
            let size = beta.mapv(|b| f64::from(b).abs());
            let exact = structured::reference(&map, x.view());
            let sums = exact.mapv(f64::abs).dot(&size);
            let bound = structured_bound(&map, &x);
            let bounds = Array2::from_shape_fn(exact.dim(), |(i, j)| bound(i, j));
            // Errors of features have no common sign: four times their root sum of squares, where
            // those are many.
            let most = bounds.dot(&size);
            let square = |v: &Array2<f64>| v.mapv(|v| v * v);
            let likely = square(&bounds).dot(&square(&size)).mapv(|v| 4.0 * v.sqrt());
            let allowed = |i: usize, j: usize| {
                let of_features = most[[i, j]].min(likely[[i, j]]);
                of_features + 8.0 * EPS * (1.0 + sums[[i, j]])
            };
            let mut op = Structured::load(device, &map)?;
            let x_nd = Matrix::upload(device, x.view())?;
            let beta_dt = Matrix::upload(device, beta.view())?;
            let mut y_nt = poisoned(device, rows, t)?;
            op.predict(&x_nd, &beta_dt, &mut y_nt)?;
            let y = y_nt.download()?;
            let case = || format!("{rows} x {d} -> {s} -> {t} {}", name(&map));
            let reference = exact.dot(&beta.mapv(f64::from));
            outcome.case(worst(y.view(), reference.view(), allowed), case);
            let mut wrong = beta.mapv(f64::from);
            wrong.row_mut(map.outputs() - 1).fill(0.0);
            let ratio = worst(y.view(), exact.dot(&wrong).view(), allowed);
            outcome.control(ratio, || format!("a lost coefficient of {}", case()));
        }
    }
    Ok(())
}

/// Fastfood and SORF of s frequencies over d columns, as their builders draw them: signs, a
/// permutation, a Gaussian diagonal, and radii that give each frequency the norm of a Gaussian one.
/// Drawn here, for builders stand above ops.
pub(super) fn maps(d: usize, s: usize, nonlinearity: &Nonlinearity) -> [StructuredMap; 2] {
    let n = d.next_power_of_two().max(2);
    let blocks = s.div_ceil(n);
    let seed = Seed((d * 1009 + s) as u64);
    let mut draws = seed.stream(Stream::Gaussian, 0);
    let gaussian_bn = Array2::from_shape_simple_fn((blocks, n), || draws.normal() as f32);
    let mut draws = seed.stream(Stream::Permutation, 0);
    let permutations = (0..blocks).flat_map(|_| draws.permutation(n));
    let permutations: Vec<u32> = permutations.map(|i| i as u32).collect();
    let permutation_bn = Array2::from_shape_fn((blocks, n), |(b, i)| permutations[b * n + i]);
    let fastfood = Mixing::Fastfood {
        permutation_bn,
        gaussian_bn,
    };
    [(fastfood, 1), (Mixing::Sorf, 3)].map(|(mixing, diagonals)| {
        let mut draws = seed.stream(Stream::Signs, diagonals as u64);
        let words = (blocks * diagonals, n.div_ceil(32));
        let last = n % 32;
        let signs = Array2::from_shape_simple_fn(words, || {
            let word = draws.next_u64() as u32;
            // Fewer than 32 signs: the other bits stay clear.
            if last == 0 {
                word
            } else {
                word & ((1 << last) - 1)
            }
        });
        let mut draws = seed.stream(Stream::Radii, diagonals as u64);
        let mut map = StructuredMap {
            depth: d,
            padded: n,
            signs,
            mixing,
            radius_s: vec![1.0; s],
            phase_s: vec![0.0; s],
            amplitude: (2.0 / (s * nonlinearity.outputs()) as f64).sqrt() as f32,
            nonlinearity: nonlinearity.clone(),
        };
        let norms = frequency_norms(&map).into_iter();
        map.radius_s = norms.map(|c| (draws.chi(n as f64) / c) as f32).collect();
        if *nonlinearity == Nonlinearity::Cos {
            map.phase_s = (0..s).map(|_| draws.uniform() as f32).collect();
        }
        map
    })
}

fn name(map: &StructuredMap) -> &'static str {
    match map.mixing {
        Mixing::Fastfood { .. } => "fastfood",
        Mixing::Sorf => "sorf",
    }
}

fn features(device: &Device, map: &StructuredMap, x: &Array2<f32>) -> Result<Array2<f32>> {
    let op = Structured::load(device, map)?;
    let x_nd = Matrix::upload(device, x.view())?;
    let mut z_nd = poisoned(device, x.nrows(), map.outputs())?;
    op.run(&x_nd, &mut z_nd)?;
    z_nd.download()
}

/// Norms of the frequencies before truncation to d columns.
fn frequency_norms(map: &StructuredMap) -> Vec<f64> {
    let n = map.padded as f64;
    // Of C's rows, for each block.
    let mixed: Vec<f64> = match &map.mixing {
        Mixing::Sorf => vec![n * n.sqrt(); map.blocks()],
        Mixing::Fastfood { gaussian_bn, .. } => {
            let blocks = gaussian_bn.rows().into_iter();
            let square = |g: &f32| f64::from(*g).powi(2);
            blocks
                .map(|g| (n * g.iter().map(square).sum::<f64>()).sqrt())
                .collect()
        }
    };
    let radii = map.radius_s.iter().enumerate();
    radii
        .map(|(l, &r)| f64::from(r) * mixed[l / map.padded])
        .collect()
}

/// The allowed error of each feature of a structured map: three transforms of 4 log2(n) roundings,
/// each spread evenly over its row, through a slope of 2 pi, and the roundings of t itself.
pub fn structured_bound(map: &StructuredMap, x: &Array2<f32>) -> impl Fn(usize, usize) -> f64 {
    let n = map.padded as f64;
    let (s, norms, sizes) = (map.freqs(), frequency_norms(map), norms(x));
    let amplitude = f64::from(map.amplitude);
    let phase = map.phase_s.clone();
    move |i, j| {
        let reach = sizes[i] * norms[j % s];
        let turns = 1.0 + f64::from(phase[j % s]) + 4.0 * reach / n.sqrt();
        amplitude * 6.3 * EPS * (2.0 * turns + 12.0 * n.log2() * reach / n.sqrt())
    }
}
