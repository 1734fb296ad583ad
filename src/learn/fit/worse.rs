//! Warns when a model predicts worse than the mean on held-out rows.

/// Tolerated relative excess of the error over that of the mean, which may be noise.
const NOISE: f64 = 0.02;

/// Warns if `error`, the squared error on `rows` held-out rows over the variance of their targets,
/// exceeds that of the mean. `chosen` names what these rows were used to choose.
pub(crate) fn than_mean(error: f64, rows: u64, chosen: &str) {
    if let Some(warning) = said(error, rows, chosen) {
        log::warn!("{warning}");
    }
}

/// The warning, or `None`. The leave-one-out error of the mean is `(n / (n - 1))^2`.
fn said(error: f64, rows: u64, chosen: &str) -> Option<String> {
    let rows = (rows as f64).max(2.0);
    let of_mean = (rows / (rows - 1.0)).powi(2);
    (error > of_mean * (1.0 + NOISE)).then(|| {
        format!(
            "R2 {:.2} on rows of the fit, left out to choose the {chosen}: worse than the mean of \
             the targets; try a larger penalty, another bandwidth or other columns",
            1.0 - error / of_mean
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_than_the_mean_is_said() {
        for (error, rows) in [(0.9, 10), (1.0, 265), (1.015, 100_000), (1.23, 10)] {
            assert_eq!(said(error, rows, "penalty"), None, "{error} of {rows}");
        }
        for (error, rows, r2) in [(1.03, 100_000, "-0.03"), (1.63, 265, "-0.62"), (4.0, 2, "")] {
            let found = said(error, rows, "penalty");
            assert_eq!(found.is_some(), !r2.is_empty(), "{error} of {rows}");
            let found = found.unwrap_or_default();
            assert!(found.contains(r2) && !found.contains('\n'), "{found}");
        }
        let found = said(3.0, 100, "number of stages").unwrap_or_default();
        assert!(
            found.contains("left out to choose the number of stages: worse"),
            "{found}"
        );
    }
}
