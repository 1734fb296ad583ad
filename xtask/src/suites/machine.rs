//! Other machines, as far as one machine can play them: what a program of tests finds around it
//! when it starts. `cargo xtask test --as NAME` runs the tests as there, `--as all` as on each in
//! turn.
//!
//! A test that fails on one of them leans on something that nobody promised it.

use super::jobs::Job;
use crate::folders::{root, target_dir};
use crate::process::run;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

/// A machine, or who starts the tests on it.
#[derive(Debug, PartialEq)]
pub(super) struct Machine {
    pub(super) name: &'static str,
    /// What is other there.
    about: &'static str,
    /// What a shell does before it becomes the program, which stands in `"$@"`.
    script: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// Whether something else works on each core.
    busy: bool,
}

const ALIKE: Machine = Machine {
    name: "",
    about: "",
    script: "exec \"$@\"",
    variables: &[],
    busy: false,
};

/// All of them.
const MACHINES: [Machine; 17] = [
    Machine {
        name: "start-8",
        about: "a program has 8 MiB more at its start",
        variables: &[("MACHINE_START", "8")],
        ..ALIKE
    },
    Machine {
        name: "start-24",
        about: "a program has 24 MiB more at its start",
        variables: &[("MACHINE_START", "24")],
        ..ALIKE
    },
    Machine {
        name: "start-64",
        about: "a program has 64 MiB more at its start",
        variables: &[("MACHINE_START", "64")],
        ..ALIKE
    },
    Machine {
        name: "one-core",
        about: "one core",
        // The first that this process may have, which is not 0 everywhere.
        script: "core=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\\([0-9]*\\).*/\\1/p' \
                 /proc/self/status); exec taskset -c \"$core\" \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "five-cores",
        about: "the system tells of five cores",
        variables: &[("MACHINE_CORES", "5")],
        ..ALIKE
    },
    Machine {
        name: "avx2",
        about: "vectors of 256 bits at most",
        variables: &[("BOCHNER_CPU", "avx2"), ("BOCHNER_TEST_CPU", "avx2")],
        ..ALIKE
    },
    Machine {
        name: "scalar",
        about: "no vectors",
        variables: &[("BOCHNER_CPU", "scalar"), ("BOCHNER_TEST_CPU", "scalar")],
        ..ALIKE
    },
    Machine {
        name: "deaf",
        about: "INT, QUIT and HUP are ignored, as `nohup` and `&` have it",
        script: "trap '' INT QUIT HUP; exec \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "detached",
        about: "no terminal, a session of its own",
        script: "exec nohup setsid \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "busy",
        about: "a loop on each core",
        busy: true,
        ..ALIKE
    },
    Machine {
        name: "temporary",
        about: "another TMPDIR, with blanks and umlauts",
        script: "mkdir -p \"$MACHINE_TEMPORARY\" && TMPDIR=\"$MACHINE_TEMPORARY\" exec \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "homeless",
        about: "HOME is unset",
        script: "unset HOME; exec \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "no-shm",
        about: "nothing can be put into /dev/shm (as root)",
        script: "exec unshare -m sh -c 'mount -t tmpfs -o ro none /dev/shm; exec \"$@\"' sh \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "abroad",
        about: "another zone, another language",
        variables: &[
            ("TZ", "Asia/Kathmandu"),
            ("LANG", "tr_TR.UTF-8"),
            ("LC_ALL", "tr_TR.UTF-8"),
            ("LANGUAGE", "tr"),
        ],
        ..ALIKE
    },
    Machine {
        name: "no-input",
        about: "standard input is closed",
        script: "exec \"$@\" <&-",
        ..ALIKE
    },
    Machine {
        name: "private",
        about: "a umask of 077",
        script: "umask 077; exec \"$@\"",
        ..ALIKE
    },
    Machine {
        name: "folder",
        about: "the checkout lies in a folder with blanks and umlauts, built anew",
        ..ALIKE
    },
];

/// The folder of [`elsewhere`].
const FOLDER: &str = "ein Ordner, größer als sonst";

