use crate::{assert_says, opened, place, read_all};
use bochner::data::{AtomicFile, CsvOptions, CsvSource, CsvWriter, NpySource, NpyWriter};
use ndarray::{Array1, Array2, ShapeBuilder, array, s};
use std::fs;
use std::io::Write;

fn names(directory: &tempfile::TempDir) -> Vec<String> {
    fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let (directory, path) = place("out.txt");
    let mut file = opened(AtomicFile::create(&path));
    file.write_all(b"new").unwrap();
    assert!(!path.exists());
    drop(file);
    assert!(
        names(&directory).is_empty(),
        "nothing remains of an unfinished file"
    );

    fs::write(&path, "old").unwrap();
    let mut file = opened(AtomicFile::create(&path));
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    drop(file);
    assert_eq!(
        (fs::read_to_string(&path).unwrap(), names(&directory).len()),
        ("old".into(), 1)
    );

    let mut file = opened(AtomicFile::create(&path));
    file.write_all(b"new").unwrap();
    opened(file.finish());
    assert_eq!(
        (fs::read_to_string(&path).unwrap(), names(&directory).len()),
        ("new".into(), 1)
    );
}

#[test]
fn refuses_what_a_rename_would_harm() {
    let (directory, path) = place("missing/out.txt");
    assert_says(AtomicFile::create(&path), &["missing/out.txt: "]);
    assert_says(AtomicFile::create(directory.path()), &["directory"]);
    #[cfg(unix)]
    assert_says(
        AtomicFile::create("/dev/null"),
        &["/dev/null: is not a regular file"],
    );
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let (directory, path) = place("out.txt");
    let plain = directory.path().join("plain.txt");
    fs::write(&plain, "").unwrap();
    opened(opened(AtomicFile::create(&path)).finish());
    assert_eq!(
        fs::metadata(&path).unwrap().mode(),
        fs::metadata(&plain).unwrap().mode(),
        "as any new file"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    let link = directory.path().join("link.txt");
    symlink(&path, &link).unwrap();
    let mut file = opened(AtomicFile::create(&link));
    file.write_all(b"through").unwrap();
    opened(file.finish());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "through");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o604);
}

#[test]
fn npy_round_trip() {
    let (_directory, path) = place("Z.npy");
    let z = Array2::from_shape_fn((10, 3), |(i, j)| (i * 3 + j) as f32 / 3.0);
    let mut writer = opened(NpyWriter::<f32>::create(&path, 3));
    writer.write_rows(z.slice(s![..4, ..])).unwrap();
    writer.write_rows(z.slice(s![4..4, ..])).unwrap();
    let mut by_columns = Array2::zeros((6, 3).f());
    by_columns.assign(&z.slice(s![4.., ..]));
    writer.write_rows(by_columns.view()).unwrap();
    assert_says(
        writer.write_rows(array![[1.0]].view()),
        &["Z.npy", "1 columns", "of 3"],
    );
    assert!(!path.exists());
    assert_eq!(writer.finish().unwrap(), 10);
    assert_eq!(ndarray_npy::read_npy::<_, Array2<f32>>(&path).unwrap(), z);
    assert_eq!(
        read_all(&mut opened(NpySource::open(&path, None)), 4)
            .unwrap()
            .x
            .into_f64(),
        z.mapv(f64::from)
    );
    assert_eq!(fs::metadata(&path).unwrap().len(), 128 + 120);

    let mut writer = opened(NpyWriter::<f64>::create_1d(&path));
    writer.write_rows(array![[0.1], [-2.0]].view()).unwrap();
    writer.finish().unwrap();
    assert_eq!(
        ndarray_npy::read_npy::<_, Array1<f64>>(&path).unwrap(),
        array![0.1, -2.0]
    );
}

