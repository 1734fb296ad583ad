//! WGSL that a user has written: one expression in `t`, and nothing else.

use crate::{
    Error, Result,
    limits::{EXPRESSION_BYTES as LONGEST, NESTED_PARENTHESES as DEEPEST},
};
use std::sync::Arc;

/// What an expression may call or name: functions of numbers. A shader's own names are not among
/// them, so that none can be reached; nor is `array`, by which a short text could ask for any
/// amount of memory.
const KNOWN: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bool",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "f32",
    "false",
    "floor",
    "fma",
    "fract",
    "i32",
    "inverseSqrt",
    "log",
    "log2",
    "max",
    "min",
    "mix",
    "pow",
    "round",
    "saturate",
    "select",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sqrt",
    "step",
    "t",
    "tan",
    "tanh",
    "true",
    "trunc",
    "u32",
];
/// What stands between names and numbers. No braces, semicolons, attributes, quotes or addresses.
const MARKS: &str = "+-*/%()<>=!|&,. ";

/// An expression that has been read and validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ops) struct Expression(Arc<str>);

impl Expression {
    /// The expression `text` of the nonlinearity `name`.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let refused = |why: String| {
            Error::parameter(format!(
                "the WGSL of the nonlinearity {name}, `{line}`, is no expression in t: {why}"
            ))
        };
        words(&line).map_err(refused)?;
        let expression = Self::known(&line);
        validate(&expression.definition()).map_err(refused)?;
        Ok(expression)
    }

    /// A text that is known to be right.
    pub(super) fn known(text: &str) -> Self {
        Self(text.into())
    }

    /// The WGSL function of it.
    pub(super) fn definition(&self) -> Arc<str> {
        format!("fn custom(t: f32) -> f32 {{\n    return {};\n}}\n", self.0).into()
    }

    pub(in crate::ops) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Looks at every name and mark, so that what a compiler then sees cannot be more than an
