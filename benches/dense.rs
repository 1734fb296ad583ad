//! The dense ops on a GPU beside plainer ways to do the same: forms for few rows beside tiles. Rounds are interleaved and
//! medians taken, so that ratios hold on a busy machine too. `cargo bench --bench dense [part of a device's name]`.

use bochner::{
    Device, Matrix, Result,
    check::normal,
    ops::{
        projection::{DenseMap, Nonlinearity, Projection},
        tile::{DIRECT_8X64, Form, SHARED_64},
    },
};
use std::time::Instant;

const ROUNDS: usize = 9;

/// A name and what is timed.
type Job<'a> = (String, Box<dyn FnMut() + 'a>);

/// Median seconds of each job over interleaved rounds, after one warm-up of each.
fn medians(jobs: &mut [Job<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); jobs.len()];
    for round in 0..=ROUNDS {
        for ((_, job), times) in jobs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            job();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times
        .iter_mut()
        .map(|t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        })
        .collect()
}

fn map(d: usize, freqs: usize) -> DenseMap {
    DenseMap {
        w_ds: normal(d, freqs, 2),
        phase_s: vec![0.0; freqs],
        amplitude_s: vec![(1.0 / freqs as f32).sqrt(); freqs],
        nonlinearity: Nonlinearity::CosSin,
    }
}

/// Milliseconds of a few rows in every form.
fn few(device: &Device) -> Result<()> {
    println!("few rows of 784, paired, D = 4096, and 10 targets: ms");
    let beta_dt = Matrix::upload(device, normal(4096, 10, 3).view())?;
    let forms = [
        DIRECT_8X64.into(),
        SHARED_64.into(),
        Form::Few { splits: 1 },
        Form::Few { splits: 4 },
    ];
    for rows in [1, 2, 4, 8, 16, 32, 64] {
        let x_nd = Matrix::upload(device, normal(rows, 784, 1).view())?;
        for fused in [false, true] {
            let mut jobs: Vec<Job<'_>> = Vec::new();
            for form in forms {
                let op = Projection::load_with(device, &map(784, 2048), form)?;
                let mut out = Matrix::new(device, rows, if fused { 10 } else { 4096 })?;
                let (x_nd, beta_dt) = (&x_nd, &beta_dt);
                let job = move || {
                    match fused {
                        true => op.predict(x_nd, beta_dt, &mut out),
                        false => op.run(x_nd, &mut out),
                    }
                    .and_then(|()| device.synchronize())
                    .expect("runs");
                };
                jobs.push((form.name(), Box::new(job)));
            }
            let times = medians(&mut jobs);
            print!(
                "  {rows:2} rows, {}:",
                if fused { "predict" } else { "project" }
            );
            for ((name, _), time) in jobs.iter().zip(times) {
                print!("  {name} {:.2}", 1e3 * time);
            }
            println!();
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let wanted = wanted.unwrap_or_default().to_lowercase();
    for device in Device::all_gpus()? {
        if device.describe().to_lowercase().contains(&wanted) {
            println!("{}", device.describe());
            few(&device)?;
        }
    }
    Ok(())
}
