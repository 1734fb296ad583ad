//! Which adapters the tests run on: finding drivers, adding software ones, and asking the CLI what
//! came of it.

use crate::folders::target_dir;
use crate::process::capture;
use crate::{icd, software};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The variables that make the adapters visible to the tests.
pub(crate) struct Environment {
    variables: Vec<(&'static str, OsString)>,
}

/// A driver with adapters that work, and how to see no other.
#[derive(Debug, Clone)]
pub(crate) struct Driver {
    /// The names of its adapters.
    pub(crate) name: String,
    /// Whether all of them are software.
    pub(crate) is_software: bool,
    /// Where the system finds drivers by files, its file.
    manifest: Option<PathBuf>,
}

impl Driver {
    /// That of adapters, if one of them works.
    fn for_adapters(adapters: &[Adapter], manifest: Option<PathBuf>) -> Option<Self> {
        let usable = || adapters.iter().filter(|adapter| adapter.usable);
        let name = names(adapters);
        (!name.is_empty()).then(|| Self {
            name,
            is_software: usable().all(|adapter| adapter.kind == "software"),
            manifest,
        })
    }

    /// One without an adapter.
    #[cfg(test)]
    pub(crate) fn of_tests(is_software: bool) -> Self {
        Self {
            name: "none".into(),
            is_software,
            manifest: None,
        }
    }

    /// Makes it the only driver that a command sees.
    pub(crate) fn choose(&self, command: &mut Command) {
        if let Some(manifest) = &self.manifest {
            for variable in icd::REPLACING {
                command.env(variable, manifest);
            }
        }
    }
}

/// One entry of `bochner devices --json`.
#[derive(Debug)]
pub(crate) struct Adapter {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) driver: String,
    pub(crate) usable: bool,
}

impl Environment {
    /// Applies the variables to a command.
    pub(crate) fn apply<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        // A preference of the one who runs the tests must not decide what is tested.
        command.env_remove("BOCHNER_DEVICE");
        for (name, value) in &self.variables {
            // What a job chose for itself, such as a driver, stays.
            if !command.get_envs().any(|(there, _)| there == *name) {
                command.env(name, value);
            }
        }
        command
    }

    fn set_drivers(&mut self, manifests: &[PathBuf]) -> Result<()> {
        let joined = std::env::join_paths(manifests).context("a driver's path holds a colon")?;
        for variable in icd::REPLACING {
            self.variables.retain(|(name, _)| *name != variable);
            self.variables.push((variable, joined.clone()));
        }
        Ok(())
    }
}

/// Finds or installs adapters; returns the environment of the tests and the drivers that work in
/// it, never none. The program has been built, for it lists them.
///
/// Errs, with the commands to type, where there is no adapter and none can be installed, and where
/// a driver that was named or set up gives no adapter.
pub(crate) fn prepare() -> Result<(Environment, Vec<Driver>)> {
    let mut environment = Environment {
        variables: vec![
            ("BOCHNER_REQUIRE_GPU", "1".into()),
            // The user's own is neither read nor written.
            ("BOCHNER_CACHE", target_dir().join("test-cache").into()),
            // Lavapipe keeps what it compiled, which is most of its work, from one run to the next.
            ("MESA_SHADER_CACHE_DIR", target_dir().join("mesa").into()),
        ],
    };
    let mut failures = Vec::new();
    let mut drivers = Vec::new();
    if cfg!(target_os = "linux") {
        drivers = set_up_linux(&mut environment, &mut failures)?;
    }
    for failure in &failures {
        eprintln!("note: {failure}");
    }

    let adapters = list(&environment)?;
    println!(
        "adapters:{}",
        if adapters.is_empty() { " none" } else { "" }
    );
    for adapter in &adapters {
        let note = if adapter.usable { "" } else { ", NOT USABLE" };
        println!(
            "  {} ({}, {}{note})",
            adapter.name, adapter.kind, adapter.driver
        );
    }
    if names(&adapters).is_empty() {
        bail!(
            "no usable GPU adapter, so nothing could be tested on one; {}",
            advice()
        );
    }
    if drivers.is_empty() {
        drivers.extend(Driver::for_adapters(&adapters, None));
    }
    Ok((environment, drivers))
}

/// The names of the adapters that work.
fn names(adapters: &[Adapter]) -> String {
    let usable = adapters.iter().filter(|adapter| adapter.usable);
    let names: Vec<&str> = usable.map(|adapter| adapter.name.as_str()).collect();
    names.join(", ")
}

