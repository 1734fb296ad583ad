//! What `cargo xtask checks` looks at besides the tests.

use crate::folders::{root, target_dir};
use crate::metadata::collect;
use crate::process::{capture, cargo, run, step};
use crate::{
    codegen, dependencies, documents, figures, header, lengths, modules, msrv, packaging, web,
    workflows,
};
use anyhow::{Result, bail};
use std::fs;
use std::process::Command;

/// The checks that compile nothing; stops at the first that fails.
pub(crate) fn run_quick() -> Result<()> {
    step("formatting", || {
        run(&mut cargo(["fmt", "--all", "--check"]))
    })?;
    step("columns", columns)?;
    step("lengths", lengths::check)?;
    step("dependencies", dependencies::check)?;
    step("shaders", shaders)?;
    step("paths", paths)?;
    step("modules", modules::check)?;
    step("documents", documents::check)?;
    step("workflows", || workflows::check(&crate::commands()))?;
    step("packaging", packaging::check)?;
    step("header", header::check)
}

/// Every check of a landing, the quick ones first; stops at the first that fails.
pub(crate) fn run_all() -> Result<()> {
    run_quick()?;
    run_rest()
}

/// What a landing seldom fails at too: the stated compiler, which compiles everything once more.
pub(crate) fn run_whole() -> Result<()> {
    run_all()?;
    step("spreadsheets and databases", cells)?;
    step("what only predicts", predicting)?;
    step("holes in workflows", || workflows::lint(&crate::commands()))?;
    step("msrv", msrv::check_if_possible)
}

/// The readers that no build has unless it is asked for, with their lints and tests.
fn cells() -> Result<()> {
    // Of the whole workspace, so that few dependencies are built twice.
    let all = [
        "--release",
        "--workspace",
        "--features",
        "bochner-cli/excel,bochner-cli/sqlite",
    ];
    run(cargo(["clippy", "--all-targets"])
        .args(all)
        .args(["--", "-D", "warnings"]))?;
    run(cargo(["test", "--lib"])
        .args(all)
        .args(["--", "data::files::cells"]))
}

/// The library for C, which has neither learners nor files; in the workspace it has both.
fn predicting() -> Result<()> {
    run(cargo(["clippy", "--release", "--package", "bochner-capi"]).args(["--", "-D", "warnings"]))
}

/// The checks that compile.
pub(crate) fn run_rest() -> Result<()> {
    step("clippy", || {
        run(&mut cargo([
            "clippy",
            "--release",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    step("documentation", || {
        // In release, for the dependencies are then those that clippy has just checked.
        let mut doc = cargo(["doc", "--release", "--no-deps", "--workspace"]);
        run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    step("loops", codegen::check_loops_if_known)?;
    step("codegen", codegen::check_if_possible)?;
    step("browser", web::check_if_possible)?;
    step("examples", examples)?;
    step("figures", figures::check_short)
}

/// Columns of a line of code or comment.
const COLUMNS: usize = 100;

/// No line of code or comment has more columns than that; rustfmt sees to code only.
fn columns() -> Result<()> {
    let (mut files, mut found) = (Vec::new(), Vec::new());
    for folder in [
        "src", "maps", "shaders", "capi", "cli", "python", "web", "xtask", "tests", "benches",
        "examples",
    ] {
        collect(&root().join(folder), "rs", &mut files);
        collect(&root().join(folder), "wgsl", &mut files);
    }
    for file in &files {
        let path = file.strip_prefix(root()).unwrap_or(file).display();
        for (index, line) in fs::read_to_string(file)?.lines().enumerate() {
            if is_too_long(line) {
                found.push(format!("{path}:{}", index + 1));
            }
        }
    }
    if !found.is_empty() {
        bail!(
            "more than {COLUMNS} columns in {} lines:\n{}",
            found.len(),
            found.join("\n")
        );
    }
    println!(
        "{} files, no line of code or comment has more than {COLUMNS} columns",
        files.len()
    );
    Ok(())
}

/// A text between quotes may be as long as it is: some would not be found again in pieces.
fn is_too_long(line: &str) -> bool {
    let comment = line.trim_start().starts_with("//");
    let text = !comment && (line.contains('"') || line.ends_with('\\'));
    line.chars().count() > COLUMNS && !text
}

/// Every shader is a constant of its package, which nothing else hands out, and none calls the
/// built-in cosine or sine: WGSL promises them to 2^-11 inside [-pi, pi] and nothing outside.
fn shaders() -> Result<()> {
    let mut files = Vec::new();
    collect(&root().join("shaders"), "wgsl", &mut files);
    if files.is_empty() {
        bail!("no .wgsl file under shaders/");
    }
    let folder = root().join("shaders");
    let named = fs::read_to_string(folder.join("lib.rs"))?;
    let mut found = Vec::new();
    for file in &files {
        let own = file.strip_prefix(&folder).unwrap_or(file);
        // Those that others include are named by their stems.
        let shared = own.strip_prefix("shared").ok();
        let name = shared.map_or(own.to_path_buf(), |own| own.with_extension(""));
        if !named.contains(&format!("\"{}\"", name.display())) {
            let own = own.display();
            bail!("shaders/lib.rs does not name {own}, so that no op has it; add it or remove it");
        }
        let code = without_comments(&fs::read_to_string(file)?);
        for (index, line) in code.lines().enumerate() {
            if let Some(function) = builtin_trigonometry(line) {
                let path = file.strip_prefix(root()).unwrap_or(file).display();
                found.push(format!("{path}:{}: {function}", index + 1));
            }
        }
    }
    if !found.is_empty() {
        bail!(
            "built-in trigonometry in a shader; use the polynomial in turns:\n{}",
            found.join("\n")
        );
    }
    println!(
        "{} shaders, all are constants of their package, none calls cos or sin",
        files.len()
    );
    Ok(())
}

/// The text with comments blanked out and its line breaks kept; WGSL's block comments nest.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut depth = 0;
    let mut line_comment = false;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        if character == '\n' {
            line_comment = false;
            code.push('\n');
        } else if line_comment {
        } else if rest.starts_with("/*") {
            depth += 1;
            length = 2;
            code.push(' ');
        } else if depth > 0 {
            if rest.starts_with("*/") {
                depth -= 1;
                length = 2;
            }
        } else if rest.starts_with("//") {
            line_comment = true;
        } else {
            code.push(character);
        }
        rest = &rest[length..];
    }
    code
}

fn builtin_trigonometry(line: &str) -> Option<&'static str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    ["cos", "sin"].into_iter().find(|function| {
        line.match_indices(function).any(|(at, _)| {
            let after = line[at + function.len()..].trim_start();
            !line[..at].ends_with(is_word) && after.starts_with('(')
        })
    })
}

/// No file that git would carry names a directory of somebody's machine.
fn paths() -> Result<()> {
    let mut git = Command::new("git");
    // In a container the checkout often belongs to another user, and git would refuse it.
    git.args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root());
    let listing = capture(&mut git)?;
    let (mut count, mut found) = (0, Vec::new());
    for name in listing.split('\0').filter(|name| !name.is_empty()) {
        // Deleted but not yet committed, or no text: nothing to read.
        let Ok(text) = fs::read_to_string(root().join(name)) else {
            continue;
        };
        count += 1;
        for (index, line) in text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                found.push(format!("{name}:{}: {path}", index + 1));
            }
        }
    }
    if !found.is_empty() {
        bail!("paths of one machine:\n{}", found.join("\n"));
    }
    println!("{count} text files, none holds a path of one machine");
    Ok(())
}

