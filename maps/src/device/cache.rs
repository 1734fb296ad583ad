//! Files that spare the next process work: compiled pipelines and chosen tile shapes, per adapter
//! and driver.
//!
//! They lie in the user's cache folder, or in `BOCHNER_CACHE`; `BOCHNER_CACHE=off` keeps nothing.
//! Nothing depends on them: what cannot be read, is damaged, or was written for another adapter,
//! driver or version counts as absent and is written again. So does all of a folder that others can
//! write, since drivers run what is in it.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

/// First bytes of every file, with the version of this layout.
const MAGIC: &[u8; 8] = b"bochner1";
/// The folder, or `off`.
const VARIABLE: &str = "BOCHNER_CACHE";

/// A folder of entries, each known by a name and a key that says what it is valid for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The user's cache: `BOCHNER_CACHE`, else the platform's folder for caches.
    pub(crate) fn user() -> Self {
        let folder = match env::var_os(VARIABLE) {
            Some(value) if value.is_empty() || value == "off" => None,
            Some(value) => Some(PathBuf::from(value)),
            None => platform_folder(),
        };
        Self { folder }
    }

    /// The entries of one folder.
    #[cfg(test)]
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: Some(folder.to_owned()),
        }
    }

    /// What was stored under `name` for exactly this `key`; `None` if nothing sound was.
    pub(crate) fn load(&self, name: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.path(name, key)?;
        if !self.folder.as_deref().is_some_and(is_private) {
            return None;
        }
        // To open a pipe waits for who writes into it, and a device may have no end.
        if !fs::metadata(&path).ok()?.is_file() {
            log::info!("the cached {name} is no file: {}", path.display());
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, rest) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != fnv1a(rest) {
            log::info!("the cached {name} is damaged and will be written again");
            return None;
        }
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (stored_key, content) = rest.split_at_checked(length)?;
        (stored_key == versioned(key).as_bytes()).then(|| content.to_vec())
    }

    /// Keeps `content` under `name` for `key`. A folder that cannot be written only costs the next
    /// process the work.
    pub(crate) fn store(&self, name: &str, key: &str, content: &[u8]) {
        let Some(path) = self.path(name, key) else {
            return;
        };
        if let Err(e) = write(&path, &versioned(key), content) {
            log::info!("{name} is not cached: {}: {e}", path.display());
        }
    }

    /// One file per name and key, so that two adapters do not overwrite each other.
    fn path(&self, name: &str, key: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        Some(folder.join(format!("{name}-{:016x}", fnv1a(key.as_bytes()))))
    }
}

/// Whole or not at all: written beside its place, then renamed.
fn write(path: &Path, key: &str, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    if !is_private(folder) {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    let mut body = (key.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(key.as_bytes());
    body.extend_from_slice(content);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&fnv1a(&body).to_le_bytes())?;
    file.write_all(&body)?;
    file.persist(path)?;
    Ok(())
}

/// Whether nobody but its owner, who is this user or the system, can write into a folder.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    let is_private = fs::metadata(folder)
        .is_ok_and(|found| [own, 0].contains(&found.uid()) && found.mode() & 0o022 == 0);
    if !is_private && folder.exists() {
        log::info!(
            "others can write into {}, so nothing is cached",
            folder.display()
        );
    }
    is_private
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

/// Another version may draw other shaders and shapes.
fn versioned(key: &str) -> String {
    format!("{} {key}", env!("CARGO_PKG_VERSION"))
}

fn platform_folder() -> Option<PathBuf> {
    let set = |name| {
        env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library/Caches"))
    } else {
        set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))
    };
    Some(base?.join("bochner"))
}

/// Fowler, Noll and Vo's 64-bit hash, variant 1a.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_comes_back_for_its_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("deep/er"));
        assert_eq!(cache.load("tiles", "adapter A"), None);
        cache.store("tiles", "adapter A", b"first");
        cache.store("tiles", "adapter A", b"second");
        cache.store("tiles", "adapter B", b"");
        assert_eq!(cache.load("tiles", "adapter A").unwrap(), b"second");
        assert_eq!(cache.load("tiles", "adapter B").unwrap(), b"");
        assert_eq!(cache.load("pipelines", "adapter A"), None);
        assert_eq!(Cache::default().load("tiles", "adapter A"), None);
        Cache::default().store("tiles", "adapter A", b"nowhere");
    }

    #[test]
    fn a_damaged_or_foreign_file_is_ignored_and_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.store("tiles", "key", b"content");
        let path = cache.path("tiles", "key").unwrap();
        let sound = fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.load("tiles", "key"), None, "byte {at}");
            fs::write(&path, &sound[..at]).unwrap();
            assert_eq!(cache.load("tiles", "key"), None, "cut at {at}");
        }
        // A file of another key under this key's name.
        write(&path, "0.0.0 key", b"content").unwrap();
        assert_eq!(cache.load("tiles", "key"), None);
        cache.store("tiles", "key", b"content");
        assert_eq!(cache.load("tiles", "key").unwrap(), b"content");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_is_no_cache() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("own"));
        cache.store("tiles", "key", b"content");
        let own = cache.folder.clone().unwrap();
        assert_eq!(
            fs::metadata(&own).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let path = cache.path("tiles", "key").unwrap();
        for (mode, is_read) in [(0o755, true), (0o775, false), (0o757, false), (0o700, true)] {
            fs::set_permissions(&own, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(cache.load("tiles", "key").is_some(), is_read, "{mode:o}");
            fs::remove_file(&path).unwrap();
            cache.store("tiles", "key", b"content");
            assert_eq!(path.exists(), is_read, "{mode:o}");
            write_by_anybody(&path);
        }
    }

    /// What others have put there.
    #[cfg(unix)]
    fn write_by_anybody(path: &Path) {
        let folder = tempfile::tempdir().unwrap();
        let other = Cache::at(folder.path());
        other.store("tiles", "key", b"content");
        fs::copy(other.path("tiles", "key").unwrap(), path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_in_a_files_place_is_not_waited_for() {
        use std::{process::Command, sync::mpsc, thread, time::Duration};
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        for name in ["pipe", "device"] {
            let path = cache.path(name, "key").unwrap();
            match name {
                "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
                _ => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            }
            let (told, result) = mpsc::channel();
            let reader = cache.clone();
            thread::spawn(move || told.send(reader.load(name, "key")));
            // For ever, where it is waited for.
            let loaded = result.recv_timeout(Duration::from_secs(120));
            assert_eq!(loaded.expect("the load ends"), None, "{name}");
            cache.store(name, "key", b"content");
            assert_eq!(cache.load(name, "key").unwrap(), b"content", "{name}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_fault() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let cache = Cache::at(file.path());
        cache.store("tiles", "key", b"content");
        assert_eq!(cache.load("tiles", "key"), None);
    }
}
