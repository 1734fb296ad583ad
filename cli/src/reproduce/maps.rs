//! Every map at equal numbers of features, of each kind of kernel.

use super::{
    Context, Experiment,
    datasets::{CPU, Dataset, LETTER},
    findings::{Findings, Grid, mean_and_deviation, with_deviation},
};
use crate::page::chart::{Axis, Chart, Drawn, Panel, Point, Series};
use anyhow::Result;
use bochner::{
    analysis::ExactKernel,
    data::{MemorySource, Rows, median_distance},
    features::{Affine, MapSpec},
    kernels,
};
use ndarray::{Array2, Axis as Along};
use serde_json::json;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "maps",
    title: "Every map at equal features",
    data: &[&CPU, &LETTER],
    run,
};

/// A kernel with the maps that estimate it.
struct Family {
    kernel: &'static str,
    /// What a reader calls it.
    name: &'static str,
    /// Name, map and sampling.
    maps: &'static [(&'static str, &'static str, &'static str)],
}

const FAMILIES: [Family; 4] = [
    Family {
        kernel: "gaussian",
        name: "Gaussian",
        maps: &[
            ("Fourier", "fourier", "monte-carlo"),
            ("orthogonal", "fourier", "orthogonal"),
            ("Sobol'", "fourier", "sobol"),
            ("Fastfood", "fastfood", "monte-carlo"),
            ("SORF", "sorf", "monte-carlo"),
            ("Nystrom", "nystrom", "monte-carlo"),
        ],
    },
    Family {
        kernel: "laplacian",
        name: "Laplacian",
        maps: &[
            ("Fourier", "fourier", "monte-carlo"),
            ("Sobol'", "fourier", "sobol"),
            ("binning, grids", "binning", "monte-carlo"),
            ("Nystrom", "nystrom", "monte-carlo"),
        ],
    },
    Family {
        kernel: "arc-cosine:1",
        name: "arc-cosine of order 1",
        maps: &[
            ("Monte Carlo", "arc-cosine", "monte-carlo"),
            ("orthogonal", "arc-cosine", "orthogonal"),
            ("Sobol'", "arc-cosine", "sobol"),
            ("antithetic", "arc-cosine", "antithetic"),
            ("Nystrom", "nystrom", "monte-carlo"),
        ],
    },
    Family {
        kernel: "polynomial:2:1",
        name: "polynomial of degree 2",
        maps: &[
            ("TensorSketch", "tensor-sketch", "monte-carlo"),
            ("Hadamard sketch", "hadamard-sketch", "monte-carlo"),
            ("Nystrom", "nystrom", "monte-carlo"),
        ],
    },
];

/// Errors of one family on one data set: by map, by number of features, by seed.
type Errors = Vec<Vec<Vec<f64>>>;

fn measure(
    context: &Context<'_>,
    dataset: &Dataset,
    rows: &Array2<f64>,
    family: &Family,
    sizes: &[usize],
    trials: usize,
) -> Result<Errors> {
    let kernel = kernels::parse(family.kernel)?;
    // The arc-cosine kernel has no length; the polynomial one takes rows of mean square 1.
    let sigma = match (kernel.is_shift_invariant(), kernel.polynomial()) {
        (true, _) => median_distance(rows.view(), kernel.norm())?,
        (false, Some(_)) => (rows.ncols() as f64).sqrt(),
        (false, None) => 1.0,
    };
    let input = Affine::identity(rows.ncols()).lengthscale(sigma)?;
    let exact = ExactKernel::new(kernel.as_ref(), &input, &Rows::from(rows))?;
    let mut source = MemorySource::new(rows, None)?;
    let mut errors = Errors::new();
    for (name, map, sampling) in family.maps {
        let mut spec = MapSpec::new(map.parse()?, kernel.clone());
        spec.sampling = sampling.parse()?;
        let mut of_map = Vec::new();
        for &features in sizes {
            spec.features = features;
            let mut of_size = Vec::new();
            for trial in 0..trials {
                context.say(format!("{}: {name}, {features} features", dataset.name));
                spec.seed = context.seed(trial);
                let map = spec.build(input.clone(), rows, &mut source, context.run())?;
                of_size.push(exact.error(map.as_ref(), context.run())?.frobenius);
            }
            of_map.push(of_size);
        }
        errors.push(of_map);
    }
    Ok(errors)
}

