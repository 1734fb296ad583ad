//! Maps of every size against the exact kernel, over seeds.

use super::{Args, Listed, lines::Line};
use crate::{
    flags, map,
    progress::Bar,
    report::{Console, Value},
};
use anyhow::Result;
use bochner::{
    Error, Run,
    analysis::{ErrorSummary, ExactKernel},
    data::MemorySource,
    features::{Affine, MapKind, MapSpec},
};
use ndarray::Array2;
use serde_json::json;
use std::fmt::Write;

/// What maps are compared with, and on.
pub(super) struct Comparison<'a> {
    pub(super) args: &'a Args,
    pub(super) exact: ExactKernel,
    pub(super) rows: Array2<f64>,
    pub(super) input: Affine,
    pub(super) run: &'a Run,
}

impl Comparison<'_> {
    /// The results of all lines, for programs and for people.
    pub(super) fn run(&self, lines: &[Line], console: &Console) -> Result<(Vec<Value>, String)> {
        let sizes = &self.args.features;
        let mut results = Vec::new();
        let width = lines.iter().map(|line| line.label.len()).max().unwrap_or(0);
        let mut table = format!(
            "\n{:width$}  {:>6}  {:^17}  {:^17}  {:^17}\n",
            "map", "D", "rel. Frobenius", "rel. spectral", "largest entry"
        );
        let steps = (lines.len() * sizes.len() * self.args.seeds) as u64;
        let bar = console.steps("compare", Some(steps));
        let mut done = 0;
        for line in lines {
            for &features in sizes {
                let (spec, selection) = self.chosen(line, features, &bar, console)?;
                bar.say(format!("{}, D = {features}", line.label));
                let mut step = || {
                    done += 1;
                    bar.set_position(done);
                };
                let summary = match self.summary(&spec, &mut step) {
                    Ok(summary) => summary,
                    Err(error) if self.is_left_out(&spec, &error) => {
                        let why = flags::explain(&error);
                        let note = format!("left out: {}: {why}", line.label);
                        bar.above(|| console.note(&note));
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                let measures = measures(&summary);
                let mut result = json!({
                    "map": spec.map.to_string(),
                    "label": line.label,
                    "auto": selection,
                    "features": features,
                });
                for (name, mean, spread) in measures {
                    result[name] = json!({"mean": mean, "spread": spread});
                }
                results.push(result);
                let _ = write!(table, "{:width$}  {features:>6}", line.label);
                for (_, mean, spread) in measures {
                    let cell = format!("{} ± {}", short(mean), short(spread));
                    let _ = write!(table, "  {cell:>17}");
                }
                table.push('\n');
            }
        }
        Ok((results, table))
    }

    /// The map of a line with so many features, and what `auto` found.
    fn chosen(
        &self,
        line: &Line,
        features: usize,
        bar: &Bar,
        console: &Console,
    ) -> Result<(MapSpec, Option<Value>)> {
        let mut spec = MapSpec {
            features,
            ..line.spec.clone()
        };
        if !line.auto {
            return Ok((spec, None));
        }
        let found = spec.select(self.rows.ncols(), &self.run.device)?;
        bar.above(|| map::note(&found, console));
        spec.map = found.kind.into();
        Ok((spec, Some(map::selected(&found))))
    }

    /// Whether a map that fails is left out: where all were asked for, one that does not serve the
    /// kernel, or has more landmarks than there are rows.
    fn is_left_out(&self, spec: &MapSpec, error: &Error) -> bool {
        let few = spec.map.has(MapKind::Nystrom) && spec.features > self.rows.nrows();
        matches!(self.args.map, Listed::All) && (few || matches!(error, Error::Unsupported(_)))
    }

    fn summary(&self, spec: &MapSpec, step: &mut dyn FnMut()) -> bochner::Result<ErrorSummary> {
        let mut source = MemorySource::new(&self.rows, None)?;
        let mut runs = Vec::with_capacity(self.args.seeds);
        for i in 0..self.args.seeds {
            let mut spec = spec.clone();
            spec.seed.0 = spec.seed.0.wrapping_add(i as u64);
            let map = spec.build(self.input.clone(), &self.rows, &mut source, self.run)?;
            runs.push(self.exact.error(map.as_ref(), self.run)?);
            step();
        }
        Ok(ErrorSummary { runs })
    }
}

/// Each relative error by its name: mean and standard deviation over seeds.
fn measures(summary: &ErrorSummary) -> [(&'static str, f64, f64); 3] {
    let (mean, spread) = (summary.mean(), summary.spread());
    [
        ("frobenius", mean.frobenius, spread.frobenius),
        ("spectral", mean.spectral, spread.spectral),
        ("largest", mean.largest, spread.largest),
    ]
}

/// Four decimals where they say enough.
fn short(value: f64) -> String {
    match value.abs() {
        // Rounding of runs that are all alike.
        ..1e-12 => "0".into(),
        1e-3..1e4 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
