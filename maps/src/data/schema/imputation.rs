//! Imputation of numeric columns in memory.

use super::{Field, Fill, Kind, NoValue, Schema, survey};
use ndarray::{ArrayView1, ArrayView2};
use std::collections::BTreeMap;

/// Fill values and indicator columns of numeric columns.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct NumericImputation {
    /// Fill value of each column.
    pub means: Vec<f64>,
    /// Whether a training row misses a value of the column.
    pub missed: Vec<bool>,
    /// Whether the column has an indicator column.
    pub indicated: Vec<bool>,
}

impl NumericImputation {
    /// Returns which columns of `missing_nd` `[n, d]` predict a column of `y_nt` `[n, t]`, for rows
    /// with these weights: those get an indicator column.
    #[doc(hidden)]
    pub fn predictive_columns(
        missing_nd: ArrayView2<'_, bool>,
        y_nt: ArrayView2<'_, f64>,
        weights_n: ArrayView1<'_, f64>,
    ) -> Vec<bool> {
        survey::imputation::predictive_columns(missing_nd, y_nt, weights_n)
    }
}

impl Schema {
    /// Schema of numeric columns with these names and this imputation.
    #[doc(hidden)]
    pub fn from_imputation(names: &[String], imputation: &NumericImputation) -> Self {
        let each = names.iter().zip(&imputation.means).enumerate();
        let field = |(j, (name, &mean)): (usize, (&String, &f64))| Field {
            name: name.clone(),
            kind: Kind::Number,
            fill: Some(Fill {
                values: vec![mean],
                indicator: imputation.indicated[j],
                missed: imputation.missed[j],
            }),
            reading: None,
        };
        Self {
            features: each.map(field).collect(),
            targets: Vec::new(),
            weight: None,
            weight_reading: None,
            no_value: NoValue::from_given(None),
            options: BTreeMap::new(),
        }
    }

    /// Returns the imputation if all features are plain numbers with a fill value.
    #[doc(hidden)]
    pub fn imputation(&self) -> Option<NumericImputation> {
        let fill = |field: &Field| {
            let fill = field.fill.as_ref()?;
            let is_plain = field.kind == Kind::Number && field.reading.is_none();
            is_plain.then_some((*fill.values.first()?, fill.missed, fill.indicator))
        };
        let all: Vec<_> = self.features.iter().map(fill).collect::<Option<_>>()?;
        Some(NumericImputation {
            means: all.iter().map(|fill| fill.0).collect(),
            missed: all.iter().map(|fill| fill.1).collect(),
            indicated: all.iter().map(|fill| fill.2).collect(),
        })
    }
}
