//! WGSL text: a small expansion of includes, loops and constants, so that a shader is written once
//! for all tile shapes.
//!
//! Loops over registers must be unrolled in the source (naga emits every loop as `while(true)`, and
//! arrays of accumulators spill), and tile shapes change declarations, which override constants
//! cannot. Lines that start with `//@` direct it:
//!
//! ```text
//! //@ include cos2pi            the text of shaders/shared/cos2pi.wgsl
//! //@ for i in 0..TM            repeat up to the matching `//@ end`, with ${i} = 0, 1, ...
//! //@ if SHARED                 keep up to `//@ else` or `//@ end` when the expression is not zero
//! //@ let BM = TM * TY          a new constant
//! acc${i} = vec4f(${TM * 4});   ${...} is an integer expression over constants
//! ```

use crate::{Error, Result};
use bochner_shaders::SHARED;
use std::collections::HashMap;

/// Constants and counters by name.
type Scope = HashMap<String, i64>;

/// Expands `source` for the constants of a variant. Errors name the line.
pub(crate) fn expand(source: &str, constants: &[(&str, i64)]) -> Result<String> {
    let mut lines = Vec::new();
    splice(source, &mut lines)?;
    let mut out = String::with_capacity(4 * source.len());
    let constants = constants.iter();
    let mut scope = constants
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    let used = block(&lines, 0, &mut scope, Some(&mut out))?;
    match lines.get(used) {
        None => Ok(out),
        Some(line) => Err(bad(line, "has no opening `for` or `if`")),
    }
}

fn bad(line: &str, what: &str) -> Error {
    Error::device(format!("shader line `{}` {what}", line.trim()))
}

/// Splits into lines, with includes in place.
fn splice<'a>(source: &'a str, lines: &mut Vec<&'a str>) -> Result<()> {
    for line in source.lines() {
        match directive(line) {
            Some(("include", name)) => {
                let (_, text) = SHARED
                    .iter()
                    .find(|(n, _)| *n == name)
                    .ok_or_else(|| bad(line, "includes an unknown text"))?;
                splice(text, lines)?;
            }
            _ => lines.push(line),
        }
    }
    Ok(())
}

fn directive(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_start().strip_prefix("//@")?.trim();
    Some(match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim()),
        None => (text, ""),
    })
}

/// Expands lines from `at` up to an unmatched `end` or `else`, whose index it returns. Without
/// `out` it only skips.
fn block(
    lines: &[&str],
    mut at: usize,
    scope: &mut Scope,
    mut out: Option<&mut String>,
) -> Result<usize> {
    while let Some(&line) = lines.get(at) {
        match directive(line) {
            None => {
                if let Some(out) = out.as_deref_mut() {
                    substitute(line, scope, out)?;
                }
                at += 1;
            }
            Some(("let", rest)) => {
                if out.is_some() {
                    let (name, value) = rest
                        .split_once('=')
                        .ok_or_else(|| bad(line, "needs `name = value`"))?;
                    let value = evaluate(value, scope).map_err(|e| bad(line, &e))?;
                    scope.insert(name.trim().to_owned(), value);
                }
                at += 1;
            }
            Some(("for", rest)) => {
                let (name, range) = rest
                    .split_once(" in ")
                    .ok_or_else(|| bad(line, "needs `name in a..b`"))?;
                let (low, high) = range
                    .split_once("..")
                    .ok_or_else(|| bad(line, "needs `a..b`"))?;
                let end = block(lines, at + 1, scope, None)?;
                if let Some(out) = out.as_deref_mut() {
                    let low = evaluate(low, scope).map_err(|e| bad(line, &e))?;
                    let high = evaluate(high, scope).map_err(|e| bad(line, &e))?;
                    for i in low..high {
                        scope.insert(name.trim().to_owned(), i);
                        block(lines, at + 1, scope, Some(out))?;
                    }
                }
                expect_end(lines, end, line)?;
                at = end + 1;
            }
            Some(("if", rest)) => {
                let keep = out.is_some() && evaluate(rest, scope).map_err(|e| bad(line, &e))? != 0;
                let kept = if keep { out.as_deref_mut() } else { None };
                let mut end = block(lines, at + 1, scope, kept)?;
                if lines.get(end).and_then(|l| directive(l)) == Some(("else", "")) {
                    let kept = if keep { None } else { out.as_deref_mut() };
                    end = block(lines, end + 1, scope, kept)?;
                }
                expect_end(lines, end, line)?;
                at = end + 1;
            }
            Some(("end" | "else", _)) => return Ok(at),
            Some(_) => return Err(bad(line, "is no directive")),
        }
    }
    Ok(at)
}

fn expect_end(lines: &[&str], at: usize, opening: &str) -> Result<()> {
    match lines.get(at).and_then(|l| directive(l)) {
        Some(("end", _)) => Ok(()),
        _ => Err(bad(opening, "has no `//@ end`")),
    }
}

