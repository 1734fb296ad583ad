//! Weights of rows.

use crate::schema::{missing, options, surveyed, x_of};
use crate::{assert_says, opened, place, read_in_every_way};
use bochner::data::{Missing, TableOptions};
use ndarray::array;

/// Means and medians use weights, and ignore rows of weight 0.
#[test]
fn weights_weigh_what_stands_for_missing_values() {
    let (_directory, path) = place("weighed.csv");
    let text = "a,w,c,y\n1,3,u,1\n5,1,v,2\n9,0,x,3\n?,1,?,4\n";
    let table = TableOptions {
        weight: Some("w".into()),
        ..missing(Missing::Mean)
    };
    let mut source = opened(surveyed(&path, text, &options("y", table.clone())));
    assert_eq!(source.column_names().unwrap(), ["a", "c=u", "c=v"]);
    let chunk = read_in_every_way(source.as_mut());
    assert_eq!(
        chunk.weights.clone().unwrap().to_vec(),
        [3.0, 1.0, 0.0, 1.0]
    );
    assert_eq!(x_of(chunk).row(3).to_vec(), [2.0, 0.75, 0.25]);
    // Numeric tables are read in one pass, including weights.
    let plain = TableOptions {
        missing: Missing::default(),
        ..table
    };
    let numbers = "a,w,y\n1,3,1\n5,0.5,2\n";
    let mut source = opened(surveyed(&path, numbers, &options("y", plain.clone())));
    assert!(source.schema().is_none());
    let chunk = read_in_every_way(source.as_mut());
    assert_eq!(chunk.weights.unwrap().to_vec(), [3.0, 0.5]);
    assert_eq!(
        (chunk.y, chunk.x.into_f64()),
        (array![[1.0], [2.0]], array![[1.0], [5.0]])
    );
    for (text, says) in [
        ("a,w,y\n1,-1,1\n", ["line 2, column \"w\"", "no weight"]),
        ("a,w,y\nu,-1,1\n", ["line 2, column \"w\"", "no weight"]),
        ("a,w,y\nu,?,1\n", ["line 2, column \"w\"", "no weight"]),
        ("a,y\n1,1\n", ["\"w\"", "weights"]),
    ] {
        assert_says(surveyed(&path, text, &options("y", plain.clone())), &says);
    }
    let both = TableOptions {
        weight: Some("y".into()),
        ..plain
    };
    assert_says(
        surveyed(&path, numbers, &options("y", both)),
        &["\"y\"", "no weight"],
    );
}

/// Weights with decimal commas, with a unit, and with both equal plain ones.
#[test]
fn weights_are_read_as_numbers_of_other_columns_are() {
    let (_directory, path) = place("weighed.csv");
    let plain = TableOptions {
        weight: Some("w".into()),
        ..TableOptions::default()
    };
    let of = |weights: [&str; 4], table: &TableOptions| {
        let rows = weights.iter().enumerate();
        let rows = rows.map(|(i, w)| format!("{i};{};{w};{}\n", ["u", "v"][i % 2], i * i));
        let text = format!("a;c;w;y\n{}", rows.collect::<String>());
        let mut source = surveyed(&path, &text, &options("y", table.clone()))?;
        let chunk = read_in_every_way(source.as_mut());
        let weights = chunk.weights.clone().unwrap().to_vec();
        Ok::<_, bochner::Error>((weights, x_of(chunk)))
    };
    let known = opened(of(["1.5", "2", "0", "1250.25"], &plain));
    for weights in [
        ["1,5", "2", "0", "1250,25"],
        ["1,5", "2", "0", "1.250,25"],
        ["1.5 kg", "2 kg", "0 kg", "1250.25kg"],
        ["1,5 €", "2 €", "0 €", "1.250,25 €"],
    ] {
        assert_eq!(opened(of(weights, &plain)), known, "{weights:?}");
    }
    // Plain numbers stay so, although they could be thousands.
    let round = opened(of(["1.000", "2.000", "0.500", "3.000"], &plain));
    assert_eq!(round.0, [1.0, 2.0, 0.5, 3.0]);
    let round = opened(of(["1.000", "2.000", "4.000", "3.000"], &plain));
    assert_eq!(round.0, [1.0, 2.0, 4.0, 3.0]);
    // With numeric columns only.
    let text = "a;w;y\n1;0,5;1\n5;2;2\n";
    let mut source = opened(surveyed(&path, text, &options("y", plain.clone())));
    let weights = read_in_every_way(source.as_mut()).weights;
    assert_eq!(weights.unwrap().to_vec(), [0.5, 2.0]);
    // Imputed means and target means are weighted, too.
    let gaps = |w: &str| {
        let text = format!("a;c;w;y\n1;u;3;1\n5;v;{w};2\n?;u;1;4\n");
        let table = TableOptions {
            by_target: Some(vec!["c".into()]),
            missing: Missing::Mean,
            ..plain.clone()
        };
        x_of(read_in_every_way(
            opened(surveyed(&path, &text, &options("y", table))).as_mut(),
        ))
    };
    assert_eq!(gaps("0,5"), gaps("0.5"));
    assert_eq!(gaps("0,5")[[2, 0]], 5.5 / 3.5);
    for (weights, says) in [
        (
            ["1,5", "2", "-1", "3"],
            &["line 4", "\"w\"", "no weight"][..],
        ),
        (
            ["1 kg", "2 lb", "3 kg", "4 kg"],
            &["line 3", "amounts in two units"],
        ),
        (["1,5", "2", "", "3"], &["line 4", "no weight"]),
        (["1:30", "0:20", "2:10", "0:05"], &["line 2", "no weight"]),
        (
            ["31.12.2021", "30.12.2021", "29.12.2021", "28.12.2021"],
            &["line 2", "no weight"],
        ),
    ] {
        assert_says(of(weights, &plain), says);
    }
}
