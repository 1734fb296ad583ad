//! Licences of packages, held against those that deny.toml allows.

use crate::metadata::{Metadata, Package};
use std::collections::BTreeSet;

/// Packages whose licence is none of those allowed.
pub(super) fn forbidden(metadata: &Metadata, allowed: &[String]) -> Vec<String> {
    let allowed: BTreeSet<&str> = allowed.iter().map(String::as_str).collect();
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let license = package.license.as_deref().unwrap_or("none");
        if !permits(license, &allowed) {
            let Package { name, version, .. } = package;
            faults.push(format!(
                "{name} {version} has the licence {license}, which deny.toml does not allow: decide, then add it there"
            ));
        }
    }
    faults
}

/// Whether an SPDX expression can be met by the allowed licences alone. AND binds more tightly than
/// OR, and the old way of writing OR is a stroke.
fn permits(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    alternatives(&mut rest, allowed) && rest.is_empty()
}

fn alternatives(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    let mut met = together(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= together(words, allowed);
    }
    met
}

fn together(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    let mut met = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = alternatives(words, allowed);
            let closed = words.first() == Some(&")");
            *words = words.get(1..).unwrap_or_default();
            met && closed
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(format!("{name} WITH {exception}").as_str())
        }
        [name, rest @ ..] => {
            *words = rest;
            allowed.contains(name)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_met_or_not() {
        let allowed = BTreeSet::from(["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"]);
        for (expression, met) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Zlib", true),
            ("GPL-3.0 AND Zlib OR MIT", true),
            ("GPL-3.0 AND (Zlib OR MIT)", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("(MIT", false),
            ("none", false),
            ("", false),
        ] {
            assert_eq!(permits(expression, &allowed), met, "{expression}");
        }
    }
}
