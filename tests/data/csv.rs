use crate::{assert_says, opened, place, read_all, read_in_every_way};
use bochner::Result;
use bochner::data::{
    Chunk, ChunkSource, ColumnChoice, CsvOptions, CsvSource, DataFile, Header, Layout, OpenOptions,
    Rows, TargetUse, open,
};
use ndarray::{Array2, array};
use std::fs;

fn source(
    text: impl AsRef<[u8]>,
    target: &[&str],
    target_use: TargetUse,
) -> (tempfile::TempDir, Result<CsvSource>) {
    let (directory, path) = place("data.csv");
    fs::write(&path, text).unwrap();
    let target = target.iter().map(|&name| name.to_owned()).collect();
    (
        directory,
        CsvSource::open(
            &path,
            CsvOptions {
                target,
                target_use,
                ..CsvOptions::default()
            },
        ),
    )
}

/// Opens and reads everything.
fn read(text: impl AsRef<[u8]>, target: &[&str]) -> Result<Chunk> {
    let (_directory, source) = source(text, target, TargetUse::Required);
    read_all(&mut source?, 2)
}

#[test]
fn names_targets_and_values() {
    let text = "\u{feff}a, label ,\"b \"\"x\"\", y\",c\r\n1,7, 2.5 \
     ,\"3\"\r\n\r\n-4,8,5e-1,+6\r\n0,9,.5,1.\r\n";
    let (_directory, source) = source(text, &["label"], TargetUse::Required);
    let mut source = opened(source);
    assert_eq!(source.feature_names(), ["a", "b \"x\", y", "c"]);
    assert_eq!(
        (source.target_names(), source.rows()),
        (vec!["label"], None)
    );
    let chunk = read_in_every_way(&mut source);
    assert_eq!(
        chunk.x,
        Rows::F64(array![[1.0, 2.5, 3.0], [-4.0, 0.5, 6.0], [0.0, 0.5, 1.0]])
    );
    assert_eq!(chunk.y, array![[7.0], [8.0], [9.0]]);
    // Several targets, in the requested order.
    assert_eq!(
        read(text, &["c", "a"]).unwrap().y,
        array![[3.0, 1.0], [6.0, -4.0], [1.0, 0.0]]
    );
}

#[test]
fn without_a_header_columns_are_numbered() {
    let (_directory, source_) = source("\u{feff}5,6,1\n7,8,0\n", &["2"], TargetUse::Required);
    let mut source_ = opened(source_);
    assert_eq!(source_.feature_names(), ["0", "1"]);
    let chunk = read_in_every_way(&mut source_);
    assert_eq!(
        (chunk.x, chunk.y),
        (
            Rows::F64(array![[5.0, 6.0], [7.0, 8.0]]),
            array![[1.0], [0.0]]
        )
    );
    // The header that pandas writes for unnamed columns is a header, too.
    let chunk = read("0,1,2,3\n0,1,2,3\n9,9,9,9\n", &["3"]).unwrap();
    assert_eq!(chunk.y, array![[3.0], [9.0]]);
    // An index column without a name.
    let (_directory, source) = source(",a\n0,5\n", &[], TargetUse::Required);
    assert_eq!(opened(source).feature_names(), ["0", "a"]);
}

#[test]
fn labels_may_be_absent_or_left_out() {
    let labelled = "a,y,b\n1,text,2\n3,,4\n";
    let (_directory, ignored) = source(labelled, &["y"], TargetUse::Ignored);
    let chunk = read_in_every_way(&mut opened(ignored));
    assert_eq!(
        (chunk.x, chunk.y),
        (
            Rows::F64(array![[1.0, 2.0], [3.0, 4.0]]),
            Array2::zeros((2, 0))
        )
    );
    for target_use in [TargetUse::Ignored, TargetUse::IfPresent] {
        let (_directory, source) = source("a,b\n1,2\n", &["y"], target_use);
        let source = opened(source);
        assert_eq!((source.columns(), source.targets()), (2, 0));
    }
    let (_directory, present) = source("a,y\n1,2\n", &["y"], TargetUse::IfPresent);
    assert_eq!(read_in_every_way(&mut opened(present)).y, array![[2.0]]);
    let (_directory, some) = source("a,y\n1,2\n", &["y", "z"], TargetUse::IfPresent);
    let some = opened(some);
    assert_eq!((some.columns(), some.targets()), (1, 0));
}

