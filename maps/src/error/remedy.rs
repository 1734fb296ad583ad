//! What helps against an error, as data: every front end says it in its own words.

use std::{borrow::Cow, fmt};

/// Something to do about an [`Error`](crate::Error).
///
/// `Display` says it as a caller of the library does it, by methods; the command line has flags for
/// the same.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Remedy {
    /// Chunks of fewer bytes.
    LessMemory,
    /// Chunks of more bytes.
    MoreMemory,
    /// Fewer features (grids, landmarks).
    FewerFeatures,
    /// Fewer landmarks of Falkon.
    FewerLandmarks,
    /// Fewer folds of cross-validation.
    FewerFolds,
    /// The CPU backend instead of a GPU.
    UseCpu,
    /// An adapter by its name, which software adapters need.
    NameAdapter,
    /// Columns centred and divided by their standard deviation.
    Standardize,
    /// Amounts on the scale that they have, for targets without a logarithm.
    AmountsAsTheyAre,
    /// A larger lengthscale, which is a smaller gamma.
    LargerLengthscale,
    /// A bandwidth as a lengthscale, for kernels whose formula has no gamma.
    GiveLengthscale,
    /// A bandwidth as a number instead of a rule.
    GiveBandwidth,
    /// Another bandwidth.
    OtherBandwidth,
    /// A larger penalty.
    LargerLambda,
    /// More iterations of the solver.
    MoreIterations,
    /// A larger tolerance of the solver.
    LargerTolerance,
    /// Conjugate gradients instead of normal equations.
    ConjugateGradients,
    /// Another feature map, by its name (`fourier`).
    UseMap(&'static str),
    /// Another kernel, as it is spelled (`laplacian`).
    UseKernel(&'static str),
    /// More seconds for a measurement.
    MoreTime,
    /// Say what a file is, whose name does not.
    NameFormat,
    /// Say where the targets are.
    NameTargets,
    /// Intervals calibrated on rows that are kept back from the fit.
    Calibrate,
    /// Something that stands for missing values.
    FillMissing,
    /// Another fit, with something that stands for missing values.
    RefitWithMissing,
    /// Rows left out that miss a value, or hold one that is not finite.
    DropRows,
    /// Rows left out that have no target.
    DropRowsWithoutTarget,
    /// So many lines left out at the beginning of a file.
    SkipRows(u64),
    /// Lines left out that begin with this.
    Comment(String),
    /// The first line of a file taken for names.
    FirstLineNames,
    /// Say what separates the fields of a file.
    Delimiter(char),
    /// Say how the characters of a file are written, as in this encoding.
    OtherEncoding(&'static str),
    /// Treat the values of this column as names of categories.
    Categorical(String),
    /// Take the numbers of this column for amounts, whatever word stands at them.
    Numeric(String),
    /// Take the values of this column for names, each by the mean of the target.
    ByTarget(String),
    /// Read nothing of this column.
    Ignore(String),
    /// Take this text for no value.
    NoValue(String),
    /// Take no text for no value that may be a kind: `None`.
    KeepKind,
    /// Say what stands before the fraction of numbers.
    Decimal(char),
    /// Say what stands between groups of three digits.
    Thousands(char),
    /// Say how dates are written, as in this format.
    DateFormat(String),
    /// Say how dates are written, in whatever format.
    AnyDateFormat,
    /// Advice that is the same in every front end, with its verb: `run again`.
    Words(Cow<'static, str>),
}

impl Remedy {
    /// [`Self::Words`].
    pub fn words(advice: impl Into<Cow<'static, str>>) -> Self {
        Self::Words(advice.into())
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UseMap(name) => write!(f, "use the {name} map"),
            Self::UseKernel(spec) => write!(f, "use the {spec} kernel"),
            Self::SkipRows(lines) => {
                write!(f, "skip the lines above the names with .skip_rows({lines})")
            }
            Self::Comment(begins) => {
                write!(f, "leave such lines out with .comment({begins:?})")
            }
            Self::Delimiter(mark) => {
                write!(f, "say what separates columns with .delimiter({mark:?})")
            }
            Self::OtherEncoding(name) => write!(
                f,
                "say how it is written, as in .encoding({name:?}.parse()?)"
            ),
            Self::Categorical(name) => write!(f, "name it with .categorical({name:?})"),
            Self::Numeric(name) => {
                write!(f, "take its numbers for amounts with .numeric({name:?})")
            }
            Self::ByTarget(name) => {
                write!(f, "take it by the target with .by_target(&[{name:?}])")
            }
            Self::Ignore(name) => write!(
                f,
                "leave it out with .columns(ColumnChoice::AllBut(vec![{name:?}.into()]))"
            ),
            Self::NoValue(text) => write!(f, "take it for no value with .na(&[{text:?}])"),
            Self::Decimal(mark) => write!(f, "say .decimal({mark:?})"),
            Self::Thousands(mark) => write!(f, "say .thousands({mark:?})"),
            Self::DateFormat(format) => write!(f, "say .date_format({format:?})"),
            Self::Words(advice) => f.write_str(advice),
            other => f.write_str(other.fixed()),
        }
    }
}

impl Remedy {
    /// What is said where no name or value belongs to it; of others nothing.
    fn fixed(&self) -> &'static str {
        match self {
            Self::LessMemory => "use less .memory(..)",
            Self::MoreMemory => "use more .memory(..)",
            Self::FewerFeatures => "use fewer .features(..)",
            Self::FewerLandmarks => "use fewer .landmarks(..)",
            Self::FewerFolds => "use fewer folds",
            Self::UseCpu => "use Device::cpu()",
            Self::NameAdapter => "use DeviceChoice::Named(..) with an adapter's name",
            Self::Standardize => "use .standardize(Standardize::Yes)",
            Self::AmountsAsTheyAre => "use .target_scale(TargetScale::AsIs)",
            Self::LargerLengthscale => "use a larger Bandwidth::Sigma(..)",
            Self::Calibrate => "fit it with .calibrate(0.2)",
            Self::GiveLengthscale => "use Bandwidth::Sigma(..)",
            Self::GiveBandwidth => "use a number, as in Bandwidth::Sigma(1.0)",
            Self::OtherBandwidth => "use another .bandwidth(..)",
            Self::LargerLambda => "use a larger .lambda(..)",
            Self::MoreIterations => "use more iterations",
            Self::LargerTolerance => "use a larger tolerance",
            Self::ConjugateGradients => "use conjugate gradients",
            Self::MoreTime => "give it more seconds",
            Self::NameFormat => "say what it is by OpenOptions::format",
            Self::NameTargets => "name the target column, or give y beside x",
            Self::FillMissing => "let .missing(Missing::Mean) stand for it",
            Self::RefitWithMissing => "fit again with .missing(Missing::Mean)",
            Self::DropRows => "remove the row, as NanRows::Drop does",
            Self::DropRowsWithoutTarget => "leave such rows out with .drop_rows_without_target()",
            Self::FirstLineNames => "take the first line for names with .header(Header::Yes)",
            Self::KeepKind => "keep it as a kind with .na(&[\"?\"])",
            Self::AnyDateFormat => "say how dates are written, as in .date_format(\"%d.%m.%Y\")",
            Self::UseMap(_)
            | Self::UseKernel(_)
            | Self::SkipRows(_)
            | Self::Comment(_)
            | Self::Delimiter(_)
            | Self::OtherEncoding(_)
            | Self::Categorical(_)
            | Self::Numeric(_)
            | Self::ByTarget(_)
            | Self::Ignore(_)
            | Self::NoValue(_)
            | Self::Decimal(_)
            | Self::Thousands(_)
            | Self::DateFormat(_)
            | Self::Words(_) => "",
        }
    }
}

/// `remedies` in one phrase, each said by `say` with its verb; those that begin with "use" share
/// it. Empty for none.
pub(super) fn advice(remedies: &[Remedy], say: impl Fn(&Remedy) -> String) -> String {
    const USE: &str = "use ";
    let mut phrase = String::new();
    let mut shared = false;
    for (i, remedy) in remedies.iter().enumerate() {
        let said = say(remedy);
        let uses = said.starts_with(USE);
        phrase += match i {
            0 => "",
            _ if i + 1 < remedies.len() => ", ",
            _ if shared && uses => " or ",
            _ => ", or ",
        };
        phrase += if shared && uses {
            &said[USE.len()..]
        } else {
            &said
        };
        shared |= uses;
    }
    phrase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_share_their_verb() {
        let said = |remedies: &[Remedy]| advice(remedies, Remedy::to_string);
        assert_eq!(said(&[]), "");
        assert_eq!(said(&[Remedy::UseCpu]), "use Device::cpu()");
        let all = [Remedy::LessMemory, Remedy::FewerFeatures, Remedy::UseCpu];
        let expected = "use less .memory(..), fewer .features(..) or Device::cpu()";
        assert_eq!(said(&all), expected);
        let all = [Remedy::words("run again"), Remedy::UseCpu];
        assert_eq!(said(&all), "run again, or use Device::cpu()");
    }
}
