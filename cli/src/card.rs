//! `bochner card`: what there is to know of a model before it is used, as a page to put beside it.

mod hub;
mod markdown;

use crate::{
    job,
    page::{document, escaped},
    report::{OutputArgs, Report, Usage, counted, one_line, six_digits, to_stdout},
    show::{few, gives},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{AtomicFile, Kind},
    models::{CalibratedOn, HeldOut, LinearModel},
};
use markdown::markdown;
use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

/// What is known of a model, for those who did not fit it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Where it is written: .md, .html, or a folder/ [default: -, Markdown to stdout]
    ///
    /// A folder gets the model beside the card, which is a README.md with the head that hubs of
    /// models sort by.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A line on what the model is for, which no file knows
    #[arg(long, value_name = "TEXT")]
    purpose: Option<String>,
    #[command(flatten)]
    pub(crate) print: OutputArgs,
}

/// A part of the page.
enum Part {
    /// What the user says, in the language of the page.
    Said(String),
    Text(String),
    List(Vec<String>),
    Table([&'static str; 3], Vec<[String; 3]>),
    Code(String),
}

struct Section {
    title: &'static str,
    parts: Vec<Part>,
}

/// Reads the model and writes its card.
pub(crate) fn run(args: &Args) -> Result<()> {
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let folder = output.filter(|path| hub::is_folder(path));
    let is_html = match output.map(Path::extension) {
        _ if folder.is_some() => false,
        None => false,
        Some(Some(end)) if end == "md" => false,
        Some(Some(end)) if end == "html" => true,
        Some(_) => {
            let problem = "a card is a .md, a .html or a folder/; name one";
            return Err(Usage(problem.into()).into());
        }
    };
    let model = LinearModel::load(&args.model)?;
    let name = args.model.file_name().unwrap_or(args.model.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let sections = sections(&model, args)?;
    let page = if is_html {
        html(&name, &sections)
    } else {
        markdown(&name, &sections)
    };
    let path = match (output, folder) {
        (None, _) => return to_stdout(&page),
        (_, Some(folder)) => hub::write(folder, &args.model, &model, &page)?,
        (Some(path), None) => {
            let mut file = AtomicFile::create(path)?;
            let written = file.write_all(page.as_bytes());
            written.map_err(|error| Error::io(path, error))?;
            file.finish()?;
            path.to_owned()
        }
    };
    let mut report = Report::default();
    report.line("card", path.display().to_string());
    report.set("card", path.display().to_string());
    report.print(args.print.json)
}

fn sections(model: &LinearModel, args: &Args) -> Result<Vec<Section>> {
    let rows = counted(model.rows, "row");
    let about = format!(
        "It gives {}, by `{}` on {}, and was fitted to {rows} on {}.",
        gives(model),
        model.learner,
        model.map.describe(),
        model.device
    );
    let purpose = args.purpose.clone().map(Part::Said);
    let mut sections = vec![Section {
        title: "What it is",
        parts: purpose.into_iter().chain([Part::Text(about)]).collect(),
    }];
    sections.push(Section {
        title: "What it takes",
        parts: vec![columns(model)],
    });
    if model.job.is_some() {
        let job = job::lines(model, &args.model)?;
        let again = "The fit again, of other rows: `bochner fit FILE --job job.toml`, with these \
                     lines in job.toml.";
        sections.push(Section {
            title: "How it was fitted",
            parts: vec![Part::Text(again.into()), Part::Code(job)],
        });
    }
    sections.push(Section {
        title: "How good it is",
        parts: scores(model, &args.model),
    });
    sections.push(Section {
        title: "Where it ends",
        parts: vec![Part::List(limits(model))],
    });
    Ok(sections)
}

/// Each column with what it becomes, and what it lay between where it is one number.
fn columns(model: &LinearModel) -> Part {
    let between = |j: usize| {
        let ranges = model.ranges.as_ref().filter(|ranges| j < ranges.columns());
        ranges.map_or(String::new(), |ranges| {
            let range = ranges.of_column(j);
            format!("{} to {}", short(range.min), short(range.max))
        })
    };
    let rows = match &model.schema {
        Some(schema) => {
            let mut at = 0;
            let fields = schema.features().iter().map(|field| {
                let (first, width) = (at, field.width());
                at += width;
                let is_number = matches!(field.kind(), Kind::Number | Kind::Boolean);
                let words = field.to_string();
                let became = words.strip_prefix(field.name()).unwrap_or(&words);
                let became = became.trim_start_matches(": ").to_owned();
                let between = if is_number && width > 0 {
                    between(first)
                } else {
                    String::new()
                };
                [field.name().to_owned(), became, between]
            });
            fields.collect()
        }
        None => {
            let name = |j: usize| match &model.column_names {
                Some(names) => names[j].clone(),
                None => j.to_string(),
            };
            let columns = 0..model.map.input_dim();
            columns
                .map(|j| [name(j), "numbers".into(), between(j)])
                .collect()
        }
    };
    Part::Table(["column", "read as", "lay between"], rows)
}

/// Few digits: ends of a range are looked at, not computed with.
fn short(value: f64) -> String {
    let text = six_digits(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// What the file knows of its errors, and how to find out more.
fn scores(model: &LinearModel, path: &Path) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(curve) = &model.lambda_curve {
        let best = curve.best();
        parts.push(Part::Text(format!(
            "By {}, which chose the penalty, its squared error on rows that were left out is {:.1} % \
             of the variance of the targets. An error by which something was chosen flatters a \
             little.",
            left_out(curve.by),
            100.0 * best.error
        )));
    }
    parts.extend(unseen(model).map(Part::Text));
    let own = path.file_name().unwrap_or(path.as_os_str());
    parts.push(Part::Text("Rows that nobody has seen tell most:".into()));
    parts.push(Part::Code(format!(
        "bochner evaluate {} new.csv\n",
        one_line(&own.to_string_lossy())
    )));
    parts
}

/// By which rows intervals, or probabilities and sets of classes, were found.
fn unseen(model: &LinearModel) -> Option<String> {
    if let Some(conformal) = &model.conformal {
        let rows = counted(conformal.rows() as u64, "row");
        return Some(match conformal.on() {
            CalibratedOn::KeptBack => format!(
                "Its intervals are calibrated on {rows} that the fit did not see: `bochner predict \
                 --interval`."
            ),
            on => format!(
                "Its intervals are those of its errors on {on}: `bochner predict --interval`. Rows \
                 of another time or place are off by more."
            ),
        });
    }
    let sets = model.class_sets.as_ref()?;
    Some(format!(
        "Its probabilities and sets of classes are those of its scores on {}: `bochner predict \
         --probabilities` and `--sets`.",
        sets.on()
    ))
}

/// Which rows were left out, in words.
fn left_out(by: HeldOut) -> String {
    match by {
        HeldOut::LeaveOneOut => "leaving out each row in turn".into(),
        HeldOut::LeaveSomeOut(rows) => {
            format!(
                "leaving out each of {} in turn",
                counted(rows as u64, "row")
            )
        }
        HeldOut::Folds(folds) => format!("leaving out each of {folds} folds in turn"),
        _ => "leaving out rows".into(),
    }
}

/// What it cannot do, as far as the file knows.
fn limits(model: &LinearModel) -> Vec<String> {
    let mut limits = vec![format!(
        "It knows {}. What it says of rows unlike these, as of values far outside of what columns \
         lay between, rests on none of them; `predict` notes such rows.",
        counted(model.rows, "row")
    )];
    let fields = || model.schema.iter().flat_map(|schema| schema.features());
    let kinds = |field: &&bochner::data::Field| {
        matches!(field.kind(), Kind::Categories(_) | Kind::Means(_))
    };
    let names = |of: Vec<&bochner::data::Field>| {
        let names: Vec<String> = of.iter().map(|field| field.name().to_owned()).collect();
        few(&names)
    };
    let texts: Vec<_> = fields().filter(kinds).collect();
    if !texts.is_empty() {
        limits.push(format!(
            "A text of {} that was in no row of the fit is none of the kinds that it knows.",
            names(texts)
        ));
    }
    let left_out: Vec<_> = fields().filter(|field| field.width() == 0).collect();
    if !left_out.is_empty() {
        limits.push(format!("It does not look at {}.", names(left_out)));
    }
    let strict: Vec<_> = fields().filter(|field| !field.may_miss()).collect();
    if model.schema.is_none() || !strict.is_empty() {
        limits.push(
            "A row with a value that is missing, where nothing stands for it, is an error.".into(),
        );
    }
    limits.push(
        "It says what goes together in its rows, and not what would come of changing one thing."
            .into(),
    );
    limits
}

fn html(name: &str, sections: &[Section]) -> String {
    let mut body = String::new();
    for section in sections {
        let _ = writeln!(body, "<h2>{}</h2>", escaped(section.title));
        for part in &section.parts {
            let _ = match part {
                Part::Said(text) | Part::Text(text) => {
                    writeln!(body, "<p>{}</p>", escaped(text))
                }
                Part::Code(code) => writeln!(body, "<pre>{}</pre>", escaped(code)),
                Part::List(items) => {
                    let item = |item: &String| format!("<li>{}</li>\n", escaped(item));
                    writeln!(
                        body,
                        "<ul>\n{}</ul>",
                        items.iter().map(item).collect::<String>()
                    )
                }
                Part::Table(head, rows) => {
                    let line = |kind: &str, cells: [&str; 3]| {
                        let cell = |cell| format!("<{kind}>{}</{kind}>", escaped(cell));
                        format!("<tr>{}</tr>\n", cells.map(cell).concat())
                    };
                    let rows = rows
                        .iter()
                        .map(|row| line("td", row.each_ref().map(|c| &**c)));
                    let rows = rows.collect::<String>();
                    writeln!(body, "<table>\n{}{rows}</table>", line("th", *head))
                }
            };
        }
    }
    document(name, &[], &body, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of columns and files are text, whatever they hold.
    #[test]
    fn names_are_neither_markup_nor_cells() {
        let sections = [Section {
            title: "What it takes",
            parts: vec![
                Part::Table(
                    ["column", "read as", "lay between"],
                    vec![["a|b\nc".into(), "<i>".into(), "0 to 1".into()]],
                ),
                Part::List(vec!["<b>".into()]),
                Part::Text("a\n<img onerror=x> ![i](u) [l](u) \u{1b}".into()),
                Part::Code("````\n<b>\n".into()),
            ],
        }];
        let page = markdown("a.model", &sections);
        assert!(page.contains("| a\\|b c | &lt;i> | 0 to 1 |\n"), "{page}");
        assert!(page.contains("\n* &lt;b>\n"), "{page}");
        let text = "\na &lt;img onerror=x> !\\[i]\\(u) [l]\\(u) \\u001b\n";
        assert!(page.contains(text), "{page}");
        assert!(page.contains("\n`````\n````\n<b>\n`````\n"), "{page}");
        let page = html("<a>.model", &sections);
        assert!(
            page.contains("<td>&lt;i&gt;</td>") && page.contains("<li>&lt;b&gt;"),
            "{page}"
        );
        assert!(page.contains("<h1>&lt;a&gt;.model</h1>"), "{page}");
    }

    #[test]
    fn ends_of_ranges_are_short() {
        assert_eq!(short(0.5), "0.5");
        assert_eq!(short(1200.0), "1200");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(1e-9), six_digits(1e-9));
    }
}