fn substitute(line: &str, scope: &Scope, out: &mut String) -> Result<()> {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let (expression, tail) = after
            .split_once('}')
            .ok_or_else(|| bad(line, "has an open ${"))?;
        out.push_str(before);
        let value = evaluate(expression, scope).map_err(|e| bad(line, &e))?;
        out.push_str(&value.to_string());
        rest = tail;
    }
    out.push_str(rest);
    out.push('\n');
    Ok(())
}

/// Evaluates an integer expression: names, numbers, `+ - * / % == < > ( )`, usual precedence.
fn evaluate(text: &str, scope: &Scope) -> std::result::Result<i64, String> {
    let mut tokens = tokens(text);
    let value = comparison(&mut tokens, scope)?;
    match tokens.pop() {
        None => Ok(value),
        Some(token) => Err(format!("has a stray {token:?}")),
    }
}

/// Tokens, last first.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("==") {
            2
        } else {
            first.len_utf8()
        };
        found.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    found.reverse();
    found
}

type Parsed = std::result::Result<i64, String>;

fn comparison(tokens: &mut Vec<&str>, scope: &Scope) -> Parsed {
    let left = sum(tokens, scope)?;
    let Some(operator @ ("==" | "<" | ">")) = tokens.last().copied() else {
        return Ok(left);
    };
    tokens.pop();
    let right = sum(tokens, scope)?;
    Ok(i64::from(match operator {
        "==" => left == right,
        "<" => left < right,
        _ => left > right,
    }))
}

fn sum(tokens: &mut Vec<&str>, scope: &Scope) -> Parsed {
    let mut value = product(tokens, scope)?;
    while let Some(operator @ ("+" | "-")) = tokens.last().copied() {
        tokens.pop();
        let right = product(tokens, scope)?;
        value = if operator == "+" {
            value + right
        } else {
            value - right
        };
    }
    Ok(value)
}

fn product(tokens: &mut Vec<&str>, scope: &Scope) -> Parsed {
    let mut value = atom(tokens, scope)?;
    while let Some(operator @ ("*" | "/" | "%")) = tokens.last().copied() {
        tokens.pop();
        let right = atom(tokens, scope)?;
        value = match operator {
            "*" => value.checked_mul(right),
            "/" => value.checked_div(right),
            _ => value.checked_rem(right),
        }
        .ok_or("overflows or divides by zero")?;
    }
    Ok(value)
}

fn atom(tokens: &mut Vec<&str>, scope: &Scope) -> Parsed {
    match tokens.pop() {
        Some("(") => {
            let value = comparison(tokens, scope)?;
            match tokens.pop() {
                Some(")") => Ok(value),
                _ => Err("has an open parenthesis".into()),
            }
        }
        Some(token) => match token.parse() {
            Ok(number) => Ok(number),
            Err(_) => scope
                .get(token)
                .copied()
                .ok_or_else(|| format!("uses the unknown constant {token:?}")),
        },
        None => Err("has an incomplete expression".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_conditions_and_expressions_expand() {
        let source = "//@ let N = T * 2\n//@ for i in 0..N\n//@ if i % 2 == 0\na${i} = \
         ${i*(3+1)-1};\n//@ else\nodd${i}\n//@ end\n//@ end\nlast";
        let text = expand(source, &[("T", 2)]).expect("expands");
        assert_eq!(text, "a0 = -1;\nodd1\na2 = 7;\nodd3\nlast\n");
    }

    #[test]
    fn nested_loops_keep_their_own_counters() {
        let source = "//@ for i in 0..2\n//@ for j in 0..2\n${i}${j}\n//@ end\n//@ end";
        assert_eq!(expand(source, &[]).expect("expands"), "00\n01\n10\n11\n");
    }

    #[test]
    fn mistakes_name_their_line() {
        for (source, part) in [
            ("//@ for i in 0..2\nx", "has no `//@ end`"),
            ("x ${N}", "unknown constant \"N\""),
            ("//@ end", "has no opening"),
            ("//@ include nothing", "unknown text"),
            ("${1/0}", "divides by zero"),
            ("//@ unroll", "is no directive"),
        ] {
            let message = expand(source, &[]).expect_err("is wrong").to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    /// The code of a text, a line each: what a driver makes of it.
    fn code(text: &str) -> Vec<&str> {
        let lines = text.lines().map(|line| {
            let comment = line.find("//").filter(|_| directive(line).is_none());
            line[..comment.unwrap_or(line.len())].trim()
        });
        lines.filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn a_page_loads_the_code_of_shaders_without_comments() {
        let shaders = [bochner_shaders::GRAM, bochner_shaders::PRODUCT];
        for text in SHARED.iter().map(|(_, text)| *text).chain(shaders) {
            let mut short = vec![0; bochner_shaders::shorten(text, &mut [])];
            bochner_shaders::shorten(text, &mut short);
            let short = str::from_utf8(&short).expect("text");
            assert_eq!(short.lines().collect::<Vec<_>>(), code(text));
        }
        let mut short = [0; 13];
        let text = "  //@ end // x\n\n   a / b; // c\n  // d";
        assert_eq!(bochner_shaders::shorten(text, &mut []), 20);
        assert_eq!(bochner_shaders::shorten(text, &mut short), 20);
        assert_eq!(&short, b"//@ end // x\n");
    }
}
