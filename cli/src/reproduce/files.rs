//! The files of an experiment: a page, its numbers, its pictures; and the index of several.

use super::{Experiment, Findings, LeftOut, Measured};
use crate::{
    interrupt::writing,
    page::{document, escaped},
};
use anyhow::Result;
use bochner::{Error, data::AtomicFile};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs, io::Write as _, path::Path};

/// Makes the folder, and sees whether it can be written to.
pub(super) fn prepare(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
    drop(AtomicFile::create(folder.join("index.html"))?);
    Ok(())
}

/// Writes everything that was found.
pub(super) fn write(
    folder: &Path,
    experiment: &Experiment,
    facts: &[(&'static str, String)],
    findings: &Findings,
) -> Result<()> {
    let _writing = writing();
    let name = experiment.name;
    for picture in findings.pictures() {
        let at = |ending: &str| folder.join(format!("{name}-{}.{ending}", picture.name));
        file(&at("svg"), picture.scene.file().as_bytes())?;
        file(&at("png"), &picture.scene.png())?;
    }
    let numbers = numbers(experiment, facts, findings);
    let text = serde_json::to_string_pretty(&numbers).unwrap_or_default();
    file(
        &folder.join(format!("{name}.json")),
        (text + "\n").as_bytes(),
    )?;
    let body = findings.html();
    let page = document(experiment.title, facts, &body, Some(&numbers));
    file(&folder.join(format!("{name}.html")), page.as_bytes())
}

fn numbers(
    experiment: &Experiment,
    facts: &[(&'static str, String)],
    findings: &Findings,
) -> Value {
    let about: serde_json::Map<String, Value> = facts
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    json!({"experiment": experiment.name, "title": experiment.title, "about": about,
           "missing": findings.missing, "numbers": findings.numbers()})
}

/// The index of what was done and what was left out.
pub(super) fn index(folder: &Path, measured: &[Measured], left_out: &[LeftOut]) -> Result<()> {
    let _writing = writing();
    let mut body = String::from("<ul>\n");
    for done in measured {
        let (experiment, seconds) = (done.experiment, done.seconds);
        let _ = writeln!(
            body,
            "<li><a href=\"{name}.html\">{title}</a> ({name}, {seconds:.1} s; <a \
             href=\"{name}.json\">numbers</a>)</li>",
            name = experiment.name,
            title = escaped(experiment.title),
        );
    }
    for LeftOut { experiment, why } in left_out {
        let _ = writeln!(
            body,
            "<li>{} ({}) is left out: {}</li>",
            escaped(experiment.title),
            experiment.name,
            escaped(why)
        );
    }
    body.push_str("</ul>\n");
    let version = [("version", format!("bochner {}", env!("CARGO_PKG_VERSION")))];
    let page = document("Published results, measured again", &version, &body, None);
    file(&folder.join("index.html"), page.as_bytes())
}

fn file(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(content)
        .map_err(|error| Error::io(path, error))?;
    Ok(file.finish()?)
}
