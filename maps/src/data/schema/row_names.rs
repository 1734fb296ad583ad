//! What columns are called that number rows. Others that count may be a time.

/// The whole name; a first column without one is called 0.
const NAMES: [&str; 12] = [
    "",
    "#",
    "0",
    "index",
    "key",
    "obs",
    "row",
    "rowid",
    "rowname",
    "rownames",
    "unnamed: 0",
    "pk",
];
/// What stands before a number of the row in a name, if anything does: not `week` or `lap`.
const NUMBERED: [&str; 16] = [
    "case", "customer", "item", "laufende", "lfd", "line", "obs", "order", "patient", "record",
    "row", "s", "sample", "serial", "sl", "sr",
];

/// Whether the name of a column says that it numbers rows.
pub(in crate::data) fn numbers_rows(name: &str) -> bool {
    let name = name.trim();
    let lower = name.to_ascii_lowercase();
    if NAMES.contains(&lower.as_str()) {
        return true;
    }
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [.., "id"] => true,
        [before @ .., "nr" | "no" | "number"] => before.iter().all(|word| NUMBERED.contains(word)),
        // customerId, CustomerID
        [_] => (name.strip_suffix("Id").or(name.strip_suffix("ID")))
            .is_some_and(|before| before.ends_with(|c: char| c.is_lowercase())),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::numbers_rows;

    #[test]
    fn names_of_numbers_of_rows_are_known_and_those_of_times_are_not() {
        for name in [
            "id",
            "customer_id",
            "case_id",
            "_id",
            " ID ",
            "Nr.",
            "lfd. Nr.",
            "S.No",
            "Sr. No.",
            "obs",
            "key",
            "Row ID",
            "customerId",
            "PatientID",
            "record no",
            "#",
            "",
            "Unnamed: 0",
        ] {
            assert!(numbers_rows(name), "{name}");
        }
        for name in [
            "week_no",
            "day number",
            "lap",
            "period",
            "t",
            "valid",
            "grid",
            "humid",
            "time_index",
            "room no",
            "RAPID",
            "x",
        ] {
            assert!(!numbers_rows(name), "{name}");
        }
    }
}
