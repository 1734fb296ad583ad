//! Faults of the system, injected: disks that are full, reads that fail, processes that are killed
//! at each of their steps. `faults.c` is loaded before libc and lets one call fail.

use crate::{Run, bochner, command, finish, here, without_blanks};
use bochner::data::NpyWriter;
use ndarray::Array2;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The most bytes that the command has in memory, which succeeds: as it says itself at its end, so
/// that nobody has to look in time.
pub(crate) fn peak(folder: &Path, arguments: &str) -> u64 {
    let told = here();
    let told = told.path().join("peak");
    let mut command = command(folder);
    command.args(arguments.split_whitespace());
    command.args(["--device", "cpu", "--threads", "2", "-q"]);
    preload(&mut command);
    command.env("FAULT_PEAK", &told);
    finish(&mut command).ok();
    let text = fs::read_to_string(told).expect("is told");
    let most = text.parse().expect("a number");
    assert!(most > 0, "{arguments}: nothing is known");
    most
}

/// Loads the library of faults into a command, before what is loaded into all programs.
fn preload(command: &mut Command) -> &mut Command {
    let mut all = library().as_os_str().to_owned();
    if let Some(others) = std::env::var_os("LD_PRELOAD") {
        all.push(":");
        all.push(others);
    }
    command.env("LD_PRELOAD", all)
}

/// Has a command hear the signals that whoever started the tests ignores, as `nohup` and a shell's
/// `&` do, and hand on.
pub(crate) fn hearing(command: &mut Command) -> &mut Command {
    preload(command).env("FAULT_HEARS", "1")
}

/// The library of faults, which the C compiler that links Rust builds.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = LIBRARY.get_or_init(|| {
        let folder = without_blanks();
        let path = folder.path().join("faults.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/faults.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&path);
        let built = compile.args([source, "-ldl"]).status();
        assert!(built.expect("cc is there").success());
        (folder, path)
    });
    path
}

/// A fault, and which of the calls it is.
#[derive(Clone, Copy)]
struct Fault {
    call: &'static str,
    how: &'static str,
    at: usize,
}

const FULL: &str = "28";
const BROKEN: &str = "5";

/// The command with a fault in files of this folder.
fn faulty(folder: &Path, arguments: &str, fault: Fault) -> Run {
    let mut command = command(folder);
    command.args(arguments.split_whitespace());
    preload(&mut command);
    command.env("FAULT_DIR", folder.canonicalize().expect("is there"));
    command
        .env("FAULT_CALL", fault.call)
        .env("FAULT_HOW", fault.how);
    command.env("FAULT_AT", fault.at.to_string());
    finish(&mut command)
}

/// The command, which waits before this call that changes a file of the folder: in the middle of
/// its work, whatever the machine does meanwhile.
pub(crate) fn stopped(folder: &Path, arguments: &str, at: usize) -> Child {
    let mut command = command(folder);
    command.args(arguments.split_whitespace());
    hearing(&mut command);
    stopped_there(folder, command, at)
}

/// As [`stopped`], of a command that is or becomes the binary.
pub(crate) fn stopped_there(folder: &Path, mut command: Command, at: usize) -> Child {
    preload(&mut command);
    command.env("FAULT_DIR", folder.canonicalize().expect("is there"));
    command.env("FAULT_CALL", "write").env("FAULT_HOW", "stop");
    command.env("FAULT_AT", at.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let stat = format!("/proc/{}/stat", child.id());
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        // The state stands behind the name, which is in brackets.
        let text = fs::read_to_string(&stat).unwrap_or_default();
        let state = text.rsplit(')').next().unwrap_or_default();
        if state.starts_with(" T") {
            return child;
        }
        let ended = child.try_wait().expect("waits");
        assert!(
            ended.is_none() && Instant::now() < deadline,
            "{command:?}: call {at} does not come: {ended:?}"
        );
        sleep(Duration::from_millis(1));
    }
}

