//! Set-up and checks of the workspace. `cargo xtask help` lists the commands.

mod adapters;
mod budget;
mod bundle;
mod checks;
mod codegen;
mod conda;
mod dependencies;
mod dist;
mod documents;
mod endurance;
mod figures;
mod folders;
mod fuzz;
mod header;
mod icd;
mod lengths;
mod metadata;
mod models;
mod modules;
mod msrv;
mod packaging;
mod portability;
mod process;
mod python;
mod pythons;
mod release;
mod site;
mod software;
mod suites;
mod toolchain;
mod web;
mod wheel;
mod workflows;
mod zig;

use anyhow::{Result, bail};
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test [NAME ...] [--whole] [--as MACHINE]
               set up software Vulkan adapters where they are missing (Debian, Ubuntu), then run
               every test, on the CPU and on every adapter, side by side; or those that have NAME in
               their paths, such as `parity::` or `learn::`, or of a program, such as
               `cli/cli` or `tests/cpu`, and build no other. --whole adds what
               takes long for its count of variants (tests/whole.md); --as runs them as on another
               machine (`--as ?` lists them), `--as all` as on each in turn
  python       these alone, in a virtual environment under target/
  engines      fits of the Python package on local clusters of Dask, Ray and Spark; their packages
               take 600 MB
  kills        kill each command that keeps checkpoints twenty times, and compare the bits
  soak [N]     fit N rows that are made as they are asked for, and hold the size of the process
               against that of the first fifth [default: 10000000, which takes some minutes]
  wheel [TARGET] [--pythons], wheel --source
               the Python package as it is handed out, and its size; TARGET as rustc names it
               [default: this machine], of a Linux by zig for systems of 2014 and later. One for
               this machine is installed and fits digits, as that of the sources (--source) is;
               with --pythons it is tried with Python 3.9 and 3.14 (Debian's, unpacked under
               target/), one for ARM under qemu-user, or with the interpreter that WHEEL_PYTHON
               starts, and has to fit the model of this machine's wheel to the bit
  checks [--quick | --rest | --whole]
               formatting, columns, dependencies, shaders, paths and documents, which compile
               nothing (--quick: these alone); then clippy, documentation, the browser, the examples
               and the documents whose commands take little (--rest: these alone); with --whole also
               the readers of spreadsheets and databases, what only predicts, and MSRV
  figures [PAGE ...]
               run the commands of the README and of the pages of docs/, or of these pages, and
               compare what pages show with what is printed
  budget       what the parts of a run took, of which XTASK_TIMES names the file, beside what
               .ci/budget.txt says that they may take
  dependencies licences, sources, duplicates and use of all dependencies, as deny.toml has them
  tools        build cargo-deny, cargo-machete and cbindgen into target/tools, which takes
               minutes; `dependencies` and `checks` ask them too from then on
  header       capi/include/bochner.h of the source, by cbindgen
  msrv         the stated rust-version against those of all dependencies, then the library and the
               program compiled with it
  portability [--no-tests]
               check that the library compiles for ARM Linux, macOS, Windows and the browser as far
               as toolchains reach, and the programs for macOS and Windows; run ARM's tests where
               qemu-user is installed; takes half an hour
  fuzz [N]     every reader of files against N files that are damaged at random, of each kind
               [default: 1000000, which takes an hour or more]
  web [test | tools]
               the package for browsers and its pages into target/web; with `test` all are run in a
               Chromium without a window, every map on WebGPU and on the CPU; `tools` builds
               wasm-bindgen, which they need, into target/tools
  site         the site into target/site/html: the guide, how-to pages and a gallery that are run,
               references, the playground; errs on a dead link, a request to elsewhere, a picture
               without a text
  codegen [--spirv DIR] [--json] [--set-up]
               every shader as SPIR-V into DIR [default: target/codegen], compiled by Mesa's drivers
               for NVIDIA, AMD and Apple without a GPU: registers, spills, occupancy, and the share
               of multiply-adds in hot loops; errs where a default variant spills or a loop fell
               below its limit. --set-up unpacks the drivers into CODEGEN_ROOT [default:
               ~/.cache/bochner-codegen] first (Debian, as root)
  codegen --cpu
               the hot loops of the CPU compiled for AVX2, AVX-512 and, where rustup has it, ARM,
               without these: multiply-adds are those of the sums in registers, no vector lies on
               the stack, nothing is called, no bounds are checked; and a tile that spills must fail
  units        the tests of matrix units, on the software adapter among those drivers that has them
  dist [TARGET]
               the program and the C library as they are handed out, in an archive with licences
               and completions, and their sizes; TARGET as rustc names it [default: this machine],
               of another Linux and of Windows (-gnu) by zig, unless cargo is told of a linker. One
               that runs here or under qemu-user has to fit the model of this machine's program
  conda        what is committed in an archive, and the recipe of packaging/conda with its address
               and sum, under target/conda
  workflows    that workflows of the hosting call what is there, and what zizmor says of them
  notes        what the changelog says of this version, for a release
  bench-bundle the program, the scripts of peers and `run-all`, in a folder and an archive under
               target/, for a machine without a toolchain
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

/// The names of all commands, as the text of help has them.
fn commands() -> Vec<&'static str> {
    let lines = USAGE.lines().filter_map(|line| line.strip_prefix("  "));
    let lines = lines.filter(|line| !line.starts_with(' '));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let (command, rest) = match arguments {
        [] => ("help", arguments),
        [command, rest @ ..] => (command.as_str(), rest),
    };
    let takes_arguments = match command {
        "test" | "codegen" | "figures" | "wheel" => true,
        "fuzz" | "dist" | "soak" => rest.len() <= 1,
        "web" => matches!(rest, []) || matches!(rest, [word] if word == "test" || word == "tools"),
        "checks" => rest.len() <= 1,
        "portability" => rest.iter().all(|argument| argument == "--no-tests"),
        _ => false,
    };
    if !takes_arguments && !rest.is_empty() {
        bail!("`{command}` does not take {}\n\n{USAGE}", rest.join(" "));
    }
    match command {
        "test" => suites::run(&suites::Request::parse(rest)?),
        "checks" => match rest.first().map(String::as_str) {
            None => checks::run_all(),
            Some("--quick") => checks::run_quick(),
            Some("--rest") => checks::run_rest(),
            Some("--whole") => checks::run_whole(),
            Some(other) => bail!("`checks` does not take {other}\n\n{USAGE}"),
        },
        "budget" => budget::compare(),
        "codegen" => codegen::run_with(rest),
        "units" => codegen::run_units(),
        "dependencies" => dependencies::check(),
        "tools" => dependencies::install(),
        "msrv" => msrv::check(),
        "portability" => portability::run_all(!rest.is_empty()),
        "figures" => figures::check(rest),
        "fuzz" => fuzz::run_many(rest.first().map_or("1000000", String::as_str)),
        "web" if rest.is_empty() => web::build().map(drop),
        "web" if rest == ["tools"] => web::install(),
        "web" => web::test(),
        "dist" => dist::build(rest.first().map(String::as_str)),
        "bench-bundle" => bundle::build(),
        "header" => header::write(),
        "python" => python::test(),
        "engines" => python::engines(),
        "kills" => endurance::kills(),
        "soak" => endurance::soak(rest.first()),
        "wheel" => wheel::run_with(rest, USAGE),
        "conda" => conda::build(),
        "notes" => release::notes(),
        "site" => site::build(),
        "workflows" => workflows::lint(&commands()),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("no command `{other}`\n\n{USAGE}"),
    }
}
