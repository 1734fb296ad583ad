//! `bochner reproduce`.

use super::{bochner, here};
use ndarray::{Array1, Array2};
use ndarray_npy::NpzWriter;
use serde_json::Value;
use std::{fs, path::Path};

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn an_unknown_experiment_lists_those_there_are() {
    let here = here();
    bochner(here.path(), "reproduce nothing", &[]).fails(&["nothing", "digits", "variance", "all"]);
    bochner(here.path(), "reproduce digits --data no-such-folder", &[])
        .fails(&["no-such-folder", "check the name"]);
    assert_eq!(names(here.path()), Vec::<String>::new());
}

/// A folder that cannot be made is said before the work.
#[test]
fn where_nothing_can_be_written_is_said_first() {
    let here = here();
    fs::write(here.path().join("file"), "").expect("written");
    bochner(
        here.path(),
        "reproduce variance --quick -o file/results",
        &[],
    )
    .fails(&["file/results"]);
}

#[test]
fn a_short_form_writes_page_numbers_and_pictures() {
    let here = here();
    let command = "reproduce variance --quick --device cpu -o results";
    let report = bochner(here.path(), &format!("{command} --json"), &[]).json();
    assert_eq!(report["experiments"][0]["name"], "variance");
    let folder = here.path().join("results");
    let expected = [
        "variance-tails.png",
        "variance-tails.svg",
        "variance-variance.png",
        "variance-variance.svg",
        "variance.html",
        "variance.json",
    ];
    assert_eq!(names(&folder), expected);
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("text");
    let page = read("variance.html");
    for said in [
        "seed",
        "device",
        "version",
        "time",
        "--quick",
        "closed form",
        "<svg",
    ] {
        assert!(page.contains(said), "no {said:?} in {page}");
    }
    assert!(page.ends_with("</html>\n") && !page.contains("http") && !page.contains("NaN"));
    let numbers: Value = serde_json::from_str(&read("variance.json")).expect("JSON");
    assert_eq!(numbers["about"]["seed"], "0");
    assert_eq!(numbers["numbers"]["trials"], 2);
    for picture in ["variance-tails", "variance-variance"] {
        let svg = read(&format!("{picture}.svg"));
        // Nothing of the system's fonts, and both themes.
        assert!(
            !svg.contains("<text") && svg.contains("prefers-color-scheme"),
            "{svg}"
        );
        let png = fs::read(folder.join(format!("{picture}.png"))).expect("bytes");
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        assert!(png.ends_with(b"IEND\xae\x42\x60\x82"));
    }
    // The same seed measures the same.
    let again = bochner(here.path(), &format!("{command} --json"), &[]).json();
    assert_eq!(
        report["experiments"][0]["numbers"],
        again["experiments"][0]["numbers"]
    );
}

/// Seconds differ from run to run, accuracies do not.
#[test]
fn digits_need_no_data() {
    let here = here();
    let command = "reproduce digits --quick --trials 1 --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let numbers = &report["experiments"][0]["numbers"];
    let exact = numbers["exact"]["accuracy"].as_f64().expect("a number");
    let linear = numbers["linear"]["accuracy"].as_f64().expect("a number");
    assert!((0.967..0.977).contains(&exact), "{exact}");
    assert!((0.924..0.944).contains(&linear), "{linear}");
    let last = |map: usize| numbers["maps"][map]["sizes"][1]["accuracy"][0].as_f64();
    for (map, least) in [(0, 0.93), (1, 0.93), (2, 0.955)] {
        assert!(last(map).expect("a number") > least, "{numbers}");
    }
    assert!(here.path().join("results/digits.html").is_file());
}

/// The tables of first fits are written for other programs, and by no other experiment.
#[test]
fn tables_of_first_fits_are_written() {
    let here = here();
    let command = "reproduce first-fit --quick --trials 1 --device cpu --tables t";
    bochner(here.path(), command, &[]).ok();
    for (part, rows) in [("train", 1000), ("judges", 2000)] {
        let table = fs::read_to_string(here.path().join(format!("t/2-0-{part}.csv")));
        let table = table.expect("is written");
        let widths = |line: &str| line.split(',').filter(|v| v.parse::<f64>().is_ok()).count();
        assert_eq!(table.lines().count(), rows, "{part}");
        assert!(table.lines().all(|line| widths(line) == 3), "{part}");
    }
    let run = bochner(here.path(), "reproduce variance --tables t", &[]);
    assert_eq!(run.code, Some(2), "{run:?}");
    run.fails(&["--tables belongs to first-fit"]);
}

