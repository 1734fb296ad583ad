//! A job in words: its options by the names that the command line gives them.

use crate::{Error, Result};
use std::fmt::{self, Display};

/// The options of a fit in words, by the long names of `bochner fit` without their dashes: what a
/// model keeps of the job that made it.
///
/// Written out they are lines of TOML, which `bochner fit --job` reads. An option that is not there
/// has its default, or a rule of the data decides.
///
/// ```
/// use bochner::{models::RidgeOptions, job::Settings, prelude::*};
/// let job = bochner::job::Job::new(
///     RidgeOptions { lambda: 1e-3.into(), ..RidgeOptions::default() },
///     Fourier::new(Gaussian).features(64),
/// );
/// let settings: Settings = job.any().settings();
/// assert_eq!(settings.get("model"), Some("ridge"));
/// assert_eq!(settings.get("features"), Some("64"));
/// assert!(settings.to_string().contains("\nlambda = 0.001\n"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings(Vec<(String, String)>);

/// What a learner does not always say: of one with other options it must not stay.
const LEARNER: &[&str] = &[
    "lambda",
    "lambda-by",
    "folds",
    "l1",
    "bound",
    "no-intercept",
    "penalised-intercept",
    "tolerance",
    "iterations",
    "held-out",
    "noise",
    "signal",
    "log-density",
    "multiples",
];

impl Settings {
    /// Those of a learner of this name, which `fit --model` takes.
    pub fn of_learner(name: &str) -> Self {
        Self::default().text("model", name)
    }

    /// Those of a map of this name, which `fit --map` takes.
    pub fn of_map(name: impl Display) -> Self {
        Self::default().text("map", name)
    }

    /// The value of an option in words, if it is there.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Names and values, in the order in which they were said.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// With a value in words. One that was there before is replaced.
    pub fn text(mut self, name: &str, value: impl Display) -> Self {
        let value = value.to_string();
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = value,
            None => self.0.push((name.to_owned(), value)),
        }
        self
    }

    /// With a number, in as few digits as give it back.
    #[doc(hidden)]
    pub fn number(self, name: &str, value: f64) -> Self {
        self.text(name, format_args!("{value:?}"))
    }

    /// With numbers in a list, with commas.
    #[doc(hidden)]
    pub fn numbers(self, name: &str, values: &[f64]) -> Self {
        let list: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
        self.text(name, list.join(","))
    }

    /// With an option that has no value, where it `is` there.
    #[doc(hidden)]
    pub fn flag(self, name: &str, is: bool) -> Self {
        if is { self.text(name, true) } else { self }
    }

    /// With a number, where there is one.
    #[doc(hidden)]
    pub fn maybe(self, name: &str, value: Option<f64>) -> Self {
        match value {
            Some(value) => self.number(name, value),
            None => self,
        }
    }

    /// With what another one says; its words count where both say something.
    #[doc(hidden)]
    pub fn merge(self, other: Self) -> Self {
        let all = other.0.into_iter();
        all.fold(self, |settings, (name, value)| settings.text(&name, value))
    }

    /// Without some of the options.
    #[doc(hidden)]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }

    /// With the words of another learner in the place of its own, which are the first.
    #[doc(hidden)]
    pub fn learning(self, learner: Self) -> Self {
        let said: Vec<_> = learner.iter().map(|(name, _)| name).collect();
        let rest = self.without(LEARNER).without(&said);
        learner.merge(rest)
    }

    /// As a file keeps them.
    pub fn to_json(&self) -> String {
        serde_json::json!(self.0).to_string()
    }

    /// What [`Self::to_json`] gave. Errors with [`Error::Format`] on other text, and on names that
    /// no option has.
    pub fn from_json(text: &str) -> Result<Self> {
        let problem = || Error::format("the job that it keeps is no list of names and values");
        let read: Vec<(String, String)> = serde_json::from_str(text).map_err(|_| problem())?;
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        let is_name = |name: &str| !name.is_empty() && name.chars().all(is_of_name);
        if read.iter().all(|(name, _)| is_name(name)) {
            Ok(Self(read))
        } else {
            Err(problem())
        }
    }
}

/// Whether TOML takes it as it is: a number or a truth.
fn is_bare(value: &str) -> bool {
    let finite = || value.parse().is_ok_and(f64::is_finite);
    let digits = value.strip_prefix('-').unwrap_or(value);
    let begins = || digits.starts_with(|first: char| first.is_ascii_digit());
    let padded = || digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    value == "true" || (begins() && !padded() && !value.ends_with('.') && finite())
}

/// Lines of TOML.
impl Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.iter() {
            if is_bare(value) {
                writeln!(f, "{name} = {value}")?;
            } else {
                // The escapes of JSON are those of TOML.
                writeln!(f, "{name} = {}", serde_json::json!(value))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lines_of_toml() {
        let settings = Settings::of_learner("ridge")
            .number("lambda", 1e-7)
            .number("tolerance", 1.0)
            .numbers("sigma", &[0.5, 2.0])
            .text("seed", u64::MAX)
            .flag("no-intercept", true)
            .flag("log-density", false)
            .maybe("noise", None)
            .text("kernel", "a\"b\\c\u{1}");
        let lines = "model = \"ridge\"\nlambda = 1e-7\ntolerance = 1.0\nsigma = \"0.5,2.0\"\n\
            seed = 18446744073709551615\nno-intercept = true\nkernel = \"a\\\"b\\\\c\\u0001\"\n";
        assert_eq!(settings.to_string(), lines);
        let read = Settings::from_json(&settings.to_json()).expect("reads");
        assert_eq!(read, settings);
        assert!(Settings::from_json("{}").is_err());
        for name in ["", "a b", "a\\n```\\n# b", "A", "a=b"] {
            let text = format!("[[\"{name}\", \"x\"]]");
            assert!(Settings::from_json(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_said_later_counts() {
        let settings = Settings::of_learner("ridge").number("lambda", 1.0);
        let other = Settings::of_map("fourier").number("lambda", 2.0);
        let both = settings.merge(other);
        let pairs: Vec<_> = both.iter().collect();
        let expected = [("model", "ridge"), ("lambda", "2.0"), ("map", "fourier")];
        assert_eq!(pairs, expected);
        let svm = Settings::of_learner("svm").number("bound", 3.0);
        let other = both.clone().learning(svm);
        let pairs: Vec<_> = other.iter().collect();
        let expected = [("model", "svm"), ("bound", "3.0"), ("map", "fourier")];
        assert_eq!(pairs, expected);
        assert_eq!(both.without(&["lambda", "map"]).iter().count(), 1);
    }
}
