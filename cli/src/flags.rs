//! What helps against the library's errors, in flags.

use crate::names::quoted;
use bochner::{Error, error::Remedy};

/// The error in one line, with its remedies as flags.
pub(crate) fn explain(error: &Error) -> String {
    error.explain(flag)
}

fn flag(remedy: &Remedy) -> String {
    match remedy {
        Remedy::SkipRows(lines) => {
            format!("skip the lines above the names with --skip-rows {lines}")
        }
        Remedy::Comment(begins) => format!(
            "leave such lines out with --comment {}",
            quoted(begins.clone())
        ),
        Remedy::Delimiter(mark) => format!(
            "say what separates columns with --delimiter {}",
            quoted_mark(*mark)
        ),
        Remedy::OtherEncoding(name) => format!("say how it is written, as in --encoding {name}"),
        Remedy::Categorical(name) => format!("name it with --categorical {}", listed(name)),
        Remedy::Numeric(name) => format!(
            "take its numbers for amounts with --numeric {}",
            listed(name)
        ),
        Remedy::ByTarget(name) => {
            format!("take it by the target with --by-target {}", listed(name))
        }
        Remedy::Ignore(name) => format!("leave it out with --ignore {}", listed(name)),
        Remedy::NoValue(text) => format!("take it for no value with --na {}", quoted(text.clone())),
        Remedy::Decimal(mark) => format!("say --decimal {}", quoted_mark(*mark)),
        Remedy::Thousands(mark) => format!("say --thousands {}", quoted_mark(*mark)),
        Remedy::DateFormat(format) => format!("say --date-format {}", quoted(format.clone())),
        Remedy::UseMap(name) => format!("use --map {name}"),
        Remedy::UseKernel(spec) => format!("use --kernel {spec}"),
        // Words, and what a later library knows: it says so itself.
        other => plain_flag(other).map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// The flag of a remedy that names nothing.
fn plain_flag(remedy: &Remedy) -> Option<&'static str> {
    Some(match remedy {
        Remedy::LessMemory => "use less --memory",
        Remedy::MoreMemory => "use more --memory",
        Remedy::FewerFeatures => "use fewer --features",
        Remedy::FewerLandmarks => "use fewer --landmarks",
        Remedy::FewerFolds => "use fewer --cv",
        Remedy::UseCpu => "use --device cpu",
        Remedy::NameAdapter => "name an adapter to use it all the same",
        Remedy::Standardize => "use --standardize",
        Remedy::AmountsAsTheyAre => "use --target-scale as-is",
        Remedy::LargerLengthscale => "use a larger --sigma",
        Remedy::GiveLengthscale => "give --sigma",
        Remedy::GiveBandwidth => "give --gamma a number",
        Remedy::OtherBandwidth => "use another --gamma or --sigma",
        Remedy::LargerLambda => "use a larger --lambda",
        Remedy::MoreIterations => "use more --iterations",
        Remedy::LargerTolerance => "use a larger --tolerance",
        Remedy::ConjugateGradients => "use --solver cg",
        Remedy::Calibrate => "fit it with --calibrate 0.2",
        Remedy::MoreTime => "ask for it with --full",
        Remedy::NameFormat => "say what it is, as in --format csv",
        Remedy::NameTargets => "name them with --target or --targets",
        Remedy::FillMissing => "let --missing indicator (or mean, median) stand for it",
        Remedy::RefitWithMissing => "fit again with --missing indicator (or mean, median)",
        Remedy::DropRows => "remove such rows with --nan drop",
        Remedy::DropRowsWithoutTarget => "leave such rows out with --drop-rows-without-target",
        Remedy::FirstLineNames => "take the first line for names with --header yes",
        Remedy::KeepKind => "keep it as a kind with --na '?'",
        Remedy::AnyDateFormat => "say how dates are written, as in --date-format %d.%m.%Y",
        _ => return None,
    })
}

/// A mark as a shell and people read it.
fn quoted_mark(mark: char) -> String {
    match mark {
        '\'' => "\"'\"".into(),
        _ => format!("'{mark}'"),
    }
}

/// A name as it is written in a list: in quotes where it has a comma or a quote.
pub(crate) fn listed(name: &str) -> String {
    if name.contains([',', '"']) {
        format!("'\"{}\"'", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_are_flags() {
        let error = Error::numerical("the matrix is singular")
            .help(Remedy::LargerLambda)
            .help(Remedy::UseMap("nystrom"))
            .help(Remedy::words("run again"));
        assert_eq!(
            explain(&error),
            "the matrix is singular; use a larger --lambda, --map nystrom, or run again"
        );
        let error = error.instead(&Remedy::LargerLambda, Some(Remedy::FewerLandmarks));
        let error = error.instead(&Remedy::words("run again"), Some(Remedy::FillMissing));
        let error = error.instead(&Remedy::UseMap("nystrom"), None);
        let comma = Remedy::Categorical("a, b".into());
        let said = "the matrix is singular; use fewer --landmarks, let --missing indicator (or \
                    mean, median) stand for it, or name it with --categorical '\"a, b\"'";
        assert_eq!(explain(&error.help(comma)), said);
    }
}
