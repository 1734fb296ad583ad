//! What a feedstock of conda takes: the sources in one archive, and the recipe that names it.

use crate::folders::{root, target_dir};
use crate::packaging::{RECIPE, repository};
use crate::process::{capture, run};
use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes both under target/conda, of what is committed.
pub(crate) fn build() -> Result<()> {
    let folder = target_dir().join("conda");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(&folder)?;
    let name = format!("bochner-{}", env!("CARGO_PKG_VERSION"));
    let archive = folder.join(format!("{name}-source.tar.gz"));
    let mut git = Command::new("git");
    // In a container the checkout often belongs to another user, and git would refuse it.
    git.args(["-c", "safe.directory=*", "archive", "--format", "tar.gz"])
        .args(["--prefix", &format!("{name}/"), "--output"])
        .arg(&archive)
        .arg("HEAD")
        .current_dir(root());
    run(&mut git)?;
    let address = address()?;
    let template = fs::read_to_string(root().join(RECIPE)).context(RECIPE)?;
    let recipe = filled(&template, address.as_deref(), &sum(&archive)?);
    let path = folder.join("recipe.yaml");
    fs::write(&path, recipe).with_context(|| path.display().to_string())?;
    println!("{}\n{}", archive.display(), path.display());
    if address.is_none() {
        println!("no address yet: name the `repository` in Cargo.toml, and type this again");
    }
    Ok(())
}

/// Where releases lie: by the manifest, or of whose workflow this is.
fn address() -> Result<Option<String>> {
    let server = env::var("GITHUB_SERVER_URL").ok();
    let own = server.zip(env::var("GITHUB_REPOSITORY").ok());
    Ok(repository()?.or(own.map(|(server, name)| format!("{server}/{name}"))))
}

/// The recipe with its address, where that is known, and the sum of the archive.
fn filled(template: &str, address: Option<&str>, sum: &str) -> String {
    let recipe = template.lines().map(|line| match address {
        _ if line.starts_with('#') => line.to_owned(),
        None => line.replace("SHA256", sum),
        Some(address) => line
            .replace("SHA256", sum)
            .replace("REPOSITORY", address.trim_end_matches('/')),
    });
    recipe.map(|line| line + "\n").collect()
}

fn sum(archive: &Path) -> Result<String> {
    let said = capture(Command::new("sha256sum").arg(archive))?;
    let sum = said.split_whitespace().next();
    Ok(sum.context("sha256sum said nothing")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_that_is_filled_in_names_its_archive() {
        let template = fs::read_to_string(root().join(RECIPE)).unwrap();
        let recipe = filled(&template, Some("https://example.org/a/"), "0123");
        let source = "source:\n  url: https://example.org/a/releases/download/v${{ version }}/\
                      bochner-${{ version }}-source.tar.gz\n  sha256: 0123\n";
        assert!(recipe.contains(source), "{recipe}");
        let left = |word: &str| {
            recipe
                .lines()
                .any(|l| !l.starts_with('#') && l.contains(word))
        };
        assert!(!left("REPOSITORY") && !left("SHA256") && left("MAINTAINER"));
        // What is not known stays to be filled in.
        assert!(filled(&template, None, "0123").contains("url: REPOSITORY/releases"));
    }
}
