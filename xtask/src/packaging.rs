//! What packages of other registries say of themselves is what the manifests say: their files
//! cannot take a version from Cargo.toml, so that it is spelt there once more.

use crate::folders::root;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;

/// The recipe of conda.
pub(crate) const RECIPE: &str = "packaging/conda/recipe.yaml";
/// The package of npm.
const NPM: &str = "web/bochner/package.json";
/// What to cite.
const CITATION: &str = "CITATION.cff";

/// What Cargo.toml and python/pyproject.toml say.
#[derive(Debug, Clone)]
struct Facts {
    version: String,
    rust: String,
    license: String,
    /// Where an owner has filled it in.
    repository: Option<String>,
    /// Python's lower bound, as in `>=3.9`.
    python: String,
    /// What the package for Python needs, to run and to be built, as in `numpy>=1.22`.
    needs: Vec<String>,
}

/// Errs where a file says otherwise.
pub(crate) fn check() -> Result<()> {
    let read = |name: &str| fs::read_to_string(root().join(name)).with_context(|| name.to_owned());
    let facts = Facts::parse(&read("Cargo.toml")?, &read("python/pyproject.toml")?)?;
    let npm = serde_json::from_str(&read(NPM)?).context(NPM)?;
    let mut faults = of_recipe(&facts, &read(RECIPE)?);
    faults.extend(of_npm(&facts, &npm));
    faults.extend(of_lines(
        &read(CITATION)?,
        CITATION,
        "version: ",
        &facts.version,
    ));
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    println!("{RECIPE}, {NPM} and {CITATION} say what Cargo.toml and pyproject.toml say");
    Ok(())
}

/// The `repository` that Cargo.toml names, where it names one.
pub(crate) fn repository() -> Result<Option<String>> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).context("Cargo.toml")?;
    Ok(value(&manifest, "repository").map(str::to_owned))
}

impl Facts {
    fn parse(cargo: &str, pyproject: &str) -> Result<Self> {
        let of = |text: &str, key: &str| {
            let value = value(text, key).with_context(|| format!("no line of {key}"));
            value.map(str::to_owned)
        };
        let lists = ["requires", "dependencies"].map(|key| list(pyproject, key));
        Ok(Self {
            version: of(cargo, "version")?,
            rust: of(cargo, "rust-version")?,
            license: of(cargo, "license")?,
            repository: value(cargo, "repository").map(str::to_owned),
            python: of(pyproject, "requires-python")?,
            needs: lists.concat(),
        })
    }
}

/// The text of the first line `key = "text"`.
fn value<'t>(manifest: &'t str, key: &str) -> Option<&'t str> {
    let rest = |line: &'t str| line.strip_prefix(key)?.strip_prefix(" = \"");
    manifest.lines().find_map(rest)?.split('"').next()
}

