//! Matrix units against f64 and, one number after another, against the same arithmetic on the host.

use super::{
    arithmetic::{Arithmetic, HalfColumns},
    gpu::Units,
};
use crate::{
    Device, Matrix, Result,
    check::{EPS, Outcome, SIZES, normal, poisoned, worst},
    device::GpuDevice,
    ops::{
        Nonlinearity,
        projection::{
            self, DenseMap,
            check::bounds::{away_from_jumps, bound, dense},
            resident::Resident,
        },
        units::{Fragments, arithmetic::Adding},
    },
    sampling::round_to_11_bits,
};
use ndarray::Array2;

/// Sizes beyond those of all ops: around the edges of tiles and of flushes.
const LARGE: [(usize, usize, usize); 4] = [
    (65, 128, 64),
    (64, 129, 65),
    (129, 191, 128),
    (130, 777, 131),
];

/// What the bound of f32 is multiplied by: of each value of x up to 2^-23 is left out, half of what
/// that bound allows of a product. It shows where few depths are many times summed.
const LEFT_OUT: f64 = 1.5;

/// Adds the comparisons on an adapter with units; says why on another.
pub(in crate::ops::projection) fn run(device: &Device, outcome: &mut Outcome) -> Result<()> {
    let Device::Gpu(gpu) = device else {
        return Ok(());
    };
    let all = match Fragments::for_adapter(gpu) {
        Ok(all) => all,
        Err(why) => {
            log::info!("matrix units of {} are not checked: {why}", gpu.describe());
            return Ok(());
        }
    };
    // Of a range of sizes those that the driver does not take give other numbers, and no form is
    // made of them: the probe chooses.
    let f = &Nonlinearity::Identity;
    let chosen = super::probe::probe(gpu, &all, f, true)?;
    if let Err(why) = &chosen {
        // A GPU whose units err has none to use, which `bochner devices` says. Where tests run they
        // do not err.
        log::warn!("matrix units of {}: {why}", gpu.describe());
        if gpu.is_software() {
            outcome.case(f64::INFINITY, || format!("matrix units: {why}"));
        }
    }
    for fragments in all.into_iter().filter(|f| chosen == Ok(f.size)) {
        for fragments in fragments.ways() {
            sizes(gpu, fragments, outcome)?;
            orders(gpu, fragments, outcome)?;
        }
    }
    Ok(())
}

fn on_11_bits(mut map: DenseMap) -> DenseMap {
    map.w_ds.mapv_inplace(|w| round_to_11_bits(w.into()));
    map
}

/// Features of every nonlinearity against f64, at sizes around every edge.
fn sizes(gpu: &GpuDevice, fragments: Fragments, outcome: &mut Outcome) -> Result<()> {
    for (at, &(rows, d, s)) in SIZES.iter().chain(&LARGE).enumerate() {
        let f = &Nonlinearity::ALL[at % Nonlinearity::ALL.len()];
        for f in [&Nonlinearity::CosSin, f] {
            let map = on_11_bits(dense(d, s, f.clone(), 0.3));
            let mut x = normal(rows, d, 1);
            // Rows of any size, and one of zeros.
            for (i, mut row) in x.rows_mut().into_iter().enumerate() {
                row *= [1.0, 1e-3, 0.0, 1e-30, 30.0][i % 5];
            }
            away_from_jumps(&map, &mut x);
            let z = featurize(gpu, &map, &x, fragments)?;
            let reference = projection::reference(&map, x.view());
            let bound = LEFT_OUT * bound(&map, &x);
            let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
            let name = || format!("{rows} x {d} -> {s} {f:?} {fragments:?}");
            outcome.case(ratio, name);
            // Negative controls: a frequency 1 per mille off, and a lost last depth.
            if (d, f) == (777, &Nonlinearity::CosSin) {
                let mut wrong = map.clone();
                wrong.w_ds.column_mut(s - 1).mapv_inplace(|w| w * 1.001);
                let reference = projection::reference(&wrong, x.view());
                let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
                outcome.control(ratio, || format!("a frequency off: {}", name()));
                let mut wrong = map.clone();
                wrong.w_ds.row_mut(d - 1).fill(0.0);
                let reference = projection::reference(&wrong, x.view());
                let ratio = worst(z.view(), reference.view(), |i, j| bound[[i, j]]);
                outcome.control(ratio, || format!("a lost depth: {}", name()));
            }
        }
    }
    Ok(())
}