#[test]
fn refuses_with_line_and_column() {
    assert_says(read("", &[]), &["data.csv: is empty"]);
    assert_says(read("\n\n", &[]), &["is empty"]);
    assert_says(read("a,b\n", &[]), &["no rows"]);
    assert_says(
        read("a,b\n1,2\n3\n", &[]),
        &["line 3 has 1 field,", "has 2", "same columns"],
    );
    assert_says(
        read("a,b\n1,2\nSource: own data\n", &[]),
        &[
            "line 3 has 1 field,",
            "leave such lines out with .comment(\"Source:\")",
        ],
    );
    for (rows, says) in [
        ("1,2,3\n", "give the first column a name"),
        ("1,2\n1,2,3\n", "put \" around a field of it"),
        ("'x,0',3\n", "in the place of '"),
    ] {
        let says = [" has 3 fields", says];
        assert_says(read(format!("a,b\n{rows}"), &[]), &says);
    }
    assert_says(
        read("a,b\n1,\"2\n3,4\n5,6\n", &[]),
        &["line 2 has a quote left open", "close it"],
    );
    // The message must point to the quote, not the record.
    assert_says(
        read("a,b\n\"1\n\",\"2\n3,4\n5,6\n", &[]),
        &["line 3 has a quote left open"],
    );
    assert_says(
        read("a,b\n1,\"2\n3\"4,5\n5,6\n", &[]),
        &["line 2 has 3 fields", "quote left open"],
    );
    assert_says(
        read("a,b\n1,2\n\"3,4\n5,6\n", &[]),
        &["line 3", "quote left open"],
    );
    assert_says(
        read("a,size\n1,2\n1,tall\n", &[]),
        &["line 3, column \"size\": holds the text \"tall\"", "encode"],
    );
    assert_says(read("a,b\n1,\n", &[]), &["line 2, column \"b\": is empty"]);
    assert_says(read("a,b\n1,nan\n", &[]), &["line 2, column \"b\": is NaN"]);
    assert_says(read("a,b\n1,-inf\n", &[]), &["is infinite"]);
    assert_says(read("a,b\n1,1e999\n", &[]), &["\"1e999\", which is beyond"]);
    assert_says(
        read("a,b\n1,\"x\ny\"\n", &[]),
        &["holds the text \"x\\ny\""],
    );
    assert_says(
        read(b"a,b\n1,\xff\n", &[]),
        &["line 2, column \"b\": is not UTF-8"],
    );
    let utf_8 = |text: &[u8]| {
        let (_directory, path) = place("data.csv");
        fs::write(&path, text).unwrap();
        let file = DataFile::at(&path).encoding("utf-8".parse()?);
        read_all(file.open()?.as_mut(), 2)
    };
    let name = utf_8(b"a,\xff\n1,2\n");
    assert_says(name, &["column 1 is not UTF-8", ".encoding("]);
    assert_says(
        read("a,y\n1,cat\n", &["y"]),
        &["line 2, column \"y\"", "\"cat\""],
    );
    let long = "z".repeat(5000);
    assert_says(read(format!("a\n{long}\n"), &[]), &["zzz\"..."]);
}

#[test]
fn refuses_targets_that_are_not_there() {
    let header: Vec<_> = (0..30).map(|j| format!("pixel{j}")).collect();
    let text = format!("{}\n{}\n", header.join(","), vec!["1"; 30].join(","));
    assert_says(
        read(&text, &["label"]),
        &[
            "no column \"label\"",
            "\"pixel0\", \"pixel1\"",
            "and 22 more",
        ],
    );
    assert_says(
        read("a,a,b\n1,2,3\n", &["a"]),
        &["several columns called \"a\""],
    );
    assert_says(read("a,b\n1,2\n", &["a", " a"]), &["named twice"]);
    assert_says(read("a,b\n1,2\n", &["a", "b"]), &["only target columns"]);
}

