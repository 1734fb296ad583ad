//! Temporary files that runs left which were killed.

use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// How the name of a temporary file begins, before the number of the process.
pub(super) const PREFIX: &str = ".bochner-";
/// How it ends.
pub(super) const SUFFIX: &str = ".tmp";

/// Removes what killed runs left in a folder, once in each. A file goes only when the process of
/// its name is gone and nobody holds its lock, so that those of live runs stay, also where process
/// numbers come again or are those of another machine.
pub(super) fn sweep(directory: &Path) {
    static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let known = directory.canonicalize();
    let known = known.unwrap_or_else(|_| directory.to_owned());
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.get_or_insert_default().insert(known) {
        return;
    }
    drop(swept);
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(process).is_some_and(is_gone) {
            remove(&entry.path());
        }
    }
}

/// The process in the name of a temporary file of this library.
fn process(name: &str) -> Option<u32> {
    let inner = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (process, drawn) = inner.split_once('-')?;
    let plain = !drawn.is_empty() && drawn.chars().all(|c| c.is_ascii_alphanumeric());
    plain.then(|| process.parse().ok())?
}

/// Whether there is no such process, as far as this system tells; its lock has the last word.
fn is_gone(process: u32) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || !all.join(process.to_string()).exists()
}

fn remove(path: &Path) {
    // Through a link, or into a device, nothing is ours.
    let regular = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let Some(file) = regular.then(|| File::open(path).ok()).flatten() else {
        return;
    };
    match file.try_lock() {
        Ok(()) => match std::fs::remove_file(path) {
            Ok(()) => log::debug!("removed {}, which a killed run left", path.display()),
            Err(error) => log::debug!("{} stays: {error}", path.display()),
        },
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_process() {
        for (name, expected) in [
            (".bochner-12-aB3xYz.tmp", Some(12)),
            (".bochner-12-.tmp", None),
            (".bochner-x-aB3xYz.tmp", None),
            (".bochner-12-a/b.tmp", None),
            (".bochner-12.tmp", None),
            ("bochner-12-aB3xYz.tmp", None),
            (".bochner-12-aB3xYz.tmp.csv", None),
            (".out.npy.aB3xYz.tmp", None),
        ] {
            assert_eq!(process(name), expected, "{name}");
        }
    }

    /// A file that is locked stays although its process is gone, and so does one of this process.
    #[test]
    fn what_killed_runs_left_goes_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        // No system numbers processes so high.
        let own = format!("{PREFIX}{}-abcdef{SUFFIX}", std::process::id());
        for name in [
            ".bochner-4000000001-abcdef.tmp",
            ".bochner-4000000002-abcdef.tmp",
            &own,
            ".bochner-notes.tmp",
            "data.csv",
        ] {
            std::fs::write(at(name), "x").expect("writes");
        }
        let held = File::open(at(".bochner-4000000002-abcdef.tmp")).expect("opens");
        held.try_lock().expect("locks");
        std::os::unix::fs::symlink(at("data.csv"), at(".bochner-4000000003-abcdef.tmp"))
            .expect("links");
        sweep(folder.path());
        let names = std::fs::read_dir(folder.path()).expect("a folder");
        let names = names.map(|e| e.expect("an entry").file_name().into_string());
        let mut names: Vec<_> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        let mut expected = [
            ".bochner-4000000002-abcdef.tmp",
            ".bochner-4000000003-abcdef.tmp",
            &own,
            ".bochner-notes.tmp",
            "data.csv",
        ];
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