/// expression.
fn words(line: &str) -> std::result::Result<(), String> {
    if line.is_empty() {
        return Err("it is empty".into());
    }
    if line.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} characters"));
    }
    if line.contains("//") || line.contains("/*") {
        return Err("comments are not taken".into());
    }
    let mut depth = 0_usize;
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = &rest[..rest.find(|c| !in_word(c)).unwrap_or(rest.len())];
        if word.is_empty() {
            if !MARKS.contains(first) {
                return Err(format!("{first:?} is not taken"));
            }
            depth = match first {
                '(' => depth + 1,
                // One that closes nothing is left to the compiler.
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            if depth > DEEPEST {
                return Err(format!("parentheses stand more than {DEEPEST} deep"));
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        // What starts with a digit is a number, or the compiler says so.
        if !first.is_ascii_digit() && !KNOWN.contains(&word) {
            return Err(format!(
                "{word:?} is not known; it may use t and {}",
                "the functions of numbers in WGSL, as abs, exp, max, select or tanh"
            ));
        }
        rest = &rest[word.len()..];
    }
    Ok(())
}

/// What the compiler of shaders says of a function alone.
#[cfg(not(target_family = "wasm"))]
fn validate(definition: &str) -> std::result::Result<(), String> {
    use crate::text::one_line;
    use wgpu::naga::{
        front::wgsl,
        valid::{Capabilities, ValidationFlags, Validator},
    };
    let module = wgsl::parse_str(definition).map_err(|e| one_line(e.message()))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let validated = validator.validate(&module);
    validated.map(|_| ()).map_err(|e| {
        format!(
            "it has to give an f32 ({})",
            one_line(&e.into_inner().to_string())
        )
    })
}

/// A browser validates what it is given, when a map is loaded.
#[cfg(target_family = "wasm")]
fn validate(_: &str) -> std::result::Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_one_variable_are_taken() {
        for text in [
            "t",
            "1",
            "tanh(t)",
            "max(t, 0.0)",
            "t / (1.0 + exp(-t))",
            "select(0.01 * t, t, t > 0.0)",
            "0.5 * t * (1.0 + tanh(0.7978845608 * (t + 0.044715 * t * t * t)))",
            "log(1.0 + exp(-abs(t)))\n  + max(t, 0.0)",
            "1.5e-3f * t + .5 - 0x1p-3",
            "f32((i32(t) % 2 == 0 && 3.0 > t) || !(t >= 5.0))",
        ] {
            Expression::parse("own", text).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    /// In one line that names it.
    fn assert_refused(texts: &[&str]) {
        for text in texts {
            let refused = Expression::parse("swish", text).expect_err(text);
            assert!(matches!(refused, Error::Parameter(_)), "{refused}");
            let message = refused.to_string();
            assert!(
                message.contains("swish") && !message.contains('\n'),
                "{message}"
            );
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(message.contains(&line), "{message}");
            println!("{message}");
        }
    }

    #[test]
    fn what_is_no_one_expression_is_refused() {
        let deep = format!("{}t{}", "(".repeat(500), ")".repeat(499));
        let long = "t + ".repeat(400) + "t";
        assert_refused(&[
            "",
            "  ",
            "tanh(t",
            "t)",
            "t) + (t",
            "tanh(t); ",
            "t; } fn main() { let x = t",
            "t }",
            "{ t }",
            "t // the rest",
            "t /* what */",
            "t = 3.0",
            "t++",
            "return t",
            "let x = t",
            "@t",
            "\"t\"",
            "t\u{e9}",
            &deep,
            &long,
        ]);
    }

    #[test]
    fn names_and_types_that_are_not_known_are_refused() {
        assert_refused(&[
            "x",
            "params.rows",
            "custom(t)",
            "f32(custom)",
            "cos2pi(vec4f(t)).x",
            "vec4f(t).x",
            "t.x",
            "array<f32, 1000000000>()[0]",
            "array(t)",
            "&t",
            "*&t",
            "workgroupBarrier()",
            "subgroupAdd(t)",
            "dpdx(t)",
            "t > 0.0",
            "i32(t)",
            "1 / 0",
            "exp(t, t)",
            "tangent(t)",
            "1e999",
            "bool",
            "select",
            "f64(t)",
            "f16(t)",
            "1.0lf",
        ]);
    }

    /// Of known names alone, which a compiler would take: in browsers there is none here.
    #[test]
    fn comments_are_refused_before_a_compiler_sees_them() {
        for text in ["t // t", "t /* t */ + t"] {
            let refused = words(text).expect_err("a comment");
            assert!(refused.contains("comments"), "{refused}");
        }
    }

    /// The longest text and the deepest parentheses that are taken, and one more of each.
    #[test]
    fn limits_are_where_they_are_said_to_be() {
        let deep = |depth: usize| format!("{}t{}", "(".repeat(depth), ")".repeat(depth));
        // Parentheses beside each other are not in each other.
        let beside = vec!["(t)"; 40].join(" + ");
        // t + t + ... + t, of 499 characters.
        let long = vec!["t"; 250].join("+");
        let longest = format!("-{long}");
        assert_eq!(longest.len(), LONGEST);
        for text in [deep(DEEPEST), beside, longest] {
            Expression::parse("own", &text).unwrap_or_else(|e| panic!("{e}"));
        }
        for (text, why) in [
            (deep(DEEPEST + 1), "more than 32 deep"),
            (format!("t-{long}"), "longer than 500"),
        ] {
            let refused = Expression::parse("own", &text).expect_err(why).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    /// Marks before an expression nest without parentheses: 500 of them are read, or refused by the
    /// compiler, on the stack of a thread.
    #[test]
    fn marks_before_an_expression_end_no_program() {
        for mark in ["- ", "!", "&", "*"] {
            let text = mark.repeat((LONGEST - 1) / mark.len()) + "t";
            let read = Expression::parse("own", &text);
            assert_eq!(read.is_ok(), mark == "- ", "{mark}");
        }
    }

    /// No name that a shader gives can be reached, whatever it is called later.
    #[test]
    fn no_name_of_a_shader_is_known() {
        for op in [
            &crate::ops::projection::OP,
            &crate::ops::predict::OP,
            &crate::ops::few::OP,
            &crate::ops::few::SUM_OP,
        ] {
            for variant in (op.variants)() {
                let text = op.text(&variant).expect("expands");
                let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
                for pair in words.windows(2) {
                    if ["fn", "struct", "params", "read", "read_write", "workgroup"]
                        .contains(&pair[0])
                    {
                        assert!(!KNOWN.contains(&pair[1]), "{}: {pair:?}", op.name);
                    }
                }
            }
        }
    }
}
