//! What was found of a model, for programs.

use crate::report::{Report, Value};
use bochner::explain::{
    Column, ColumnValue, Explainer, Importance, Measure, PartialDependence, Shapes, Shapley,
};
use ndarray::{ArrayView1, ArrayView2};
use serde_json::json;

/// A value of a column: dates as text, a missing one as null.
fn value(of: &ColumnValue) -> Value {
    match of {
        ColumnValue::Number(number) => json!(number),
        ColumnValue::Missing => Value::Null,
        other => json!(other.to_string()),
    }
}

fn list(of: ArrayView1<'_, f64>) -> Value {
    of.iter().copied().collect()
}

fn lists(of: ArrayView2<'_, f64>) -> Value {
    of.rows().into_iter().map(list).collect()
}

/// The importance of each column, the largest first.
pub(super) fn of_importance(of: &Importance, explainer: &Explainer<'_>, report: &mut Report) {
    report.set("measure", of.measure.name());
    let error = (of.measure != Measure::Moved).then_some(of.error);
    report.set("error", error);
    report.set("exchanged_rows", of.rows);
    report.set("repeats", of.repeats);
    report.set("outputs_are", explainer.output_kind().name());
    report.set("outputs", explainer.output_names());
    let each = of.columns.iter().map(|column| {
        json!({
            "column": explainer.columns()[column.column].name,
            "rise": column.rise,
            "deviation": column.deviation,
            "gradient": column.gradient,
        })
    });
    report.set("importance", each.collect::<Vec<Value>>());
}

/// The mean along each column that was looked at, and the curves of single rows.
pub(super) fn of_dependence(
    all: &[PartialDependence],
    explainer: &Explainer<'_>,
    report: &mut Report,
) {
    let each = all.iter().map(|of| {
        let column = &explainer.columns()[of.column];
        let curves = of.curves_cgk.outer_iter().map(lists);
        json!({
            "column": column.name,
            "ordered": column.is_ordered(),
            "values": of.values.iter().map(value).collect::<Vec<_>>(),
            "mean": lists(of.mean_gk.view()),
            "rows": of.rows,
            "curve_rows": of.curve_rows,
            "curves": curves.collect::<Vec<_>>(),
        })
    });
    report.set("partial_dependence", each.collect::<Vec<Value>>());
    let axes = all
        .iter()
        .map(|of| axis(&explainer.columns()[of.column], &of.values));
    report.picture("axes", axes.collect::<Vec<Value>>());
}

/// What an axis of a column is called, and where its values lie on it.
fn axis(column: &Column, values: &[ColumnValue]) -> Value {
    let is_date = matches!(values.first(), Some(ColumnValue::Date(_)));
    let first = match values.first() {
        Some(ColumnValue::Date(days)) => days.floor(),
        _ => 0.0,
    };
    let name = if is_date {
        format!("{} (days from {})", column.name, ColumnValue::Date(first))
    } else {
        column.name.clone()
    };
    let x = values.iter().map(|value| match value {
        ColumnValue::Number(number) => json!(number),
        ColumnValue::Date(days) => json!(days - first),
        _ => Value::Null,
    });
    json!({"name": name, "is_date": is_date, "x": x.collect::<Vec<_>>()})
}

/// The functions that the model is the sum of.
pub(crate) fn of_shapes(of: &Shapes, explainer: &Explainer<'_>, report: &mut Report) {
    let column = |&j: &usize| &explainer.columns()[j];
    let names = |columns: &[usize]| -> Vec<&str> {
        columns.iter().map(|j| column(j).name.as_str()).collect()
    };
    let parts = of.shapes.iter().map(|shape| {
        let ordered = shape.columns.iter().map(|j| column(j).is_ordered());
        let values = shape.values.iter();
        let values = values.map(|of| of.iter().map(value).collect::<Vec<_>>());
        json!({
            "columns": names(&shape.columns),
            "ordered": ordered.collect::<Vec<_>>(),
            "values": values.collect::<Vec<_>>(),
            "mean": lists(shape.mean_gk.view()),
            "band": shape.band_gk.as_ref().map(|of| lists(of.view())),
            "deviation": list(shape.deviation_k.view()),
        })
    });
    let others = of.others.iter().map(|other| {
        let deviation = list(other.deviation_k.view());
        json!({"columns": names(&other.columns), "deviation": deviation})
    });
    report.set(
        "shapes",
        json!({
            "of": of.kind.name(),
            "outputs": explainer.output_names(),
            "intercept": list(of.intercept_k.view()),
            "rows": of.rows,
            "noise": of.noise_k.as_ref().map(|of| list(of.view())),
            "parts": parts.collect::<Vec<_>>(),
            "others": others.collect::<Vec<_>>(),
        }),
    );
    let axes = of.shapes.iter().map(|shape| {
        let each = shape.columns.iter().zip(&shape.values);
        each.map(|(j, values)| axis(column(j), values)).collect()
    });
    report.picture("shape_axes", axes.collect::<Vec<Value>>());
}

/// What each column adds to the prediction of each row.
pub(super) fn of_shapley(of: &Shapley, explainer: &Explainer<'_>, report: &mut Report) {
    let columns = explainer.columns().iter().map(|column| &column.name);
    let each = of.rows.iter().enumerate().map(|(r, &row)| {
        let values = explainer.values(row).unwrap_or_default();
        let value = |of: &Option<ColumnValue>| of.as_ref().map_or(Value::Null, value);
        json!({
            "row": row,
            "output": list(of.outputs_rk.row(r)),
            "cells": values.iter().map(value).collect::<Vec<_>>(),
            "shapley": lists(of.values_rpk.index_axis(ndarray::Axis(0), r)),
            "errors": lists(of.errors_rpk.index_axis(ndarray::Axis(0), r)),
        })
    });
    report.set(
        "shapley",
        json!({
            "columns": columns.collect::<Vec<_>>(),
            "how": if of.is_exact { "exact" } else { "sampled" },
            "mean_output": list(of.base_k.view()),
            "background_rows": of.background,
            "mean_absolute": of.mean_absolute(),
            "rows": each.collect::<Vec<_>>(),
        }),
    );
}
