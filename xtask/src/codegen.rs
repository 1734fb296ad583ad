//! Shaders as the compilers of real GPUs see them, without a GPU: every variant as SPIR-V, compiled
//! by Mesa's drivers for NVIDIA, AMD and Apple, and held to limits; and loops of the CPU likewise.

mod cpu;
mod drivers;
mod limits;
mod loops;

use crate::folders::target_dir;
use crate::process::{capture, cargo, run};
use anyhow::{Context, Result, bail};
use drivers::{Compiled, Driver, Tree};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `cargo xtask codegen` was asked for.
struct Asked {
    spirv: PathBuf,
    json: bool,
    set_up: bool,
}

/// A variant, as `tests/cpu/spirv.rs` lists it beside its file.
struct Variant {
    file: String,
    op: String,
    variant: String,
    /// The name of its tile, where it has one.
    tile: Option<String>,
    /// The kinds of adapters that take it until something was measured.
    default_of: Vec<String>,
}

/// One variant, and what each driver made of it.
struct Row {
    variant: Variant,
    compiled: Vec<(Driver, Compiled)>,
}

/// `cargo xtask codegen [--spirv DIR] [--json] [--set-up]`, or `--cpu` alone.
pub(crate) fn run_with(arguments: &[String]) -> Result<()> {
    if let [only] = arguments
        && only == "--cpu"
    {
        return cpu::check();
    }
    let asked = parse(arguments)?;
    if asked.set_up {
        drivers::set_up()?;
    }
    let tree = Tree::find();
    let variants = write_spirv(&asked.spirv)?;
    let Some(tree) = tree else {
        bail!(
            "{} variants are in {}; {}",
            variants.len(),
            asked.spirv.display(),
            drivers::absent()
        );
    };
    let rows = compile(&tree, &asked.spirv, variants)?;
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&as_json(&rows))?);
    } else {
        print(&rows);
    }
    limits::hold(&rows)
}

/// As [`run_with`], and a word where there are no compilers.
pub(crate) fn check_if_possible() -> Result<()> {
    let Some(tree) = Tree::find() else {
        println!("not run: {}", drivers::absent());
        return Ok(());
    };
    let folder = target_dir().join("codegen");
    let variants = write_spirv(&folder)?;
    let rows = compile(&tree, &folder, variants)?;
    limits::hold(&rows)
}

/// The loops of the CPU, where the compiler is the one that their limits are of: another's code may
/// be as good in other instructions.
pub(crate) fn check_loops_if_known() -> Result<()> {
    let version = capture(Command::new("rustc").arg("--version"))?;
    if !cpu::is_known(&version) {
        println!(
            "not run: the limits of loops are of another compiler than {}",
            version.trim()
        );
        return Ok(());
    }
    cpu::check()
}

/// `cargo xtask units`: the tests of matrix units, on the adapter of the folder that has them.
pub(crate) fn run_units() -> Result<()> {
    let tree = Tree::find().with_context(drivers::absent)?;
    let suites: [&[&str]; 2] = [
        &["--lib", "--", "units"],
        &[
            "--test",
            "devices",
            "--",
            "units::",
            "projection_agrees_with_f64",
            "gram_agrees_with_f64",
        ],
    ];
    for suite in suites {
        let mut tests = cargo(["test", "--release", "--workspace"]);
        tests.args(suite).arg("--nocapture");
        tree.run_by(&mut tests);
        run(tests
            .env("BOCHNER_REQUIRE_GPU", "1")
            .env("BOCHNER_REQUIRE_UNITS", "1")
            .env("BOCHNER_CACHE", "off"))?;
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Asked> {
    let mut asked = Asked {
        spirv: target_dir().join("codegen"),
        json: false,
        set_up: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--spirv" => {
                let folder = rest.next().context("`--spirv` needs a folder")?;
                asked.spirv = std::path::absolute(folder)?;
            }
            "--json" => asked.json = true,
            "--set-up" => asked.set_up = true,
            other => bail!("`codegen` does not take {other}"),
        }
    }
    Ok(asked)
}

