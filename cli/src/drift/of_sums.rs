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
    hypothesis::{Null, SumsOutcome, load_partial, partials_differ},
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
    let (found, seconds) = console.timed(|| -> Result<SumsOutcome> {
        let (a, b) = (load_partial(&args.a)?, load_partial(&args.b)?);
        let in_files = |error: Error| Error::data(&args.b, error.to_string());
        Ok(partials_differ(&a, &b).map_err(in_files)?)
    })?;
    report.seconds("test", seconds);
    describe(args, &found, &mut report);
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
