//! Outputs that would replace what a command reads.

use crate::report::Usage;
use anyhow::Result;
use bochner::data;
use std::path::{Path, PathBuf};

/// Errors when two of these are the same file: an output and an input, or two outputs. Paths that
/// are not given, and files that are not there yet, are no trouble.
pub(crate) fn keep_apart<'a>(
    outputs: impl IntoIterator<Item = Option<&'a Path>>,
    inputs: impl IntoIterator<Item = Option<&'a Path>>,
) -> Result<()> {
    // What a folder or a pattern stands for is read, too.
    let files = |input: &Path| data::parts(input).unwrap_or_else(|_| vec![input.to_owned()]);
    let inputs = inputs.into_iter().flatten().flat_map(files);
    let inputs: Vec<_> = inputs.map(|input| real(data::file_of(&input))).collect();
    let mut written: Vec<PathBuf> = Vec::new();
    for output in outputs.into_iter().flatten() {
        let place = real(output);
        let refuse = |problem: &str| {
            let output = output.display();
            Err(Usage(format!("{output}: {problem}; name another output")).into())
        };
        if inputs.contains(&place) {
            return refuse("is read by this command and would be replaced");
        }
        if written.contains(&place) {
            return refuse("is named for two outputs");
        }
        written.push(place);
    }
    Ok(())
}

/// A path without links; of a file that is not there yet that of its folder.
fn real(path: &Path) -> PathBuf {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    path.canonicalize().unwrap_or_else(|_| {
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        }
    })
}
