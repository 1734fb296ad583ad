//! Runs that are killed go on, and end in the same bits.

use crate::{bochner, command, faults, finish, here};
use bochner::data::NpyWriter;
use ndarray::Array2;
use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// How often each run is killed: more where the environment says so.
fn kills() -> usize {
    let given = std::env::var("BOCHNER_KILLS").ok();
    given.map_or(3, |given| given.parse().expect("BOCHNER_KILLS is a number"))
}

/// Moments that are drawn, the same in every run of the test.
struct Moments(u64);

impl Moments {
    /// Between nothing and `most`.
    fn next(&mut self, most: Duration) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        most.mul_f64((self.0 >> 40) as f64 / 2.0_f64.powi(24))
    }
}

fn data(folder: &Path, rows: usize) {
    let x = Array2::from_shape_fn((rows, 5), |(i, j)| {
        ((i * (7 + j) + 3 * j) % 101) as f32 / 25.0
    });
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| x[[i, 0]].sin() + x[[i, 1]]);
    for (name, rows) in [("x.npy", &x), ("y.npy", &y)] {
        let mut file = NpyWriter::create(folder.join(name), rows.ncols()).expect("creates");
        file.write_rows(rows.view()).expect("writes");
        file.finish().expect("finishes");
    }
}

fn start(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder);
    let command = command.args(arguments.split(' ')).stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().expect("starts")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

const FIT: &str = "fit x.npy --targets y.npy --task regression --features 48 --gamma 0.1 --device \
    cpu -o model --lambda 1e-6 --checkpoint kept --every 16000";
/// Each row counts by its age among all, of which the run that goes on reads the last alone.
const FADING: &str = "fit x.npy --targets y.npy --task regression --features 24 --gamma 0.1 \
    --device cpu -o model --lambda 1e-6 --half-life 20000 --checkpoint kept --every 16000";
const BOOST: &str = "fit x.npy --targets y.npy --task regression --features 48 --gamma 0.1 \
    --device cpu --model boosting -o model --checkpoint kept --every 17000";
const FEATURIZE: &str = "featurize x.npy --features 64 --gamma 0.1 --device cpu -o z.npy \
    --checkpoint kept --every 5000";
const PREDICT: &str = "predict base x.npy --device cpu -o p.csv --checkpoint kept --every 5000";
const CLASSES: &str = "predict classes x.npy --device cpu -o p.npy --probabilities q.csv \
    --checkpoint kept --every 7000";

/// Rows of the data: six times as many as sums go on from.
const ROWS: usize = 100_000;

/// A write of each of these when some steps are kept and some are left.
fn late(arguments: &str) -> usize {
    if arguments.starts_with("fit") { 8 } else { 30 }
}

/// Data, a regression and a classifier with probabilities.
fn prepare(folder: &Path) {
    data(folder, ROWS);
    let fit = "fit x.npy --targets y.npy --task regression --features 32 --gamma 0.1 -q --device \
        cpu -o base";
    bochner(folder, fit, &[]).ok();
    let few = folder.join("few");
    fs::create_dir(&few).expect("makes");
    let x = Array2::from_shape_fn((200, 5), |(i, j)| {
        ((i * (7 + j) + 3 * j) % 101) as f32 / 25.0
    });
    let y = x
        .column(0)
        .mapv(|v| f32::from(v > 2.0))
        .insert_axis(ndarray::Axis(1));
    for (name, rows) in [("x.npy", &x), ("y.npy", &y.to_owned())] {
        let mut file = NpyWriter::create(few.join(name), rows.ncols()).expect("creates");
        file.write_rows(rows.view()).expect("writes");
        file.finish().expect("finishes");
    }
    let fit = "fit few/x.npy --targets few/y.npy --model logistic --features 16 --gamma 0.1 -q \
        --device cpu -o classes";
    bochner(folder, fit, &[]).ok();
}

#[test]
fn killed_runs_go_on_to_the_same_bits() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    let mut moments = Moments(9);
    for (arguments, outputs) in [
        (FIT, &["model"] as &[&str]),
        (FADING, &["model"]),
        (BOOST, &["model"]),
        (FEATURIZE, &["z.npy"]),
        (PREDICT, &["p.csv"]),
        (CLASSES, &["p.npy", "q.csv"]),
    ] {
        let bytes = || -> Vec<_> {
            let read = |name| fs::read(folder.join(name)).expect("reads");
            outputs.iter().map(read).collect()
        };
        let begin = Instant::now();
        bochner(folder, arguments, &[]).ok();
        let took = begin.elapsed();
        let expected = bytes();
        let remove = || {
            for name in outputs {
                fs::remove_file(folder.join(name)).expect("is there");
            }
        };
        remove();
        let before = names(folder);
        // Once where something is kept for certain; then whenever, which may be before that.
        let mut child = faults::stopped(folder, arguments, late(arguments));
        child.kill().expect("kills");
        child.wait().expect("waits");
        let next = bochner(folder, arguments, &[]).ok();
        assert!(next.stderr.contains("goes on after"), "{next:?}");
        assert!(bytes() == expected, "{arguments}: other bits");
        remove();
        for _ in 0..kills() {
            let mut child = start(folder, arguments);
            sleep(moments.next(took));
            child.kill().expect("kills");
            let output = child.wait_with_output().expect("waits");
            if output.status.success() {
                // It was done before; another begins.
                assert_eq!(bytes(), expected, "{arguments}");
                remove();
            }
        }
        bochner(folder, arguments, &[]).ok();
        assert!(bytes() == expected, "{arguments}: other bits");
        remove();
        assert_eq!(names(folder), before, "nothing stays");
    }
}

