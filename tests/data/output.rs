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
