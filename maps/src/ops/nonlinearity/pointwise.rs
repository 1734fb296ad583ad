//! A nonlinearity of a user's own: a Rust function and, for GPUs, the same as a WGSL expression.

use super::expression::Expression;
use crate::{Error, Result, error::Remedy};
use std::{fmt, sync::Arc};

type Function = Arc<dyn Fn(f32) -> f32 + Send + Sync>;

/// A function of one variable under a name. The CPU calls it; a GPU takes its WGSL expression.
#[derive(Clone)]
pub struct Pointwise {
    name: Arc<str>,
    function: Function,
    expression: Option<Expression>,
}

impl Pointwise {
    /// `function`, called `name` in messages and files, on the CPU alone.
    pub fn new(
        name: impl Into<String>,
        function: impl Fn(f32) -> f32 + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into().into(),
            function: Arc::new(function),
            expression: None,
        }
    }

    /// The same function as a WGSL expression in the variable `t`, of type f32; see
    /// [`Custom::wgsl`](crate::features::Custom::wgsl). Errors with [`Error::Parameter`] when it is
    /// none.
    pub fn wgsl(mut self, expression: &str) -> Result<Self> {
        self.expression = Some(Expression::parse(&self.name, expression)?);
        Ok(self)
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The function at `t`.
    #[inline]
    #[doc(hidden)]
    pub fn at(&self, t: f32) -> f32 {
        (self.function)(t)
    }

    /// The expression, of which a GPU has to have one.
    pub(in crate::ops) fn expression(&self) -> Result<&Expression> {
        self.expression.as_ref().ok_or_else(|| {
            Error::unsupported(format!(
                "the nonlinearity {} is a Rust function, which a GPU cannot call",
                self.name
            ))
            .help(Remedy::words(
                "give the same as a WGSL expression by .wgsl(\"..\")",
            ))
            .help(Remedy::UseCpu)
        })
    }

    /// What a shader with this nonlinearity has behind its own text.
    pub(super) fn shader_text(&self) -> Arc<str> {
        let text = self.expression.as_ref().map(Expression::definition);
        text.unwrap_or_else(|| "".into())
    }

    /// x / (1 + |x|), for checks: it calls nothing that WGSL lets be inexact.
    pub(super) fn softsign() -> Self {
        Self {
            expression: Some(Expression::known("t / (1.0 + abs(t))")),
            ..Self::new("softsign", |t| t / (1.0 + t.abs()))
        }
    }
}

/// The same function, not an equal one: no two closures can be compared.
impl PartialEq for Pointwise {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && Arc::ptr_eq(&self.function, &other.function)
            && self.expression == other.expression
    }
}

impl fmt::Debug for Pointwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
