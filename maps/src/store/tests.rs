use super::*;
use ndarray::array;

/// A reader asks for what it relies on; anything else is refused by the name of the array.
#[test]
fn arrays_of_another_shape_or_type_are_refused_by_name() {
    let mut store = Store::default();
    store.put_vector("mean", &[1.0, 2.0]);
    store.put_f32("w", array![[1.0, 2.0]].view());
    store.put_u32("bins", array![[1, 2]].view());
    assert_eq!(store.vector("mean", 2).expect("fits"), array![1.0, 2.0]);
    let says = |result: Result<()>, name: &str| {
        let message = result.expect_err("refused").to_string();
        assert!(message.contains(&format!("{name:?}")), "{message}");
    };
    for len in [0, 1, 3] {
        says(store.vector("mean", len).map(|_| ()), "mean");
    }
    says(store.f32("mean").map(|_| ()), "mean");
    says(store.f64("w").map(|_| ()), "w");
    says(store.u32("w").map(|_| ()), "w");
    says(store.f32("bins").map(|_| ()), "bins");
    says(store.f32("nothing").map(|_| ()), "nothing");
    for bad in [f32::NAN, f32::INFINITY] {
        store.put_f32("w", array![[1.0, bad]].view());
        says(store.f32("w").map(|_| ()), "w");
    }
    store.put_vector("mean", &[1.0, f64::NAN]);
    says(store.vector("mean", 2).map(|_| ()), "mean");
}

/// A file of a long property and one array, with its error if there is one.
fn written(length: usize) -> Result<Vec<u8>> {
    let mut store = Store::default();
    store.put_vector("a", &[1.0]);
    store.set("short", "x");
    store.set("long", "x".repeat(length));
    store.to_bytes("model")
}

/// The longest header is read, and a longer one neither written nor read.
#[test]
fn headers_are_as_long_for_writers_as_for_readers() {
    let room = HEADER_BYTES - header_length(&written(0).expect("writes")).expect("a length");
    let bytes = written(room as usize).expect("writes");
    assert_eq!(header_length(&bytes), Some(HEADER_BYTES));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.model");
    std::fs::write(&path, &bytes).expect("writes");
    Store::load("model", &path).expect("loads");
    Store::from_bytes(&bytes, "model").expect("reads");
    // Headers are padded to 8 bytes.
    for length in [room as usize + 8, 120_000_000] {
        let error = written(length).expect_err("too long").to_string();
        assert!(error.contains("\"long\" takes"), "{error}");
    }
    let mut store = Store::default();
    store.set("long", "x".repeat(room as usize + 1000));
    let error = store
        .save("model", &path)
        .expect_err("too long")
        .to_string();
    assert!(
        error.contains("a.model") && error.contains("\"long\""),
        "{error}"
    );
    assert_eq!(
        std::fs::read(&path).expect("there").len(),
        bytes.len(),
        "as it was"
    );
    let mut long = bytes;
    long.splice(0..8, (HEADER_BYTES + 8).to_le_bytes());
    long.splice(8..8, *b"        ");
    Store::from_bytes(&long, "model").expect_err("too long");
    std::fs::write(&path, &long).expect("writes");
    Store::load("model", &path).expect_err("too long");
}

#[test]
fn stores_lie_in_each_other_as_deep_for_writers_as_for_readers() {
    let nested = |levels: usize| {
        let mut store = Store::default();
        store.set("x", 1);
        for _ in 0..levels {
            let mut outer = Store::default();
            outer.nest("inner", store);
            store = outer;
        }
        store.to_bytes("model")
    };
    let bytes = nested(NESTED_STORES).expect("writes");
    Store::from_bytes(&bytes, "model").expect("reads");
    nested(NESTED_STORES + 1).expect_err("too deep");
}

#[test]
fn nested_stores_hold_what_is_under_their_name_and_nothing_else() {
    let mut store = Store::default();
    for name in [
        "part1",
        "part1.a",
        "part1.b.c",
        "part10.a",
        "part1-.a",
        "part.a",
        "part1.",
    ] {
        store.set(name, name);
        store.put_vector(name, &[1.0]);
    }
    let inner = store.nested("part1");
    let names: Vec<_> = inner.properties.keys().collect();
    assert_eq!(names, ["", "a", "b.c"]);
    assert_eq!(inner.arrays.keys().collect::<Vec<_>>(), names);
    assert_eq!(inner.text("b.c").expect("there"), "part1.b.c");
}
