//! What evens a Gram matrix out before conjugate gradients: the diagonal against sketches, on real
//! rows, one after the other. `cargo bench --bench preconditioning -- DIR [part of a case's name]`
//! with `NAME/train.npz` in DIR for letter, cpu and covtype.

use bochner::{
    Device, Error, Result,
    data::{DataFile, MemorySource, Rows, Survey},
    features::{Affine, Binning, FeatureMap, Fourier},
    kernels::{Gaussian, Laplacian},
    seed::Seed,
    solve::{BinnedRows, ConjugateGradients, FeatureProducts, Preconditioning, StreamedRows},
};
use ndarray::{Array2, Axis};
use std::{path::Path, time::Instant};

/// A data set, how many of its first rows, their lengthscale, and the map.
struct Case {
    name: &'static str,
    data: &'static str,
    rows: usize,
    lengthscale: f64,
    map: Map,
    lambda: f64,
}

#[derive(Clone, Copy)]
enum Map {
    Fourier(usize),
    Binning(usize),
}

const CASES: [Case; 5] = [
    case("letter, Fourier", "letter", 4000, 5.0, Map::Fourier(1000)),
    case("letter, binning", "letter", 16_000, 10.0, Map::Binning(300)),
    case("cpu, Fourier", "cpu", 6554, 6.0, Map::Fourier(1000)),
    case("covtype, Fourier", "covtype", 5000, 4.0, Map::Fourier(1000)),
    case("covtype, binning", "covtype", 5000, 10.0, Map::Binning(100)),
];

const fn case(
    name: &'static str,
    data: &'static str,
    rows: usize,
    lengthscale: f64,
    map: Map,
) -> Case {
    let lambda = 1e-6;
    Case {
        name,
        data,
        rows,
        lengthscale,
        map,
        lambda,
    }
}

/// Rows, and targets `[t, n]`: amounts, or +-1 for each class.
fn read(dir: &Path, case: &Case) -> Result<(Rows, Array2<f64>)> {
    let mut source = DataFile::at(dir.join(case.data).join("train.npz")).open()?;
    let chunk = source.next_chunk(case.rows)?;
    let chunk = chunk.ok_or_else(|| Error::shape("there are no rows"))?;
    let y_n: Vec<f64> = chunk.y.column(0).iter().copied().collect();
    let mut classes = y_n.clone();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    let y_tn = if classes.len() <= 100 && case.data != "cpu" {
        let signs = classes
            .iter()
            .flat_map(|c| y_n.iter().map(move |y| if y == c { 1.0 } else { -1.0 }));
        Array2::from_shape_vec((classes.len(), y_n.len()), signs.collect())
    } else {
        Array2::from_shape_vec((1, y_n.len()), y_n)
    };
    Ok((chunk.x, y_tn.map_err(|e| Error::shape(e.to_string()))?))
}

fn run(dir: &Path, case: &Case) -> Result<()> {
    let device = Device::cpu();
    let (x, y_tn) = read(dir, case)?;
    let n = x.nrows();
    let mut source = MemorySource::new(x.clone(), None::<Array2<f64>>)?;
    let survey = Survey::new(&mut source, 4096, 0)?;
    let input = Affine::standardize(&survey).lengthscale(case.lengthscale)?;
    println!(
        "\n{}: {n} rows, {} targets, lambda {:e}",
        case.name,
        y_tn.nrows(),
        case.lambda
    );
    println!("| preconditioner | columns | rank | iterations | residual | seconds |");
    println!("|---|---:|---:|---:|---:|---:|");
    let sketch = |rank| Preconditioning::Sketch { rank };
    for (name, preconditioning) in [
        ("diagonal", Preconditioning::Diagonal),
        ("as it is chosen", Preconditioning::Auto),
        ("sketch of 100", sketch(100)),
        ("sketch of 500", sketch(500)),
    ] {
        let solver = ConjugateGradients {
            lambda: case.lambda,
            preconditioning,
            max_iterations: 3000,
            ..ConjugateGradients::default()
        };
        let time = |features: &mut dyn FeatureProducts| -> Result<()> {
            let start = Instant::now();
            let found = solver.solve(features, y_tn.view(), &mut |_, _| {})?;
            let seconds = start.elapsed().as_secs_f64();
            let worst = found.residual_t.fold(0.0, |m: f64, &r| m.max(r));
            let columns = found.coefficients.beta_dt.len_of(Axis(0));
            println!(
                "| {name} | {columns} | {} | {} | {worst:.1e} | {seconds:.2} |",
                found.rank, found.iterations
            );
            Ok(())
        };
        match case.map {
            Map::Fourier(features) => {
                let map = Fourier::new(Gaussian).features(features).seed(Seed(1));
                let map = map.build(input.clone())?;
                let maps: [(&dyn FeatureMap, usize, f64); 1] = [(&map, 0, 1.0)];
                time(&mut StreamedRows::new(&maps, &mut source, n, &device)?)?;
            }
            Map::Binning(grids) => {
                let map = Binning::new(Laplacian).grids(grids).seed(Seed(1));
                let map = map.fit(input.clone(), &mut source, &device)?;
                let mut rows = BinnedRows::new(&map, 0, 1.0);
                rows.push(map.indices(&device, &x)?.view());
                time(&mut rows)?;
            }
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut given = std::env::args().skip(1).filter(|a| a != "--bench");
    let Some(dir) = given.next() else {
        println!("name the folder of the data sets: cargo bench --bench preconditioning -- DIR");
        return Ok(());
    };
    let part = given.next().unwrap_or_default();
    for case in CASES.iter().filter(|c| c.name.contains(&part)) {
        run(Path::new(&dir), case)?;
    }
    Ok(())
}
