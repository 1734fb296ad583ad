//! Extracts the Rust examples of the documents for compilation by the tests: each block becomes a
//! function whose parameters are the names that its page assumes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Names that blocks assume: rows, targets, labels, and earlier results.
const GIVEN: &str = "\
    x: Array2<f64>, x_new: Array2<f64>, x_more: Array2<f64>, x_all: Array2<f64>, \
    january: Array2<f64>, february: Array2<f64>, y: Array1<f64>, y_more: Array1<f64>, \
    weights: Array1<f64>, labels: Vec<String>, labels_all: Vec<String>, map: Fourier, \
    logistic: LogisticRegression";
/// Imports for these names.
const OF_GIVEN: &str = "use ndarray::{Array1, Array2};\n    \
                        use bochner::{models::LogisticRegression, prelude::Fourier};";
/// Imports for blocks without any.
const IMPORTS: &str = "use bochner::{models::*, prelude::*};";

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a root");
    let mut pages = vec![root.join("README.md")];
    for entry in fs::read_dir(root.join("docs")).expect("docs/") {
        pages.push(entry.expect("an entry of docs/").path());
    }
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.sort();
    let (mut code, mut names) = (String::new(), String::new());
    for page in &pages {
        println!("cargo::rerun-if-changed={}", page.display());
        let text = fs::read_to_string(page).expect("a page");
        let stem = page.file_stem().expect("a name").to_string_lossy();
        for (line, block) in blocks(&text) {
            let name = format!("{}_{line}", stem.to_lowercase().replace('-', "_"));
            write_block(&mut code, &name, &block);
            writeln!(names, "    {name:?},").expect("writes");
        }
    }
    writeln!(code, "const BLOCKS: &[&str] = &[\n{names}];").expect("writes");
    println!("cargo::rerun-if-changed={}", root.join("docs").display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR")).join("pages.rs");
    fs::write(out, code).expect("writes");
}

/// Blocks of Rust, each with the number of its first line.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let (mut blocks, mut open) = (Vec::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        match (&mut open, line) {
            (None, "```rust") => open = Some((number + 1, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, block)), _) => *block += &format!("        {line}\n"),
            (None, _) => {}
        }
    }
    blocks
}

/// Writes a module, for the imports, with a function that is never called.
fn write_block(code: &mut String, name: &str, block: &str) {
    let has_imports = block.contains("use bochner::");
    let imports = if has_imports { "" } else { IMPORTS };
    let lints = "#[allow(unused, clippy::all, clippy::pedantic, reason = \"pages are short\")]";
    let function = format!("fn of_page({GIVEN}) -> bochner::Result<()>");
    writeln!(
        code,
        "{lints}\nmod {name} {{\n    {OF_GIVEN}\n    {function} {{\n        \
         {imports}\n{block}        Ok(())\n    }}\n}}"
    )
    .expect("writes");
}