/// The beginning of a path under a directory where people's own files lie.
fn machine_path(line: &str) -> Option<String> {
    let unix = ["home", "Users", "root", "work", "mnt"].map(|name| format!("/{name}/"));
    let windows = [r"\Users\", r"\\Users\\"].map(|middle| format!("C:{middle}"));
    let inside_a_longer_path =
        |before: char| before.is_alphanumeric() || matches!(before, '.' | '_' | '-' | '}' | '~');
    unix.into_iter().chain(windows).find(|prefix| {
        line.match_indices(prefix.as_str())
            .any(|(at, _)| !line[..at].ends_with(inside_a_longer_path))
    })
}

/// Builds and runs every example, each without arguments, on the CPU.
fn examples() -> Result<()> {
    let mut names = Vec::new();
    for entry in root().join("examples").read_dir()? {
        let path = entry?.path();
        let is_example = path.extension().is_some_and(|extension| extension == "rs");
        if let (true, Some(name)) = (is_example, path.file_stem().and_then(|name| name.to_str())) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    if names.is_empty() {
        bail!("no example under examples/");
    }
    // The package set of the tests, so that nothing is built twice.
    run(&mut cargo([
        "build",
        "--release",
        "--workspace",
        "--bins",
        "--examples",
    ]))?;
    for name in names {
        eprintln!("--> {name}");
        let program = target_dir()
            .join("release/examples")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        run(Command::new(program)
            .env("BOCHNER_DEVICE", "cpu")
            .current_dir(root()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_measured_but_for_texts() {
        let (fits, long) = ("x".repeat(90), "x".repeat(101));
        assert!(is_too_long(&long) && is_too_long(&format!("// \"{long}\"")));
        assert!(!is_too_long(&fits) && !is_too_long(&"\u{e9}".repeat(100)));
        assert!(!is_too_long(&format!("    \"{long}\",")) && !is_too_long(&format!("{long}\\")));
    }

    #[test]
    fn trigonometry_is_seen_in_code_only() {
        let found = |code: &str| {
            without_comments(code)
                .lines()
                .find_map(builtin_trigonometry)
        };
        assert_eq!(found("let y = cos(x);"), Some("cos"));
        assert_eq!(found("let y = a + sin (x);"), Some("sin"));
        assert_eq!(found("/* a /* b */ c */ let y = cos(x);"), Some("cos"));
        for code in [
            "acos(x)",
            "cos2pi(x)",
            "// cos(x)",
            "/* a\n cos(x) /* b */ */",
            "let cos = 1;",
        ] {
            assert_eq!(found(code), None, "{code}");
        }
    }

    #[test]
    fn paths_of_a_machine_are_told_from_others() {
        // Put together here, for this file is checked as well.
        let path = format!("/{}/somebody/x", "home");
        assert!(machine_path(&format!("see {path}")).is_some());
        assert!(machine_path(&format!("\"{path}\"")).is_some());
        assert!(machine_path(&format!("file://{path}")).is_some());
        assert!(machine_path(&format!("https://example.org{path}")).is_none());
        assert!(machine_path("/usr/share/vulkan/icd.d").is_none());
    }
}