/// Gathers the drivers, adds the software ones, and asks of each that has to work whether it does.
/// Returns those that have an adapter.
fn set_up_linux(environment: &mut Environment, failures: &mut Vec<String>) -> Result<Vec<Driver>> {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        environment
            .variables
            .push(("XDG_RUNTIME_DIR", runtime_dir()?.into()));
    }
    let named = icd::named()?;
    let required = required_drivers(named.as_deref(), failures);
    // Drivers that merely lie installed may be for hardware that is not here; they need not give an
    // adapter.
    let mut joint = required.clone();
    if named.is_none() {
        let others = icd::installed().into_iter();
        joint.extend(others.filter(|manifest| !required.contains(manifest)));
    }
    // One at a time: in a joint list an adapter that fails to appear would go unnoticed.
    let mut drivers = Vec::new();
    for manifest in &joint {
        environment.set_drivers(std::slice::from_ref(manifest))?;
        let driver = Driver::for_adapters(&list(environment)?, Some(manifest.clone()));
        if let Some(driver) = driver {
            drivers.push(driver);
        } else if required.contains(manifest) {
            bail!(
                "the Vulkan driver {} gives no usable adapter; repair or remove it{}",
                manifest.display(),
                if named.is_some() {
                    ", or correct VK_DRIVER_FILES"
                } else {
                    ""
                }
            );
        }
    }
    if !joint.is_empty() {
        environment.set_drivers(&joint)?;
    }
    Ok(drivers)
}

/// The manifests of drivers that have to work, each once: those named, and the software ones, which
/// are fetched where they are not here.
fn required_drivers(named: Option<&[PathBuf]>, failures: &mut Vec<String>) -> Vec<PathBuf> {
    let mut required = named.unwrap_or_default().to_vec();
    let lavapipe = || {
        icd::installed()
            .into_iter()
            .find(|path| icd::is_lavapipe(path))
    };
    if (lavapipe().is_none() && !required.iter().any(|path| icd::is_lavapipe(path)))
        || !software::has_loader()
    {
        let attempt = if software::has_apt() {
            software::install_lavapipe()
        } else {
            Err(anyhow::anyhow!("apt is not here"))
        };
        if let Err(error) = attempt {
            failures.push(format!("no lavapipe: {error:#}"));
        }
    }
    required.extend(lavapipe());
    match software::swiftshader() {
        Ok(manifest) => required.push(manifest),
        Err(error) => failures.push(format!("no SwiftShader: {error:#}")),
    }
    let mut seen = Vec::new();
    required.retain(|manifest| {
        let new = !seen.contains(manifest);
        seen.push(manifest.clone());
        new
    });
    required
}

/// A directory of our own for XDG_RUNTIME_DIR: Mesa complains on stderr without one.
fn runtime_dir() -> Result<PathBuf> {
    let directory = target_dir().join("xdg-runtime");
    std::fs::create_dir_all(&directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(directory)
}

/// The command line, where a build puts it.
pub(crate) fn program() -> PathBuf {
    let name = format!("bochner{}", std::env::consts::EXE_SUFFIX);
    target_dir().join("release").join(name)
}

/// The adapters that the CLI sees; its CPU backend is none.
fn list(environment: &Environment) -> Result<Vec<Adapter>> {
    let mut command = Command::new(program());
    command.args(["devices", "--json"]);
    let output = capture(environment.apply(&mut command))?;
    parse(&output).with_context(|| format!("`bochner devices --json` wrote {output:?}"))
}

fn parse(output: &str) -> Result<Vec<Adapter>> {
    let listing: Value = serde_json::from_str(output).context("not JSON")?;
    let devices = listing["devices"]
        .as_array()
        .context("no array `devices`")?;
    let mut adapters = Vec::new();
    for device in devices {
        let text = |key: &str| {
            let value = device[key].as_str().map(str::to_owned);
            value.with_context(|| format!("a device without `{key}`"))
        };
        let kind = text("kind")?;
        if kind.eq_ignore_ascii_case("cpu") {
            continue;
        }
        adapters.push(Adapter {
            name: text("name")?,
            kind,
            driver: text("driver")?,
            usable: device["usable"]
                .as_bool()
                .context("a device without `usable`")?,
        });
    }
    Ok(adapters)
}

fn advice() -> String {
    if cfg!(target_os = "linux") {
        format!(
            "install a driver, for instance the software one:\n\
             Debian, Ubuntu:\n{}\n\
             Fedora:\n    sudo dnf install mesa-vulkan-drivers vulkan-loader\n\
             Arch:\n    sudo pacman -S vulkan-swrast vulkan-icd-loader",
            software::APT_ADVICE
        )
    } else if cfg!(target_os = "macos") {
        "this machine offers no Metal device (a virtual machine without one?); run on another"
            .into()
    } else {
        "install the GPU's driver; Windows 10 and 11 also bring WARP, a software DirectX 12 adapter"
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_backend_is_no_adapter() {
        let adapters = parse(
            r#"{"devices": [
                {"name": "CPU, 2 threads", "kind": "cpu", "usable": true},
                {"name": "llvmpipe", "kind": "software", "driver": "llvmpipe", "usable": true},
                {"name": "tiny", "kind": "integrated", "driver": "x", "usable": false}]}"#,
        )
        .unwrap();
        assert_eq!(adapters.len(), 2);
        assert_eq!(adapters[0].name, "llvmpipe");
        assert!(adapters[0].usable && !adapters[1].usable);
    }

    #[test]
    fn a_listing_that_says_too_little_is_an_error() {
        for output in [
            "",
            "{}",
            r#"{"devices": [{"name": "a", "kind": "discrete", "usable": true}]}"#,
            r#"{"devices": [{"name": "a", "kind": "discrete", "driver": "d"}]}"#,
        ] {
            assert!(parse(output).is_err(), "{output}");
        }
    }
}
