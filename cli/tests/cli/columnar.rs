//! .parquet and Arrow files through the commands.

use crate::{bochner, digits, here, number};
use bochner::data::{ChunkSource, Column, ColumnarTable, Format, OpenOptions, Rows, Table, open};
use std::{fs, path::Path, process::Stdio};

fn rows(path: &Path) -> ndarray::Array2<f64> {
    let mut source = open(path, &OpenOptions::default()).expect("opens");
    let chunk = source.next_chunk(usize::MAX).expect("reads").expect("rows");
    match chunk.x {
        Rows::F32(x) => x.mapv(f64::from),
        Rows::F64(x) => x,
    }
}

/// Copies a file of tests into the folder, where its name is a path without blanks.
fn fixture<'a>(folder: &Path, name: &'a str) -> &'a str {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/columnar");
    fs::copy(format!("{all}/{name}"), folder.join(name)).expect("copies");
    name
}

#[test]
fn features_and_predictions_are_written_and_read_again() {
    let here = here();
    let folder = here.path();
    let digits = digits();
    let at = |name: &str| folder.join(name);
    let featurize = format!("featurize {digits} --ignore label --features 64 --gamma 0.01 -q -o");
    for name in ["z.npy", "z.parquet"] {
        bochner(folder, &format!("{featurize} {name}"), &[]).ok();
    }
    let z = rows(&at("z.npy"));
    assert_eq!(z.dim(), (1797, 64));
    assert_eq!(rows(&at("z.parquet")), z);
    let names = open(at("z.parquet"), &OpenOptions::default())
        .expect("opens")
        .column_names();
    assert_eq!(names.expect("names")[63], "z[63]");
    // A classifier of numbers, and one of words, from a .parquet to a .parquet.
    let fit = format!("fit {digits} --target label --model logistic --features 64 --gamma 0.01 -q");
    bochner(folder, &format!("{fit} -o model"), &[]).ok();
    let predict = format!("predict model {digits} --target label -q -o");
    bochner(
        folder,
        &format!("{predict} p.csv --probabilities q.csv"),
        &[],
    )
    .ok();
    bochner(
        folder,
        &format!("{predict} p.parquet --probabilities q.parquet"),
        &[],
    )
    .ok();
    for (one, other) in [("p.csv", "p.parquet"), ("q.csv", "q.parquet")] {
        assert_eq!(rows(&at(one)), rows(&at(other)), "{one}");
    }
    let flats = fixture(folder, "flats.parquet");
    let fit = format!(
        "fit {flats} --target city --ignore rooms --missing mean --features 16 --gamma 0.1 -q"
    );
    // The third flat has no city.
    bochner(folder, &format!("{fit} -o words"), &[]).fails(&["row 2", "column \"city\"", "empty"]);
    let table = "rooms,city\n1,Bern\n2,Chur\n3,Bern\n4,Chur\n";
    fs::write(at("towns.csv"), table).expect("writes");
    let fit = "fit towns.csv --target city --features 16 --gamma 1 --missing error -q -o words";
    bochner(folder, fit, &[]).ok();
    let predict = format!("predict words {flats} -q -o");
    bochner(folder, &format!("{predict} w.parquet"), &[]).fails(&["row 2", "column \"rooms\""]);
    bochner(folder, "predict words towns.csv -q -o w.parquet", &[]).ok();
    let mut words = ColumnarTable::open(at("w.parquet"), Format::Parquet).expect("opens");
    let batch = words.next_batch(9).expect("reads").expect("rows");
    let Column::Text(texts) = &batch.columns[0] else {
        panic!("{batch:?}")
    };
    let found: Vec<_> = texts.iter().map(|text| text.expect("a word")).collect();
    assert_eq!(found, ["Bern", "Chur", "Bern", "Chur"]);
    assert_eq!(words.names(), ["prediction"]);
    let kept = format!("{featurize} z.parquet --checkpoint kept");
    bochner(folder, &kept, &[]).fails(&["z.parquet", "--checkpoint goes on with .npy"]);
    bochner(folder, &featurize, &["z.txt"]).fails(&["z.txt", ".parquet"]);
}

#[test]
fn a_table_is_fitted_as_its_text_is() {
    let here = here();
    let folder = here.path();
    let text: String = (0..300).fold("i,at[0],at[1],word\n".into(), |text, i| {
        let at = f64::from(i) / 4.0;
        format!("{text}{i},{at},{},w{}\n", -at, i % 7)
    });
    fs::write(folder.join("lists.csv"), text).expect("writes");
    let fit = |input: &str| {
        let fit = format!(
            "fit {input} --target i --task regression --features 64 --test 0.2 \
             --json --device cpu -o model"
        );
        let report = bochner(folder, &fit, &[]).json();
        (
            number(&report, "rmse"),
            fs::read(folder.join("model")).expect("reads"),
        )
    };
    let wanted = fit("lists.csv --ignore word");
    for name in ["lists-zstd.parquet", "polars-lz4.arrow"] {
        let ignore = if name.starts_with("polars") {
            "word,kind"
        } else {
            "word"
        };
        let name = fixture(folder, name);
        let (rmse, model) = fit(&format!("{name} --ignore {ignore}"));
        assert_eq!(rmse, wanted.0, "{name}");
        assert!(model == wanted.1, "{name}: another model");
    }
    // All of a list by its name; from standard input; of a folder.
    let fit = "fit - --target i --columns at --task regression --features 64 -q --device cpu -o m";
    let mut command = crate::command(folder);
    command.args(fit.split(' '));
    let input = fs::File::open(folder.join(fixture(folder, "lists-zstd.parquet"))).expect("opens");
    crate::finish(command.stdin(Stdio::from(input))).ok();
    fs::create_dir(folder.join("parts")).expect("makes");
    for name in ["a.parquet", "b.parquet"] {
        let to = folder.join("parts").join(name);
        fs::copy(folder.join(fixture(folder, "lists-lz4.parquet")), to).expect("copies");
    }
    let fit = "fit parts --target i --columns at --task regression --features 64 --json --device \
        cpu -o m";
    assert_eq!(number(&bochner(folder, fit, &[]).json(), "rows"), 600.0);
    let brotli = format!(
        "fit {} --target i --ignore word",
        fixture(folder, "lists-brotli.parquet")
    );
    bochner(folder, &brotli, &[]).fails(&["lists-brotli.parquet", "brotli"]);
    fs::write(folder.join("cut.parquet"), "PAR1 and no more PAR1").expect("writes");
    bochner(folder, "fit cut.parquet --target i", &[]).fails(&["cut.parquet"]);
}
