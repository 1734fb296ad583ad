//! The site, as files that any server hands out: docs/site/build.py makes it of what is built here.

use crate::folders::{root, target_dir};
use crate::process::{cargo, run};
use crate::{python, web};
use anyhow::Result;
use std::process::Command;

/// What builds the pages, and what their examples use.
const REQUIREMENTS: [&str; 10] = [
    "furo",
    "matplotlib",
    "myst-parser",
    "pandas",
    "polars",
    "river",
    "scikit-learn",
    "sphinx",
    "sphinx-design",
    "typos",
];

/// Builds it into target/site/html, and checks it.
pub(crate) fn build() -> Result<()> {
    let python = python::environment("site", &REQUIREMENTS)?;
    let what = ["--workspace", "--lib", "--bins", "--examples"];
    run(cargo(["build", "--release"]).args(what))?;
    let what = ["--no-deps", "-p", "bochner", "-p", "bochner-maps"];
    run(cargo(["doc", "--quiet"]).args(what))?;
    let web = web::build()?;
    let target = target_dir();
    let mut build = Command::new(python);
    build
        .arg(root().join("docs/site/build.py"))
        .arg("--program")
        .arg(target.join("release/bochner"))
        .arg("--examples")
        .arg(target.join("release/examples"))
        .arg("--rust")
        .arg(target.join("doc"))
        .arg("--web")
        .arg(web)
        .arg("--out")
        .arg(target.join("site"))
        .env("PYTHONPATH", python::stage()?)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut build)
}
