//! What was found of a model, for people.

use super::object;
use crate::report::{Report, counted, six_digits};
use bochner::{
    Result,
    explain::{Explainer, Importance, Measure, PartialDependence, Shapes, Shapley},
};
use std::fmt::Write as _;

/// Columns that are listed.
const LISTED: usize = 20;

/// All that is found.
pub(super) struct Found {
    pub(super) importance: Importance,
    pub(super) dependence: Vec<PartialDependence>,
    /// Of an additive model the functions that it is the sum of.
    pub(super) shapes: Option<Shapes>,
    pub(super) shapley: Option<Shapley>,
}

impl Found {
    /// Looks along these columns, or along the most important where none are given.
    pub(super) fn of(
        explainer: &mut Explainer<'_>,
        columns: Vec<usize>,
        rows: usize,
    ) -> Result<Self> {
        let importance = explainer.importance()?;
        let columns = match columns.is_empty() {
            true => explainer.most_important(&importance, super::DRAWN),
            false => columns,
        };
        let dependence = columns.into_iter().map(|j| explainer.partial_dependence(j));
        Ok(Self {
            dependence: dependence.collect::<Result<_>>()?,
            importance,
            shapes: (explainer.is_additive())
                .then(|| explainer.shapes())
                .transpose()?,
            shapley: (rows > 0).then(|| explainer.shapley(rows)).transpose()?,
        })
    }

    /// A table of the columns, and all numbers.
    pub(super) fn describe(&self, explainer: &Explainer<'_>, report: &mut Report) {
        let Importance { measure, error, .. } = &self.importance;
        report.line("looked at", counted(explainer.rows() as u64, "row"));
        report.set("rows", explainer.rows());
        match measure {
            Measure::Moved => report.line(
                "importance",
                "without targets: how far predictions move, in their standard deviations",
            ),
            _ => report.line(measure.name(), six_digits(*error)),
        }
        if let Some(shapes) = &self.shapes {
            report.line("additive", in_words(shapes));
            object::of_shapes(shapes, explainer, report);
        }
        if let Some(shapley) = &self.shapley {
            let rows = counted(shapley.background as u64, "row");
            let how = match shapley.is_exact {
                true => format!("exact, against {rows}"),
                false => format!("by sampled orders of the columns, against {rows}"),
            };
            report.line("Shapley values", how);
        }
        report.table(self.table(explainer));
        object::of_importance(&self.importance, explainer, report);
        object::of_dependence(&self.dependence, explainer, report);
        if let Some(shapley) = &self.shapley {
            object::of_shapley(shapley, explainer, report);
        }
    }

    fn table(&self, explainer: &Explainer<'_>) -> String {
        let all = &self.importance.columns;
        let shown = &all[..all.len().min(LISTED)];
        let name = |column: usize| explainer.columns()[column].name.as_str();
        let wide = shown.iter().map(|of| name(of.column).chars().count()).max();
        let wide = wide.unwrap_or(0).max("column".len());
        let absolute = self.shapley.as_ref().map(Shapley::mean_absolute);
        let rise = match self.importance.measure {
            Measure::Moved => "moves by",
            _ => "error rises by",
        };
        let mut table = format!(
            "\n{:wide$}  {rise:>14}  {:>11}  {:>8}",
            "column", "+-", "gradient"
        );
        if absolute.is_some() {
            table += "  mean |Shapley|";
        }
        for of in shown {
            let gradient = match of.gradient {
                Some(share) => format!("{:.1} %", 100.0 * share),
                None => "-".into(),
            };
            let [rise, deviation] = [of.rise, of.deviation].map(six_digits);
            // Writing to a string does not fail.
            let _ = write!(
                table,
                "\n{:wide$}  {rise:>14}  {deviation:>11}  {gradient:>8}",
                name(of.column),
            );
            if let Some(absolute) = &absolute {
                let _ = write!(table, "  {:>14}", six_digits(absolute[of.column]));
            }
        }
        let _ = match all.len() - shown.len() {
            0 => writeln!(table),
            more => writeln!(table, "\nand {}", counted(more as u64, "more column")),
        };
        table
    }
}

/// `12 functions of single columns, 3 of pairs; 1 of more columns is not drawn`.
pub(crate) fn in_words(shapes: &Shapes) -> String {
    let of = |columns: usize| {
        let all = shapes.shapes.iter();
        all.filter(|shape| shape.columns.len() == columns).count() as u64
    };
    let mut words = format!("{} of single columns", counted(of(1), "function"));
    if of(2) > 0 {
        let _ = write!(words, ", {} of pairs", of(2));
    }
    if !shapes.others.is_empty() {
        let _ = write!(words, ", {} that are not drawn", shapes.others.len());
    }
    if shapes.shapes.iter().all(|shape| shape.band_gk.is_none()) {
        words += "; no standard errors are known of them";
    }
    words
}
