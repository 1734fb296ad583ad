//! What a device needs to know of an op.

use super::shader::expand;
use crate::Result;
use std::{fmt, hash, sync::Arc};

/// One op as its shader sees it.
#[derive(Debug)]
pub struct Op {
    /// The stem of its files.
    pub name: &'static str,
    /// The text of `shaders/<name>.wgsl`.
    pub source: &'static str,
    /// Size of the uniform `params` at binding 0.
    pub params_bytes: usize,
    /// The storage buffers at bindings 1, 2, ...
    pub bindings: &'static [Binding],
    /// Every variant that may be dispatched.
    pub variants: fn() -> Vec<Variant>,
}

/// The ops that go without wgpu's checks of indices where a device guards its buffers itself: those
/// whose every index into workgroup memory `tests/cpu/indices.rs` shows to lie inside.
const UNCHECKED: [&str; 6] = [
    "projection",
    "gram",
    "gram_targets",
    "predict",
    "product",
    "kernel_block",
];

impl Op {
    /// Whether its indices need no check where a device guards its buffers itself: nowhere else
    /// does one lie outside, whatever the data.
    pub fn is_unchecked(&self) -> bool {
        UNCHECKED.contains(&self.name)
    }

    /// The WGSL of a variant.
    pub fn text(&self, variant: &Variant) -> Result<String> {
        let mut text = expand(self.source, variant.constants())?;
        text.push_str(variant.text.as_deref().unwrap_or_default());
        Ok(text)
    }
}

/// A storage buffer of an op, by its name in the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Only read.
    Read(&'static str),
    /// Written, and perhaps read.
    Write(&'static str),
}

/// The most constants of a variant.
const MOST: usize = 14;

/// One variant of an op: the constants that its shader is expanded with, and WGSL of a user's own
/// behind it, if any. They alone tell it from the op's others, so that a dispatch finds its
/// pipeline by a few integers and allocates no name.
#[derive(Clone, PartialEq, Eq)]
pub struct Variant {
    constants: [(&'static str, i64); MOST],
    count: usize,
    text: Option<Arc<str>>,
}

impl Variant {
    /// The variant with these constants.
    pub fn new<const N: usize>(constants: [(&'static str, i64); N]) -> Self {
        let none = Self {
            constants: [("", 0); MOST],
            count: 0,
            text: None,
        };
        let with = |variant: Self, (name, value)| variant.with_constant(name, value);
        constants.into_iter().fold(none, with)
    }

    /// As this one, with one constant more.
    pub fn with_constant(mut self, name: &'static str, value: i64) -> Self {
        self.constants[self.count] = (name, value);
        self.count += 1;
        self
    }

    /// As this one, with WGSL behind that of the op.
    pub(crate) fn and_text(mut self, text: Arc<str>) -> Self {
        self.text = Some(text);
        self
    }

    /// The constants by name.
    pub fn constants(&self) -> &[(&'static str, i64)] {
        &self.constants[..self.count]
    }

    /// One constant, if the variant has it.
    pub fn get(&self, name: &str) -> Option<i64> {
        let constant = self.constants().iter().find(|(known, _)| *known == name);
        constant.map(|(_, value)| *value)
    }
}

/// The values and the text alone: the names follow from the op.
impl hash::Hash for Variant {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        let constants = self.constants().iter();
        constants.for_each(|(_, value)| state.write_i64(*value));
        self.text.hash(state);
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, (name, value)) in self.constants().iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{name} {value}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
