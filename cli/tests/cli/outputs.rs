//! Nothing that is read is replaced.

use crate::{bochner, here};
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
