//! Files of others: what they can name, print and replace.

use crate::{bochner, command, finish, here, le, npy};
use std::{fs, path::Path, process::Command};

const FIT: &str = "fit t.csv --target label --device cpu -q --features 8";

fn table(folder: &Path, names: &str) {
    let rows = "1,2,0\n3,4,1\n5,7,1\n2,2,0\n";
    fs::write(folder.join("t.csv"), format!("{names}\n{rows}")).expect("a table");
}

/// Whatever option names a file that is read, no output replaces it.
#[test]
fn no_output_replaces_a_file_that_an_option_names() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    table(here.path(), "a,b,label");
    bochner(here.path(), &format!("{FIT} -o m.model"), &[]).ok();
    fs::write(at("j.toml"), "features = 8\n").expect("writes");
    npy(
        at("rows.npy"),
        "<f8",
        false,
        "(2, 2)",
        &le(&[1.0, 2.0, 3.0, 4.0]),
    );
    let names = ["t.csv", "m.model", "j.toml", "rows.npy"];
    let before = names.map(|name| fs::read(at(name)).expect("reads"));
    for (arguments, name) in [
        (format!("{FIT} --like m.model -o m.model"), "m.model"),
        (
            format!("{FIT} --like m.model --report ./m.model"),
            "m.model",
        ),
        (format!("{FIT} --job j.toml -o j.toml"), "j.toml"),
        (format!("{FIT} --job j.toml --report j.toml"), "j.toml"),
        (
            format!("{FIT} --map nystrom --landmarks-choice rows.npy -o rows.npy"),
            "rows.npy",
        ),
        ("explain m.model t.csv -o t.csv".into(), "t.csv"),
        ("export m.model -o m.model".into(), "m.model"),
    ] {
        let run = bochner(here.path(), &arguments, &[]);
        assert_eq!(run.code, Some(2), "{arguments}: {run:?}");
        run.fails(&[name, "would be replaced"]);
        let after = names.map(|name| fs::read(at(name)).expect("reads"));
        assert_eq!(after, before, "{arguments}");
    }
}

#[test]
fn a_job_is_a_short_regular_file() {
    let here = here();
    table(here.path(), "a,b,label");
    let run = |job: &str| bochner(here.path(), &format!("{FIT} --job {job}"), &[]);
    let long = format!("# {}\n", "x".repeat(1 << 20));
    fs::write(here.path().join("long.toml"), long).expect("writes");
    run("long.toml").fails(&["long.toml", "more than 1 MiB"]);
    run(".").fails(&["is not a regular file"]);
    #[cfg(unix)]
    {
        run("/dev/zero").fails(&["/dev/zero", "is not a regular file"]);
        let made = Command::new("mkfifo")
            .arg(here.path().join("pipe"))
            .status();
        assert!(made.expect("mkfifo is there").success());
        run("pipe").fails(&["pipe", "is not a regular file"]);
    }
}

/// Names of columns reach a terminal, a card and a page as text.
#[test]
fn names_command_no_terminal() {
    let here = here();
    table(here.path(), "\u{1b}]0;pwned\u{7}a\u{9b}2J,<script>b,label");
    bochner(here.path(), &format!("{FIT} -o m.model"), &[]).ok();
    let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    for arguments in [
        "show m.model",
        "show m.model --json",
        "show m.model --job",
        "card m.model",
        "explain m.model t.csv --device cpu",
        "drift t.csv t.csv --device cpu",
    ] {
        let run = bochner(here.path(), arguments, &[]).ok();
        for text in [run.stdout, run.stderr] {
            assert!(!text.contains(is_obeyed), "{arguments}: {text:?}");
        }
    }
    bochner(here.path(), "card m.model -o card.md", &[]).ok();
    let card = fs::read_to_string(here.path().join("card.md")).expect("reads");
    let list = card.split("```").step_by(2).collect::<String>();
    assert!(
        !card.contains(is_obeyed) && !list.contains("<script>"),
        "{card}"
    );
    let mut missing = command(here.path());
    let said = finish(missing.args(["show", "\u{1b}[2Jno.model", "-q"])).stderr;
    assert!(
        said.contains("no.model") && !said.contains('\u{1b}'),
        "{said:?}"
    );
}

#[test]
fn a_card_replaces_no_page_of_another() {
    let here = here();
    let at = |name: &str| here.path().join(name);
    table(here.path(), "a,b,label");
    bochner(here.path(), &format!("{FIT} -o m.model"), &[]).ok();
    fs::write(at("README.md"), "# Mine\n").expect("writes");
    let refused = || bochner(here.path(), "card m.model -o .", &[]);
    refused().fails(&["README.md", "would be replaced"]);
    assert_eq!(
        fs::read_to_string(at("README.md")).expect("reads"),
        "# Mine\n"
    );
    // Nor a file of the model's name.
    fs::create_dir(at("other")).expect("makes");
    fs::write(at("other/m.model"), "mine").expect("writes");
    bochner(here.path(), "card m.model -o other", &[]).fails(&["m.model", "would be replaced"]);
    assert_eq!(
        fs::read_to_string(at("other/m.model")).expect("reads"),
        "mine"
    );
    assert!(!at("other/README.md").exists());
    // Its own it does.
    for _ in 0..2 {
        bochner(here.path(), "card m.model -o hub/ -q", &[]).ok();
    }
}
