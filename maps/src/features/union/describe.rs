//! Maps side by side in words.

use super::Union;
use crate::features::FeatureMap;

/// Parts that are told one by one.
const FEW: usize = 4;
/// Columns that are told by their numbers.
const COLUMNS: usize = 8;

/// `0.5 x (a map) beside 0.5 x (another) of columns 0 and 3`. Many parts of one kind are told
/// together.
pub(super) fn union(of: &Union) -> String {
    let all: Vec<(String, Option<String>)> = of.parts().map(|part| in_words(of, part)).collect();
    let (first, _) = &all[0];
    if all.len() > FEW
        && all
            .iter()
            .all(|(own, columns)| own == first && columns.is_some())
    {
        return format!("{} x {first}, each of columns of its own", all.len());
    }
    let each = all.into_iter().map(|(own, columns)| match columns {
        Some(columns) => format!("{own} of {columns}"),
        None => own,
    });
    each.collect::<Vec<_>>().join(" beside ")
}

/// A part with its weight, and the columns that it sees where others see more.
fn in_words(of: &Union, (map, weight): (&dyn FeatureMap, f64)) -> (String, Option<String>) {
    let kept = map.input().kept();
    let columns = (kept.len() < of.input().kept().len()).then(|| {
        let numbers = kept.iter().take(COLUMNS).map(usize::to_string);
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        match kept.len() {
            1 => format!("column {numbers}"),
            count if count > COLUMNS => format!("columns {numbers}, and so on"),
            _ => format!("columns {numbers}"),
        }
    });
    (format!("{weight} x ({})", map.describe()), columns)
}
