//! The package for browsers: built into target/web, and tested in a Chromium without a window.

use crate::dist;
use crate::folders::{root, target_dir};
use crate::process::{capture, cargo, run};
use crate::toolchain::{Toolchain, WASM, rustup_has, variable};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// 128-bit vectors, which every browser with WebAssembly has since 2023.
const FLAGS: &str = "-C target-feature=+simd128";
/// What target/web holds, out of folders of web/.
const FOLDERS: [&str; 3] = ["bochner", "demo", "playground"];
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Builds the package and its pages into target/web, which it names. Errs with what to type where a
/// tool is missing.
pub(crate) fn build() -> Result<PathBuf> {
    no_relaxed_vectors()?;
    let toolchain = Toolchain::find(WASM)?;
    let bindgen = bindgen()?;
    let mut build = toolchain.cargo("build", WASM);
    build.args(["--package", "bochner-web", "--profile", "web"]);
    run(build.env(variable(WASM, "RUSTFLAGS"), FLAGS))?;
    let site = site();
    let package = site.join("bochner");
    for name in FOLDERS {
        fs::create_dir_all(site.join(name))?;
    }
    let built = Toolchain::built(WASM).join("web/bochner_web.wasm");
    run(Command::new(bindgen)
        .args(["--target", "web", "--out-name", "native", "--out-dir"])
        .arg(&package)
        .arg(&built))?;
    let wasm = package.join("native_bg.wasm");
    for name in FOLDERS {
        for entry in root().join("web").join(name).read_dir()? {
            let entry = entry?;
            fs::copy(entry.path(), site.join(name).join(entry.file_name()))?;
        }
    }
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(file), package.join(file))?;
    }
    let licenses = dist::licenses(WASM, &["bochner-web"])?;
    fs::write(package.join(dist::LICENSES), licenses)?;
    complete(&package)?;
    models()?;
    for (from, to) in [
        (models_folder().join("digits.model"), "demo/digits.model"),
        (root().join("data/digits.csv"), "playground/digits.csv"),
    ] {
        fs::copy(&from, site.join(to)).with_context(|| from.display().to_string())?;
    }
    let bytes = fs::metadata(&wasm)?.len();
    println!("{}: {bytes} bytes of WebAssembly", site.display());
    println!("to see the pages: python3 -m http.server --bind 127.0.0.1 --directory target/web");
    Ok(site)
}

/// Errs where the package lacks a file that its package.json names: npm leaves such a file out and
/// says nothing.
fn complete(package: &Path) -> Result<()> {
    let manifest = package.join("package.json");
    let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let manifest: Value = serde_json::from_str(&text)?;
    let absent: Vec<_> = named(&manifest)
        .into_iter()
        .filter(|file| !package.join(file).is_file())
        .collect();
    if !absent.is_empty() {
        let absent = absent.join(", ");
        bail!("package.json names what is not in the package: {absent}");
    }
    Ok(())
}

/// The files that a package.json names: those to pack, and those that imports and types lead to.
fn named(manifest: &Value) -> Vec<&str> {
    let leads = ["main", "types"].map(|key| &manifest[key]);
    let exports = manifest["exports"].as_object();
    let exports = exports.into_iter().flat_map(|map| map.values());
    let exports = exports.flat_map(|lead| match lead.as_object() {
        Some(conditions) => conditions.values().collect(),
        None => vec![lead],
    });
    let files = manifest["files"].as_array().into_iter().flatten();
    let all = files.chain(leads).chain(exports);
    all.filter_map(Value::as_str).collect()
}

/// Builds the program that makes the glue, of the locked version, into target/tools.
pub(crate) fn install() -> Result<()> {
    if bindgen().is_ok() {
        return Ok(());
    }
    let lock = lock()?;
    let version = glue_version(&lock)?;
    // Not of its own lock: an index that is a little older does not have all that stands there.
    let mut install = cargo(["install", "wasm-bindgen-cli", "--version", version]);
    run(install
        .args(["--no-default-features", "--root"])
        .arg(target_dir().join("tools")))
}

/// Builds, then runs web/test in Chromium.
pub(crate) fn test() -> Result<()> {
    let browser = browser()?;
    if !starts("node") {
        bail!("no node; type `sudo apt-get install nodejs`");
    }
    build()?;
    run(Command::new("node")
        .arg(root().join("web/test/run.mjs"))
        .args([site(), models_folder()])
        .arg(browser)
        .arg(target_dir().join("web-pictures"))
        .arg(target_dir().join("release/bochner")))
}