impl Machine {
    /// Those of this name, or all. Errs on a name that there is not, with those that there are.
    pub(super) fn named(name: &str) -> Result<Vec<&'static Self>> {
        let found: Vec<_> = MACHINES
            .iter()
            .filter(|machine| name == "all" || machine.name == name)
            .collect();
        if found.is_empty() {
            let all = MACHINES.map(|machine| format!("  {:12} {}", machine.name, machine.about));
            bail!(
                "no machine is called {name}; there are `all` and\n{}",
                all.join("\n")
            );
        }
        Ok(found)
    }

    /// Whether it is another checkout, whose tests run there.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.name == "folder"
    }

    /// Has a job run there.
    pub(super) fn play(&self, job: &mut Job) -> Result<()> {
        let mut there = Command::new("sh");
        there
            .args(["-c", self.script, "sh"])
            .arg(job.command.get_program())
            .args(job.command.get_args());
        if let Some(folder) = job.command.get_current_dir() {
            there.current_dir(folder);
        }
        for (name, value) in job.command.get_envs() {
            match value {
                Some(value) => there.env(name, value),
                None => there.env_remove(name),
            };
        }
        there.envs(self.variables.iter().copied());
        there.env(
            "MACHINE_TEMPORARY",
            target_dir().join("machines").join(FOLDER),
        );
        if self
            .variables
            .iter()
            .any(|(name, _)| name.starts_with("MACHINE_"))
        {
            there.env("LD_PRELOAD", preload()?);
        }
        job.command = there;
        Ok(())
    }

    /// What else works there, until it is dropped.
    pub(super) fn others(&self) -> Result<Others> {
        let mut others = Others(Vec::new());
        if self.busy {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                let mut idle = Command::new("sh");
                let idle = idle.args(["-c", "while :; do :; done"]);
                others.0.push(idle.stdin(Stdio::null()).spawn()?);
            }
        }
        Ok(others)
    }
}

/// Programs that work beside the tests.
pub(super) struct Others(Vec<Child>);

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended needs no end.
            let _ = child.kill().and_then(|()| child.wait().map(drop));
        }
    }
}

/// The library that has a program see another machine.
fn preload() -> Result<PathBuf> {
    let mut folder = target_dir().join("machines");
    if folder.to_string_lossy().contains(char::is_whitespace) {
        // Libraries that are loaded before others are parted by blanks.
        folder = "/tmp/bochner-machines".into();
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let built = folder.join("preload.so");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&built);
    run(compile
        .arg(root().join("xtask/machines/preload.c"))
        .arg("-ldl"))?;
    Ok(built)
}

/// Runs the tests of these names in a clone of the last commit, in a folder that is hard to write.
pub(super) fn elsewhere(names: &[String]) -> Result<()> {
    let folder = target_dir().join("machines").join(FOLDER).join("bochner");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    run(Command::new("git")
        .args(["clone", "--quiet"])
        .args([root(), &folder]))?;
    // By the cargo that is found there, and into a target of its own.
    let mut test = Command::new("cargo");
    test.args(["xtask", "test"])
        .args(names)
        .current_dir(&folder);
    run(test.env_remove("CARGO_TARGET_DIR"))
}

#[cfg(test)]
mod tests {
    use super::super::jobs::Kind;
    use super::*;

    fn said(machine: &str, script: &str) -> String {
        let machine = Machine::named(machine).unwrap()[0];
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("SAID", "kept");
        let mut job = Job {
            name: String::new(),
            command,
            kind: Kind::Rust,
            weight: 0,
        };
        machine.play(&mut job).unwrap();
        let output = job.command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_sees_another_machine() {
        // Which goes by these where somebody has set them.
        let cores = "unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc";
        assert_eq!(said("five-cores", cores).trim(), "5");
        assert_eq!(said("one-core", cores).trim(), "1");
        assert_eq!(said("private", "umask; echo $SAID"), "0077\nkept\n");
        assert_eq!(said("homeless", "echo ${HOME-none}"), "none\n");
        let ignored = "grep SigIgn /proc/self/status";
        // INT, QUIT and HUP are signals 2, 3 and 1.
        assert!(said("deaf", ignored).trim().ends_with('7'));
        let high = "awk '/VmHWM/ { print ($2 > 65536) }' /proc/self/status";
        assert_eq!(said("start-64", high), "1\n");
        assert_eq!(said("start-8", high), "0\n");
        assert!(said("temporary", "echo $TMPDIR").contains("größer"));
    }

    #[test]
    fn machines_have_names_of_their_own() {
        assert_eq!(Machine::named("all").unwrap().len(), MACHINES.len());
        for machine in &MACHINES {
            assert_eq!(Machine::named(machine.name).unwrap(), [machine]);
        }
        let error = Machine::named("none").unwrap_err().to_string();
        assert!(error.contains("a umask of 077"), "{error}");
    }
}