/// Sends a command that waits a signal, and lets it go on.
pub(crate) fn signal(child: &Child, name: &str) {
    for name in [name, "-CONT"] {
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("kill is there").success());
    }
}

/// How many calls of this kind the command makes.
fn count(folder: &Path, arguments: &str, call: &'static str) -> usize {
    let counts = here();
    let counted = counts.path().join("calls");
    let mut command = command(folder);
    command.args(arguments.split_whitespace());
    preload(&mut command).env("FAULT_COUNT", &counted);
    command.env("FAULT_DIR", folder.canonicalize().expect("is there"));
    command
        .env("FAULT_CALL", call)
        .env("FAULT_AT", "0")
        .env("FAULT_HOW", "0");
    finish(&mut command).ok();
    let text = fs::read_to_string(counted).expect("calls are counted");
    text.parse().expect("a number")
}

/// Every call of few, some of many.
fn some(calls: usize) -> Vec<usize> {
    let most = match std::env::var("BOCHNER_KILLS") {
        Ok(_) => usize::MAX,
        Err(_) => 12,
    };
    let step = calls.div_ceil(most).max(1);
    let mut chosen: Vec<_> = (1..=calls).step_by(step).collect();
    // The last ones give a file its name.
    chosen.extend(calls.saturating_sub(3).max(1)..=calls);
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// All files below a folder, with what they hold.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).expect("reads"));
        }
    }
    all
}

/// Rows, targets and a model.
fn prepare(folder: &Path) {
    let x = Array2::from_shape_fn((30_000, 4), |(i, j)| ((i * (7 + j)) % 101) as f32 / 25.0);
    let y = Array2::from_shape_fn((30_000, 1), |(i, _)| x[[i, 0]].sin() + x[[i, 1]]);
    for (name, rows) in [("x.npy", &x), ("y.npy", &y)] {
        let mut file = NpyWriter::create(folder.join(name), rows.ncols()).expect("creates");
        file.write_rows(rows.view()).expect("writes");
        file.finish().expect("finishes");
    }
    let text: String = x.rows().into_iter().fold("a,b,c,d\n".into(), |text, row| {
        format!("{text}{},{},{},{}\n", row[0], row[1], row[2], row[3])
    });
    fs::write(folder.join("x.csv"), text).expect("writes");
    bochner(folder, &format!("{FIT} -o base -q"), &[]).ok();
}

const FIT: &str = "fit x.npy --targets y.npy --task regression --features 32 --gamma 0.1 \
    --device cpu --threads 1";
const FEATURIZE: &str = "featurize x.npy --features 64 --gamma 0.1 --device cpu --threads 1";
const PREDICT: &str = "predict base x.npy --device cpu --threads 1";

#[test]
fn a_disk_that_is_full_leaves_what_was_there() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for (command, output) in [
        (FIT, "model"),
        (FEATURIZE, "z.npy"),
        (FEATURIZE, "z.parquet"),
        (PREDICT, "p.npy"),
        (PREDICT, "p.csv"),
        (PREDICT, "p.parquet"),
    ] {
        if output.ends_with(".parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let arguments = format!("{command} -q -o {output}");
        let calls = count(folder, &arguments, "write");
        assert!(calls > 1, "{arguments}: {calls} calls");
        fs::write(folder.join(output), "old").expect("writes");
        let before = contents(folder);
        for at in some(calls) {
            // Which of the two changes nothing but what is said.
            for (how, says) in [(FULL, "No space left"), (BROKEN, "Input/output error")] {
                let call = "write";
                let run = faulty(folder, &arguments, Fault { call, how, at });
                assert_eq!(run.code, Some(1), "{arguments}, call {at}: {run:?}");
                assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
                run.fails(&[output, says]);
                assert!(contents(folder) == before, "{arguments}, call {at}");
            }
        }
        fs::remove_file(folder.join(output)).expect("is there");
    }
}