#[test]
fn csv_round_trip() {
    let (_directory, path) = place("out.csv");
    let values = array![
        [3.0, 0.1],
        [-0.0, 1e300],
        [f64::MIN_POSITIVE, 1.0 / 3.0],
        [123456789.0, -2.5e-9]
    ];
    let mut writer = opened(CsvWriter::create(&path, &["label", "a, \"b\""]));
    writer.write_rows(values.slice(s![..1, ..])).unwrap();
    writer.write_rows(values.slice(s![1.., ..])).unwrap();
    assert_says(
        writer.write_rows(array![[1.0]].view()),
        &["out.csv", "1 columns"],
    );
    assert_eq!(writer.finish().unwrap(), 4);
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("label,\"a, \"\"b\"\"\"\n3,0.1\n-0,1e300\n"),
        "{text}"
    );
    let mut source = opened(CsvSource::open(&path, CsvOptions::default()));
    assert_eq!(source.feature_names(), ["label", "a, \"b\""]);
    assert_eq!(read_all(&mut source, 3).unwrap().x.into_f64(), values);
}

/// A link to a file that does not exist yet: the file is written, and the link stays.
#[cfg(unix)]
#[test]
fn links_to_nothing_are_written_through() {
    use std::os::unix::fs::symlink;
    let (directory, path) = place("out.txt");
    let at = |name: &str| directory.path().join(name);
    symlink("second", at("first")).unwrap();
    symlink("out.txt", at("second")).unwrap();
    let mut file = opened(AtomicFile::create(at("first")));
    file.write_all(b"through").unwrap();
    opened(file.finish());
    assert_eq!(fs::read_to_string(&path).unwrap(), "through");
    assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(at("second")).unwrap().is_symlink());
    symlink("missing/out.txt", at("nowhere")).unwrap();
    assert_says(
        AtomicFile::create(at("nowhere")),
        &["no directory", "missing"],
    );
    symlink("round", at("around")).unwrap();
    symlink("around", at("round")).unwrap();
    assert!(AtomicFile::create(at("around")).is_err());
}

/// Names up to the limit of the system work; a longer one is an error at once.
#[cfg(target_os = "linux")]
#[test]
fn names_are_as_long_as_the_system_takes() {
    for length in [240, 246, 255] {
        let (_directory, path) = place(&"n".repeat(length));
        let mut file = opened(AtomicFile::create(&path));
        file.write_all(b"x").unwrap();
        opened(file.finish());
        assert_eq!(fs::read(&path).unwrap(), b"x", "{length}");
    }
    let (directory, path) = place(&"n".repeat(256));
    assert_says(AtomicFile::create(&path), &["too long"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// A kept file resumes at its mark, whatever was written after it.
#[test]
fn a_kept_file_goes_on_where_it_was_marked() {
    use bochner::data::Done;
    let (directory, path) = place("z.npy");
    let part = directory.path().join("part");
    let rows = |from: usize, to: usize| {
        Array2::from_shape_fn((to - from, 3), |(i, j)| ((from + i) * 3 + j) as f64)
    };
    let mut whole = opened(NpyWriter::<f64>::create(&path, 3));
    whole.write_rows(rows(0, 9).view()).unwrap();
    opened(whole.finish());
    let expected = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut done = Done::default();
    for (from, to) in [(0, 4), (4, 5), (5, 9)] {
        let file = opened(AtomicFile::keep(&path, &part, done.bytes));
        let mut writer = opened(NpyWriter::<f64>::go_on(file, Some(3), done));
        writer.write_rows(rows(from, to).view()).unwrap();
        done = opened(writer.mark());
        assert_eq!(done.rows, to as u64);
        // Interrupted later.
        writer.write_rows(rows(100, 130).view()).unwrap();
        drop(writer);
        assert!(part.exists() && !path.exists());
    }
    let file = opened(AtomicFile::keep(&path, &part, done.bytes));
    let writer = opened(NpyWriter::<f64>::go_on(file, Some(3), done));
    assert_eq!(opened(writer.finish()), 9);
    assert!(fs::read(&path).unwrap() == expected && !part.exists());
    fs::write(&part, "short").unwrap();
    assert_says(
        AtomicFile::keep(&path, &part, 6),
        &["5 bytes", "6 were written"],
    );
    let names = ["a", "b"];
    let mut done = Done::default();
    for k in [1.0, 2.0] {
        let file = opened(AtomicFile::keep(&path, &part, done.bytes));
        let mut writer = opened(CsvWriter::go_on(file, &names, done));
        writer
            .write_rows(Array2::from_elem((1, 2), k).view())
            .unwrap();
        done = opened(writer.mark());
        drop(writer);
    }
    assert_eq!(fs::read_to_string(&part).unwrap(), "a,b\n1,1\n2,2\n");
}
