//! Vulkan driver manifests (ICD files): where the loader finds them and what they name.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variables that replace the loader's search: today's name first, then the one that loaders
/// before 1.3.207 know.
pub(crate) const REPLACING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The manifests that the environment names in place of the system's, or `None` where it names
/// none.
///
/// Errs if one of them cannot be read, is no manifest, or gives the path of a library that is not
/// there.
pub(crate) fn named() -> Result<Option<Vec<PathBuf>>> {
    for variable in REPLACING {
        let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) else {
            continue;
        };
        let mut manifests = Vec::new();
        for path in env::split_paths(&value).filter(|path| !path.as_os_str().is_empty()) {
            let members = if path.is_dir() {
                in_directory(&path)
            } else {
                vec![path]
            };
            for manifest in members {
                library(&manifest).with_context(|| {
                    format!(
                        "{variable} names a driver that cannot work; correct or unset the variable"
                    )
                })?;
                manifests.push(manifest);
            }
        }
        return Ok(Some(manifests));
    }
    Ok(None)
}

/// The manifests in the directories that the loader searches on Linux, each once, in its order.
pub(crate) fn installed() -> Vec<PathBuf> {
    let paths = |variable: &str, default: &str| -> Vec<PathBuf> {
        let value = env::var_os(variable).filter(|value| !value.is_empty());
        env::split_paths(&value.unwrap_or_else(|| OsString::from(default))).collect()
    };
    let home = env::var("HOME").unwrap_or_default();
    let mut roots = paths("XDG_CONFIG_HOME", &format!("{home}/.config"));
    roots.extend(paths("XDG_CONFIG_DIRS", "/etc/xdg"));
    roots.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    roots.extend(paths("XDG_DATA_HOME", &format!("{home}/.local/share")));
    roots.extend(paths("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    roots.push("/usr/share".into());

    let mut manifests = Vec::new();
    for root in roots.iter().filter(|root| root.is_absolute()) {
        for manifest in in_directory(&root.join("vulkan/icd.d")) {
            if !manifests.contains(&manifest) {
                manifests.push(manifest);
            }
        }
    }
    manifests
}

fn in_directory(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = directory.read_dir() else {
        return Vec::new();
    };
    let mut manifests: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    manifests.sort();
    manifests
}

/// Whether this is lavapipe's manifest for the machine's own architecture: Mesa 25 dropped the
/// latter from the name.
pub(crate) fn is_lavapipe(manifest: &Path) -> bool {
    let name = manifest.file_name().unwrap_or_default();
    name == "lvp_icd.json" || name == format!("lvp_icd.{}.json", env::consts::ARCH).as_str()
}

/// The library that a manifest names: a path, or a bare name that the dynamic linker looks up.
///
/// Errs if the manifest cannot be read or a library given as a path does not exist.
pub(crate) fn library(manifest: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(manifest)
        .with_context(|| format!("{}: cannot be read", manifest.display()))?;
    let name = library_path(&text).with_context(|| format!("{}", manifest.display()))?;
    if !name.contains('/') {
        return Ok(name.into());
    }
    // A relative path is relative to the manifest.
    let path = manifest.parent().unwrap_or(Path::new("")).join(name);
    if !path.exists() {
        bail!(
            "{} names {}, which does not exist",
            manifest.display(),
            path.display()
        );
    }
    Ok(path)
}

fn library_path(text: &str) -> Result<String> {
    let manifest: Value = serde_json::from_str(text).context("not a driver manifest")?;
    match &manifest["ICD"]["library_path"] {
        Value::String(path) => Ok(path.clone()),
        _ => bail!("not a driver manifest: no ICD.library_path"),
    }
}

/// The text of a manifest with its library replaced by an absolute path; everything else stays.
pub(crate) fn with_library(text: &str, library: &Path) -> Result<String> {
    library_path(text)?;
    let mut manifest: Value = serde_json::from_str(text)?;
    let library = library.to_str().context("a path that is not UTF-8")?;
    manifest["ICD"]["library_path"] = library.into();
    Ok(serde_json::to_string_pretty(&manifest)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"{"file_format_version": "1.0.0",
        "ICD": {"library_path": "./libvk_swiftshader.so", "api_version": "1.1.0"}}"#;

    #[test]
    fn replacing_the_library_keeps_the_versions() {
        let text = with_library(MANIFEST, Path::new("/opt/lib.so")).unwrap();
        assert_eq!(library_path(&text).unwrap(), "/opt/lib.so");
        let manifest: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["ICD"]["api_version"], "1.1.0");
        assert_eq!(manifest["file_format_version"], "1.0.0");
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        for text in ["", "[]", "{}", r#"{"ICD": {"library_path": 3}}"#] {
            assert!(library_path(text).is_err(), "{text}");
        }
        let missing = library(Path::new("nowhere/icd.json")).unwrap_err();
        assert!(format!("{missing:#}").contains("nowhere/icd.json"));
    }

    #[test]
    fn lavapipe_is_known_by_its_manifest() {
        assert!(is_lavapipe(Path::new("/a/lvp_icd.json")));
        assert!(is_lavapipe(Path::new(&format!(
            "/a/lvp_icd.{}.json",
            env::consts::ARCH
        ))));
        assert!(!is_lavapipe(Path::new("/a/lvp_icd.mips.json")));
        assert!(!is_lavapipe(Path::new("/a/intel_icd.json")));
    }
}
