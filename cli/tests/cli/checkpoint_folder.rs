//! Checkpoint folders that others have filled.

use crate::{bochner, here};
use std::{fs, path::Path, process::Command};

const FIT: &str = "fit x.csv --target y --features 8 --gamma 0.1 --device cpu -o model --lambda \
    1e-3 --checkpoint kept";
const FEATURIZE: &str = "featurize x.csv --features 8 --gamma 0.1 --device cpu -o z.npy \
    --checkpoint kept";

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("is there").flatten();
    let names = entries.map(|entry| entry.file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("UTF-8")).collect();
    names.sort();
    names
}

/// No file of a folder is opened through a link, and none of the user's is emptied or removed.
#[test]
fn folders_of_somebody_else_reach_no_other_file() {
    let here = here();
    let folder = here.path();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 11, i % 13);
    let rows: String = (0..300).map(row).collect();
    fs::write(folder.join("x.csv"), format!("a,b,y\n{rows}")).expect("writes");
    let kept = folder.join("kept");
    let victim = folder.join("victim");
    fs::write(&victim, "precious").expect("writes");
    for (arguments, name) in [
        (FEATURIZE, ".bochner-lock"),
        (FEATURIZE, "output-0.part"),
        (FEATURIZE, "state.json"),
        (FIT, ".bochner-lock"),
        (FIT, "sums"),
    ] {
        let run = || bochner(folder, &format!("{arguments} -q"), &[]);
        let at = kept.join(name);
        for to in ["victim", "nowhere"] {
            fs::create_dir(&kept).expect("makes");
            std::os::unix::fs::symlink(Path::new("..").join(to), &at).expect("links");
            run().fails(&[name, "no regular file"]);
            fs::remove_dir_all(&kept).expect("removes");
        }
        fs::create_dir(&kept).expect("makes");
        fs::hard_link(&victim, &at).expect("links");
        run().fails(&[name, "no regular file"]);
        fs::remove_file(&at).expect("removes");
        let fifo = Command::new("mkfifo").arg(&at).status();
        assert!(fifo.expect("mkfifo is there").success());
        run().fails(&[name, "no regular file"]);
        fs::remove_dir_all(&kept).expect("removes");
    }
    assert_eq!(fs::read_to_string(&victim).expect("reads"), "precious");
    assert!(!folder.join("nowhere").exists());
    // Files of the user's stay, whatever they are called.
    fs::create_dir(&kept).expect("makes");
    fs::write(kept.join("lock"), "mine").expect("writes");
    bochner(folder, &format!("{FIT} -q"), &[]).ok();
    assert_eq!(names(&kept), ["lock"]);
    assert_eq!(
        fs::read_to_string(kept.join("lock")).expect("reads"),
        "mine"
    );
    fs::write(kept.join(".bochner-lock"), "mine").expect("writes");
    bochner(folder, &format!("{FIT} -q"), &[]).fails(&[".bochner-lock", "holds something"]);
    assert_eq!(names(&kept), [".bochner-lock", "lock"]);
}