/// Phases against the same arithmetic on the host, in the nearest of its orders. What is left is
/// the order in which a unit adds the products of a fragment, which no standard says: far less than
/// what one f16 for each value of x is off, the negative control.
fn orders(gpu: &GpuDevice, fragments: Fragments, outcome: &mut Outcome) -> Result<()> {
    let mut ways = orders_of(fragments);
    let one = Arithmetic {
        terms: 1,
        ..ways[0]
    };
    ways.push(one);
    let mut compared = compare(gpu, fragments, &ways)?;
    let one = compared.pop().map_or(0.0, |one| one.off);
    let nearest = compared.iter().fold(f64::INFINITY, |m, c| m.min(c.off));
    outcome.case(nearest / ORDER, || {
        format!("the host's order {fragments:?}")
    });
    outcome.control(one / ORDER, || format!("one f16 a value {fragments:?}"));
    Ok(())
}

/// What the order of adding may be worth, in half places of the sum of absolute products.
const ORDER: f64 = 2.0;

fn orders_of(fragments: Fragments) -> Vec<Arithmetic> {
    let side = fragments.side as usize;
    let all = Adding::ALL.into_iter();
    all.map(|adding| Arithmetic::for_shader(side, adding))
        .collect()
}

/// How phases of an adapter and of the host differ.
struct Compared {
    /// The largest difference, in half places of the sum of absolute products.
    off: f64,
    /// The share of those that have the same bits.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test prints it"))]
    equal: f64,
}

fn compare(gpu: &GpuDevice, fragments: Fragments, ways: &[Arithmetic]) -> Result<Vec<Compared>> {
    let map = on_11_bits(dense(777, 131, Nonlinearity::Identity, 0.3));
    let map = DenseMap {
        phase_s: vec![0.0; 131],
        amplitude_s: vec![1.0; 131],
        ..map
    };
    let x = normal(65, 777, 1);
    let half = HalfColumns::from_frequencies(map.w_ds.view()).expect("11 bits");
    let t = featurize(gpu, &map, &x, fragments)?;
    let absolute = |m: &Array2<f32>| m.mapv(|v| f64::from(v.abs()));
    let sums = absolute(&x).dot(&absolute(&map.w_ds));
    let compared = ways.iter().map(|way| {
        let same = way.products(x.view(), &half);
        let equal = t.iter().zip(&same).filter(|(a, b)| a == b).count();
        let same = same.mapv(f64::from);
        Compared {
            off: worst(t.view(), same.view(), |i, j| EPS * sums[[i, j]]),
            equal: equal as f64 / t.len() as f64,
        }
    });
    Ok(compared.collect())
}

fn featurize(
    gpu: &GpuDevice,
    map: &DenseMap,
    x: &Array2<f32>,
    fragments: Fragments,
) -> Result<Array2<f32>> {
    let device = Device::Gpu(gpu.clone());
    let half = HalfColumns::from_frequencies(map.w_ds.view()).expect("11 bits");
    let units = Units::upload(gpu, fragments, &half)?;
    let resident = Resident::upload(gpu, map)?;
    let x_nd = Matrix::upload(&device, x.view())?;
    let mut z_nd = poisoned(&device, x.nrows(), map.outputs())?;
    units.run(&resident, &x_nd, &mut z_nd)?;
    z_nd.download()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A software adapter has every bit of the host in one of the orders, and far fewer in others;
    /// a GPU's order is printed.
    #[test]
    fn an_adapter_adds_in_one_of_the_orders_of_the_host() {
        for device in crate::under_test::gpus() {
            let gpu = device.gpu().expect("a GPU");
            let all = match Fragments::for_adapter(gpu) {
                Ok(all) => all,
                Err(why) => {
                    println!("not run on {}: {why}", gpu.describe());
                    continue;
                }
            };
            for fragments in all {
                let ways = orders_of(fragments);
                let compared = compare(gpu, fragments, &ways).expect("runs");
                for (way, Compared { off, equal }) in ways.iter().zip(&compared) {
                    println!("{fragments:?}, {:?}: {off:.2}, {equal} equal", way.adding);
                }
                assert!(compared.iter().any(|c| c.off < ORDER), "{fragments:?}");
                if gpu.is_software() {
                    let same = compared.iter().filter(|c| c.equal == 1.0).count();
                    let other = compared.iter().filter(|c| c.equal < 0.5).count();
                    assert_eq!((same, other), (1, compared.len() - 1), "{fragments:?}");
                }
            }
        }
    }
}
