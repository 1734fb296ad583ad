//! What a release says of itself: its notes, out of the changelog, and that its tag names the
//! version that the packages have.

use crate::folders::root;
use anyhow::{Context, Result, bail};
use std::{env, fs};

/// What is not released yet.
const NEXT: &str = "Unreleased";

/// Prints the changelog's section of this version, or of what is not released yet where no tag is
/// built. Errs where a tag names another version, or a version that the changelog does not have.
pub(crate) fn notes() -> Result<()> {
    let is_tag = env::var("GITHUB_REF_TYPE").is_ok_and(|kind| kind == "tag");
    let tag = env::var("GITHUB_REF_NAME").ok().filter(|_| is_tag);
    let version = env!("CARGO_PKG_VERSION");
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).context("CHANGELOG.md")?;
    let title = match &tag {
        None => NEXT,
        Some(tag) if tag.strip_prefix('v') == Some(version) => version,
        Some(tag) => bail!("the tag is {tag}, and the packages have version {version}"),
    };
    let section = section(&changelog, title);
    print!(
        "{}",
        section.with_context(|| format!("CHANGELOG.md has no section {title}"))?
    );
    Ok(())
}

/// The lines below a title of the second level, which may have a date behind it.
fn section<'a>(changelog: &'a str, title: &str) -> Option<&'a str> {
    let is_title = |line: &str| {
        let words = line
            .strip_prefix("## ")
            .map(|words| words.split_whitespace().next());
        words == Some(Some(title))
    };
    let mut at = 0;
    let mut lines = changelog.split_inclusive('\n').map(|line| {
        at += line.len();
        (line, at)
    });
    let (_, first) = lines.find(|(line, _)| is_title(line))?;
    let next = lines.find(|(line, _)| line.starts_with("## "));
    let end = next.map_or(changelog.len(), |(line, end)| end - line.len());
    Some(changelog[first..end].trim_start_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn notes_are_those_of_the_version() {
        let log = "# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-12-01)\n\n### Added\n\n* A.\n\n\
                   ## 0.0.9\n\n* B.\n";
        assert_eq!(section(log, "0.1.0"), Some("### Added\n\n* A.\n\n"));
        assert_eq!(section(log, "0.0.9"), Some("* B.\n"));
        assert_eq!(section(log, "Unreleased"), Some(""));
        assert_eq!(section(log, "0.1"), None);
    }
}