/// What `checks` does: the library compiles for browsers, where rustup has their target or gets it,
/// and the tests run where all that they need is here. Says so where not.
pub(crate) fn check_if_possible() -> Result<()> {
    no_relaxed_vectors()?;
    if !rustup_has(WASM) {
        println!("NOT checked  {WASM}: type `rustup target add {WASM}`");
        return Ok(());
    }
    let mut check = cargo(["check", "--package", "bochner", "--lib", "--target", WASM]);
    run(check.args(["--no-default-features", "--features", "web"]))?;
    match (browser(), bindgen()) {
        (Ok(_), Ok(_)) if starts("node") => test(),
        (Err(missing), _) | (_, Err(missing)) => {
            println!("NOT checked  in a browser: {missing}");
            Ok(())
        }
        _ => {
            println!("NOT checked  in a browser: no node; type `sudo apt-get install nodejs`");
            Ok(())
        }
    }
}

/// Errs where vector code may use what not every browser has: one such instruction, and the whole
/// module is refused. Any dependency can bring it.
fn no_relaxed_vectors() -> Result<()> {
    let mut tree = cargo(["tree", "--package", "bochner-web", "--target", WASM]);
    let tree = capture(tree.args(["--edges", "normal,features", "--invert", "pulp"]))?;
    if tree.contains("relaxed-simd") {
        bail!("pulp has the feature relaxed-simd, which not every browser takes:\n{tree}");
    }
    Ok(())
}

fn site() -> PathBuf {
    target_dir().join("web")
}

fn models_folder() -> PathBuf {
    target_dir().join("web-models")
}

/// Models of every map and what they must give, by the library of this machine. They are built with
/// the workspace, whose features they then share: alone the library would be compiled once more.
fn models() -> Result<()> {
    run(&mut cargo([
        "build",
        "--release",
        "--workspace",
        "--example",
        "models",
    ]))?;
    let program = target_dir().join("release/examples/models");
    run(Command::new(program).arg(models_folder()))
}

fn starts(program: &str) -> bool {
    capture(Command::new(program).arg("--version")).is_ok()
}

/// The program that makes the glue, of the very version of the crate.
fn bindgen() -> Result<PathBuf> {
    let lock = lock()?;
    let version = glue_version(&lock)?;
    let own = target_dir().join("tools/bin/wasm-bindgen");
    for program in [own, "wasm-bindgen".into()] {
        let found = capture(Command::new(&program).arg("--version"));
        if found.is_ok_and(|text| text.split_whitespace().nth(1) == Some(version)) {
            return Ok(program);
        }
    }
    bail!("no wasm-bindgen {version}; `cargo xtask web tools` builds it")
}

fn lock() -> Result<String> {
    fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock")
}

fn glue_version(lock: &str) -> Result<&str> {
    locked(lock, "wasm-bindgen").context("no wasm-bindgen in Cargo.lock")
}

/// The version of a package in a lock file.
fn locked<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let (_, entry) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    entry.split('"').next()
}

fn browser() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let found = BROWSERS.into_iter().find(|name| starts(name));
    found
        .map(PathBuf::from)
        .context("no Chromium; type `sudo apt-get install chromium`, or name one in CHROMIUM")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_package_names_and_does_not_have_is_found() {
        let own = root().join("web/bochner");
        let folder = std::env::temp_dir().join(format!("bochner-npm-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for entry in own.read_dir().unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
        // What `build` makes or takes from elsewhere.
        let made = [
            "native.js",
            "native.d.ts",
            "native_bg.wasm",
            "LICENSE-APACHE",
            "LICENSE-MIT",
            dist::LICENSES,
        ];
        for name in made {
            fs::write(folder.join(name), "").unwrap();
        }
        complete(&folder).unwrap();
        for name in made
            .into_iter()
            .chain(["index.js", "index.d.ts", "README.md"])
        {
            let away = folder.with_extension("away");
            fs::rename(folder.join(name), &away).unwrap();
            let error = complete(&folder).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
            fs::rename(away, folder.join(name)).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_glue_is_of_the_version_that_is_locked() {
        let lock = "[[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.1\"\nsource = \"x\"\n";
        assert_eq!(locked(lock, "wasm-bindgen"), Some("0.2.1"));
        assert_eq!(locked(lock, "wasm"), None);
        let flags = variable(WASM, "RUSTFLAGS");
        assert_eq!(flags, "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS");
    }
}