/// The texts of the line `key = ["text", ...]`.
fn list(manifest: &str, key: &str) -> Vec<String> {
    let rest = |line: &str| Some(line.strip_prefix(key)?.strip_prefix(" = [")?.to_owned());
    let line = manifest.lines().find_map(rest).unwrap_or_default();
    line.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// What the recipe says otherwise.
fn of_recipe(facts: &Facts, recipe: &str) -> Vec<String> {
    // The one of `recipe:` is taken from that of `context:`.
    let own = recipe.replace("version: ${{ version }}", "");
    let mut faults = of_lines(&own, RECIPE, "version: ", &facts.version);
    faults.extend(of_lines(recipe, RECIPE, "license: ", &facts.license));
    let rust = format!(">={}", facts.rust);
    faults.extend(of_lines(recipe, RECIPE, "- rust ", &rust));
    // In a list of what is needed it also stands without a bound.
    faults.extend(of_lines(recipe, RECIPE, "- python ", &facts.python));
    for need in &facts.needs {
        let at = need.find(['>', '<', '=', '~']).unwrap_or(need.len());
        let (name, bound) = need.split_at(at);
        faults.extend(of_lines(recipe, RECIPE, &format!("- {name} "), bound));
    }
    faults
}

/// What the package of npm says otherwise.
fn of_npm(facts: &Facts, npm: &Value) -> Vec<String> {
    let mut wanted = vec![("version", &facts.version), ("license", &facts.license)];
    // Its provenance is refused where it names another one than the workflow's.
    wanted.extend(facts.repository.iter().map(|name| ("repository", name)));
    let mut faults = Vec::new();
    for (key, wanted) in wanted {
        let found = npm[key].as_str().or(npm[key]["url"].as_str());
        let found = found.map(|text| text.trim_start_matches("git+").trim_end_matches(".git"));
        if found != Some(wanted.as_str()) {
            let found = found.unwrap_or("nothing");
            faults.push(format!("{NPM}: {key} is {found}, not {wanted}"));
        }
    }
    faults
}

/// The lines that begin with these words and do not go on as `wanted`; that there is none is a
/// fault, too.
fn of_lines(text: &str, file: &str, begin: &str, wanted: &str) -> Vec<String> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    let lines = numbered.filter_map(|(line, words)| Some((line, words.strip_prefix(begin)?)));
    let found: Vec<_> = lines
        .map(|(line, words)| (line, words.trim_matches('"')))
        .collect();
    if found.is_empty() {
        return vec![format!("{file}: no line `{begin}{wanted}`")];
    }
    let others = found.iter().filter(|(_, words)| *words != wanted);
    others
        .map(|(line, words)| format!("{file}:{line}: `{begin}{words}` is not {wanted}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts() -> Facts {
        let cargo = "version = \"1.2.3\"\nrust-version = \"1.89\"\nlicense = \"MIT\"\n\
                     repository = \"https://example.org/a\"\n[package]\nversion.workspace = true\n";
        let python = "requires = [\"maturin>=1.9,<2\"]\nrequires-python = \">=3.9\"\n\
                      dependencies = [\"numpy>=1.22\", \"scikit-learn>=1.6\"]\n";
        Facts::parse(cargo, python).unwrap()
    }

    const RIGHT: &str = "context:\n  version: \"1.2.3\"\nrecipe:\n  version: ${{ version }}\n\
        - rust >=1.89\n- maturin >=1.9,<2\n- python\n- python >=3.9\n- numpy >=1.22\n\
        - scikit-learn >=1.6\nlicense: MIT\n- maturin >=1.9,<2\n- rust >=1.89\n";

    #[test]
    fn each_number_of_the_recipe_is_held_to_the_manifests() {
        assert_eq!(of_recipe(&facts(), RIGHT), [""; 0]);
        for (right, wrong) in [
            ("\"1.2.3\"", "\"1.2.4\""),
            ("rust >=1.89\n- maturin", "rust >=1.88\n- maturin"),
            ("- maturin >=1.9,<2\n- rust", "- maturin >=1.8,<2\n- rust"),
            ("python >=3.9", "python >=3.10"),
            ("numpy >=1.22", "numpy"),
            ("scikit-learn >=1.6", "scikit-learn >=1.60"),
            ("license: MIT", "license: ISC"),
            ("  version: \"1.2.3\"\n", ""),
        ] {
            let recipe = RIGHT.replace(right, wrong);
            assert_eq!(of_recipe(&facts(), &recipe).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn the_package_of_npm_is_held_to_them_too() {
        let url = "git+https://example.org/a.git";
        let right = json!({"version": "1.2.3", "license": "MIT", "repository": {"url": url}});
        assert_eq!(of_npm(&facts(), &right), [""; 0]);
        for (key, wrong) in [
            ("version", json!("1.2.4")),
            ("license", Value::Null),
            ("repository", json!("https://example.org/b")),
        ] {
            let mut npm = right.clone();
            npm[key] = wrong;
            assert_eq!(of_npm(&facts(), &npm).len(), 1, "{key}");
            let nowhere = Facts {
                repository: None,
                ..facts()
            };
            let faults = of_npm(&nowhere, &npm);
            assert_eq!(faults.is_empty(), key == "repository", "{key}");
        }
    }
}
