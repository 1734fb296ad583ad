//! Set-up and checks of the workspace. `cargo xtask help` lists the commands.

mod adapters;
mod checks;
mod icd;
mod process;
mod software;
mod suites;

use anyhow::{Result, bail};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [ARGS]  set up software Vulkan adapters where they are missing (Debian, Ubuntu), then run every
               test on the CPU and on every adapter; ARGS go to `cargo test --release --workspace`
  checks       everything in `ci` but the tests: formatting, MSRV, shaders, paths, clippy, documentation
               and the README's first command
  ci           test, then checks
  msrv         the stated rust-version against those of all dependencies
  help         this text

VK_DRIVER_FILES, where set, replaces the search for installed drivers, as in the Vulkan loader;
lavapipe and SwiftShader are added to it, and each driver it names has to work.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let (command, rest) = match arguments {
        [] => ("help", arguments),
        [command, rest @ ..] => (command.as_str(), rest),
    };
    if command != "test" && !rest.is_empty() {
        bail!("`{command}` takes no arguments\n\n{USAGE}");
    }
    match command {
        "test" => suites::run(rest),
        "checks" => checks::run_all(),
        "ci" => {
            process::step("tests", || suites::run(&[]))?;
            checks::run_all()
        }
        "msrv" => checks::msrv(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("no command `{other}`\n\n{USAGE}"),
    }
}
