//! The Walsh-Hadamard transform at every length, in one dispatch and in passes, with every exchange
//! that the device has.

use crate::{
    Device, Matrix, Result,
    check::{EPS, Extent, Outcome, normal, norms, poisoned, worst},
    ops::walsh_hadamard::{self, WalshHadamard},
};

/// Rows of 2 to 2^18 elements.
const LEVELS: std::ops::RangeInclusive<u32> = 1..=18;

pub(crate) fn run(device: &Device, _: Extent) -> Result<Outcome> {
    let mut outcome = Outcome::new();
    for k in LEVELS {
        let n = 1 << k;
        for rows in [1, 3, (20_000 >> k).min(150) + 5] {
            let x = normal(rows, n, k.into());
            let norms = norms(&x);
            // Each of k levels rounds once, errors of one level spread evenly over the row like its
            // values do.
            let allowed = |i: usize, _| 4.0 * f64::from(k) * EPS * norms[i];
            let reference = walsh_hadamard::reference(x.view());
            let mut lost = x.clone();
            lost[[rows - 1, n - 1]] += 1e-3 * norms[rows - 1] as f32;
            let lost = walsh_hadamard::reference(lost.view());
            let mut swapped = reference.clone();
            swapped.swap([0, 0], [0, n - 1]);

            for transform in transforms(device, n)? {
                let mut x_nd = Matrix::upload(device, x.view())?;
                let mut y_nd = poisoned(device, rows, n)?;
                transform.run_into(&x_nd, &mut y_nd)?;
                transform.run(&mut x_nd)?;
                let exchange = transform.exchange(device, rows);
                let exchange = exchange.map_or(String::new(), |e| format!(", {e}"));
                for (way, y) in [("into another", y_nd), ("in place", x_nd)] {
                    let y = y.download()?;
                    let name = || format!("{rows} x 2^{k} {way}{exchange}");
                    outcome.case(worst(y.view(), reference.view(), allowed), name);
                    let ratio = worst(y.view(), lost.view(), allowed);
                    outcome.control(ratio, || {
                        format!("an element 1 per mille off of {}", name())
                    });
                    let ratio = worst(y.view(), swapped.view(), allowed);
                    outcome.control(ratio, || format!("two swapped results of {}", name()));
                }
            }
        }
    }
    Ok(outcome)
}

/// The transform with every exchange that there is for such rows on a device.
fn transforms(device: &Device, n: usize) -> Result<Vec<WalshHadamard>> {
    let transform = WalshHadamard::new(n)?;
    Ok(match transform.exchanges(device).as_slice() {
        [] => vec![transform],
        able => able.iter().map(|&e| transform.with_exchange(e)).collect(),
    })
}
