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

/// The bytes of a safetensors file whose header is another text.
fn with_header(file: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let (length, rest) = file.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("8 bytes")) as usize;
    let (header, arrays) = rest.split_at(length);
    let mut header = change(std::str::from_utf8(header).expect("text"));
    header.extend(std::iter::repeat_n(
        ' ',
        header.len().next_multiple_of(8) - header.len(),
    ));
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), arrays].concat()
}

/// Kernels in each other, as an argument and in sums: recursion would end the program.
#[test]
fn nested_kernels_end_no_command() {
    let here = here();
    table(here.path(), "a,b,label");
    bochner(
        here.path(),
        &format!("{FIT} --partial a.sums --shard 1/1 --gamma 1 --lambda 1"),
        &[],
    )
    .ok();
    let sums = fs::read(here.path().join("a.sums")).expect("reads");
    for (depth, reads) in [(32, true), (33, false), (4_250, false)] {
        let kernel = format!(
            "{}gaussian{}",
            "mixture:1*(".repeat(depth),
            ")".repeat(depth)
        );
        let plain = r#"\"kernel.spec\":\"gaussian\""#;
        let changed = with_header(&sums, |header| {
            assert!(header.contains(plain), "{header}");
            header.replace(plain, &plain.replace("gaussian", &kernel))
        });
        fs::write(here.path().join("b.sums"), changed).expect("writes");
        for arguments in [
            format!("{FIT} -o m.model --sigma 1 --kernel {kernel}"),
            "merge b.sums -o m.model".into(),
        ] {
            let run = bochner(here.path(), &arguments, &[]);
            match reads {
                true => {
                    run.ok();
                }
                false => run.fails(&["32 deep"]),
            }
        }
    }
}

/// A schema of 20,000 groups in each other, in 200 KB.
#[cfg(feature = "parquet")]
#[test]
fn nested_groups_end_no_command() {
    let here = here();
    let depth = 20_000_u32;
    let group = [0x35, 0, 0x18, 1, b'g', 0x15, 2, 0];
    let column = [0x15, 10, 0x25, 0, 0x18, 1, b'g', 0];
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let count = depth + 1;
    footer.extend([
        count as u8 | 0x80,
        (count >> 7) as u8 | 0x80,
        (count >> 14) as u8,
    ]);
    footer.extend(group.repeat(depth as usize));
    footer.extend(column);
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    let length = (footer.len() as u32).to_le_bytes();
    let file = [b"PAR1", &footer[..], &length, b"PAR1"].concat();
    fs::write(here.path().join("g.parquet"), file).expect("writes");
    bochner(here.path(), "fit g.parquet -o m.model", &[]).fails(&["g.parquet", "64 deep"]);
}

/// Categories that no header holds are refused before the fit, and the model of before stays.
#[test]
fn a_model_that_could_not_be_read_is_not_written() {
    let here = here();
    let rows = (0..8).map(|i| format!("{},{i},{}\n", ["A", "B"][i % 2].repeat(17_500_000), i % 2));
    let text = format!("kind,a,label\n{}", rows.collect::<String>());
    fs::write(here.path().join("t.csv"), text).expect("writes");
    fs::write(here.path().join("m.model"), "mine").expect("writes");
    let run = bochner(here.path(), &format!("{FIT} -o m.model"), &[]);
    run.fails(&["column \"kind\"", "a model holds"]);
    let kept = fs::read_to_string(here.path().join("m.model")).expect("reads");
    assert_eq!(kept, "mine");
}
