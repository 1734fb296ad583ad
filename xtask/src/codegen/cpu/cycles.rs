//! Cycles of a loop on processors that are not here, as llvm-mca models them.

use super::limits::{Loop, Set};
use crate::{folders::target_dir, process::capture};
use anyhow::{Context, Result, bail};
use std::{ffi::OsString, fs, process::Command};

/// Versions before this one model other processors than limits are of.
const OLDEST: u32 = 19;

/// Processors of a set of instructions, and by how much a loop may miss the floor there at least.
fn processors(set: Set) -> &'static [(&'static str, f64)] {
    match set {
        Set::Avx2 => &[
            ("znver3", 1.0),
            ("haswell", 1.25),
            ("skylake", 1.0),
            ("alderlake", 1.0),
        ],
        Set::Avx512 => &[("skylake-avx512", 1.0), ("sapphirerapids", 1.0)],
        Set::Neon => &[
            ("neoverse-n1", 1.25),
            ("neoverse-v1", 1.0),
            ("neoverse-v2", 1.0),
            ("apple-m1", 1.0),
        ],
    }
}

/// llvm-mca, where there is one.
pub(super) struct Mca(OsString);

impl Mca {
    /// The one that `LLVM_MCA` names, or the newest of Debian's names; none before version 19.
    pub(super) fn find() -> Option<Self> {
        let names = (OLDEST..OLDEST + 10).rev().map(|v| format!("llvm-mca-{v}"));
        let names = std::iter::once("llvm-mca".into()).chain(names);
        let mut all = std::env::var_os("LLVM_MCA")
            .into_iter()
            .chain(names.map(OsString::from));
        all.find(|name| {
            let says = capture(Command::new(name).arg("--version")).unwrap_or_default();
            version(&says).is_some_and(|version| version >= OLDEST)
        })
        .map(Self)
    }

    /// Cycles of a turn of the loop over those of its multiply-adds alone, processor by processor;
    /// errs where one is beyond what the loop may take.
    ///
    /// Hints are left out: the model has loads wait for them as for stores.
    pub(super) fn hold(&self, of: &Loop, set: Set, lines: &[&str]) -> Result<String> {
        let is_hint = |line: &&str| line.starts_with("prefetch") || line.starts_with("prfm");
        let turn: Vec<_> = lines
            .iter()
            .filter(|line| !is_hint(line))
            .copied()
            .collect();
        let is_sum = |line: &&&str| {
            ["vfmadd", "vfnmadd", "fmla"]
                .iter()
                .any(|f| line.starts_with(f))
        };
        let sums: Vec<_> = turn
            .iter()
            .filter(is_sum)
            .map(|line| of_registers(line))
            .collect();
        let mut words = Vec::new();
        for &(processor, least) in processors(set) {
            let turn = self.cycles(set, processor, &turn.join("\n"))?;
            let floor = self.cycles(set, processor, &sums.join("\n"))?;
            let (ratio, most) = (turn / floor, of.cycles.max(least));
            if ratio > most {
                bail!(
                    "{turn:.1} cycles on {processor}, {ratio:.2} of its multiply-adds', at most {most}"
                );
            }
            words.push(format!("{ratio:.2} {processor}"));
        }
        Ok(words.join(", "))
    }

    /// Cycles of a turn, in the long run.
    fn cycles(&self, set: Set, processor: &str, text: &str) -> Result<f64> {
        const TURNS: u32 = 200;
        let path = target_dir().join("loops").join("turn.s");
        fs::write(&path, format!("{text}\n")).with_context(|| path.display().to_string())?;
        let mut command = Command::new(&self.0);
        // A sum on the stack is stored and loaded: without the last word no load waits for a store.
        command
            .arg(format!("-mtriple={}", set.target()))
            .arg(format!("-mcpu={processor}"))
            .arg(format!("-iterations={TURNS}"))
            .arg("-noalias=false")
            .arg(&path);
        let says = capture(&mut command)?;
        let total = says
            .lines()
            .find_map(|line| line.strip_prefix("Total Cycles:"));
        let total: u32 = total.context("llvm-mca gives no cycles")?.trim().parse()?;
        Ok(f64::from(total) / f64::from(TURNS))
    }
}

/// The main version in what llvm-mca says of itself.
fn version(says: &str) -> Option<u32> {
    let (_, rest) = says.split_once("LLVM version ")?;
    rest.split('.').next()?.parse().ok()
}

/// A multiply-add with a register in the place of what it loads: that of its other factor.
fn of_registers(line: &str) -> String {
    let parts = || {
        let (name, operands) = line.split_once('\t')?;
        let (memory, rest) = operands.split_once(", %")?;
        let factor = rest.split(',').next()?;
        memory
            .contains('(')
            .then(|| format!("{name}\t%{factor}, %{rest}"))
    };
    parts().unwrap_or_else(|| line.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_operands_are_read() {
        assert_eq!(version("Debian LLVM version 19.1.7\n  Optimized"), Some(19));
        assert_eq!(version("LLVM version 22.1.2"), Some(22));
        assert_eq!(version("clang 19"), None);
        let of = of_registers;
        assert_eq!(
            of("vfmadd231ps\t-96(%rax,%rcx,4), %ymm3, %ymm1"),
            "vfmadd231ps\t%ymm3, %ymm3, %ymm1"
        );
        assert_eq!(
            of("vfmadd231pd\t8(%rdx){1to8}, %zmm30, %zmm2"),
            "vfmadd231pd\t%zmm30, %zmm30, %zmm2"
        );
        for same in [
            "vfmadd231ps\t%ymm4, %ymm3, %ymm1",
            "fmla\tv1.4s, v8.4s, v10.s[2]",
        ] {
            assert_eq!(of(same), same);
        }
    }
}
