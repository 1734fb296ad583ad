//! What two model files have in common.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What is solved for, beside what is drawn and surveyed.
pub(crate) const SOLVED: [&str; 2] = ["coefficients", "intercept"];
/// By what a fit was judged: of eigenvectors, by a library that chooses its own instructions.
pub(crate) const JUDGED: [&str; 2] = ["facts", "lambda_curve"];

/// Compares all tensors of two models but for these; the number of bytes.
pub(crate) fn compare(one: &[u8], other: &[u8], but: &[&str]) -> Result<usize> {
    let (a, b) = (tensors(one, but)?, tensors(other, but)?);
    let names =
        |all: &[(String, &[u8])]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(&a) != names(&b) || !a.iter().any(|(name, _)| name.ends_with("frequencies")) {
        bail!("models of other parts: {:?} and {:?}", names(&a), names(&b));
    }
    let mut bytes = 0;
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        if a != b {
            bail!("{name} has other bits there than here");
        }
        bytes += a.len();
    }
    Ok(bytes)
}

/// The tensors of a safetensors file by name, but for some.
fn tensors<'a>(file: &'a [u8], but: &[&str]) -> Result<Vec<(String, &'a [u8])>> {
    let cut = || "a model file that is cut off";
    let (length, rest) = file.split_first_chunk::<8>().with_context(cut)?;
    let length = usize::try_from(u64::from_le_bytes(*length))?;
    let (header, data) = rest.split_at_checked(length).with_context(cut)?;
    let header: Value = serde_json::from_slice(header)?;
    let mut tensors = Vec::new();
    for (name, tensor) in header.as_object().context("a header that is no object")? {
        if name == "__metadata__" || but.contains(&name.as_str()) {
            continue;
        }
        let offset = |i: usize| {
            tensor["data_offsets"][i]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok())
        };
        let range = offset(0).with_context(cut)?..offset(1).with_context(cut)?;
        tensors.push((name.clone(), data.get(range).with_context(cut)?));
    }
    tensors.sort();
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(frequency: u8, coefficient: u8) -> Vec<u8> {
        let header = r#"{"__metadata__":{"a":"b"},"frequencies":{"data_offsets":[0,4]},"coefficients":{"data_offsets":[4,8]}}"#;
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.bytes());
        file.extend([frequency; 4]);
        file.extend([coefficient; 4]);
        file
    }

    #[test]
    fn models_are_compared_in_what_was_drawn() {
        let compare = |one: &[u8], other: &[u8]| compare(one, other, &SOLVED);
        assert_eq!(compare(&model(1, 2), &model(1, 3)).unwrap(), 4);
        let error = compare(&model(1, 2), &model(2, 2)).unwrap_err();
        assert!(error.to_string().contains("frequencies"), "{error}");
        let whole = model(1, 2);
        assert!(compare(&whole, &whole[..whole.len() - 5]).is_err());
        assert!(compare(&whole[..4], &whole).is_err());
    }

    #[test]
    fn models_are_compared_in_what_they_predict_by() {
        assert_eq!(compare(&model(1, 2), &model(1, 2), &JUDGED).unwrap(), 8);
        let error = compare(&model(1, 2), &model(1, 3), &JUDGED).unwrap_err();
        assert!(error.to_string().contains("coefficients"), "{error}");
    }
}
