//! The program of an archive where it is started: here, or in an emulator.

use crate::folders::root;
use crate::models::{self, JUDGED};
use crate::process::capture;
use crate::toolchain::emulator;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that starts.
pub(super) struct Program {
    path: PathBuf,
    /// The words before it, none where it starts as it is.
    words: Vec<String>,
}

impl Program {
    /// What starts the program of a target; none where nothing does.
    pub(super) fn find(path: &Path, target: &str) -> Option<Self> {
        let plain = Self {
            path: path.to_owned(),
            words: Vec::new(),
        };
        if plain.starts() {
            return Some(plain);
        }
        let machine = target.split('-').next().unwrap_or(target);
        // Where a cross compiler has its libraries; what is static needs none.
        let libraries = format!("/usr/{machine}-linux-gnu");
        let words = vec![emulator(target)?, "-L".into(), libraries];
        Some(Self { words, ..plain }).filter(Self::starts)
    }

    fn starts(&self) -> bool {
        capture(self.command().arg("--version")).is_ok()
    }

    fn command(&self) -> Command {
        let Some((program, rest)) = self.words.split_first() else {
            return Command::new(&self.path);
        };
        let mut command = Command::new(program);
        command.args(rest).arg(&self.path);
        command
    }

    /// What shells need to complete commands, by the program itself.
    pub(super) fn completions(&self, to: &Path) -> Result<()> {
        fs::create_dir_all(to)?;
        for (shell, file) in [
            ("bash", "bochner.bash"),
            ("zsh", "_bochner"),
            ("fish", "bochner.fish"),
            ("powershell", "bochner.ps1"),
        ] {
            let script = capture(self.command().args(["completions", shell]))?;
            fs::write(to.join(file), script)?;
        }
        Ok(())
    }

    /// Fits digits on the CPU: the accuracy, and the model in that file.
    fn fit(&self, model: &Path) -> Result<f64> {
        let mut fit = self.command();
        fit.current_dir(root())
            .args(["fit", "data/digits.csv", "--target", "label"])
            .args(["--features", "500", "--test", "0.5", "--device", "cpu"])
            .args(["--json", "--quiet", "--output"])
            .arg(model)
            .env("BOCHNER_CACHE", "off")
            // The matrix unit of some processors sums in an order of its own.
            .env("BOCHNER_UNITS", "none");
        let report: Value = serde_json::from_str(&capture(&mut fit)?)?;
        let accuracy = report["accuracy"].as_f64();
        accuracy.context("a report without `accuracy`")
    }

    /// Has it fit digits, and compares the model with that of the program of this machine.
    pub(super) fn against(&self, own: &Self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        let [there, here] = ["there.model", "here.model"].map(|name| folder.join(name));
        let accuracy = self.fit(&there)?;
        own.fit(&here)?;
        let (there, here) = (fs::read(there)?, fs::read(here)?);
        let bytes = models::compare(&here, &there, &JUDGED).context("digits")?;
        let by = self.words.first();
        let by = by.map_or(String::new(), |emulator| format!(" under {emulator}"));
        println!(
            "digits {accuracy:.4}{by}; all that the model predicts by is as here: {bytes} bytes"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::folders::root;
    use std::path::Path;

    #[test]
    fn a_program_that_is_none_does_not_start() {
        let starts = |path: &Path| Program::find(path, "none").is_some();
        assert!(!starts(&root().join("Cargo.toml")));
        assert!(!starts(&root().join("no such program")));
        assert!(starts(Path::new("cargo")));
    }
}
