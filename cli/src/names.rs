//! Lists of column names on the command line.

/// Names in one value of an option.
#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// All names of an option that may be repeated, in order.
    pub(crate) fn flatten(given: &[Self]) -> Vec<String> {
        given.iter().flat_map(|names| names.0.clone()).collect()
    }
}

impl From<Vec<String>> for Names {
    fn from(names: Vec<String>) -> Self {
        Self(names)
    }
}

/// As a shell reads it back.
pub(crate) fn quoted(argument: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// Names with commas between them. One that has a comma or begins with a quote stands in quotes,
/// where two quotes are one, as in a .csv: `a,"b, c"`.
pub(crate) fn names(text: &str) -> Result<Names, String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let end;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            let mut inside = quoted;
            loop {
                let Some(at) = inside.find('"') else {
                    return Err("has a quote that nothing closes".into());
                };
                name += &inside[..at];
                inside = &inside[at + 1..];
                match inside.strip_prefix('"') {
                    Some(after) => {
                        name.push('"');
                        inside = after;
                    }
                    None => break,
                }
            }
            found.push(name);
            end = inside.trim_start();
            if !(end.is_empty() || end.starts_with(',')) {
                return Err("has text after a quoted name; put a comma between them".into());
            }
        } else {
            let at = rest.find(',').unwrap_or(rest.len());
            found.push(rest[..at].trim_end().to_owned());
            end = &rest[at..];
        }
        match end.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Ok(Names(found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("a-b_c=1".into()), "a-b_c=1");
        assert_eq!(quoted("it's".into()), "'it'\\''s'");
        assert_eq!(quoted(String::new()), "''");
    }

    #[test]
    fn names_are_lists_with_quotes_as_in_a_csv() {
        for (text, wanted) in [
            ("a", vec!["a"]),
            ("a,b", vec!["a", "b"]),
            (" a , b c ", vec!["a", "b c"]),
            ("\"a, b\",c", vec!["a, b", "c"]),
            ("c, \"a\"\"b\" ", vec!["c", "a\"b"]),
            ("\"\"", vec![""]),
            ("a,", vec!["a", ""]),
            ("5\" wide", vec!["5\" wide"]),
        ] {
            assert_eq!(
                names(text).map(|n| n.0),
                Ok(wanted.iter().map(|n| (*n).to_owned()).collect()),
                "{text}"
            );
        }
        for text in ["\"a", "\"a\"b", "a,\"b\"\""] {
            assert!(names(text).is_err(), "{text}");
        }
    }
}