/// Whatever the steps are, and where there are none.
#[test]
fn steps_change_no_bit() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for (arguments, name) in [
        (FIT, "model"),
        (BOOST, "model"),
        (FEATURIZE, "z.npy"),
        (PREDICT, "p.csv"),
    ] {
        let (at_once, _) = arguments.split_once(" --checkpoint").expect("has steps");
        let other = format!("{at_once} --checkpoint kept --every 30011");
        let [steps, at_once, other] = [arguments, at_once, &other].map(|arguments| {
            bochner(folder, arguments, &[]).ok();
            fs::read(folder.join(name)).expect("reads")
        });
        assert!(steps == other, "{arguments}: other bits by other steps");
        assert!(steps == at_once, "{arguments}: other bits without steps");
    }
}

#[test]
fn interrupted_runs_finish_a_step_and_say_how_to_go_on() {
    let here = here();
    let folder = here.path();
    prepare(folder);
    for arguments in [FIT, FEATURIZE] {
        let name = if arguments == FIT { "model" } else { "z.npy" };
        bochner(folder, arguments, &[]).ok();
        let expected = fs::read(folder.join(name)).expect("reads");
        fs::remove_file(folder.join(name)).expect("is there");
        let child = faults::stopped(folder, arguments, late(arguments));
        let state = folder.join("kept");
        assert!(state.join("sums").exists() || state.join("state.json").exists());
        faults::signal(&child, "-TERM");
        let output = child.wait_with_output().expect("waits");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(143), "{said}");
        let last = said.lines().last().unwrap_or_default();
        assert!(
            last.contains("are done and kept in kept: the same command goes on"),
            "{said}"
        );
        assert!(!folder.join(name).exists());
        // Sums go on in other steps as well.
        let again = match arguments {
            FIT => FIT.replace("--every 16000", "--every 40000"),
            other => other.to_owned(),
        };
        let again = bochner(folder, &again, &[]).ok();
        assert!(again.stderr.contains("goes on after"), "{again:?}");
        assert!(fs::read(folder.join(name)).expect("reads") == expected);
    }
}

/// Dates a file an hour back, which is seen however coarse the dates of its disk are.
fn date_back(path: &Path) {
    let file = fs::File::options().write(true).open(path).expect("opens");
    let modified = file.metadata().and_then(|found| found.modified());
    let before = modified.expect("is dated") - Duration::from_secs(3600);
    file.set_modified(before).expect("dates");
}

/// Leaves a checkpoint of a run behind.
fn leave(folder: &Path, arguments: &str, name: &str) {
    let mut child = faults::stopped(folder, arguments, late(arguments));
    child.kill().expect("kills");
    child.wait().expect("waits");
    assert!(folder.join("kept").join(name).exists(), "nothing is kept");
}

#[test]
fn checkpoints_of_other_runs_are_told_apart() {
    let here = here();
    let folder = here.path();
    data(folder, ROWS);
    let refused = |arguments: &str, says: &str| {
        bochner(folder, &format!("{arguments} -q"), &[]).fails(&["is of another run", says]);
    };
    leave(folder, FIT, "sums");
    refused(&FIT.replace("48", "32"), "--features was 48 and is 32");
    refused(
        &FIT.replace("1e-6", "1e-2"),
        "--lambda was 1e-6 and is 1e-2",
    );
    refused(
        &format!("{FIT} --memory 3M"),
        "--memory was not given and is 3M",
    );
    bochner(folder, &format!("{BOOST} -q"), &[]).fails(&["is of another run"]);
    // Locked by a live run.
    let lock = fs::File::create(folder.join("kept/.bochner-lock")).expect("opens");
    lock.try_lock().expect("locks");
    bochner(folder, &format!("{FIT} -q"), &[]).fails(&["has not ended"]);
    drop(lock);
    // The same rows under another date are other data, as far as a file tells.
    date_back(&folder.join("y.npy"));
    refused(FIT, "file of targets was ");
    fs::remove_dir_all(folder.join("kept")).expect("removes");
    leave(folder, FEATURIZE, "state.json");
    refused(
        &FEATURIZE.replace("0.1", "0.2"),
        "--gamma was 0.1 and is 0.2",
    );
    date_back(&folder.join("x.npy"));
    refused(FEATURIZE, "file was ");
}

