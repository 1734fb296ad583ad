//! A folder as hubs of models show it: the card under a head that they sort by, and the model.

use crate::report::one_line;
use anyhow::Result;
use bochner::{
    Error,
    data::AtomicFile,
    models::{LinearModel, Targets},
};
use std::{
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

/// The page that hubs show of a folder.
const PAGE: &str = "README.md";
/// How a page of this program begins.
const HEAD: &str = "---\nlibrary_name: bochner\n";

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
    let is_new = is_there.is_none() || is_there != fs::canonicalize(&to).ok();
    let replaced = [Some(Path::new(PAGE)), is_new.then_some(Path::new(name))];
    require_own(folder, replaced.into_iter().flatten())?;
    if is_new {
        let bytes = fs::read(file).map_err(|error| Error::io(file, error))?;
        put(&to, &bytes)?;
    }
    let to = folder.join(PAGE);
    let name = one_line(&name.to_string_lossy());
    put(
        &to,
        format!("{}{page}{}", head(model), use_of(&name)).as_bytes(),
    )?;
    Ok(to)
}

/// Errors if one of these files is there, and the folder is none that a card was written to.
fn require_own<'a>(folder: &Path, mut names: impl Iterator<Item = &'a Path>) -> Result<()> {
    let mut first = [0; HEAD.len()];
    let page = folder.join(PAGE);
    // Asked first: to open a pipe waits for who writes into it.
    let is_file = fs::metadata(&page).is_ok_and(|found| found.is_file());
    let mut read = || fs::File::open(&page).and_then(|mut page| page.read_exact(&mut first));
    if is_file && read().is_ok() && first == HEAD.as_bytes() {
        return Ok(());
    }
    match names.find(|name| folder.join(name).symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(name) => {
            let problem = "is there and would be replaced, beside no card of bochner; name \
                           another folder";
            Err(Error::data(folder.join(name), problem).into())
        }
    }
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
    // A name that a file gives may be anything, and a string of JSON is one of YAML.
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let learner = match &model.learner {
        name if is_plain(name) => name.clone(),
        name => serde_json::json!(name).to_string(),
    };
    format!("{HEAD}{task}{tags}- {learner}\n---\n\n")
}

/// The last section: how a file that was fetched predicts.
fn use_of(name: &str) -> String {
    format!("\n## How to use it\n\n```sh\nbochner predict {name} new.csv -o predicted.csv\n```\n")
}