/// The last line counts with any line ending, or without one.
#[test]
fn the_last_line_counts_whatever_ends_it() {
    for end in ["", "\n", "\r\n", "\r", "\n\n", "\n\r\n", "  "] {
        for rows in [1, 2, 3] {
            let lines: Vec<_> = (0..rows).map(|i| format!("{i},{},1{i}", i + 5)).collect();
            let text = format!("a,y,b\n{}{end}", lines.join("\n"));
            let (_directory, source) = source(text, &["y"], TargetUse::Required);
            let chunk = read_in_every_way(&mut opened(source));
            let y = Array2::from_shape_fn((rows, 1), |(i, _)| i as f64 + 5.0);
            let x = Array2::from_shape_fn((rows, 2), |(i, j)| (i + 10 * j) as f64);
            assert_eq!((chunk.x, chunk.y), (Rows::F64(x), y), "{rows}, {end:?}");
        }
    }
}

#[test]
fn lines_are_those_of_the_file() {
    // Blank lines, each kind of line ending, and a line break inside quotes.
    for (end, name) in [("\n", "LF"), ("\r\n", "CRLF"), ("\r", "CR")] {
        let text = ["a,b", "", "1,2", "", "", "3,4", "5,oops", "6,7"].join(end);
        let Err(error) = read(text, &[]) else {
            panic!("{name}")
        };
        assert!(error.to_string().contains("line 7, "), "{name}: {error}");
    }
    assert_says(
        read("\"a\nb\",c\n1,2\n3,oops\n", &[]),
        &["line 4, column \"c\""],
    );
}

#[test]
fn extensions() {
    let (directory, path) = place("data.xlsx");
    assert_says(
        open(&path, &OpenOptions::default()),
        &[
            "data.xlsx: this program was built without the feature `excel`",
            "data.csv', index=False)\" makes a .csv of it",
        ],
    );
    assert_says(
        open(directory.path().join("data.dat"), &OpenOptions::default()),
        &[
            ".dat cannot be read; .npy, .npz, .csv, .libsvm, .parquet and .arrow",
            "say what it is",
            "convert the file",
        ],
    );
    assert_says(
        open(directory.path().join("data"), &OpenOptions::default()),
        &["no extension"],
    );
    let path = directory.path().join("DATA.CSV");
    fs::write(&path, "a,y\n1,2\n").unwrap();
    let options = OpenOptions {
        target: vec!["y".into()],
        ..Default::default()
    };
    assert_eq!(opened(open(&path, &options)).targets(), 1);
    assert_says(open("a.npy", &options), &["a.npy", "targets file"]);
    assert_says(open("a.npz", &options), &["array y"]);
    let options = OpenOptions {
        targets: Some("y.npy".into()),
        ..Default::default()
    };
    assert_says(open(&path, &options), &["goes with .npy"]);
    let options = OpenOptions {
        layout: Layout {
            delimiter: Some(';'),
            ..Layout::default()
        },
        ..Default::default()
    };
    assert_says(open("a.npy", &options), &["delimiter", "leave it out"]);
    for name in ["rows.npy.gz", "rows.gz", "rows.tar.zst"] {
        assert_says(
            open(name, &OpenOptions::default()),
            &["read", ".parquet and .arrow can"],
        );
    }
}

#[test]
fn columns_are_separated_as_the_first_line_tells() {
    let expected = array![[1.0, -2.5], [3.0, 4.0]];
    for (name, text) in [
        ("x.tsv", "a\tb\n1\t-2.5\n3\t4\n"),
        ("x.csv", "a;b\n1;-2.5\n3;4\n"),
        ("x.txt", "1 -2.5\n 3   4 \n"),
        ("x.txt", "a|b\n1 | -2.5\n3|\"4\"\n"),
    ] {
        let (_directory, path) = place(name);
        fs::write(&path, text).unwrap();
        let mut source = opened(open(&path, &OpenOptions::default()));
        let chunk = read_in_every_way(source.as_mut());
        assert_eq!(chunk.x, Rows::F64(expected.clone()), "{name} {text:?}");
    }
    // Or as requested, also if there are commas.
    let (_directory, path) = place("x.csv");
    fs::write(&path, "a,0;b,1;c\n1;2;3\n").unwrap();
    let with = |delimiter| {
        let options = OpenOptions {
            layout: Layout {
                delimiter: Some(delimiter),
                ..Layout::default()
            },
            ..Default::default()
        };
        open(&path, &options)
    };
    let names = opened(with(';')).column_names().unwrap();
    assert_eq!(names, ["a,0", "b,1", "c"]);
    for wrong in ['"', '\n', 'é', '1', '-', '.', 'e'] {
        assert_says(with(wrong), &["cannot separate", "comma or a tab"]);
    }
}

