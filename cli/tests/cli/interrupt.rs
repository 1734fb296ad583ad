//! Ctrl-C leaves nothing half-written behind.

#[cfg(target_os = "linux")]
use crate::faults;
use crate::{bochner, command};
use bochner::data::NpyWriter;
use ndarray::Array2;
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};
use tempfile::TempDir;

/// A folder with 300,000 rows in x.npy and targets in y.npy.
fn here() -> TempDir {
    let here = TempDir::new().expect("a temporary directory");
    let rows = Array2::from_shape_fn((300_000, 8), |(i, j)| ((i * 7 + j * 3) % 101) as f32);
    for (name, columns) in [("x.npy", 8), ("y.npy", 1)] {
        let mut file = NpyWriter::create(here.path().join(name), columns).expect("creates");
        file.write_rows(rows.slice(ndarray::s![.., ..columns]))
            .expect("writes");
        file.finish().expect("finishes");
    }
    here
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn start(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder);
    let command = command
        .args(arguments.split(' '))
        .args(["--device", "cpu", "-q"]);
    #[cfg(target_os = "linux")]
    let command = faults::hearing(command);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("starts")
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status();
    assert!(sent.expect("kill is there").success());
}

/// Waits until the command hears a signal; where /proc does not tell, for a while.
fn hears(child: &Child, name: &str) {
    let bit = match name {
        "-INT" => 2,
        "-TERM" => 15,
        other => panic!("{other} is not waited for"),
    };
    let status = format!("/proc/{}/status", child.id());
    // Two minutes and more: what starts is slow where others work.
    for _ in 0..120_000 {
        let Ok(text) = std::fs::read_to_string(&status) else {
            return sleep(Duration::from_secs(2));
        };
        let has = |set: &str| {
            let mask = text.lines().find_map(|line| line.strip_prefix(set));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask >> (bit - 1) & 1 == 1)
        };
        if has("SigCgt:") {
            return;
        }
        sleep(Duration::from_millis(1));
    }
    panic!("nobody hears {name}");
}

/// Waits until the command has worked for a fifth of a second of a processor; where /proc does not
/// tell, for a while.
fn works(child: &mut Child) {
    let stat = format!("/proc/{}/stat", child.id());
    for _ in 0..120_000 {
        let Ok(text) = std::fs::read_to_string(&stat) else {
            return sleep(Duration::from_millis(200));
        };
        // Behind the name, which is in brackets: hundredths of a second in its own code.
        let fields = text.rsplit(')').next().unwrap_or_default();
        let ticks = fields.split_whitespace().nth(11);
        if ticks.is_some_and(|ticks| ticks.parse::<u64>().is_ok_and(|ticks| ticks >= 20)) {
            return;
        }
        let ended = child.try_wait().expect("waits");
        assert!(ended.is_none(), "it ended: {ended:?}");
        sleep(Duration::from_millis(1));
    }
    panic!("it does not work");
}

