//! A folder as hubs of models show it: the card under a head that they sort by, and the model.

use anyhow::Result;
use bochner::{
    Error,
    data::AtomicFile,
    models::{LinearModel, Targets},
};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// The page that hubs show of a folder.
const PAGE: &str = "README.md";

/// Whether a card is asked for as a folder: it ends as one, or is there.
pub(super) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(['/', '\\'])
}

/// Writes the card `page` and the model file into a folder, each whole or not at all. Gives the
/// path of the page.
pub(super) fn write(
    folder: &Path,
    file: &Path,
    model: &LinearModel,
    page: &str,
) -> Result<PathBuf> {
    fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    let name = file.file_name().unwrap_or(file.as_os_str());
    let to = folder.join(name);
    let is_there = fs::canonicalize(file).ok();
    // Where it lies already it stays.
    if is_there.is_none() || is_there != fs::canonicalize(&to).ok() {
        let bytes = fs::read(file).map_err(|error| Error::io(file, error))?;
        put(&to, &bytes)?;
    }
    let to = folder.join(PAGE);
    let name = name.to_string_lossy();
    put(
        &to,
        format!("{}{page}{}", head(model), use_of(&name)).as_bytes(),
    )?;
    Ok(to)
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let written = file.write_all(bytes);
    written.map_err(|error| Error::io(path, error))?;
    Ok(file.finish()?)
}

/// What hubs sort by, in their words. The licence is the owner's to say.
fn head(model: &LinearModel) -> String {
    let task = match &model.targets {
        Targets::Real { columns: 0, .. } => None,
        Targets::Real { .. } => Some("tabular-regression"),
        Targets::Classes(_) => Some("tabular-classification"),
    };
    let task = task.map_or(String::new(), |task| format!("pipeline_tag: {task}\n"));
    let tags = "tags:\n- kernel-methods\n- random-features\n";
    format!(
        "---\nlibrary_name: bochner\n{task}{tags}- {}\n---\n\n",
        model.learner
    )
}

/// The last section: how a file that was fetched predicts.
fn use_of(name: &str) -> String {
    format!("\n## How to use it\n\n```sh\nbochner predict {name} new.csv -o predicted.csv\n```\n")
}