#[test]
fn whole_numbers_that_f64_rounds_are_no_targets() {
    let rounded = "9007199254740993";
    let long = "1".repeat(40);
    for (value, fits) in [
        ("9007199254740991", true),
        ("-9007199254740992", true),
        (rounded, false),
        ("-9007199254740993", false),
        (" +9007199254740993 ", false),
        // Powers of two and their multiples are exact at any size.
        ("9223372036854775808", true),
        ("9223372036854775809", false),
        (&long, false),
        // Numbers with a fraction or exponent in the file were rounded before it was written.
        ("9007199254740993.0", true),
        ("1e300", true),
    ] {
        let text = format!("a,id\n1,2\n3,{value}\n");
        let y = read(&text, &["id"]);
        if fits {
            assert_eq!(y.unwrap().y[[1, 0]], value.trim().parse::<f64>().unwrap());
        } else {
            assert_says(
                y,
                &["line 3, column \"id\"", "2^53", "renumber the targets"],
            );
        }
        // For a feature only digits are lost.
        assert!(read(&text, &["a"]).is_ok(), "{value}");
    }
    // Not masked by a feature before it.
    let text = format!("a,id\n1,2\n{rounded},{rounded}\n");
    assert_says(read(&text, &["id"]), &["column \"id\"", "renumber"]);
}

#[test]
fn features_are_chosen_by_name() {
    let (_directory, path) = place("data.csv");
    fs::write(&path, "a,id,b,y\n1,x,2,3\n4,z,5,6\n").unwrap();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let with = |columns| {
        let target = vec!["y".to_owned()];
        let target_use = TargetUse::Required;
        CsvSource::open(
            &path,
            CsvOptions {
                target,
                target_use,
                columns,
                ..CsvOptions::default()
            },
        )
    };
    // Text in an excluded column is not read.
    for (choice, expected) in [
        (
            ColumnChoice::These(names(&["b", "a"])),
            [[2.0, 1.0], [5.0, 4.0]],
        ),
        (
            ColumnChoice::Matching(names(&["b", "a"])),
            [[2.0, 1.0], [5.0, 4.0]],
        ),
        (
            ColumnChoice::AllBut(names(&["id"])),
            [[1.0, 2.0], [4.0, 5.0]],
        ),
    ] {
        let mut source = opened(with(choice.clone()));
        let chunk = source.next_chunk(9).unwrap().unwrap();
        assert_eq!(chunk.x.into_f64(), ndarray::arr2(&expected), "{choice:?}");
        assert_eq!(chunk.y, ndarray::arr2(&[[3.0], [6.0]]));
        assert_eq!(source.target_names(), ["y"]);
    }
    let mut swapped = opened(with(ColumnChoice::These(names(&["b", "a"]))));
    assert_eq!(swapped.feature_names(), ["b", "a"]);
    swapped.rewind().unwrap();
    // Names that are numbers only say the position of columns.
    let all = opened(with(ColumnChoice::Matching(names(&["0", "1"]))));
    assert_eq!(all.columns(), 3);
    for (choice, says) in [
        (
            ColumnChoice::These(names(&["a", "c"])),
            ["\"c\"", "a, id, b, y"],
        ),
        (
            ColumnChoice::Matching(names(&["a", "c"])),
            ["\"c\"", "which the model was fitted on"],
        ),
        (
            ColumnChoice::AllBut(names(&["c"])),
            ["\"c\"", "to leave out"],
        ),
        (ColumnChoice::These(names(&["a", "a"])), ["\"a\"", "twice"]),
        (
            ColumnChoice::These(names(&["a", "y"])),
            ["\"y\"", "is a target"],
        ),
        (
            ColumnChoice::AllBut(names(&["a", "b", "id"])),
            ["no column left", "fewer"],
        ),
    ] {
        assert_says(with(choice), &says);
    }
    let options = OpenOptions {
        columns: ColumnChoice::These(names(&["a"])),
        ..Default::default()
    };
    assert_says(open("x.npy", &options), &["x.npy", "no column names"]);
}

