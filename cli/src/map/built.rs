//! A map that was drawn, and what is said of it.

use super::{KernelArgs, MapArgs, Scale};
use crate::report::{Console, Report, Value};
use anyhow::Result;
use bochner::{
    Error,
    error::Remedy,
    features::{MapChoice, MapKind, Selection},
    job::{DrawnMap, Scales},
    kernels::Kernel,
    models::Found,
};
use std::sync::Arc;

/// A map with what was resolved on the way.
#[derive(Debug)]
pub(crate) struct BuiltMap {
    pub(crate) drawn: DrawnMap,
    pub(super) kernel: Arc<dyn Kernel>,
    pub(super) scale: Scale,
    /// What `auto` found.
    pub(super) selection: Option<Selection>,
    /// The map by its name; `None` for the kernel itself.
    pub(super) choice: Option<MapChoice>,
}

impl BuiltMap {
    /// The error without the advice to standardise, where that is done.
    pub(crate) fn advise(standardized: bool, error: Error) -> Error {
        if standardized {
            error.instead(&Remedy::Standardize, None)
        } else {
            error
        }
    }

    /// A map of a fit, which a search found or not, and what its scales came from.
    pub(crate) fn of_fit(
        drawn: DrawnMap,
        args: &KernelArgs,
        kernel: Arc<dyn Kernel>,
        scales: &Scales,
        found: Option<&Found>,
        selection: Option<Selection>,
        choice: Option<MapChoice>,
    ) -> Result<Self> {
        let (kernel, lengthscales) = match found {
            Some(found) => (found.kernel.clone(), vec![found.lengthscale]),
            None => (kernel, scales.lengthscales.clone()),
        };
        let scale = Scale {
            input: scales.scaling.input(&lengthscales)?,
            gamma: match found {
                Some(found) => kernel.gamma_of_lengthscale(found.lengthscale),
                None => args.gamma_of(kernel.as_ref(), &lengthscales),
            },
            lengthscales,
            scaling: Some(scales.scaling.clone()),
        };
        Ok(Self {
            drawn,
            kernel,
            scale,
            selection,
            choice,
        })
    }
}

impl MapArgs {
    /// What the map came to.
    pub(crate) fn describe(&self, built: &BuiltMap, report: &mut Report) {
        report.line("map", built.drawn.map.describe());
        report.set("map", built.drawn.map.describe());
        for remark in built.drawn.map.remarks() {
            report.line("remark", remark);
        }
        report.set("map_remarks", built.drawn.map.remarks());
        let name = built.choice.as_ref().map(MapChoice::to_string);
        report.set(
            "map_name",
            name.as_deref().unwrap_or(built.drawn.map.name()),
        );
        report.set("auto", built.selection.as_ref().map(selected));
        let parts = built.choice.iter().flat_map(MapChoice::parts);
        let sampling = parts.map(|part| part.kind).any(MapKind::takes_sampling);
        let sampling = sampling.then(|| self.drawing().to_string());
        report.set("sampling", sampling);
        report.set("features", built.drawn.map.output_dim());
        self.kernel
            .describe(built.kernel.as_ref(), &built.scale, report);
    }
}

/// One line that says what `auto` takes and why.
pub(crate) fn note(selection: &Selection, console: &Console) {
    let Selection {
        kind, reason, kept, ..
    } = selection;
    let kept = if *kept {
        " (measured before and kept)"
    } else {
        ""
    };
    console.note(&format!("auto takes --map {kind}: {reason}{kept}"));
}

/// The same for programs.
pub(crate) fn selected(selection: &Selection) -> Value {
    let costs = selection.costs.iter();
    let costs = costs.map(|cost| (cost.kind.to_string(), Value::from(cost.seconds)));
    let costs: serde_json::Map<String, Value> = costs.collect();
    serde_json::json!({
        "map": selection.kind.to_string(),
        "reason": selection.reason,
        "seconds_per_row": costs,
        "kept": selection.kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags;

    /// What is done already is no advice.
    #[test]
    fn standardised_columns_are_not_to_be_standardised() {
        for (standardized, said) in [
            (false, "singular; use --standardize or a larger --lambda"),
            (true, "singular; use a larger --lambda"),
        ] {
            let error = Error::numerical("singular").help(Remedy::Standardize);
            let error = BuiltMap::advise(standardized, error.help(Remedy::LargerLambda));
            assert_eq!(flags::explain(&error), said);
        }
    }
}
