//! Gram sums on matrix units against f64 and, one number after another, against the same arithmetic
//! on the host.

use super::{
    arithmetic::Arithmetic,
    probe::{gram, probe},
};
use crate::{
    Device, Result,
    check::{EPS, Outcome, normal},
    device::GpuDevice,
    ops::{
        gram::{BLOCK_ROWS, Panels, reference},
        units::{Fragments, arithmetic::Adding},
    },
};
use ndarray::{Array2, s};

/// Those of an adapter whose sums are right, in each way to have f16 in workgroup memory. None
/// without units; where they err, that is said.
pub(in crate::ops::gram) fn fragments(
    device: &Device,
    outcome: &mut Outcome,
) -> Result<Vec<Fragments>> {
    let Device::Gpu(gpu) = device else {
        return Ok(Vec::new());
    };
    let Ok(all) = Fragments::for_adapter(gpu) else {
        return Ok(Vec::new());
    };
    let chosen = probe(gpu, &all)?;
    if let Err(why) = &chosen {
        // A GPU whose units err has none to use. Where tests run they do not err.
        log::warn!("matrix units of {}: {why}", gpu.describe());
        if gpu.is_software() {
            outcome.case(f64::INFINITY, || format!("matrix units: {why}"));
        }
    }
    let right = all.into_iter().filter(|f| chosen == Ok(f.size));
    Ok(right.flat_map(Fragments::ways).collect())
}

/// Sums against the same arithmetic on the host, in the nearest of its orders. What is left is the
/// order in which a unit adds the products of a fragment, which no standard says: far less than
/// what the high parts alone are off, the negative control.
pub(in crate::ops::gram) fn orders(
    gpu: &GpuDevice,
    fragments: Fragments,
    outcome: &mut Outcome,
) -> Result<()> {
    let mut ways = orders_of(fragments);
    let one = Arithmetic {
        products: 1,
        ..ways[0]
    };
    ways.push(one);
    let mut compared = compare(gpu, fragments, &ways)?;
    let one = compared.pop().map_or(0.0, |one| one.off);
    let nearest = compared.iter().fold(f64::INFINITY, |m, c| m.min(c.off));
    outcome.case(nearest / ORDER, || {
        format!("the host's order {fragments:?}")
    });
    outcome.control(one / ORDER, || format!("high parts alone {fragments:?}"));
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

/// How sums of an adapter and of the host differ.
struct Compared {
    /// The largest difference, in half places of the sum of absolute products.
    off: f64,
    /// The share of those that have the same bits.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test prints it"))]
    equal: f64,
}

fn compare(gpu: &GpuDevice, fragments: Fragments, ways: &[Arithmetic]) -> Result<Vec<Compared>> {
    // A block and a larger part, a tile and a part.
    let mut z = normal(777, 131, 1);
    z.slice_mut(s![BLOCK_ROWS.., ..]).mapv_inplace(|z| 1e3 * z);
    let own = gram(gpu, &z, fragments, Panels::WHOLE)?;
    let absolute = z.mapv(f32::abs);
    let bound = reference(absolute.view(), Array2::zeros((777, 1)).view()).gram_dd;
    // What lies above the diagonal is zero on both sides.
    let bound = bound.mapv(|sum| EPS * sum.max(1e-30));
    let compared = ways.iter().map(|way| {
        let same = way.gram(z.view());
        let equal = own.iter().zip(&same).filter(|(a, b)| a == b).count();
        let off = own
            .indexed_iter()
            .map(|(at, own)| (own - same[at]).abs() / bound[at]);
        Compared {
            // What is no number is worse than anything.
            off: off.fold(0.0, |most, e| {
                if e.is_nan() {
                    f64::INFINITY
                } else {
                    e.max(most)
                }
            }),
            equal: equal as f64 / own.len() as f64,
        }
    });
    Ok(compared.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A software adapter has every bit of the host in one of the orders, and fewer in others; a
    /// GPU's order is printed.
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
                    assert_eq!(same, 1, "{fragments:?}");
                }
            }
        }
    }
}