/// Preamble lines shift the table; line numbers in messages count from the start of the file.
#[test]
fn lines_in_front_of_a_table_count_in_errors() {
    let (_directory, path) = place("data.csv");
    for (text, file) in [
        ("sep=;\r\na;b\r\n1;2\r\n3;oops\r\n", DataFile::at(&path)),
        ("# x\n\n# y\na,b\n3,oops\n", DataFile::at(&path)),
        ("T\n\n\na,b\n3,oops\n", DataFile::at(&path).skip_rows(3)),
        (
            "a,b\n% 1,\"\n%\n1,2\n3,oops\n",
            DataFile::at(&path).comment("%"),
        ),
        ("a b\n1 2\n\n\n3 oops\n", DataFile::at(&path).delimiter(' ')),
        (
            "1,2\n3,4\n\n\n3,oops\n",
            DataFile::at(&path).header(Header::No),
        ),
    ] {
        fs::write(&path, text).unwrap();
        let mut source = opened(file.open());
        let line = text.lines().position(|line| line.contains("oops")).unwrap() + 1;
        let place = format!("line {line}, column");
        assert_says(read_all(source.as_mut(), 9), &[&place, "\"oops\""]);
        fs::write(&path, text.replace("oops", "4")).unwrap();
        let chunk = read_in_every_way(opened(file.open()).as_mut());
        assert_eq!(
            chunk
                .x
                .into_f64()
                .rows()
                .into_iter()
                .next_back()
                .unwrap()
                .to_vec(),
            [3.0, 4.0]
        );
    }
    for wrong in ["", " ", "\"", "#\n"] {
        let file = DataFile::at(&path).comment(wrong);
        assert_says(file.open(), &["cannot begin comments"]);
    }
    let file = DataFile::at(&path).skip_rows(9);
    assert_says(file.open(), &["no row behind the 9 lines"]);
    let (_directory, other) = place("x.npy");
    assert_says(
        DataFile::at(&other).skip_rows(1).open(),
        &["rows to skip", ".npy"],
    );
    assert_says(
        DataFile::at(&other).comment("#").open(),
        &["comments", ".npy"],
    );
    let encoding = "latin-1".parse().unwrap();
    assert_says(
        DataFile::at(&other).encoding(encoding).open(),
        &["an encoding", ".npy"],
    );
}

/// A table in UTF-16 equals that in UTF-8, in chunks and pieces of any size, with the same line
/// numbers.
#[test]
fn utf_16_is_read_as_utf_8_is() {
    let rows: String = (0..40_000)
        .map(|i| format!("{i},{},ü{}\r\n", i % 7, i % 3))
        .collect();
    let text = format!("größe,b,stadt\r\n{rows}");
    let (directory, plain) = place("plain.csv");
    fs::write(&plain, &text).unwrap();
    let features =
        |names: &[&str]| ColumnChoice::These(names.iter().map(|&name| name.to_owned()).collect());
    let file = |path| DataFile::at(path).columns(features(&["größe", "b"]));
    let expected = read_all(opened(file(&plain).open()).as_mut(), 999).unwrap();
    let units = || text.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    let mark = "\u{feff}".encode_utf16().next().unwrap();
    let path = directory.path().join("x.csv");
    let utf_16 = file(&path).encoding("utf-16".parse().unwrap());
    for (bytes, file) in [
        ([&mark.to_le_bytes()[..], &little].concat(), file(&path)),
        ([&mark.to_be_bytes()[..], &big].concat(), file(&path)),
        ([&mark.to_be_bytes()[..], &big].concat(), utf_16.clone()),
        (little.clone(), utf_16.clone()),
    ] {
        fs::write(&path, &bytes).unwrap();
        let mut source = opened(file.open());
        assert_eq!(read_all(source.as_mut(), 999).unwrap(), expected);
        assert_eq!(source.column_names().unwrap(), ["größe", "b"]);
        let stranger = file.clone().columns(features(&["b", "stadt"]));
        let says = &["line 2, column \"stadt\"", "\"ü0\""];
        assert_says(read_all(opened(stranger.open()).as_mut(), 999), says);
    }
    // Half a character, and no byte-order mark.
    fs::write(&path, &little[..little.len() - 1]).unwrap();
    let cut = utf_16
        .open()
        .and_then(|mut source| read_all(source.as_mut(), 999));
    assert_says(cut, &["no text in UTF-16LE", ".encoding("]);
    fs::write(&path, &little).unwrap();
    assert_says(
        DataFile::at(&path).open(),
        &["zero bytes", "UTF-16", ".encoding("],
    );
}