/// The error peaks where there are as many features as rows, behind which rows are interpolated
/// and the error falls below that of few features; with a penalty there is no peak.
#[test]
fn the_second_descent_is_found() {
    let here = here();
    let command = "reproduce double-descent --quick --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let penalties = &report["experiments"][0]["numbers"]["penalties"];
    let mean = |penalty: usize, size: usize, of: &str| {
        let values = penalties[penalty]["sizes"][size][of].as_array();
        let values = values
            .expect("seeds")
            .iter()
            .map(|v| v.as_f64().expect("a number"));
        values.sum::<f64>() / 2.0
    };
    for of in ["test", "norm"] {
        let [few, peak, many] = [0, 1, 2].map(|size| mean(0, size, of));
        assert!(
            peak > 20.0 * few && peak > 50.0 * many,
            "{of}: {few} {peak} {many}"
        );
    }
    assert!(mean(0, 2, "wrong") < mean(0, 0, "wrong"));
    assert!(mean(0, 2, "train") < 1e-10 && mean(0, 0, "train") > 0.05);
    let penalised = [0, 1, 2].map(|size| mean(1, size, "test"));
    assert!(penalised.is_sorted_by(|a, b| a > b), "{penalised:?}");
}

/// sqrt(n) ln n features learn as the kernel does, few do not, unless they are drawn by leverage;
/// and the excess risk falls with the number of rows.
#[test]
fn few_features_learn_like_the_kernel() {
    let here = here();
    let command = "reproduce learning-rates --quick --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let rates = &report["experiments"][0]["numbers"]["rates"];
    for setting in [&rates[0], &rates[1]] {
        let risks = |of: &Value, size: usize| mean_of(&of[size]);
        let exact = [0, 1].map(|size| risks(&setting["exact"], size));
        let [few, root, enough, leverage] =
            [0, 1, 2, 3].map(|rule| risks(&setting["rules"][rule]["excess"], 1));
        assert!(exact[1] < 0.6 * exact[0], "{exact:?}");
        assert!(enough < 1.25 * exact[1], "{enough} {exact:?}");
        assert!(
            few > 1.1 * root && root > 2.0 * exact[1],
            "{few} {root} {exact:?}"
        );
        assert!(leverage < 0.6 * root, "{leverage} {root}");
    }
}

/// The mean of a list of numbers.
fn mean_of(values: &Value) -> f64 {
    let values = values.as_array().expect("a list");
    let sum: f64 = values.iter().map(|v| v.as_f64().expect("a number")).sum();
    sum / values.len() as f64
}

/// Writes a data set whose targets are of its rows.
fn write_set(folder: &Path, columns: usize, rows: [usize; 2], target: impl Fn(&[f64]) -> f64) {
    fs::create_dir_all(folder).expect("made");
    for (name, rows, step) in [("train.npz", rows[0], 0), ("test.npz", rows[1], 10_000)] {
        // Columns go around at speeds that have nothing in common: 4 j + 3 is no square.
        let place = |(i, j): (usize, usize)| {
            let turns = (i + step) as f64 * (4.0 * j as f64 + 3.0).sqrt();
            turns.fract() * 255.0
        };
        let x = Array2::from_shape_fn((rows, columns), place);
        let y: Array1<f64> = x
            .rows()
            .into_iter()
            .map(|row| target(&row.to_vec()))
            .collect();
        let mut file = NpzWriter::new(fs::File::create(folder.join(name)).expect("made"));
        file.add_array("X", &x).expect("written");
        file.add_array("y", &y).expect("written");
        file.finish().expect("written");
    }
}

/// Of steps along a column, bins tell the classes better than waves.
#[test]
fn bins_find_steps() {
    let here = here();
    write_set(&here.path().join("sets/covtype"), 3, [2000, 1000], |row| {
        1.0 + f64::from((row[0] / 64.0) as i32 % 2)
    });
    let command = "reproduce binning --data sets --quick --trials 1 --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let numbers = &report["experiments"][0]["numbers"];
    let last = |map: &str| mean_of(&numbers[map]["errors"][1]);
    let (waves, bins) = (last("Fourier"), last("random_binning"));
    assert!(bins < 0.03 && bins < 0.5 * waves, "{bins} {waves}");
    // The length is one of those that were tried, the best.
    let probes = numbers["Fourier"]["probes"].as_array().expect("tried");
    assert_eq!(probes.len(), 9);
    let page = fs::read_to_string(here.path().join("results/binning.html")).expect("a page");
    assert!(page.contains("2.2") && page.contains("11.6"), "{page}");
}

/// The metric finds the column that the target depends on, and the fit gains by it.
#[test]
fn the_metric_finds_the_column_that_matters() {
    let here = here();
    let target = |row: &[f64]| (0.035 * row[2]).sin();
    write_set(&here.path().join("sets/cpu"), 8, [800, 400], target);
    let command = "reproduce metric --data sets --quick --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let numbers = &report["experiments"][0]["numbers"]["cpu"];
    let share = numbers["importance"][2].as_f64().expect("a number");
    assert!(share > 0.9, "{numbers}");
    for turns in [0, 1].map(|metric| &numbers["turns"][metric]["errors"]) {
        let [first, last] = [0, 2].map(|turn| mean_of(&turns[turn]));
        assert!(last < 0.6 * first, "{first} {last}");
    }
    let folder = here.path().join("results");
    for picture in ["cpu-errors", "cpu-matrix", "cpu-importance"] {
        assert!(folder.join(format!("metric-{picture}.png")).is_file());
    }
}