#[test]
fn a_disk_that_is_full_keeps_the_checkpoint() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for (command, output) in [(FIT, "model"), (FEATURIZE, "z.npy"), (PREDICT, "p.csv")] {
        let arguments = format!("{command} -q -o {output} --checkpoint kept --every 8000");
        let calls = count(folder, &arguments, "write");
        let expected = contents(folder);
        fs::remove_file(folder.join(output)).expect("is there");
        for at in some(calls) {
            let call = "write";
            let run = faulty(
                folder,
                &arguments,
                Fault {
                    call,
                    how: FULL,
                    at,
                },
            );
            // What is left of the folder when all is done, no one misses.
            if run.code != Some(0) {
                run.fails(&["No space left"]);
                assert!(!folder.join(output).exists(), "{arguments}, call {at}");
                bochner(folder, &arguments, &[]).ok();
            }
            assert!(contents(folder) == expected, "{arguments}, call {at}");
            fs::remove_file(folder.join(output)).expect("is there");
        }
    }
}

/// Between any two of its calls that change a file: while a temporary file is written, after it is
/// on the disk and has no name yet, after it has its name, while the folder is swept.
#[test]
fn a_run_that_is_killed_at_any_step_goes_on() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for (command, output) in [(FIT, "model"), (FEATURIZE, "z.npy"), (PREDICT, "p.csv")] {
        let arguments = format!("{command} -q -o {output} --checkpoint kept --every 8000");
        let calls = count(folder, &arguments, "write");
        let expected = contents(folder);
        fs::remove_file(folder.join(output)).expect("is there");
        for at in some(calls) {
            let how = "kill";
            let run = faulty(
                folder,
                &arguments,
                Fault {
                    call: "write",
                    how,
                    at,
                },
            );
            assert_eq!(run.code, None, "{arguments}, call {at}: {run:?}");
            if let Ok(found) = fs::read(folder.join(output)) {
                assert!(
                    found == expected[&folder.join(output)],
                    "half of it has the name"
                );
            }
            bochner(folder, &arguments, &[]).ok();
            assert!(contents(folder) == expected, "{arguments}, call {at}");
            fs::remove_file(folder.join(output)).expect("is there");
        }
    }
}

