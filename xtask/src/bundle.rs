//! What measures a machine that has neither a toolchain nor this repository: the program, the
//! scripts of peers and `run-all`, in a folder and an archive.

use crate::dist;
use crate::folders::{root, target_dir};
use crate::process::run;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the folder may weigh, bytes: such machines take little at a time.
const MOST: u64 = 48_000_000;
const NAME: &str = "bochner-bench";
/// Scripts and where they lie in the folder.
const SCRIPTS: [(&str, &str); 4] = [
    ("benches/bundle/run-all", "run-all"),
    ("benches/peers/gpu.py", "peers/gpu.py"),
    ("benches/peers/common.py", "peers/common.py"),
    ("benches/peers/clocks.py", "peers/clocks.py"),
];

/// Builds the program and puts the folder and its archive under target/.
pub(crate) fn build() -> Result<()> {
    let program = dist::program()?;
    let folder = target_dir().join(NAME);
    let bytes = put_together(&program, &folder)?;
    if bytes > MOST {
        bail!(
            "{} has {:.1} MB, more than {} MB",
            folder.display(),
            bytes as f64 / 1e6,
            MOST / 1_000_000
        );
    }
    let archive = target_dir().join(format!("{NAME}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(target_dir());
    run(tar.arg(NAME))?;
    println!(
        "{}: {:.1} MB, {}: {:.1} MB; on the other machine: ./run-all",
        folder.display(),
        bytes as f64 / 1e6,
        archive.display(),
        fs::metadata(&archive)?.len() as f64 / 1e6
    );
    Ok(())
}

/// Copies the program and the scripts into a new folder, and returns its bytes.
fn put_together(program: &Path, folder: &Path) -> Result<u64> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder.join("peers"))?;
    let scripts = SCRIPTS.iter().map(|(from, to)| (root().join(from), *to));
    let files = scripts.chain([(program.to_path_buf(), "bochner")]);
    let mut bytes = 0;
    for (from, to) in files {
        // The permissions come along.
        bytes += fs::copy(&from, folder.join(to)).with_context(|| from.display().to_string())?;
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;
    use std::process::Output;

    /// A folder whose `bochner` is a script, which says how it was called.
    fn folder(name: &str, script: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("{NAME}-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("fake");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let bundle = folder.join("bundle");
        assert!(put_together(&program, &bundle).unwrap() > 1000);
        bundle
    }

    fn run_all(bundle: &Path, arguments: &[&str]) -> (Output, String) {
        let output = Command::new(bundle.join("run-all"))
            .args(arguments)
            .current_dir(bundle)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output, said)
    }

    #[test]
    fn steps_come_in_order_and_what_they_say_is_kept() {
        let bundle = folder("order", "echo \"called with $*\"");
        let (output, said) = run_all(&bundle, &["--device", "raster"]);
        assert!(output.status.success(), "{output:?}");
        let calls: Vec<_> = said.lines().filter(|l| l.starts_with("called")).collect();
        assert_eq!(
            calls,
            [
                "called with devices",
                "called with bench --check",
                "called with bench --tune --device raster",
                "called with bench --device raster",
                "called with bench --crossing --device raster",
            ]
        );
        let kept = fs::read_to_string(bundle.join("results/check.txt")).unwrap();
        assert_eq!(kept, "called with bench --check\n");
        fs::remove_dir_all(bundle.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_step_that_is_too_long_is_stopped_and_those_behind_it_are_left_out() {
        // Time to be called in on a busy machine, and to sleep for far longer.
        let bundle = folder("budget", "echo \"called with $*\"\nsleep 900");
        let start = std::time::Instant::now();
        let (output, said) = run_all(&bundle, &["--budget", "6"]);
        assert!(start.elapsed().as_secs() < 300);
        assert!(said.contains("== devices: stopped after"), "{said}");
        assert!(said.contains("== crossing: left out"), "{said}");
        // What it had said is there; but nothing got to its end.
        let kept = fs::read_to_string(bundle.join("results/devices.txt")).unwrap();
        assert_eq!(kept, "called with devices\n");
        assert_eq!(output.status.code(), Some(1), "{said}");
        fs::remove_dir_all(bundle.parent().unwrap()).unwrap();
    }

    #[test]
    fn wrong_results_and_wrong_options_are_no_success() {
        let bundle = folder("wrong", "case \"$*\" in *--check) exit 1 ;; esac");
        let (output, said) = run_all(&bundle, &[]);
        assert!(said.contains("== check: failed with status 1"), "{said}");
        assert!(said.contains("== bench: done"), "{said}");
        assert_eq!(output.status.code(), Some(1), "{said}");
        for arguments in [&["--budget"][..], &["--budget", "soon"], &["--fast"]] {
            assert_eq!(run_all(&bundle, arguments).0.status.code(), Some(2));
        }
        fs::remove_dir_all(bundle.parent().unwrap()).unwrap();
    }
}
