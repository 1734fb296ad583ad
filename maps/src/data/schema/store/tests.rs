use super::*;
use crate::data::Marks;

fn schema() -> Schema {
    let field = |name: &str, kind, fill| Field {
        name: name.into(),
        kind,
        fill,
        reading: None,
    };
    let categories = Kind::Categories(vec!["a".into(), "b, \"c\"".into()]);
    let fill = |values: &[f64], indicator| {
        let values = values.to_vec();
        Some(Fill {
            values,
            indicator,
            missed: indicator,
        })
    };
    Schema {
        features: vec![
            field("x", Kind::Number, None),
            field("day", Kind::Date(DateParts::default()), fill(&[0.1], false)),
            field("lift", Kind::Boolean, fill(&[1.0 / 3.0], true)),
            field("city", categories.clone(), fill(&[0.5, -0.0], true)),
            field("zip", Kind::Hashed(5), None),
        ],
        targets: vec![field("y", categories, None)],
        weight: Some("w".into()),
        weight_reading: Some(Reading::Number(Marks::new(',', None))),
        no_value: NoValue::before(),
        options: BTreeMap::new(),
    }
}

#[test]
fn what_is_written_is_read_to_the_bit() {
    let mut store = Store::default();
    assert_eq!(Schema::read(&store, 3).expect("none"), None);
    schema().write(&mut store);
    assert_eq!(schema().width(), 12);
    assert_eq!(Schema::read(&store, 12).expect("reads"), Some(schema()));
}

/// Before there was such a list, a cell `None` was a text.
#[test]
fn files_without_a_list_go_by_the_one_of_then() {
    let mut store = Store::default();
    schema().write(&mut store);
    let text = store.text(NAME).expect("written").to_owned();
    let mut value: Value = serde_json::from_str(&text).expect("an object");
    let list = value.as_object_mut().and_then(|all| all.remove("na"));
    assert!(list.is_some());
    store.set(NAME, value);
    let read = Schema::read(&store, 12).expect("reads").expect("a schema");
    assert_eq!(read, schema());
    assert!(read.no_value.says("NA") && !read.no_value.says("None"));
}

#[test]
fn answers_in_any_letters_are_kept_as_such() {
    let mut answers = schema();
    answers.features[3].reading = Some(Reading::Answers);
    let mut store = Store::default();
    answers.write(&mut store);
    assert!(store.text(NAME).expect("written").contains("\"version\":9"));
    assert_eq!(Schema::read(&store, 12).expect("reads"), Some(answers));
    // Of numbers there are none.
    let mut numbers = schema();
    numbers.features[0].reading = Some(Reading::Answers);
    numbers.write(&mut store);
    assert!(Schema::read(&store, 12).is_err());
}

#[test]
fn columns_that_are_left_out_are_kept_as_such() {
    let mut apart = schema();
    apart.features.push(Field {
        kind: Kind::Id,
        ..Field::number("id")
    });
    let mut store = Store::default();
    apart.write(&mut store);
    assert!(store.text(NAME).expect("written").contains("\"version\":4"));
    assert_eq!(
        Schema::read(&store, 12).expect("reads"),
        Some(apart.clone())
    );
    let copy = Kind::Copy("id".into());
    apart.features.push(Field {
        kind: copy,
        ..Field::number("number")
    });
    let mut store = Store::default();
    apart.write(&mut store);
    assert!(store.text(NAME).expect("written").contains("\"version\":5"));
    assert_eq!(
        Schema::read(&store, 12).expect("reads"),
        Some(apart.clone())
    );
    apart.keep_what_is_read();
    assert_eq!(apart, schema());
}

#[test]
fn means_are_kept() {
    let mut by_target = schema();
    let mut arrays = Store::default();
    arrays.put_u32("texts", ndarray::array![[0, 7], [3, 1], [3, 2]].view());
    arrays.put_f64(
        "effects",
        ndarray::array![[0.1, -0.5], [0.0, 1e9], [2.0, 3.0]].view(),
    );
    let of = || vec!["share of b".into(), "share of c".into()];
    let means = TargetMeans::read(&arrays, of()).expect("goes together");
    by_target.features[4].kind = Kind::Means(Arc::new(means));
    let mut store = Store::default();
    by_target.write(&mut store);
    let text = store.text(NAME).expect("written").to_owned();
    assert!(text.contains("\"version\":7"), "{text}");
    assert_eq!(by_target.width(), 9);
    assert_eq!(Schema::read(&store, 9).expect("reads"), Some(by_target));
    let names = "[\"share of b\",\"share of c\"]";
    for to in ["[]", "[\"share of b\"]", "7", "[1,2]"] {
        let mut store = store.clone();
        store.set(NAME, text.replacen(names, to, 1));
        assert!(Schema::read(&store, 9).is_err(), "{to}");
    }
    let damaged = |texts: ndarray::Array2<u32>| {
        let mut arrays = arrays.clone();
        arrays.put_u32("texts", texts.view());
        TargetMeans::read(&arrays, of()).is_err()
    };
    assert!(damaged(ndarray::array![[0, 7], [3, 2], [3, 1]]));
    assert!(damaged(ndarray::array![[0, 7], [3, 1]]));
    assert!(damaged(ndarray::array![[0], [1], [2]]));
    assert!(TargetMeans::read(&Store::default(), of()).is_err());
}

