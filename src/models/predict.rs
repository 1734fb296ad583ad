//! What predicts: a linear model on a map, and what it says of rows.

pub(super) mod bring_back;
pub(super) mod conformal;
pub(super) mod fit_times;
pub(super) mod found_lengthscales;
pub(super) mod intervals;
pub(super) mod labels;
pub(super) mod lambda_curve;
pub(super) mod learned_metric;
pub(super) mod linear;
pub(super) mod link;
pub(super) mod model;
pub(super) mod principal;
pub(super) mod probabilities;
pub(super) mod ranges;
pub(super) mod routed;
pub(super) mod scores;
pub(super) mod worse;