/// Whatever a kill leaves in the folder, the run goes on or begins again; what nothing of ours
/// leaves is refused.
#[test]
fn every_state_of_a_folder_is_gone_on_from_or_refused() {
    let here = here();
    let folder = here.path();
    data(folder, ROWS / 2);
    let kept = folder.join("kept");
    bochner(folder, FEATURIZE, &[]).ok();
    let expected = fs::read(folder.join("z.npy")).expect("reads");
    let ends_well = |what: &str| {
        let _ = fs::remove_file(folder.join("z.npy"));
        bochner(folder, FEATURIZE, &[]).ok();
        let found = fs::read(folder.join("z.npy")).expect("reads");
        assert!(found == expected, "{what}");
        assert!(!kept.exists(), "{what}");
    };
    let run = || bochner(folder, &format!("{FEATURIZE} -q"), &[]);
    // A part alone, which no run made.
    fs::create_dir(&kept).expect("makes");
    fs::write(kept.join("output-0.part"), "mine").expect("writes");
    run().fails(&["output-0.part", "without the state.json of a run"]);
    fs::remove_file(kept.join("output-0.part")).expect("removes");
    // Before the first state: the half of its temporary file.
    fs::write(kept.join(".bochner-4000000001-abcdef.tmp"), "{\"giv").expect("writes");
    ends_well("before the first state");
    // Rows beyond the state.
    leave(folder, FEATURIZE, "state.json");
    let part = kept.join("output-0.part");
    let mut bytes = fs::read(&part).expect("reads");
    bytes.extend([1; 12_345]);
    fs::write(&part, bytes).expect("writes");
    ends_well("rows beyond the state");
    // The output has its name and the state is still there.
    leave(folder, FEATURIZE, "state.json");
    fs::remove_file(&part).expect("removes");
    ends_well("after the rename");
    // What is none of ours.
    leave(folder, FEATURIZE, "state.json");
    let state = fs::read_to_string(kept.join("state.json")).expect("reads");
    fs::write(&part, "short").expect("writes");
    run().fails(&["output-0.part", "were written"]);
    for text in [
        "",
        "{",
        "[]",
        "{\"given\":{},\"done\":[]}",
        "{\"given\":{},\"done\":[[-1,2]]}",
        "{\"given\":3,\"done\":[[1,2]]}",
        &state[..state.len() / 2],
        &"[".repeat(100_000),
    ] {
        fs::write(kept.join("state.json"), text).expect("writes");
        run().fails(&["state.json", "is no checkpoint"]);
    }
    fs::remove_file(kept.join("state.json")).expect("removes");
    let fifo = Command::new("mkfifo").arg(kept.join("state.json")).status();
    assert!(fifo.expect("mkfifo is there").success());
    run().fails(&["state.json", "no regular file"]);
    fs::remove_dir_all(&kept).expect("removes");
    fs::create_dir(&kept).expect("makes");
    fs::write(kept.join("sums"), "nothing").expect("writes");
    finish(command(folder).args(FIT.split(' ')).arg("-q")).fails(&["not a file of bochner"]);
}

/// A model of a table knows what its text became, however it was fitted.
#[test]
fn tables_of_text_are_fitted_in_steps() {
    let here = here();
    let folder = here.path();
    let mut text = String::from("job,hours,income\n");
    for i in 0..300 {
        let (job, hours) = (["sales", "craft", "exec"][i * 5 % 3], 20 + i * 13 % 40);
        let income = if job == "exec" || hours > 45 {
            "high"
        } else {
            "low"
        };
        text += &format!("{job},{hours},{income}\n");
    }
    fs::write(folder.join("t.csv"), text).expect("writes");
    let fit = "fit t.csv --target income --features 40 --lambda 1e-3 -q --device cpu -o m";
    let predicted = |more: &[&str]| {
        bochner(folder, fit, more).ok();
        let predict = "predict m t.csv --target income -q --device cpu -o p.csv";
        bochner(folder, predict, &[]).ok();
        fs::read_to_string(folder.join("p.csv")).expect("reads")
    };
    let at_once = predicted(&[]);
    assert!(at_once.contains("high"), "{at_once}");
    assert_eq!(
        predicted(&["--checkpoint", "kept", "--every", "70"]),
        at_once
    );
    let shard = fit.replace("-o m", "--shard 1/2 --partial s");
    bochner(folder, &shard, &[]).fails(&["columns of text", "--checkpoint"]);
}
