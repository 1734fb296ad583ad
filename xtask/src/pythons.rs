//! Pythons that this machine has not: of other versions, and of another processor.
//!
//! They are Debian's, unpacked under target/ and not installed. Those of another processor run in
//! an emulator.

use crate::folders::target_dir;
use crate::process::{capture, run};
use crate::software::{has_apt, unpack_all};
use crate::toolchain::emulator;
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest that a wheel is for and the newest, with the releases of Debian that have them.
const VERSIONS: [(&str, &str); 2] = [("3.9", "bullseye"), ("3.14", "forky")];
/// What is unpacked; the second is for numpy.
const PACKAGES: [&str; 2] = ["python3", "libstdc++6"];
/// The newest C library whose wheels are taken: that of the older release.
const NEWEST_GLIBC: u32 = 31;

/// An interpreter, and where packages for it are put.
pub(crate) struct Interpreter {
    version: String,
    /// The words that start it.
    words: Vec<OsString>,
    /// The names of what it runs on, as wheels have them.
    platforms: Vec<String>,
    site: PathBuf,
}

/// Those that a wheel for `target` is to be tried with: the one that `WHEEL_PYTHON` starts, where
/// that is set, or Debian's.
pub(crate) fn of(target: &str) -> Result<Vec<Interpreter>> {
    if let Ok(words) = env::var("WHEEL_PYTHON") {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        let (program, rest) = words.split_first().context("WHEEL_PYTHON is empty")?;
        let mut python = Command::new(program);
        python.args(rest);
        python.args(["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
        let version = capture(&mut python)?.trim().to_owned();
        return Ok(vec![Interpreter::new(target, &version, words)?]);
    }
    let versions = VERSIONS.into_iter();
    let all = versions.map(|(version, release)| {
        let words = debian(target, version, release).with_context(|| {
            format!("no Python {version} of {target}; WHEEL_PYTHON may name one")
        })?;
        Interpreter::new(target, version, words)
    });
    all.collect()
}

impl Interpreter {
    fn new(target: &str, version: &str, words: Vec<OsString>) -> Result<Self> {
        let site = format!("{target}-{version}");
        Ok(Self {
            version: version.to_owned(),
            words,
            platforms: platforms(target)?,
            site: target_dir().join("pythons/packages").join(site),
        })
    }

    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Puts a wheel beside what it needs, by the `pip` of this machine, which refuses what is not
    /// for that interpreter.
    pub(crate) fn install(&self, pip: &Path, needed: &[&str], wheel: &Path) -> Result<()> {
        if !self.site.exists() {
            // Moved to its place when complete.
            let part = self.site.with_extension("part");
            let _ = fs::remove_dir_all(&part);
            run(self.pip(pip, &part).args(needed))?;
            fs::rename(&part, &self.site)?;
        }
        run(self
            .pip(pip, &self.site)
            .args(["--no-deps", "--upgrade"])
            .arg(wheel))
    }

    fn pip(&self, python: &Path, site: &Path) -> Command {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "--disable-pip-version-check", "install"])
            .args(["--quiet", "--only-binary=:all:", "--python-version"])
            .arg(&self.version);
        for platform in &self.platforms {
            pip.args(["--platform", platform]);
        }
        pip.arg("--target").arg(site);
        pip
    }

    /// A command that runs what follows, with what was installed.
    pub(crate) fn command(&self) -> Command {
        let mut python = Command::new(&self.words[0]);
        python
            .args(&self.words[1..])
            .env("PYTHONPATH", &self.site)
            .env("PYTHONNOUSERSITE", "1")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }
}

/// What a target's wheels may be for, as their names have it.
fn platforms(target: &str) -> Result<Vec<String>> {
    let machine = target.split('-').next().unwrap_or(target);
    let named = |name: String| format!("{name}_{machine}");
    if target.ends_with("-linux-gnu") {
        let known = (17..=NEWEST_GLIBC).map(|minor| format!("manylinux_2_{minor}"));
        Ok(known.map(named).collect())
    } else if target.ends_with("-linux-musl") {
        Ok(["musllinux_1_1", "musllinux_1_2"]
            .map(|name| named(name.into()))
            .into())
    } else {
        bail!("a wheel for {target} is tried on such a machine alone");
    }
}

/// Debian's Python of that version, and what has to stand before it.
fn debian(target: &str, version: &str, release: &str) -> Result<Vec<OsString>> {
    let machine = match target {
        "x86_64-unknown-linux-gnu" => "amd64",
        "aarch64-unknown-linux-gnu" => "arm64",
        _ => bail!("Debian has none"),
    };
    let emulated = !target.starts_with(env::consts::ARCH);
    let emulator = emulator(target).filter(|_| emulated);
    if emulated && emulator.is_none() {
        bail!("no emulator; type `sudo apt-get install qemu-user`");
    }
    let system = target_dir().join(format!("pythons/{release}-{machine}"));
    if !system.exists() {
        if !has_apt() {
            bail!("it is taken from Debian's packages, and apt is not here");
        }
        eprintln!("fetching Python {version} (Debian's for {machine}, 20 MB, unpacked only)");
        unpack_all(&PACKAGES, machine, release, &system)?;
    }
    let python = system.join(format!("usr/bin/python{version}"));
    let mut words = match emulator {
        Some(emulator) => vec![emulator.into(), "-L".into(), system.into()],
        None => own_loader(&system, &target.replace("-unknown", ""))?,
    };
    words.push(python.into());
    Ok(words)
}

/// The loader of a system, told where its libraries are: those of this machine are another's.
fn own_loader(system: &Path, name: &str) -> Result<Vec<OsString>> {
    let folders = ["lib", "usr/lib"].map(|folder| system.join(folder).join(name));
    let entries = folders[0].read_dir();
    let entries = entries.with_context(|| folders[0].display().to_string())?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let is_loader = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("ld-linux")
    };
    let loader = paths.find(is_loader).context("a system without a loader")?;
    let libraries = env::join_paths(folders)?;
    Ok(vec![loader.into(), "--library-path".into(), libraries])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::root;

    #[test]
    fn the_oldest_python_is_that_of_the_package() {
        let [(oldest, _), (newest, _)] = VERSIONS;
        let manifest = fs::read_to_string(root().join("python/pyproject.toml")).unwrap();
        assert!(manifest.contains(&format!("requires-python = \">={oldest}\"\n")));
        let workflow = fs::read_to_string(root().join(".github/workflows/wheels.yml")).unwrap();
        assert!(workflow.contains(&format!("python: [\"{oldest}\", \"{newest}\"]\n")));
    }

    #[test]
    fn wheels_are_taken_for_what_the_interpreter_runs_on() {
        let named = |target: &str| platforms(target).unwrap();
        let arm = named("aarch64-unknown-linux-gnu");
        assert_eq!(arm[0], "manylinux_2_17_aarch64");
        assert_eq!(arm.last().unwrap(), "manylinux_2_31_aarch64");
        let musl = named("x86_64-unknown-linux-musl");
        assert!(musl.contains(&"musllinux_1_2_x86_64".to_owned()));
        assert!(platforms("x86_64-pc-windows-msvc").is_err());
    }
}
