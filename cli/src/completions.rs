//! `bochner completions`: what a shell needs to complete commands and options.

use crate::{Cli, report};
use anyhow::Result;
use clap_complete::Shell;

/// Arguments of `bochner completions`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: bochner completions bash > ~/.local/share/bash-completion/completions/bochner"
)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::definition(), "bochner", &mut script);
    report::to_stdout(&String::from_utf8_lossy(&script))
}
