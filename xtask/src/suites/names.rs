//! Which targets have tests of a name, read off the source, so that no other is built.

use crate::folders::root;
use crate::metadata::collect;
use anyhow::{Result, bail};
use std::fs;
use std::path::Path;

/// Programs of tests, the folders of their source, and what cargo builds them by.
const PROGRAMS: [(&str, &str, &[&str]); 10] = [
    ("bochner/unit", "src", &["--lib"]),
    ("maps/unit", "maps/src", &["--lib"]),
    ("capi/unit", "capi/src", &["--lib"]),
    ("cli/unit", "cli/src", &["--bins"]),
    ("xtask/unit", "xtask/src", &["--bins"]),
    ("tests/cpu", "tests/cpu", &["--test", "cpu"]),
    ("tests/data", "tests/data", &["--test", "data"]),
    ("tests/devices", "tests/devices", &["--test", "devices"]),
    ("cli/cli", "cli/tests/cli", &["--test", "cli"]),
    // Its tests are pytest's.
    ("python", "python/src", &["--lib"]),
];

/// Arguments of `cargo test` that build the tests whose path, `module::function`, holds one of
/// these names, or whose program has it; none build all.
///
/// Errs on a name that no test has.
pub(super) fn targets(names: &[String]) -> Result<Vec<String>> {
    let mut targets: Vec<&[&str]> = Vec::new();
    for name in names {
        let mut found = false;
        for (program, folder, arguments) in PROGRAMS {
            if name == program || has(&root().join(folder), name)? {
                found = true;
                if !targets.contains(&arguments) {
                    targets.push(arguments);
                }
            }
        }
        if !found {
            bail!("no test has {name:?} in its name, nor in that of its module");
        }
    }
    let arguments = targets.into_iter().flatten();
    Ok(arguments.map(|&argument| argument.to_owned()).collect())
}

/// Whether a test under this folder has the name in its path.
fn has(folder: &Path, name: &str) -> Result<bool> {
    let mut files = Vec::new();
    collect(folder, "rs", &mut files);
    for file in files {
        let text = fs::read_to_string(&file)?;
        let module = module(file.strip_prefix(folder).unwrap_or(&file));
        if paths(&module, &text).any(|path| path.contains(name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `a/b/mod.rs`, `a/b.rs` and `a/b/main.rs` as modules.
fn module(file: &Path) -> String {
    let path = file.with_extension("");
    let parts = path.iter().map(|part| part.to_string_lossy());
    let parts: Vec<_> = parts
        .filter(|part| !matches!(part.as_ref(), "mod" | "main" | "lib"))
        .collect();
    parts.join("::")
}

/// The paths of a file's tests; `tests` stands for the module that unit tests lie in.
fn paths<'t>(module: &'t str, text: &'t str) -> impl Iterator<Item = String> + 't {
    let mut lines = text.lines().map(str::trim);
    let inner = if text.contains("mod tests {") {
        "tests::"
    } else {
        ""
    };
    std::iter::from_fn(move || {
        lines.by_ref().find(|line| *line == "#[test]")?;
        let function = lines.by_ref().find(|line| line.starts_with("fn "))?;
        let end = function.find('(').unwrap_or(function.len());
        Some(format!("{module}::{inner}{}", &function[3..end]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_module_and_by_name() {
        let text = "mod tests {\n    #[test]\n    #[cfg(unix)]\n    fn a_b() {\n}}";
        let found: Vec<_> = paths(&module(Path::new("models/mod.rs")), text).collect();
        assert_eq!(found, ["models::tests::a_b"]);
        let own = targets(&["tests_are_found_by_module".to_owned()]).unwrap();
        assert_eq!(own, ["--bins"]);
        assert_eq!(
            targets(&["parity::gram".to_owned()]).unwrap(),
            ["--test", "devices"]
        );
        assert_eq!(targets(&["cli/cli".to_owned()]).unwrap(), ["--test", "cli"]);
        assert!(targets(&["no test is called so".to_owned()]).is_err());
    }
}