/// A system that starts no more threads: of the pool, of the reader, of the signals and the bar.
#[test]
fn a_thread_that_does_not_start_is_one_line() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for (command, output) in [(FIT, "model"), (FEATURIZE, "z.npy"), (PREDICT, "p.csv")] {
        let arguments = format!("{command} -q -o {output}");
        let calls = count(folder, &arguments, "thread");
        assert!(calls > 0, "{arguments}: {calls} calls");
        fs::remove_file(folder.join(output)).expect("is there");
        let before = contents(folder);
        for at in 1..=calls {
            // EAGAIN.
            let (call, how) = ("thread", "11");
            let run = faulty(folder, &arguments, Fault { call, how, at });
            assert_eq!(run.code, Some(1), "{arguments}, thread {at}: {run:?}");
            run.fails(&["thread"]);
            assert!(contents(folder) == before, "{arguments}, thread {at}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_on_is_one_line() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    let mut inputs = vec!["x.npy", "x.csv"];
    if cfg!(feature = "parquet") {
        bochner(folder, &format!("{FEATURIZE} -q -o z.parquet"), &[]).ok();
        fs::rename(folder.join("z.parquet"), folder.join("x.parquet")).expect("renames");
        inputs.push("x.parquet");
    }
    for input in inputs {
        let arguments = format!("{} -q -o z.npy", FEATURIZE.replace("x.npy", input));
        let calls = count(folder, &arguments, "read");
        assert!(calls > 1, "{arguments}: {calls} calls");
        fs::remove_file(folder.join("z.npy")).expect("is there");
        let before = contents(folder);
        for at in some(calls) {
            let call = "read";
            let run = faulty(
                folder,
                &arguments,
                Fault {
                    call,
                    how: BROKEN,
                    at,
                },
            );
            run.fails(&[input, "Input/output error"]);
            assert!(contents(folder) == before, "{arguments}, call {at}");
        }
    }
}

/// A disk of its own, where the system lets everyone make one.
#[test]
fn a_small_disk_is_full() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    fs::create_dir(folder.join("small")).expect("makes");
    let within = |script: &str, arguments: &str| {
        let binary = command(folder);
        let mut shell = Command::new("unshare");
        shell
            .args(["-rm", "sh", "-c", script, "sh"])
            .arg(binary.get_program());
        shell.args(arguments.split_whitespace()).current_dir(folder);
        for (name, value) in binary.get_envs() {
            value.map(|value| shell.env(name, value));
        }
        shell.stdin(Stdio::null());
        finish(&mut shell)
    };
    let mount = "mount -t tmpfs -o size=128k none small";
    if Command::new("unshare").arg("--version").output().is_err()
        || within(mount, "").code != Some(0)
    {
        println!("not tried: this system gives nobody a disk; calls that fail are tried elsewhere");
        return;
    }
    for (command, output) in [(FEATURIZE, "z.npy"), (FEATURIZE, "z.parquet")] {
        if output.ends_with(".parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let run = within(
            &format!("{mount} && \"$@\"; status=$?; ls -A small; exit $status"),
            &format!("{command} -q -o small/{output}"),
        );
        // Nothing of it stays.
        run.fails(&[output, "No space left"]);
    }
}

#[test]
fn a_limit_on_files_is_one_line() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    let before = contents(folder);
    let binary = command(folder);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -f 16; exec \"$@\"", "sh"])
        .arg(binary.get_program());
    shell
        .args(FEATURIZE.split_whitespace())
        .args(["-q", "-o", "z.npy"]);
    for (name, value) in binary.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    finish(shell.current_dir(folder)).fails(&["z.npy", "File too large"]);
    assert!(contents(folder) == before);
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    let mut command = command(folder);
    command.args(FIT.split_whitespace()).args(["-q", "--json"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let run = command
        .stdout(full.expect("/dev/full"))
        .stderr(Stdio::piped());
    let output = run
        .spawn()
        .expect("starts")
        .wait_with_output()
        .expect("waits");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("error: ") && said.lines().count() == 1,
        "{said}"
    );
    assert!(said.contains("No space left"), "{said}");
}

/// Root reads and writes all folders, so that it tries this as nobody.
#[test]
fn folders_without_leave_are_one_line() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    let is_root = fs::metadata("/proc/self").is_ok_and(|m| {
        use std::os::unix::fs::MetadataExt;
        m.uid() == 0
    });
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("is ours");
    };
    // Whatever the umask: nobody may read what is not closed.
    mode(folder, 0o755);
    mode(&folder.join("x.npy"), 0o644);
    for name in ["closed", "read-only"] {
        fs::create_dir(folder.join(name)).expect("makes");
        fs::copy(folder.join("x.npy"), folder.join(name).join("x.npy")).expect("copies");
    }
    mode(&folder.join("closed"), 0o000);
    mode(&folder.join("read-only"), 0o555);
    let denied = |arguments: &str, says: &str| {
        let mut command = command(folder);
        command.args(arguments.split_whitespace());
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        match command.output() {
            Err(error) if is_root => println!("not tried: nobody starts the program here: {error}"),
            _ => finish(&mut command).fails(&[says, "denied"]),
        }
    };
    let at = |input: &str| format!("{} -q -o z.npy", FEATURIZE.replace("x.npy", input));
    denied(&at("closed"), "closed");
    denied(&at("closed/x.npy"), "closed/x.npy");
    denied(
        &format!("{FEATURIZE} -q -o read-only/z.npy"),
        "read-only/z.npy",
    );
    denied(&format!("{FEATURIZE} -q -o closed/z.npy"), "closed");
    denied(
        &format!("{FEATURIZE} -q -o z.npy --checkpoint read-only/kept"),
        "read-only/kept",
    );
    mode(&folder.join("closed"), 0o755);
    mode(&folder.join("read-only"), 0o755);
}
