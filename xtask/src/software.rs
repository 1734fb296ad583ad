//! Software Vulkan implementations on Debian and its relatives: lavapipe, installed as a package,
//! and SwiftShader, unpacked from the browser package that carries it.

use crate::folders::target_dir;
use crate::icd;
use crate::process::{capture, run};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to type where this program may not install anything itself.
pub(crate) const APT_ADVICE: &str = concat!(
    "    sudo apt-get update\n",
    "    sudo apt-get install -y --no-install-recommends mesa-vulkan-drivers libvulkan1",
);

/// The keys of Debian's archives, of all releases, by the names that these give them.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.pgp",
    "/usr/share/keyrings/debian-archive-keyring.gpg",
];

const SWIFTSHADER_PACKAGE: &str = "chromium-common";
const SWIFTSHADER_LIBRARY: &str = "libvk_swiftshader.so";
const SWIFTSHADER_MANIFEST: &str = "vk_swiftshader_icd.json";

/// Whether packages come through apt here.
pub(crate) fn has_apt() -> bool {
    capture(Command::new("apt-get").arg("--version")).is_ok()
}

/// Whether the dynamic linker knows the Vulkan loader, without which no driver can be reached.
pub(crate) fn has_loader() -> bool {
    let listing = ["ldconfig", "/sbin/ldconfig"]
        .iter()
        .find_map(|program| capture(Command::new(program).arg("-p")).ok());
    // Without ldconfig (musl, Nix) nothing can be told; the listing of adapters will show it.
    listing.is_none_or(|libraries| libraries.contains("libvulkan.so.1"))
}

/// Installs lavapipe and the Vulkan loader.
///
/// Errs, with the commands to type, if we may not or apt fails.
pub(crate) fn install_lavapipe() -> Result<()> {
    let install = [
        "install",
        "-y",
        "--no-install-recommends",
        "mesa-vulkan-drivers",
        "libvulkan1",
    ];
    let Some(apt) = Apt::privileged() else {
        bail!("neither root nor passwordless sudo; type\n{APT_ADVICE}");
    };
    eprintln!("installing lavapipe (packages mesa-vulkan-drivers and libvulkan1)");
    // The package lists are often there and good; where they are missing or stale, install fails
    // and names no package.
    if run(&mut apt.command(&install)).is_err() {
        run(&mut apt.command(&["update"]))
            .and_then(|()| run(&mut apt.command(&install)))
            .with_context(|| format!("lavapipe could not be installed; by hand:\n{APT_ADVICE}"))?;
    }
    Ok(())
}

/// SwiftShader's manifest under `target/swiftshader/`: downloaded and unpacked the first time,
/// found there later.
///
/// Errs if the package is not to be had: on Ubuntu it is a snap, and elsewhere the network may be
/// missing.
pub(crate) fn swiftshader() -> Result<PathBuf> {
    let directory = target_dir().join("swiftshader");
    let library = directory.join(SWIFTSHADER_LIBRARY);
    let manifest = directory.join(SWIFTSHADER_MANIFEST);
    if !library.exists() {
        unpack_swiftshader(&directory)?;
    }
    // Written anew each time, for the directory may have been moved.
    let text = fs::read_to_string(&manifest)
        .with_context(|| format!("{}: cannot be read", manifest.display()))?;
    fs::write(&manifest, icd::with_library(&text, &library)?)?;
    Ok(manifest)
}

fn unpack_swiftshader(directory: &Path) -> Result<()> {
    if !has_apt() {
        bail!("it is taken from Debian's package {SWIFTSHADER_PACKAGE}, and apt is not here");
    }
    if is_ubuntu() {
        bail!("Ubuntu ships Chromium as a snap, so there is no package {SWIFTSHADER_PACKAGE}");
    }
    // All in a directory of its own, and the library moved out last: its presence means that the
    // rest is there too.
    let unpack = directory.join("unpack");
    if unpack.exists() {
        fs::remove_dir_all(&unpack)?;
    }
    fs::create_dir_all(&unpack)?;
    eprintln!("fetching SwiftShader (package {SWIFTSHADER_PACKAGE}, about 30 MB, unpacked only)");
    download(SWIFTSHADER_PACKAGE, &unpack)?;
    let deb = find(&unpack, &|name| name.ends_with(".deb"))
        .context("apt-get download left no package")?;
    run(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&unpack))?;
    for file in [SWIFTSHADER_MANIFEST, SWIFTSHADER_LIBRARY] {
        let unpacked = find(&unpack, &|name| name == file)
            .with_context(|| format!("{} holds no {file}", deb.display()))?;
        fs::rename(unpacked, directory.join(file))?;
    }
    fs::remove_dir_all(&unpack)?;
    Ok(())
}

/// Unpacks packages, and those that they depend on whose names begin with one of `prefixes`, into a
/// folder; installs nothing.
pub(crate) fn debian_packages(packages: &[&str], prefixes: &[&str], folder: &Path) -> Result<()> {
    if !has_apt() {
        bail!("it is taken from Debian's packages, and apt is not here");
    }
    // Moved to its place when complete.
    let unpack = folder.with_extension("part");
    if unpack.exists() {
        fs::remove_dir_all(&unpack)?;
    }
    fs::create_dir_all(&unpack)?;
    let mut wanted: Vec<String> = packages.iter().map(|&name| name.to_owned()).collect();
    let mut at = 0;
    while let Some(package) = wanted.get(at).cloned() {
        at += 1;
        download(&package, &unpack)?;
        let deb = find(&unpack, &|name| name.ends_with(".deb"))
            .with_context(|| format!("apt-get download left no package {package}"))?;
        run(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&unpack))?;
        let depends = capture(Command::new("dpkg-deb").arg("-f").arg(&deb).arg("Depends"))?;
        fs::remove_file(&deb)?;
        for needed in depends
            .split(',')
            .filter_map(|entry| entry.split_whitespace().next())
        {
            let ours = prefixes.iter().any(|prefix| needed.starts_with(prefix));
            if ours && !wanted.iter().any(|name| name == needed) {
                wanted.push(needed.to_owned());
            }
        }
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&unpack, folder)?;
    Ok(())
}