/// Orthogonal and structured maps err less than independent ones; structured ones are smaller.
#[test]
fn structured_maps_are_small_and_as_right() {
    let here = here();
    let target = |row: &[f64]| f64::from((row[0] / 52.0) as i32);
    write_set(&here.path().join("sets/mnist"), 40, [600, 300], target);
    let command = "reproduce fastfood --data sets --quick --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let numbers = &report["experiments"][0]["numbers"];
    let kernel = |map: usize| mean_of(&numbers["errors"][map]["kernel"][1]);
    assert!(kernel(1) < kernel(0) && kernel(3) < kernel(0), "{numbers}");
    let exponent = |map: usize, of: &str| numbers["exponents"][map][of].as_f64().expect("one");
    // Dense maps hold d D numbers.
    for dense in [0, 1] {
        assert!(
            (0.85..1.05).contains(&exponent(dense, "bytes_d")),
            "{numbers}"
        );
        assert!(
            (0.85..1.05).contains(&exponent(dense, "bytes_D")),
            "{numbers}"
        );
    }
    assert!(
        exponent(2, "bytes_d") < 0.7 && exponent(3, "bytes_d") < 0.7,
        "{numbers}"
    );
}

/// Errors fall with features, and pairs of one length beat the orthogonal kind of arc-cosine maps.
#[test]
fn every_map_is_compared_at_equal_features() {
    let here = here();
    write_set(&here.path().join("sets/letter"), 16, [400, 100], |row| {
        row[0]
    });
    let command = "reproduce maps --data sets --quick --trials 4 --device cpu --json";
    let report = bochner(here.path(), command, &[]).json();
    let numbers = &report["experiments"][0]["numbers"];
    for (kernel, maps) in [("gaussian", 6), ("laplacian", 4), ("arc_cosine_1", 5)] {
        let of = numbers[format!("letter_{kernel}")]["maps"].as_array();
        let of = of.expect("a list");
        assert_eq!(of.len(), maps);
        for map in of {
            let [few, many] = [0, 1].map(|size| mean_of(&map["errors"][size]));
            assert!(many < 0.7 * few, "{kernel} {map}");
        }
        let error = |name: &str| {
            let map = of.iter().find(|map| map["map"] == name).expect("is there");
            mean_of(&map["errors"][1])
        };
        match kernel {
            "gaussian" => assert!(error("orthogonal") < error("Fourier")),
            "laplacian" => assert!(error("binning, grids") < 0.3),
            _ => assert!(error("antithetic") < 0.5 * error("orthogonal")),
        }
    }
    let folder = here.path().join("results");
    assert!(folder.join("maps-letter-arc-cosine-1.png").is_file());
    let page = fs::read_to_string(folder.join("maps.html")).expect("a page");
    assert!(
        ["cpu/train.npz", "antithetic", "Hadamard sketch"]
            .iter()
            .all(|said| page.contains(said)),
        "{page}"
    );
}

/// What is missing is told with its layout and where it is to be had; one alone fails, of several
/// the rest goes on.
#[test]
fn missing_data_are_told() {
    let here = here();
    bochner(here.path(), "reproduce qmc", &[]).fails(&[
        "cpu",
        "cpu/train.npz",
        "--data",
        "public copy",
    ]);
    fs::create_dir(here.path().join("sets")).expect("made");
    bochner(here.path(), "reproduce qmc --data sets", &[]).fails(&["cpu", "sets"]);
    // Some of its data sets are enough.
    for (set, name, rows) in [
        ("cpu", "train.npz", 120),
        ("cpu", "test.npz", 20),
        ("census", "train.npz", 90),
        ("census", "test.npz", 10),
    ] {
        let folder = here.path().join("sets").join(set);
        fs::create_dir_all(&folder).expect("made");
        let mut file = NpzWriter::new(fs::File::create(folder.join(name)).expect("made"));
        let x = Array2::from_shape_fn((rows, 3), |(i, j)| ((i * (j + 3)) % 17) as f64);
        let y = x.column(0).mapv(|v| v + 1.0);
        file.add_array("X", &x).expect("written");
        file.add_array("y", &y).expect("written");
        file.finish().expect("written");
    }
    let run = bochner(
        here.path(),
        "reproduce qmc --data sets --quick --device cpu -o out",
        &[],
    )
    .ok();
    assert!(run.stderr.contains("mnist/train.npz"), "{run:?}");
    let page = fs::read_to_string(here.path().join("out/qmc.html")).expect("a page");
    assert!(
        [
            "Left out",
            "Regression of cpu",
            "Regression of census",
            "lattice, published"
        ]
        .iter()
        .all(|said| page.contains(said)),
        "{page}"
    );
    assert!(here.path().join("out/qmc-kernel-cpu.png").is_file());
}
