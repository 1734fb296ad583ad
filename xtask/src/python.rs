//! The Python package: its tests in an environment of their own.

use crate::adapters::program;
use crate::folders::{root, target_dir};
use crate::process::{capture, cargo, run};
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the tests need; the package itself needs numpy and scikit-learn.
const REQUIREMENTS: [&str; 12] = [
    "dask[array,dataframe]",
    "distributed",
    "mypy",
    "numpy",
    "onnxruntime",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "river",
    "scikit-learn",
    // It has no wheels for Linux on other processors: there its part of test_onnx.py says so.
    "tract; sys_platform != 'linux' or platform_machine == 'x86_64'",
];
/// What the tests of engines need beside that; Spark also needs Java. MLflow's models are kept in a
/// database.
const ENGINES: [&str; 5] = ["alembic", "mlflow-skinny", "pyspark", "ray", "sqlalchemy"];
const ADVICE: &str = "apt-get install --yes python3 python3-venv";

/// Builds the native half, and runs the package's tests in a virtual environment under target/.
///
/// Where there is no Python that makes one it says so, and errs if `CI` is set.
pub(crate) fn test() -> Result<()> {
    match set_up()? {
        Ok(python) => {
            build()?;
            tests(&python)?.iter_mut().try_for_each(run)
        }
        Err(why) => {
            println!("the Python package was not tested: {why}");
            Ok(())
        }
    }
}

/// The interpreter of the tests' virtual environment, or why there is none; that is an error if
/// `CI` is set.
pub(crate) fn set_up() -> Result<Result<PathBuf, String>> {
    match environment("environment", &REQUIREMENTS) {
        Ok(python) => Ok(Ok(python)),
        Err(why) if env::var_os("CI").is_none() => Ok(Err(format!("{why:#}"))),
        Err(why) => Err(why),
    }
}

/// Files of small fits by the thousand, in which a second thread does nothing but wait: with it
/// they take a fifth more of the processors.
const OF_SMALL_FITS: [&str; 7] = [
    "test_conventions.py",
    "test_every_class.py",
    "test_kept_rows.py",
    "test_kernel_machines.py",
    "test_learners.py",
    "test_partial_fit.py",
    "test_target_scale.py",
];

/// The package's tests, of a native half that has been built: two commands, which may run side by
/// side.
pub(crate) fn tests(python: &Path) -> Result<[Command; 2]> {
    let package = stage()?;
    let folder = Path::new("python/tests");
    let small = OF_SMALL_FITS.map(|file| folder.join(file));
    let mut of_small_fits = pytest(python, &package);
    of_small_fits.args(&small).env("RAYON_NUM_THREADS", "1");
    let mut others = pytest(python, &package);
    others.arg(folder);
    for file in &small {
        others.arg(format!("--ignore={}", file.display()));
    }
    Ok([of_small_fits, others])
}

/// Runs fits and predictions on real clusters of two workers: of Dask, Ray and Spark.
pub(crate) fn engines() -> Result<()> {
    if let Err(reason) = capture(Command::new("java").arg("-version")) {
        bail!("Spark needs Java ({reason:#}); install it:\napt-get install default-jre-headless");
    }
    let python = environment("engines", &[&REQUIREMENTS[..], &ENGINES].concat())?;
    build()?;
    let mut pytest = pytest(&python, &stage()?);
    run(pytest.args(["python/engines", "python/tests/test_dask.py"]))
}

/// pytest on a package that was put together in this folder, of no tests yet.
fn pytest(python: &Path, package: &Path) -> Command {
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    pytest
        .arg("--disable-warnings")
        .current_dir(root())
        .env("PYTHONPATH", package)
        .env("BOCHNER_PROGRAM", program())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // numpy's threads would wait for cores that other tests have.
        .env("OPENBLAS_NUM_THREADS", "1");
    pytest
}

/// The interpreter of a virtual environment, made where there is none, with these packages.
pub(crate) fn environment(name: &str, requirements: &[&str]) -> Result<PathBuf> {
    let folder = target_dir().join("python").join(name);
    let python = if cfg!(windows) {
        folder.join("Scripts/python.exe")
    } else {
        folder.join("bin/python")
    };
    // Written last: what an interrupted set-up left is set up again.
    let stamp = folder.join("requirements.txt");
    let wanted = requirements.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    let base = ["python3", "python"];
    let version = |name: &&str| capture(Command::new(name).arg("--version")).is_ok();
    let Some(base) = base.into_iter().find(version) else {
        bail!("there is no python3; install one:\n{ADVICE}");
    };
    eprintln!(
        "making {} for: {}",
        folder.display(),
        requirements.join(" ")
    );
    capture(Command::new(base).args(["-m", "venv"]).arg(&folder)).with_context(|| {
        format!("{base} makes no virtual environment; install what it lacks:\n{ADVICE}")
    })?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    run(pip.args(requirements))?;
    fs::write(&stamp, wanted)?;
    Ok(python)
}

/// Builds the native half and the command line that it is compared with, with the features of the
/// whole workspace, so that no dependency is built twice.
pub(crate) fn build() -> Result<()> {
    let what = ["--workspace", "--lib", "--bin", "bochner"];
    run(cargo(["build", "--release"]).args(what))
}

/// Puts the package together in a folder that Python can search.
pub(crate) fn stage() -> Result<PathBuf> {
    let (prefix, suffix) = (env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let library = target_dir().join(format!("release/{prefix}_native{suffix}"));
    if !library.exists() {
        bail!(
            "there is no {}; build the workspace first",
            library.display()
        );
    }
    let search = target_dir().join("python/package");
    let package = search.join("bochner");
    let _ = fs::remove_dir_all(&package);
    fs::create_dir_all(&package)?;
    let own = root().join("python/bochner");
    for entry in own.read_dir().with_context(|| own.display().to_string())? {
        let path = entry?.path();
        if is_source(&path) {
            fs::copy(
                &path,
                package.join(path.file_name().unwrap_or(OsStr::new(""))),
            )?;
        }
    }
    let name = if cfg!(windows) {
        "_native.pyd"
    } else {
        "_native.abi3.so"
    };
    fs::copy(&library, package.join(name))?;
    Ok(search)
}

/// What the package consists of beside its native half.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
    name == "py.typed" || [".py", ".pyi"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::is_source;
    use std::path::Path;

    #[test]
    fn a_native_half_of_another_build_is_left() {
        for (name, is) in [
            ("__init__.py", true),
            ("_native.pyi", true),
            ("py.typed", true),
            ("_native.abi3.so", false),
            ("__pycache__", false),
        ] {
            assert_eq!(is_source(&Path::new("bochner").join(name)), is, "{name}");
        }
    }
}