/// Unpacks packages of another processor or another release of Debian, and all that they depend on,
/// into a folder; installs nothing.
pub(crate) fn unpack_all(
    packages: &[&str],
    machine: &str,
    release: &str,
    folder: &Path,
) -> Result<()> {
    let address = debian_address()?;
    // apt's own files in a folder beside it, so that it knows nothing of this machine.
    let part = folder.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part)?;
    }
    let (own, system) = (part.join("apt"), part.join("system"));
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(own.join(folder))?;
    }
    fs::create_dir_all(system.join("usr"))?;
    fs::write(own.join("status"), "")?;
    let keyring = KEYRINGS.into_iter().find(|path| Path::new(path).exists());
    let keyring = keyring.context("there are no keys of Debian's archives")?;
    let source = format!("deb [signed-by={keyring}] {address} {release} main\n");
    fs::write(own.join("sources"), source)?;
    let options = apart(&own, machine);
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.arg("-q");
        apt.args(options.iter().flat_map(|option| ["-o", option]));
        apt
    };
    capture(apt().arg("update"))?;
    capture(
        apt()
            .args(["install", "--yes", "--download-only"])
            .args(packages),
    )?;
    for entry in own.join("cache/archives").read_dir()? {
        let deb = entry?.path();
        if deb.extension().is_some_and(|extension| extension == "deb") {
            run(Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&system))?;
        }
    }
    // Newer releases have one folder of libraries; an installation gives it its other name.
    if !system.join("lib").exists() {
        run(Command::new("ln")
            .args(["-s", "usr/lib"])
            .arg(system.join("lib")))?;
    }
    fs::rename(&system, folder)?;
    fs::remove_dir_all(&part)?;
    Ok(())
}

/// What has apt keep all that it knows in a folder, of systems of another processor.
fn apart(folder: &Path, machine: &str) -> [String; 10] {
    let at = |option: &str, name: &str| format!("{option}={}", folder.join(name).display());
    [
        format!("APT::Architecture={machine}"),
        format!("APT::Architectures={machine}"),
        "APT::Sandbox::User=root".into(),
        "APT::Install-Recommends=false".into(),
        "Debug::NoLocking=true".into(),
        "Dir::Etc::sourceparts=-".into(),
        at("Dir::Etc::sourcelist", "sources"),
        at("Dir::State::lists", "lists"),
        at("Dir::State::status", "status"),
        at("Dir::Cache", "cache"),
    ]
}

/// Where this machine's Debian has its packages from.
fn debian_address() -> Result<String> {
    let mut targets = Command::new("apt-get");
    targets.args(["indextargets", "--format", "$(REPO_URI)"]);
    let said = capture(targets.arg("Created-By: Packages"))?;
    let mut addresses = said.lines().map(|line| line.trim_end_matches('/'));
    let address = addresses.find(|line| line.ends_with("/debian"));
    let none = "apt has no packages of Debian here, and knows not where they are";
    Ok(address.context(none)?.to_owned())
}

/// Downloads a package into a directory; needs no rights unless the package lists are missing or
/// stale.
fn download(package: &str, directory: &Path) -> Result<()> {
    let attempt = || {
        // As root apt drops to a user who may not write here, and would say so at length.
        let mut command = Command::new("apt-get");
        command.args(["-q", "-o", "APT::Sandbox::User=root", "download", package]);
        capture(command.current_dir(directory)).map(drop)
    };
    let Err(error) = attempt() else {
        return Ok(());
    };
    let Some(apt) = Apt::privileged() else {
        return Err(error);
    };
    run(&mut apt.command(&["update"]))?;
    attempt()
}

fn is_ubuntu() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release
        .lines()
        .any(|line| matches!(line, "ID=ubuntu" | "ID=\"ubuntu\""))
}

/// The first file below `directory` whose name satisfies `wanted`.
fn find(directory: &Path, wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    for entry in directory.read_dir().ok()?.filter_map(Result::ok) {
        let path = entry.path();
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            if let Some(found) = find(&path, wanted) {
                return Some(found);
            }
        } else if kind.is_file() && path.file_name()?.to_str().is_some_and(wanted) {
            return Some(path);
        }
    }
    None
}

/// apt-get with the right to install.
struct Apt {
    prefix: &'static [&'static str],
}

impl Apt {
    /// As root, or through sudo where it asks for no password.
    fn privileged() -> Option<Self> {
        let root = capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
        if root {
            return Some(Self { prefix: &["env"] });
        }
        let sudo = capture(Command::new("sudo").args(["-n", "true"])).is_ok();
        sudo.then_some(Self {
            prefix: &["sudo", "-n", "env"],
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.prefix[0]);
        command
            .args(&self.prefix[1..])
            .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"])
            // Another apt may be at work on a fresh machine: wait for it.
            .args(["-o", "DPkg::Lock::Timeout=120"])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}
