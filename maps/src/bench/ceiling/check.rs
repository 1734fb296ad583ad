//! The micro-kernels that measure ceilings: a kernel that skips work would make every op look slow.

use crate::{
    Device, Matrix, Result,
    bench::ceiling,
    check::{EPS, Extent, Outcome, normal, poisoned, worst},
};

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    let src = normal(257, 1028, 9);
    let mut wrong = src.mapv(f64::from);
    wrong[[256, 1027]] += 1.0;
    let exact = src.mapv(f64::from);
    // Exact: any difference is far beyond this.
    let allowed = |_, _| 1e-30;
    let src_nd = Matrix::upload(device, src.view())?;
    for per in ceiling::PER {
        let mut dst_nd = poisoned(device, 257, 1028)?;
        ceiling::copy(&src_nd, &mut dst_nd, per)?;
        let dst = dst_nd.download()?;
        let name = || format!("copy, {per} vec4s each");
        outcome.case(worst(dst.view(), exact.view(), allowed), name);
        let noticed = worst(dst.view(), wrong.view(), allowed);
        outcome.control(noticed, || format!("a wrong element of a {}", name()));
    }
    if let Some(gpu) = device.as_gpu() {
        let mut dst_nd = poisoned(device, 257, 1028)?;
        ceiling::copy_by_driver(gpu, &src_nd, &mut dst_nd)?;
        let dst = dst_nd.download()?;
        let name = || "copy by the driver".to_owned();
        outcome.case(worst(dst.view(), exact.view(), allowed), name);
        let noticed = worst(dst.view(), wrong.view(), allowed);
        outcome.control(noticed, || format!("a wrong element of a {}", name()));
        let rounds = 8;
        for chains in ceiling::CHAINS {
            let mut sums = poisoned(device, 3, 1024)?;
            ceiling::fma(gpu, &mut sums, chains, rounds)?;
            let sums = sums.download()?;
            // At most 5 a chain, each step rounding once, on ellipses that are nearly circles.
            let allowed = |_, _| (chains * 16 * rounds) as f64 * 5.0 * EPS;
            let reference = ceiling::fma_reference(3, chains, rounds);
            let name = || format!("multiply-adds in {chains} chains");
            outcome.case(worst(sums.view(), reference.view(), allowed), name);
            let short = ceiling::fma_reference(3, chains, rounds - 1);
            let noticed = worst(sums.view(), short.view(), allowed);
            outcome.control(noticed, || format!("a lost round of {}", name()));
        }
    }
    Ok(outcome)
}