/// Writes every variant as `OP__VARIANT.spv` into a folder, as wgpu gives it to Vulkan drivers.
fn write_spirv(folder: &Path) -> Result<Vec<Variant>> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut test = cargo(["test", "--release", "--quiet", "--workspace"]);
    test.args(["--test", "cpu", "--", "--ignored"])
        .args(["--exact", "spirv::every_variant_is_written"])
        .env("BOCHNER_SPIRV", folder)
        // The table, or JSON, is all that is on stdout.
        .stdout(std::process::Stdio::null());
    run(&mut test)?;
    let list = folder.join("variants.json");
    let text = std::fs::read_to_string(&list)
        .with_context(|| format!("{} cannot be read", list.display()))?;
    let list: Value = serde_json::from_str(&text)?;
    let variants = list.as_array().context("variants.json holds no array")?;
    variants.iter().map(Variant::read).collect()
}

impl Variant {
    fn read(listed: &Value) -> Result<Self> {
        let text = |key: &str| {
            let value = listed[key].as_str().map(str::to_owned);
            value.with_context(|| format!("a variant without `{key}`"))
        };
        let kinds = listed["default_of"].as_array().into_iter().flatten();
        Ok(Self {
            file: text("file")?,
            op: text("op")?,
            variant: text("variant")?,
            tile: text("tile").ok(),
            default_of: kinds
                .filter_map(|k| k.as_str().map(str::to_owned))
                .collect(),
        })
    }
}

/// Every variant by every driver, the drivers beside each other.
fn compile(tree: &Tree, folder: &Path, variants: Vec<Variant>) -> Result<Vec<Row>> {
    let compiler = tree.compiler()?;
    let done = std::thread::scope(|scope| {
        let each = Driver::ALL.map(|driver| {
            let compiler = &compiler;
            let taken = variants.iter().filter(|v| driver.takes(&v.op, &v.variant));
            let files: Vec<PathBuf> = taken.map(|v| folder.join(&v.file)).collect();
            (
                driver,
                scope.spawn(move || compiler.compile(driver, &files)),
            )
        });
        each.map(|(driver, thread)| {
            let compiled = thread.join().expect("compiling does not panic");
            compiled.with_context(|| format!("{} compiles", driver.name()))
        })
    });
    let mut columns = Vec::new();
    for (driver, compiled) in Driver::ALL.into_iter().zip(done) {
        columns.push((driver, compiled?.into_iter()));
    }
    let mut rows = Vec::new();
    for variant in variants {
        let taken = columns.iter_mut();
        let taken = taken.filter(|(driver, _)| driver.takes(&variant.op, &variant.variant));
        let compiled = taken.map(|(driver, column)| {
            let one = column.next().context("a driver left out a variant")?;
            Ok((*driver, one))
        });
        let compiled = compiled.collect::<Result<_>>()?;
        rows.push(Row { variant, compiled });
    }
    Ok(rows)
}

/// Registers, spills and occupancy of every variant; of loops of multiply-adds, their share of the
/// instructions and of the cycles in which these are issued.
fn print(rows: &[Row]) {
    for row in rows {
        let Variant { op, variant, .. } = &row.variant;
        println!("{op} {variant}");
        for (driver, one) in &row.compiled {
            let default = if is_default(row, *driver) {
                ", default"
            } else {
                ""
            };
            println!(
                "  {}: {} registers, {} spills, {} {}{}{default}",
                driver.name(),
                one.registers,
                one.spills,
                one.occupancy,
                driver.unit_of_occupancy(),
                one.hot_loop.map(|hot| hot.to_string()).unwrap_or_default()
            );
        }
    }
}

/// Whether adapters of this driver's kind take the variant by default.
fn is_default(row: &Row, driver: Driver) -> bool {
    let of = &row.variant.default_of;
    of.iter()
        .any(|kind| driver.kinds().contains(&kind.as_str()))
}

fn as_json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let compiled = row.compiled.iter().map(|(driver, one)| {
            json!({
                "driver": driver.name(),
                "registers": one.registers,
                "spills": one.spills,
                "occupancy": one.occupancy,
                "default": is_default(row, *driver),
                "share of instructions": one.hot_loop.map(|hot| hot.share),
                "share of cycles": one.hot_loop.and_then(|hot| hot.of_cycles),
                "share of the loop": one.hot_loop.map(|hot| hot.of_loop),
            })
        });
        json!({
            "op": row.variant.op,
            "variant": row.variant.variant,
            "file": row.variant.file,
            "tile": row.variant.tile,
            "compiled": compiled.collect::<Vec<_>>(),
        })
    };
    rows.iter().map(row).collect()
}
