//! A stream whose process is killed resumes from its file.

use bochner::stream::{Recursive, RecursiveRidge};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// File of the learning process, which is another instance of this program.
const FILE: &str = "BOCHNER_TEST_STREAM";
/// Row at which it waits until it is killed.
const STOP: &str = "BOCHNER_TEST_STREAM_STOP";

const FEATURES: usize = 5;
const ROWS: u64 = 400;
/// Rows between saves, inside blocks of 64 and not at their ends.
const EVERY: u64 = 30;

fn row(t: u64) -> (Vec<f64>, [f64; 1]) {
    let at = |k: usize| ((t * (2 * k as u64 + 3) + 7) as f64 * 0.618).sin();
    let z: Vec<f64> = (0..FEATURES).map(at).collect();
    let y = z[0] * if t < 200 { 1.0 } else { -1.0 } + 0.1 * z[3];
    (z, [y])
}

/// Learns the rows that the file does not include yet, and saves regularly.
fn learn(path: &Path, stop: Option<u64>) {
    let rule = Recursive {
        half_life: 130.0,
        penalty: 0.1,
        ..Recursive::default()
    };
    let mut stream = match path.exists() {
        true => RecursiveRidge::load(path).expect("reads"),
        false => rule.start(FEATURES, 1).expect("starts"),
    };
    for t in stream.rows()..ROWS {
        let (z, y) = row(t);
        stream.learn(&z, &y, 1.0).expect("learns");
        if (t + 1) % EVERY == 0 || t + 1 == ROWS {
            stream.save(path).expect("writes");
        }
        if stop == Some(t + 1) {
            fs::write(marked(path), "").expect("writes");
            sleep(Duration::from_secs(600));
        }
    }
}

fn marked(path: &Path) -> PathBuf {
    path.with_extension("stopped")
}

/// With a half-life: the age of past rows is the same for the second process.
#[test]
fn a_killed_stream_goes_on_to_the_same_bits() {
    if let Some(path) = std::env::var_os(FILE) {
        let stop = std::env::var(STOP).ok();
        return learn(path.as_ref(), stop.and_then(|rows| rows.parse().ok()));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    learn(&path("whole"), None);
    let program = std::env::current_exe().expect("has a name");
    let begin = |stop: &str| {
        let mut command = Command::new(&program);
        command.args([
            "--exact",
            "streams::a_killed_stream_goes_on_to_the_same_bits",
        ]);
        let command = command.env(FILE, path("killed")).env(STOP, stop);
        command.stdout(Stdio::null()).spawn().expect("starts")
    };
    // Between two saves, within a block and after its end, each some rows after the last save.
    for stop in [47, 135, 271] {
        let mut child = begin(&stop.to_string());
        let since = Instant::now();
        while !marked(&path("killed")).exists() {
            assert!(
                since.elapsed() < Duration::from_secs(120),
                "it never came to row {stop}"
            );
            assert!(child.try_wait().expect("waits").is_none(), "it ended");
            sleep(Duration::from_millis(2));
        }
        child.kill().expect("kills");
        child.wait().expect("waits");
        fs::remove_file(marked(&path("killed"))).expect("is there");
        let kept = RecursiveRidge::load(path("killed")).expect("reads").rows();
        assert_eq!(kept, stop / EVERY * EVERY);
    }
    assert!(begin("none").wait().expect("waits").success());
    let bytes = |name: &str| fs::read(path(name)).expect("reads");
    assert!(bytes("killed") == bytes("whole"), "other bits");
}
