//! The Walsh-Hadamard transform and the structured maps against their f64 references, on the CPU and on every adapter, at
//! every length. Outputs hold NaN before each run; each suite has references that must fail.

mod common;

use bochner::{
    Device, Matrix,
    ops::walsh_hadamard::{self, WalshHadamard},
};
use common::{devices, normal, worst};
use ndarray::Array2;

const EPS: f64 = 1.0 / 16_777_216.0;

fn poisoned(device: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::upload(device, Array2::from_elem((rows, cols), f32::NAN).view()).expect("fits")
}

fn norms(x: &Array2<f32>) -> Vec<f64> {
    let square = |v: &f32| f64::from(*v).powi(2);
    x.rows()
        .into_iter()
        .map(|r| r.iter().map(square).sum::<f64>().sqrt())
        .collect()
}

#[test]
fn walsh_hadamard_agrees_with_f64_at_every_length() {
    for device in devices() {
        for k in 1..=18_u32 {
            let n = 1 << k;
            for rows in [1, 3, (20_000 >> k).min(150) + 5] {
                let x = normal(rows, n, k.into());
                let norms = norms(&x);
                let allowed = |i: usize, _| 4.0 * f64::from(k) * EPS * norms[i];
                let reference = walsh_hadamard::reference(x.view());
                let transform = WalshHadamard::new(n).expect("a power of two");
                let mut x_nd = Matrix::upload(device, x.view()).expect("fits");
                let mut y_nd = poisoned(device, rows, n);
                transform.run_into(&x_nd, &mut y_nd).expect("runs");
                transform.run(&mut x_nd).expect("runs");
                for (way, y) in [("into", y_nd), ("in place", x_nd)] {
                    let y = y.download().expect("reads back");
                    let ratio = worst(y.view(), reference.view(), allowed);
                    assert!(
                        ratio < 1.0,
                        "2^{k}, {rows} rows, {way} on {device:?}: {ratio}"
                    );
                    // Negative controls: one element changed by a hair, and two neighbours exchanged.
                    let mut wrong = x.clone();
                    wrong[[rows - 1, n - 1]] += 1e-3 * norms[rows - 1] as f32;
                    let wrong = walsh_hadamard::reference(wrong.view());
                    assert!(
                        worst(y.view(), wrong.view(), allowed) > 1.0,
                        "a change passes"
                    );
                    let mut wrong = reference.clone();
                    wrong.swap([0, 0], [0, n - 1]);
                    assert!(
                        worst(y.view(), wrong.view(), allowed) > 1.0,
                        "a swap passes"
                    );
                }
            }
        }
    }
}

#[test]
fn walsh_hadamard_of_a_slice_is_its_own_inverse() {
    for k in 1..=20_u32 {
        let n = 1 << k;
        let x = normal(1, n, 5).into_raw_vec_and_offset().0;
        let transform = WalshHadamard::new(n).expect("a power of two");
        let mut y = x.clone();
        transform.run_slice(&mut y).expect("a whole row");
        transform.run_slice(&mut y).expect("a whole row");
        let size = x.iter().map(|v| v * v).sum::<f32>().sqrt();
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y / n as f32).abs() <= 8.0 * k as f32 * EPS as f32 * size);
        }
    }
    assert!(WalshHadamard::new(12).is_err() && WalshHadamard::new(1).is_err());
    let two = WalshHadamard::new(2).expect("a power of two");
    assert!(two.run_slice(&mut [0.0; 3]).is_err());
}
