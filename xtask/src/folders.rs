//! Where the workspace and its builds lie.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies one level below the root")
}

/// Where builds go, and with them what this program downloads.
pub(crate) fn target_dir() -> PathBuf {
    // Joined to the root: an absolute CARGO_TARGET_DIR replaces it, a relative one does not depend
    // on where we run.
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