/// Sends the command a signal in the middle of its output, at its fifth write there, and returns
/// its status and what it said.
#[cfg(target_os = "linux")]
fn interrupted(folder: &Path, arguments: &str, name: &str) -> (Option<i32>, String) {
    let before = names(folder);
    let child = faults::stopped(folder, &format!("{arguments} --device cpu -q"), 5);
    let is_temporary = |name: &String| name.ends_with(".tmp");
    assert!(names(folder).iter().any(is_temporary), "{arguments}");
    faults::signal(&child, name);
    let output = child.wait_with_output().expect("waits");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert_eq!(names(folder), before, "{arguments}");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    (output.status.code(), said)
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_no_file_and_an_old_one_as_it_was() {
    let here = here();
    let said = "error: interrupted; no output was written\n";
    let featurize = "featurize x.npy -o z.npy --features 1024 --gamma 0.1 --memory 4M";
    for (name, status) in [("-INT", 130), ("-HUP", 129), ("-QUIT", 131)] {
        let run = interrupted(here.path(), featurize, name);
        assert_eq!(run, (Some(status), said.to_owned()));
    }
    let fit = "fit x.npy --targets y.npy --task regression --features 32 --gamma 0.1 -q --device \
     cpu -o model";
    bochner(here.path(), fit, &[]).ok();
    std::fs::write(here.path().join("p.csv"), "old").expect("writes");
    let predict = "predict model x.npy -o p.csv --memory 1M";
    let run = interrupted(here.path(), predict, "-INT");
    assert_eq!(run, (Some(130), said.to_owned()));
    let old = std::fs::read_to_string(here.path().join("p.csv"));
    assert_eq!(old.expect("reads"), "old");
}

#[test]
fn what_writes_nothing_yet_ends_at_once() {
    let here = here();
    let before = names(here.path());
    for (name, status) in [("-INT", 130), ("-TERM", 143)] {
        // 1.2e12 operations of one thread: a second of the fastest.
        let fit = "fit x.npy --targets y.npy --task regression --features 2000 --gamma 0.1 -o \
                   model --threads 1";
        let mut child = start(here.path(), fit);
        hears(&child, name);
        works(&mut child);
        signal(&child, name);
        let output = child.wait_with_output().expect("waits");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_eq!(names(here.path()), before);
    }
}

/// What nobody can clean up after is swept by the next run there, and a live run's file is not.
#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    let here = here();
    let before = names(here.path());
    let temporary = || {
        let names = names(here.path()).into_iter();
        let names = names.filter(|name| name.ends_with(".tmp"));
        names.collect::<Vec<_>>()
    };
    let featurize = "featurize x.npy -o z.npy --features 1024 --gamma 0.1 --memory 4M --device cpu";
    let begin = || faults::stopped(here.path(), featurize, 5);
    let (mut killed, mut live) = (begin(), begin());
    assert_eq!(temporary().len(), 2);
    killed.kill().expect("kills");
    killed.wait().expect("waits");
    assert_eq!(temporary().len(), 2, "it stays");
    let fit = "fit x.npy --targets y.npy --task regression --features 4 --gamma 0.1 -q -o m";
    bochner(here.path(), fit, &[]).ok();
    assert_eq!(temporary().len(), 1, "that of the live run");
    live.kill().expect("kills");
    live.wait().expect("waits");
    bochner(here.path(), fit, &[]).ok();
    std::fs::remove_file(here.path().join("m")).expect("is there");
    assert_eq!(names(here.path()), before);
}

/// What standard input held takes no room once the run is gone, however that ended, and the folder
/// that it was in goes with the next.
#[cfg(target_os = "linux")]
#[test]
fn a_copy_of_standard_input_ends_with_the_run() {
    let here = here();
    let place = here.path().join("temporary");
    std::fs::create_dir(&place).expect("makes");
    let rows: String = (0..40_000)
        .map(|i| format!("{},{}\n", i % 97, i % 7))
        .collect();
    std::fs::write(here.path().join("rows.csv"), format!("a,y\n{rows}")).expect("written");
    let input = || std::fs::File::open(here.path().join("rows.csv")).expect("opens");
    let fit = |features: &str| {
        let mut command = command(here.path());
        let fit = "fit - --target y --task regression --gamma 0.1 --device cpu --threads 1 -q -o \
                   m --features";
        command
            .args(fit.split_whitespace())
            .arg(features)
            .env("TMPDIR", &place);
        command.stdin(input()).spawn().expect("starts")
    };
    let below = |folder: &Path| -> Vec<_> {
        let entries = folder.read_dir().expect("is there").flatten();
        entries.map(|entry| entry.path()).collect()
    };
    // Long enough for a kill in its middle.
    let mut killed = fit("4000");
    let all_read = || {
        let folders = below(&place);
        let copies = folders.iter().flat_map(|folder| below(folder));
        let sizes = copies.map(|copy| std::fs::read_link(&copy).map(|to| (copy, to)));
        sizes.flatten().next()
    };
    let copy = loop {
        if let Some((copy, to)) = all_read() {
            assert!(to.starts_with("/proc/self/fd"), "{to:?}");
            break copy;
        }
        assert!(killed.try_wait().expect("waits").is_none(), "it ended");
        sleep(Duration::from_millis(1));
    };
    killed.kill().expect("kills");
    killed.wait().expect("waits");
    // A link that leads nowhere is all that stays.
    assert!(copy.symlink_metadata().expect("is there").is_symlink());
    let next = fit("4").wait().expect("waits");
    assert!(next.success());
    assert!(below(&place).is_empty(), "{:?}", below(&place));
}

/// As `nohup` has it.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_stays_so() {
    let here = here();
    let binary = command(here.path());
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    shell.arg(binary.get_program()).current_dir(here.path());
    let featurize =
        "featurize x.npy -o z.npy --features 32 --gamma 0.1 --memory 4M -q --device cpu";
    shell.args(featurize.split(' ')).stdin(Stdio::null());
    for (name, value) in binary.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    // In the middle of its output.
    let child = faults::stopped_there(here.path(), shell, 5);
    faults::signal(&child, "-HUP");
    let output = child.wait_with_output().expect("waits");
    assert!(output.status.success(), "{output:?}");
    assert!(here.path().join("z.npy").exists());
}
