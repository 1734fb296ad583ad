//! Nothing that is read is replaced.

use crate::{bochner, here, le, npy};
use std::fs;

#[test]
fn an_output_is_no_input() {
    let here = here();
    let table = "a,b,label\n1,2,0\n3,4,1\n5,7,1\n";
    for name in ["t.csv", "u.csv"] {
        fs::write(here.path().join(name), table).expect("a table");
    }
    let fit = "fit t.csv --target label --device cpu -q --features 8";
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    assert_eq!(run(&format!("{fit} -o m.model")).code, Some(0));
    fs::create_dir(here.path().join("inner")).expect("a folder");
    let all = || ["t.csv", "u.csv", "m.model"].map(|name| fs::read(here.path().join(name)).ok());
    let before = all();
    for (arguments, name) in [
        (format!("{fit} -o t.csv"), "t.csv"),
        (
            format!("{fit} --test-input u.csv -o inner/../u.csv"),
            "u.csv",
        ),
        ("predict m.model t.csv -o t.csv".into(), "t.csv"),
        ("predict m.model t.csv -o ./t.csv".into(), "t.csv"),
        (
            "predict m.model t.csv -o new.csv --probabilities t.csv".into(),
            "t.csv",
        ),
    ] {
        run(&arguments).fails(&[name, "would be replaced", "another output"]);
        assert_eq!(all(), before, "{arguments}");
    }
    // Targets in a file of their own are read, too.
    for (name, columns) in [("x.npy", 2), ("y.npy", 1)] {
        let values: Vec<f64> = (0..3 * columns).map(f64::from).collect();
        npy(
            here.path().join(name),
            "<f8",
            false,
            &format!("(3, {columns})"),
            &le(&values),
        );
    }
    run("fit x.npy --targets y.npy --task regression --device cpu -q --features 8 -o n.model").ok();
    let x = "x.npy --targets y.npy --device cpu -q";
    for arguments in [
        format!("fit {x} --task regression --features 8 -o y.npy"),
        format!("fit {x} --task regression --features 8 -o n.model --report y.npy"),
        format!("featurize {x} --gamma 1 -o y.npy"),
        format!("evaluate n.model {x} --report y.npy"),
        format!("kernel-error {x} --report y.npy"),
    ] {
        run(&arguments).fails(&["y.npy", "would be replaced", "another output"]);
    }
    let twice = "predict m.model t.csv -o new.csv --probabilities inner/../new.csv";
    run(twice).fails(&["new.csv", "two outputs"]);
    // The model itself may be fitted anew.
    assert_eq!(run(&format!("{fit} -o m.model")).code, Some(0));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("t.csv", here.path().join("link.csv")).expect("a link");
        run("predict m.model t.csv -o link.csv").fails(&["link.csv", "would be replaced"]);
    }
}

/// A model, a page and a checkpoint have names: nothing is fitted, and no file called `-` is there.
#[test]
fn what_has_a_name_does_not_go_to_standard_output() {
    let here = here();
    fs::write(here.path().join("t.csv"), "a,y\n1,0.5\n3,1.5\n5,1.7\n").expect("a table");
    let fit = "fit t.csv --target y --device cpu -q --features 8";
    let run = |arguments: &str| bochner(here.path(), arguments, &[]);
    run(&format!("{fit} -o m.model")).ok();
    for (arguments, option) in [
        (format!("{fit} -o -"), "--output"),
        (format!("{fit} --report -"), "--report"),
        (format!("{fit} -o n.model --checkpoint -"), "--checkpoint"),
        (format!("{fit} --shard 1/2 --partial -"), "--partial"),
        ("merge p.sums -o -".into(), "--output"),
        ("export m.model -o -".into(), "--output"),
        ("explain m.model t.csv -o -".into(), "--output"),
        ("bench --report -".into(), "--report"),
        ("reproduce digits -o -".into(), "--output"),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, Some(2), "{arguments}: {run:?}");
        run.fails(&[option, "not to standard output", "give a name"]);
    }
    let files = fs::read_dir(here.path()).expect("a folder");
    assert_eq!(files.count(), 2);
    let card = run("card m.model -o -").ok().stdout;
    assert_eq!(card, run("card m.model").ok().stdout);
}

/// The same features in every format, whole or in steps.
#[test]
fn features_are_written_as_the_name_says() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    let rows: String = (0..50).map(|i| format!("{},{}\n", i % 7, i % 11)).collect();
    fs::write(at("x.csv"), format!("a,b\n{rows}")).expect("written");
    let run = |output: &str| {
        let featurize = "featurize x.csv --features 6 --sigma 2 --device cpu --json -o";
        bochner(here.path(), &format!("{featurize} {output}"), &[])
    };
    for output in [
        "z.npy",
        "z.csv",
        "z.f32",
        "z.raw",
        "k.f32 --checkpoint kept --every 20",
    ] {
        let report = run(output).json();
        assert_eq!(report["shape"], serde_json::json!([50, 6]), "{report}");
    }
    let npy = fs::read(at("z.npy")).expect("written");
    for raw in ["z.f32", "z.raw", "k.f32"] {
        assert_eq!(fs::read(at(raw)).expect("written"), npy[128..], "{raw}");
    }
    let csv = fs::read_to_string(at("z.csv")).expect("written");
    assert_eq!(csv.lines().next(), Some("z0,z1,z2,z3,z4,z5"));
    let values = csv.lines().skip(1).flat_map(|line| line.split(','));
    let values: Vec<u8> = values
        .flat_map(|value| value.parse::<f32>().expect("a number").to_le_bytes())
        .collect();
    assert_eq!(values, npy[128..]);
    run("z.txt").fails(&["z.txt", ".npy", ".csv", ".f32"]);
    let said = "featurize x.csv --features 6 --sigma 2 --device cpu -o s.f32";
    let said = bochner(here.path(), said, &[]).ok().stdout;
    assert!(said.contains("50 x 6, little-endian f32"), "{said}");
}