#[test]
fn words_are_kept() {
    for (pairs, width) in [(false, 17), (true, 27)] {
        let mut of_words = schema();
        let words = Words::read(10, (pairs, 7), 20).expect("fits");
        of_words.features[4].kind = Kind::Words(words);
        let mut store = Store::default();
        of_words.write(&mut store);
        let text = store.text(NAME).expect("written").to_owned();
        assert!(text.contains("\"version\":8"), "{text}");
        assert_eq!(of_words.width(), width);
        assert_eq!(Schema::read(&store, width).expect("reads"), Some(of_words));
        for (from, to) in [
            ("\"columns\":10", "\"columns\":0"),
            ("\"columns\":10", "\"columns\":11"),
            ("\"columns\":10", "\"columns\":18446744073709551615"),
            ("\"length\":7", "\"length\":-1"),
            (",\"pairs\":", ",\"pears\":"),
        ] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text, "{from}");
            store.set(NAME, broken);
            assert!(Schema::read(&store, width).is_err(), "{to}");
        }
    }
}

#[test]
fn parts_of_dates_are_kept() {
    let mut parted = schema();
    let parts = DateParts::of_circles(&["year", "time"]).expect("two");
    parted.features[1].kind = Kind::Date(parts);
    parted.features[1].fill = None;
    let mut store = Store::default();
    parted.write(&mut store);
    let text = store.text(NAME).expect("written").to_owned();
    assert!(text.contains("\"version\":6"), "{text}");
    assert_eq!(Schema::read(&store, 16).expect("reads"), Some(parted));
    for (from, to) in [
        ("[\"year\",\"time\"]", "[\"time\",\"year\"]"),
        ("[\"year\",\"time\"]", "[]"),
        ("[\"year\",\"time\"]", "[\"year\",7]"),
        ("[\"year\",\"time\"]", "\"year\""),
        ("[\"year\",\"time\"]", "[\"year\"]"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        store.set(NAME, broken);
        assert!(Schema::read(&store, 16).is_err(), "{to}");
    }
}

#[test]
fn how_cells_are_written_is_kept() {
    let mut written = schema();
    let marks = super::super::Marks::new(',', Some('.'));
    written.features[0].reading = Some(Reading::Number(marks));
    written.no_value = NoValue::from_given(Some(&["-".into()]));
    written.features.push(Field {
        name: "left".into(),
        kind: Kind::Empty,
        fill: Some(Fill {
            values: Vec::new(),
            indicator: false,
            missed: true,
        }),
        reading: None,
    });
    let mut store = Store::default();
    written.write(&mut store);
    assert_eq!(Schema::read(&store, 12).expect("reads"), Some(written));
    let text = store.text(NAME).expect("written").to_owned();
    assert!(text.contains("\"version\":2"), "{text}");
    store.set(NAME, text.replacen("[\"-\"]", "[\"-\",\"-\"]", 1));
    assert!(Schema::read(&store, 12).is_err());
    // Marks of numbers suit no categories.
    store.set(
        NAME,
        text.replacen("\"kind\":\"number\"", "\"kind\":\"date\"", 1),
    );
    assert!(Schema::read(&store, 12).is_err());
}

/// No number of the file is believed before it is held against what there is.
#[test]
fn damaged_schemas_are_refused() {
    let mut store = Store::default();
    schema().write(&mut store);
    let text = store.text(NAME).expect("written").to_owned();
    for (from, to, says) in [
        ("{", "", "damaged"),
        ("\"version\":1", "\"version\":10", "version 10"),
        ("\"version\":1", "\"version\":\"1\"", "no version"),
        ("\"features\":[", "\"features\":[7,", "features"),
        (
            "\"columns\":5",
            "\"columns\":18446744073709551615",
            "features",
        ),
        ("\"columns\":5", "\"columns\":13", "features"),
        ("\"columns\":5", "\"columns\":12", "12 columns"),
        ("\"columns\":5", "\"columns\":0", "features"),
        ("\"kind\":\"date\"", "\"kind\":\"data\"", "features"),
        ("[\"a\",", "[\"c\",", "features"),
        ("[\"a\",", "[7,", "features"),
        ("\"indicator\":true", "\"indicator\":1", "features"),
        // Infinity by its bits.
        ("\"fill\":[", "\"fill\":[9218868437227405312,", "features"),
        ("\"fill\":[", "\"fill\":[0,", "features"),
        (
            "\"targets\":[",
            "\"targets\":[{\"name\":\"z\",\"kind\":\"hashed\",\"columns\":3},",
            "targets",
        ),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        store.set(NAME, broken);
        let error = Schema::read(&store, 12).expect_err(to).to_string();
        assert!(
            error.contains(says) && error.len() < 200,
            "{from} {to}: {error}"
        );
    }
    store.set(NAME, text);
    for columns in [0, 11, 13] {
        assert!(Schema::read(&store, columns).is_err(), "{columns}");
    }
}

/// What a fit refuses before it begins, and a reader before it reads.
#[test]
fn schemas_are_held_to_what_a_model_can_hold() {
    let with = |length: usize| {
        let mut all = schema();
        let long = Kind::Categories(vec!["x".repeat(length), "y".into()]);
        all.features[3].kind = long;
        all
    };
    with(1_000).require_room_of(10_000).expect("fits");
    let error = with(4_000).require_room_of(10_000).expect_err("too long");
    assert!(error.to_string().contains("column \"city\""), "{error}");
    assert_eq!(error.remedies(), [Remedy::Ignore("city".into())]);
    with(1_000_000).require_room().expect("fits");
    with(17_500_000).require_room().expect_err("too long");
    let read = |braces: usize| {
        let mut store = Store::default();
        store.set(NAME, "{".repeat(braces));
        Schema::read(&store, 1).expect_err("no schema").to_string()
    };
    assert!(!read(SCHEMA_OBJECTS).contains("too many objects"));
    assert!(read(SCHEMA_OBJECTS + 1).contains("too many objects"));
}
