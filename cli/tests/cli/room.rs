//! What the memory of the host cannot hold is refused in one line, before it is begun.

use crate::{Run, command, digits, finish, here};
use std::process::Command;

/// The binary with about four gigabytes beside what its threads reserve.
fn limited(arguments: &str) -> Run {
    let here = here();
    let threads = std::thread::available_parallelism().map_or(1, |n| 2 * n.get()) + 1;
    let kilobytes = 4_500_000 + threads * (1 << 20);
    let binary = command(here.path());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kilobytes}; exec \"$@\""), "sh"]);
    shell.arg(binary.get_program()).args(arguments.split(' '));
    for (name, value) in binary.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    finish(shell.current_dir(here.path()))
}

#[test]
fn what_does_not_fit_is_one_line() {
    let data = format!("{} --target label --device cpu --quiet", digits());
    for (options, needs) in [
        ("fit --features 30000", "10.8 GB"),
        ("fit --features 20000 --lambda auto", "9.6 GB"),
        ("fit --features 16384 --model svm", "4.3 GB"),
        ("fit --model pca --features 40000", "19.2 GB"),
        ("fit --map fastfood --features 10000000000", "120.0 GB"),
        ("fit --map sorf --features 10000000000", "120.0 GB"),
        (
            "fit --sampling orthogonal --features 10000000000",
            "3840.0 GB",
        ),
        ("fit --sampling halton --features 10000000000", "3840.0 GB"),
        ("fit --map binning --features 10000000000", "5120.0 GB"),
        (
            "fit --sampling leverage --features 100 --leverage-pool 100000000",
            "76.8 GB",
        ),
    ] {
        let run = limited(&format!("{options} {data}"));
        assert_eq!(run.code, Some(1), "{options}: {run:?}");
        run.fails(&["needs", needs, "of memory", "is free", "--features"]);
    }
    // What fits is done.
    let run = limited(&format!("fit --features 2000 {data}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}
