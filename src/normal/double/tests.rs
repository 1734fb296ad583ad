use crate::{
    Device,
    data::{MemorySource, Rows},
    device::CpuDevice,
    features::{Affine, FeatureMap, Identity, IdentityMap},
    flow::Run,
    model::Targets,
    normal::{Accumulation, NormalEquations},
};
use ndarray::{Array1, Array2, Axis, s};

const COLUMNS: usize = 11;
const CENTER: f64 = 100.0;
const SCALE: f64 = 0.75;
const SHIFT: f64 = 3.5;

struct Data {
    x_nd: Array2<f64>,
    y_nt: Array2<f64>,
    weights_n: Array1<f64>,
}

/// Columns far from 0 on several scales; some rows have weight 0.
fn data(n: usize) -> Data {
    let value = |i: usize, j: usize| ((i * 37 + j * 101 + 7) as f64 * 0.618_033_988_75).fract();
    let x = |(i, j): (usize, usize)| (value(i, j) - 0.5) * (1 + j) as f64 + CENTER;
    let weight = |i| if i % 7 == 3 { 0.0 } else { value(i, 77) };
    Data {
        x_nd: Array2::from_shape_fn((n, COLUMNS), x),
        y_nt: Array2::from_shape_fn((n, 2), |(i, k)| value(i, k + 50) + 3.0),
        weights_n: Array1::from_shape_fn(n, weight),
    }
}

fn targets() -> Targets {
    Targets::Real {
        columns: 2,
        shift: vec![SHIFT; 2],
    }
}

fn map() -> IdentityMap {
    let input = Affine::new(vec![CENTER; COLUMNS], vec![SCALE; COLUMNS]);
    Identity.build(input.expect("an input")).expect("a map")
}

fn source(data: &Data, weighted: bool, in_f32: bool) -> MemorySource {
    let x: Rows = if in_f32 {
        data.x_nd.mapv(|v| v as f32).into()
    } else {
        data.x_nd.clone().into()
    };
    let source = MemorySource::new(x, Some(data.y_nt.clone())).expect("a source");
    if weighted {
        let weights = source.with_weights(data.weights_n.clone());
        return weights.expect("a source");
    }
    source
}

fn sums(data: &Data, weighted: bool, in_f32: bool) -> NormalEquations {
    let source = &mut source(data, weighted, in_f32);
    NormalEquations::accumulate(&map(), source, &targets(), &Device::cpu()).expect("sums")
}

/// Largest error of the sums compared with a plain loop, relative to the roots of the squares.
fn off(sums: &NormalEquations, data: &Data, weighted: bool) -> f64 {
    let z_nd = data.x_nd.mapv(|v| (v - CENTER) * SCALE);
    let weights_n = if weighted {
        data.weights_n.clone()
    } else {
        Array1::ones(z_nd.nrows())
    };
    let weighed = &z_nd * &weights_n.clone().insert_axis(Axis(1));
    let (gram, zty) = (z_nd.t().dot(&weighed), weighed.t().dot(&data.y_nt));
    let z_sum = weighed.sum_axis(Axis(0));
    let y_square = (&data.y_nt * &data.y_nt).t().dot(&weights_n);
    let root = |j: usize| gram[[j, j]].sqrt();
    let mut worst = 0.0_f64;
    for i in 0..COLUMNS {
        for j in 0..=i {
            worst = worst.max((sums.gram_dd[[i, j]] - gram[[i, j]]).abs() / root(i) / root(j));
        }
        for k in 0..2 {
            let size = root(i) * y_square[k].sqrt();
            worst = worst.max((sums.zty_dt[[i, k]] - zty[[i, k]]).abs() / size);
        }
        let size = root(i) * weights_n.sum().sqrt();
        worst = worst.max((sums.z_sum_d[i] - z_sum[i]).abs() / size);
    }
    worst
}

/// For fewer rows than a block, some blocks, and more than an interval.
#[test]
fn rows_in_f64_are_summed_in_f64() {
    for rows in [1, 5, 512, 1300, 17_000] {
        let data = data(rows);
        for weighted in [false, true] {
            let found = off(&sums(&data, weighted, false), &data, weighted);
            assert!(found < 1e-13, "{rows} {weighted}: {found:e}");
            // Rows in f32, which are rounded, are summed like features.
            let rounded = off(&sums(&data, weighted, true), &data, weighted);
            assert!(
                (1e-9..1e-4).contains(&rounded),
                "{rows} {weighted}: {rounded:e}"
            );
        }
        // A change in the ninth digit of one value is visible.
        let mut other = self::data(rows);
        other.x_nd[[rows / 2, 4]] += 1e-6;
        let seen = off(&sums(&data, false, false), &other, false);
        assert!(seen > 1e-12, "{rows}: {seen:e}");
    }
}

/// Results do not depend on chunks, memory, threads, or where a fit resumes.
#[test]
fn no_bit_shows_how_rows_came() {
    let data = data(2000);
    let expected = sums(&data, true, false);
    for memory in [Run::DEFAULT_MEMORY, 1 << 17, 1 << 15] {
        for threads in [1, 3] {
            let device = Device::Cpu(CpuDevice::with_threads(threads).expect("threads"));
            let run = Run::on(&device).memory(memory);
            let source = &mut source(&data, true, false);
            let found = NormalEquations::accumulate(&map(), source, &targets(), run);
            assert_eq!(found.expect("sums"), expected, "{memory} {threads}");
        }
    }
    // In intervals of 600 rows, resumed at the end of the second.
    let (map, targets) = (map(), targets());
    let in_stretches = || Accumulation::new(&map, &targets, &Device::cpu(), 600);
    let whole = in_stretches().all(&mut source(&data, true, false));
    let part = Data {
        x_nd: data.x_nd.slice(s![..1200, ..]).to_owned(),
        y_nt: data.y_nt.slice(s![..1200, ..]).to_owned(),
        weights_n: data.weights_n.slice(s![..1200]).to_owned(),
    };
    let mut resumed = in_stretches()
        .all(&mut source(&part, true, false))
        .expect("sums");
    in_stretches()
        .add(&mut source(&data, true, false), &mut resumed)
        .expect("goes on");
    assert_eq!(resumed, whole.expect("sums"));
    assert_eq!(map.output_dim(), COLUMNS);
}
