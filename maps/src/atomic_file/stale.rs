//! Temporary files that runs left which were killed.

use super::{COPY, PREFIX, SUFFIX};
use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Removes what killed runs left in a folder, once in each. A file goes only when the process of
/// its name is gone and nobody holds its lock, so that those of live runs stay, also where process
/// numbers come again or are those of another machine.
pub(crate) fn sweep(directory: &Path) {
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
    let found = std::fs::symlink_metadata(path);
    let ours = found.is_ok_and(|found| found.is_file() || found.is_dir());
    let Some(file) = ours.then(|| File::open(path).ok()).flatten() else {
        return;
    };
    if let Err(TryLockError::WouldBlock | TryLockError::Error(_)) = file.try_lock() {
        return;
    }
    let removed = if path.is_dir() {
        remove_copy(path)
    } else {
        std::fs::remove_file(path)
    };
    match removed {
        Ok(()) => log::debug!("removed {}, which a killed run left", path.display()),
        Err(error) => log::debug!("{} stays: {error}", path.display()),
    }
}

/// Removes a folder that holds a copy of standard input and nothing else.
fn remove_copy(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(COPY) {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::remove_dir(folder)
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
        // Copies of standard input, one of a live run, and a folder in which something else lies.
        let copy = |number: u64, name: &str| {
            let folder = at(&format!("{PREFIX}{number}-folder{SUFFIX}"));
            std::fs::create_dir(&folder).expect("makes");
            std::fs::write(folder.join(name), "x").expect("writes");
            File::open(folder).expect("opens")
        };
        copy(4_000_000_004, "standard input.csv");
        let live = copy(4_000_000_005, "standard input.npy");
        live.try_lock().expect("locks");
        copy(4_000_000_006, "notes.csv");
        sweep(folder.path());
        let names = std::fs::read_dir(folder.path()).expect("a folder");
        let names = names.map(|e| e.expect("an entry").file_name().into_string());
        let mut names: Vec<_> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        let mut expected = [
            ".bochner-4000000002-abcdef.tmp",
            ".bochner-4000000003-abcdef.tmp",
            ".bochner-4000000005-folder.tmp",
            ".bochner-4000000006-folder.tmp",
            &own,
            ".bochner-notes.tmp",
            "data.csv",
        ];
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
