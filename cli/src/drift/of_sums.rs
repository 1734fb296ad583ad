//! Drift between two files of sums, whose rows are not needed any more.

use super::Args;
use crate::{
    given,
    page::head,
    report::{Report, Usage, counted, six_digits},
    verdict::NullOption,
};
use anyhow::Result;
use bochner::{
    Error,
    hypothesis::{Null, SumsOutcome, TargetsOutcome, load_partial, partials_differ},
    models::{AnySums, Basis, Partial, Targets},
};
use std::{fs::File, io::Read, path::Path};

/// Options that say something of sums, too.
const OF_SUMS: [&str; 6] = [
    "--level",
    "--null",
    "--permutations",
    "--memory",
    "--report",
    given::VERSION,
];

/// Whether both files are of sums. Errors where one alone is.
pub(super) fn are_sums(a: &Path, b: &Path) -> Result<bool> {
    let (first, second) = (is_store(a), is_store(b));
    if first != second {
        let (sums, rows) = if first { (a, b) } else { (b, a) };
        let problem = format!(
            "{} is a file of sums and {} is none; name two of one kind",
            sums.display(),
            rows.display()
        );
        return Err(Usage(problem).into());
    }
    Ok(first)
}

/// Whether a file begins as those of sums do: with a length, and a header of JSON.
fn is_store(path: &Path) -> bool {
    let mut begin = [0; 9];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    let length = u64::from_le_bytes(std::array::from_fn(|i| begin[i]));
    read.is_ok() && begin[8] == b'{' && (2..1 << 32).contains(&length)
}

/// Tests by the sums, and says what came of it.
pub(super) fn run(args: &Args) -> Result<()> {
    let given = given::options(&[]);
    if let Some(option) = given.keys().find(|name| !OF_SUMS.contains(&name.as_str())) {
        let problem = format!("{option} is for files of rows, and these are sums; leave it out");
        return Err(Usage(problem).into());
    }
    if let Null::Permutation(_) = args.test.null(NullOption::Asymptotic)? {
        let problem = "sums have no rows to exchange; leave --null and --permutations out";
        return Err(Usage(problem.into()).into());
    }
    let console = args.run.start()?;
    let mut report = Report::default();
    let ((found, of), seconds) = console.timed(|| -> Result<(SumsOutcome, Partial<AnySums>)> {
        let (a, b) = (load_partial(&args.a)?, load_partial(&args.b)?);
        let in_files = |error: Error| Error::data(&args.b, error.to_string());
        Ok((partials_differ(&a, &b).map_err(in_files)?, a))
    })?;
    report.seconds("test", seconds);
    describe(args, &found, &mut report);
    describe_targets(args.test.level, found.of_targets, &of.basis, &mut report);
    report.about("first sample", head::file(&args.a));
    report.about("second sample", head::file(&args.b));
    args.run.print(&report)
}

fn describe(args: &Args, found: &SumsOutcome, report: &mut Report) {
    for (name, k) in [("a", 0), ("b", 1)] {
        let (rows, effective) = (found.rows[k], found.effective_rows[k]);
        report.set(&format!("rows_{name}"), rows);
        report.set(&format!("effective_rows_{name}"), effective);
        let rows = counted(rows, "row");
        report.line(
            ["first sums", "second sums"][k],
            format!("{rows}, which count as {}", six_digits(effective)),
        );
    }
    args.verdict((found.unbiased, found.biased), &found.outcome, report);
}

/// Whether the targets depend on the rows alike.
fn describe_targets(level: f64, found: Option<TargetsOutcome>, basis: &Basis, report: &mut Report) {
    let outcome = found.map(|found| found.outcome);
    report.set("statistic_of_targets", outcome.map(|of| of.statistic));
    report.set("p_value_of_targets", outcome.map(|of| of.p_value));
    let rejected = outcome.map(|of| of.rejects(level));
    report.set("drift_of_targets", rejected);
    report.set("targets", found.map(|found| found.targets));
    report.set("directions", found.map(|found| found.directions));
    let differs_most = found.map(|found| name_of(basis, found.target));
    report.set("differs_most", differs_most.clone());
    let (Some(found), Some(name)) = (found, differs_most) else {
        let problem = "not tested: the sums have no targets, or not the same ones";
        return report.line("targets given rows", problem);
    };
    let p_value = six_digits(found.outcome.p_value);
    let how = match found.targets {
        1 => "asymptotic".to_owned(),
        count => format!("asymptotic, the smallest of {count} times {count}: {name}"),
    };
    report.line("targets given rows", format!("p-value {p_value} ({how})"));
    let verdict = match rejected {
        Some(true) => "they depend on the rows differently",
        _ => "no difference found",
    };
    report.line("their verdict", format!("{verdict}, at level {level}"));
}

/// What a target or a class is called.
fn name_of(basis: &Basis, target: usize) -> String {
    let names = match &basis.targets {
        Targets::Real { .. } => &basis.target_names,
        Targets::Classes(_) => &basis.class_names,
    };
    if let Some(name) = names.as_ref().and_then(|names| names.get(target)) {
        return name.clone();
    }
    match &basis.targets {
        Targets::Real { .. } => format!("target {target}"),
        Targets::Classes(labels) => labels.get(target).map(f64::to_string).unwrap_or_default(),
    }
}
