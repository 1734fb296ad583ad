//! What a device needs to know of an op.

use super::shader::Constants;

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
    /// Every variant that may be dispatched, with its constants.
    pub variants: fn() -> Vec<(String, Constants)>,
}

/// A storage buffer of an op, by its name in the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Only read.
    Read(&'static str),
    /// Written, and perhaps read.
    Write(&'static str),
}