fn run(context: &Context<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let (most_rows, sizes): (usize, &[usize]) = if context.is_quick() {
        (300, &[64, 256])
    } else {
        (2000, &[64, 128, 256, 512, 1024])
    };
    let trials = context.trials(10);
    findings.text(format!(
        "Relative error of the kernel matrix in the Frobenius norm, of {most_rows} training rows spread evenly, with standardised \
         columns. The length of a kernel is the median distance of these rows, by the norm that the kernel sees; the polynomial kernel's is \
         the root of the number of columns. Landmarks of \
         Nystrom are of the same rows. Mean and standard deviation of {}.",
        crate::report::counted(trials as u64, "seed")
    ));
    for dataset in [&CPU, &LETTER] {
        let Some(table) = context.load(dataset)? else {
            continue;
        };
        let x = table.standardized().x;
        let rows = most_rows.min(x.nrows());
        let places: Vec<usize> = (0..rows).map(|i| i * x.nrows() / rows).collect();
        let rows = x.select(Along(0), &places);
        let measured = FAMILIES
            .iter()
            .map(|family| measure(context, dataset, &rows, family, sizes, trials));
        let measured = measured.collect::<Result<Vec<Errors>>>()?;
        findings.heading(format!("{}, {} columns", dataset.name, rows.ncols()));
        for (family, errors) in FAMILIES.iter().zip(&measured) {
            let kernel = family.kernel.replace(':', "-");
            let name = format!("{}-{kernel}", dataset.name);
            findings.picture(name, chart(dataset.name, family, sizes, errors));
            let maps = family.maps.iter().zip(errors);
            let numbers = maps.map(|((map, ..), errors)| json!({"map": map, "errors": errors}));
            findings.number(
                format!("{}_{}", dataset.name, kernel.replace('-', "_")),
                json!({"features": sizes, "maps": numbers.collect::<Vec<_>>()}),
            );
        }
        findings.grid(table_of(sizes, &measured));
    }
    findings.number("trials", trials);
    Ok(findings)
}

/// What is drawn at least. Landmarks that span all features of a kernel have no error but rounding,
/// beside which the curves of other maps would lie on each other.
const LEAST_DRAWN: f64 = 1e-4;

fn chart(dataset: &str, family: &Family, sizes: &[usize], errors: &Errors) -> Chart {
    let series = family.maps.iter().zip(errors).map(|((name, ..), errors)| {
        let points = sizes.iter().zip(errors).filter_map(|(&size, errors)| {
            let (mean, deviation) = mean_and_deviation(errors);
            let point = Point::new(size as f64, mean).spread(deviation.min(0.9 * mean));
            (mean >= LEAST_DRAWN).then_some(point)
        });
        Series::new(*name, Drawn::Joined, points)
    });
    let y = Axis::log("error of the kernel matrix", "");
    let panel = Panel::new("", Axis::log("features", ""), y, series.collect());
    let caption = format!(
        "{dataset}, the {} kernel: error by the number of features; bars show one standard deviation over seeds; errors below {LEAST_DRAWN} are \
         not drawn.",
        family.name
    );
    Chart::new(caption, vec![panel])
}

fn table_of(sizes: &[usize], measured: &[Errors]) -> Grid {
    let mut head = vec!["kernel".to_owned(), "map".to_owned()];
    head.extend(sizes.iter().map(|size| format!("{size} features")));
    let mut grid = Grid::new(head).caption(
        "Antithetic frequencies are orthogonal ones in pairs +w and -w, in frames that keep apart, all of one length: what the length of a frequency adds \
         to the error is none of a homogeneous kernel's. Of binning the table counts grids, each of which gives a row one \
         feature that is not 0.",
    );
    for (family, errors) in FAMILIES.iter().zip(measured) {
        for ((name, ..), errors) in family.maps.iter().zip(errors) {
            let mut row = vec![family.name.to_owned(), (*name).to_owned()];
            row.extend(errors.iter().map(|errors| with_deviation(errors, 4)));
            grid.row(row);
        }
    }
    grid
}
