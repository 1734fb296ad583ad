//! The dense ops on a GPU beside plainer ways to do the same: a projection without tiles, the full
//! square of a Gram matrix, tiles for few rows. Rounds are interleaved and medians taken, so that
//! ratios hold on a busy machine too. `cargo bench --bench dense [part of a device's name]`.

mod interleaved;

use bochner::{
    Device, Matrix, Result,
    bench::baseline::{SquareGram, naive},
    check::normal,
    form::{
        DenseForm,
        tile::{DIRECT_8X64, SHARED_64},
    },
    ops::{
        Nonlinearity,
        gram::GramAccumulator,
        predict::Predict,
        projection::{DenseMap, Projection},
    },
};
use interleaved::{Job, medians};

const ROUNDS: usize = 9;

fn map(d: usize, freqs: usize) -> DenseMap {
    DenseMap {
        w_ds: normal(d, freqs, 2),
        phase_s: vec![0.0; freqs],
        amplitude_s: vec![(1.0 / freqs as f32).sqrt(); freqs],
        nonlinearity: Nonlinearity::CosSin,
    }
}

/// The projection in the phase form against one invocation for each output.
fn projection(device: &Device) -> Result<()> {
    println!("projection, phase form: ms, and times faster than one invocation for each output");
    let Device::Gpu(gpu) = device else {
        return Ok(());
    };
    for (rows, d, s) in [
        (512, 784, 1024),
        (1024, 256, 2048),
        (4096, 256, 512),
        (2048, 64, 1024),
        (4096, 32, 1024),
    ] {
        let host = DenseMap {
            nonlinearity: Nonlinearity::Cos,
            ..map(d, s)
        };
        let x_nd = &Matrix::upload(device, normal(rows, d, 1).view())?;
        let w_ds = Matrix::upload(device, host.w_ds.view())?;
        let pair = |(_, j): (usize, usize)| [0.0, host.amplitude_s[j / 2]][j % 2];
        let feature = ndarray::Array2::from_shape_fn((1, 2 * s), pair);
        let feature = Matrix::upload(device, feature.view())?;
        let op = Projection::load(device, &host)?;
        let form = op.form(rows).map_or_else(String::new, |form| form.name());
        let mut z = [Matrix::new(device, rows, s)?, Matrix::new(device, rows, s)?];
        let [z_plain, z_tiled] = &mut z;
        let mut jobs: [Job<'_>; 2] = [
            (
                "naive".into(),
                Box::new(|| {
                    naive(gpu, x_nd, &w_ds, &feature, z_plain)
                        .and_then(|()| device.synchronize())
                        .expect("runs");
                }),
            ),
            (
                form,
                Box::new(|| {
                    op.run(x_nd, z_tiled)
                        .and_then(|()| device.synchronize())
                        .expect("runs");
                }),
            ),
        ];
        let times = medians(ROUNDS, &mut jobs);
        println!(
            "  {rows} x {d} -> {s}: naive {:.2}, {} {:.2}: {:.1} times",
            1e3 * times[0],
            jobs[1].0,
            1e3 * times[1],
            times[0] / times[1]
        );
        drop(jobs);
        let [plain, tiled] = [z[0].download()?, z[1].download()?];
        let worst = (plain - tiled).iter().fold(0.0_f32, |m, e| m.max(e.abs()));
        assert!(worst < 1e-4, "they do not do the same: {worst}");
    }
    Ok(())
}

/// The triangle of tiles against the full square, with the same tiles.
fn gram(device: &Device) -> Result<()> {
    println!("Gram sums: ms, and times faster than the full square");
    for (rows, d) in [(1024, 512), (1024, 1024), (512, 2048)] {
        let z_nd = &Matrix::upload(device, normal(rows, d, 1).view())?;
        let y_n1 = &Matrix::upload(device, normal(rows, 1, 2).view())?;
        let mut triangle = GramAccumulator::new(device, d, 1)?;
        let Some(DenseForm::Tile(tile)) = triangle.form() else {
            return Ok(());
        };
        let mut square = SquareGram::new(device, d, tile)?;
        let mut jobs: [Job<'_>; 2] = [
            (
                "square".into(),
                Box::new(|| {
                    square
                        .add(z_nd, y_n1)
                        .and_then(|()| device.synchronize())
                        .expect("runs");
                }),
            ),
            (
                tile.name.into(),
                Box::new(|| {
                    triangle
                        .add(z_nd, y_n1)
                        .and_then(|()| device.synchronize())
                        .expect("runs");
                }),
            ),
        ];
        let times = medians(ROUNDS, &mut jobs);
        println!(
            "  {rows} x {d}: square {:.2}, {} {:.2}: {:.2} times",
            1e3 * times[0],
            jobs[1].0,
            1e3 * times[1],
            times[0] / times[1]
        );
    }
    Ok(())
}

/// Milliseconds of a few rows in every form.
fn few(device: &Device) -> Result<()> {
    println!("few rows of 784, paired, D = 4096, and 10 targets: ms");
    let beta_dt = Matrix::upload(device, normal(4096, 10, 3).view())?;
    let forms = [
        DIRECT_8X64.into(),
        SHARED_64.into(),
        DenseForm::Few { splits: 1 },
        DenseForm::Few { splits: 4 },
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
                    let done = if fused {
                        Predict::new(&op).run(x_nd, beta_dt, &mut out)
                    } else {
                        op.run(x_nd, &mut out)
                    };
                    done.and_then(|()| device.synchronize()).expect("runs");
                };
                jobs.push((form.name(), Box::new(job)));
            }
            let times = medians(ROUNDS, &mut jobs);
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
            projection(&device)?;
            gram(&device)?;
            few(&device)?;
        }
    }
    Ok(())
}
