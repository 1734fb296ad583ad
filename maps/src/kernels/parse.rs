//! Kernels from text.

use super::{
    AdditiveChi2, ArcCosineKernel, Cauchy, Component, Exponential, Gaussian, Hat, Kernel,
    Laplacian, Linear, Matern, Mixture, Polynomial, Product, RationalQuadratic, SkewedChi2Kernel,
};
use crate::error::{Error, Result};
use crate::limits::{KERNEL_BYTES, NESTED_KERNELS};
use std::sync::Arc;

/// The kernel that a specification names; [`Kernel::spec`] of the result reads back as the same
/// kernel.
///
/// `gaussian`, `laplacian`, `exponential`, `matern32`, `matern52`, `matern:NU`, `cauchy`,
/// `rational-quadratic[:ALPHA]` (1), `arc-cosine[:ORDER[:BIAS]]` (1, 0), `hat`, `linear`,
/// `polynomial[:DEGREE[:CONSTANT]]` (2, 1), `additive-chi2`, `skewed-chi2[:SKEWEDNESS]` (1),
/// `mixture:WEIGHT*KERNEL@LENGTHSCALE+...` and `product:KERNEL@LENGTHSCALE*...`, where
/// `@LENGTHSCALE` may be left out for 1, and a mixture or product inside another goes in
/// parentheses: at most 32 in each other, in a text of at most 64 KiB.
///
/// ```
/// let kernel = bochner::kernels::parse("gaussian")?;
/// assert!((kernel.evaluate(&[0.0, 0.0], &[1.0, 1.0]) - (-1.0_f64).exp()).abs() < 1e-15);
/// let spelled = "mixture:0.5*gaussian@1+0.5*(product:matern32@2*cauchy@3)";
/// let kernel = bochner::kernels::parse(spelled)?;
/// assert_eq!(kernel.evaluate(&[0.5], &[0.5]), 1.0);
/// # Ok::<(), bochner::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for an unknown name, a parameter outside its domain and a text that is too
/// long or nests too deeply;
/// [`Error::Unsupported`] for a kernel without spectral measure inside a mixture or product, and
/// for `custom:NAME`, which only code can give.
pub fn parse(spec: &str) -> Result<Arc<dyn Kernel>> {
    if spec.len() > KERNEL_BYTES {
        return Err(Error::parameter(format!(
            "a kernel is written in at most {KERNEL_BYTES} bytes, and this one has {}; use fewer \
             components",
            spec.len()
        )));
    }
    parse_inside(spec, 0)
}

/// A kernel inside `depth` mixtures and products.
fn parse_inside(spec: &str, depth: usize) -> Result<Arc<dyn Kernel>> {
    let spec = spec.trim();
    let (name, argument) = match spec.split_once(':') {
        Some((name, argument)) => (name.trim(), Some(argument.trim())),
        None => (spec, None),
    };
    let kernel: Arc<dyn Kernel> = match (name, argument) {
        ("gaussian", None) => Arc::new(Gaussian),
        ("laplacian", None) => Arc::new(Laplacian),
        ("exponential", None) => Arc::new(Exponential),
        ("matern32", None) => Arc::new(Matern::THREE_HALVES),
        ("matern52", None) => Arc::new(Matern::FIVE_HALVES),
        ("matern", Some(nu)) => Arc::new(Matern::new(number(nu, "matern's nu")?)?),
        ("cauchy", None) => Arc::new(Cauchy),
        ("rational-quadratic", alpha) => {
            let alpha = number(alpha.unwrap_or("1"), "rational-quadratic's alpha")?;
            Arc::new(RationalQuadratic::new(alpha)?)
        }
        ("arc-cosine", order) => Arc::new(arc_cosine(spec, order.unwrap_or("1"))?),
        ("hat", None) => Arc::new(Hat),
        ("linear", None) => Arc::new(Linear),
        ("polynomial", degree) => Arc::new(polynomial(spec, degree.unwrap_or("2"))?),
        ("additive-chi2", None) => Arc::new(AdditiveChi2),
        ("skewed-chi2", skewedness) => {
            let skewedness = number(skewedness.unwrap_or("1"), "the skewedness of skewed-chi2")?;
            Arc::new(SkewedChi2Kernel::new(skewedness)?)
        }
        ("mixture", Some(parts)) => Arc::new(Mixture::new(
            split(parts, '+')?
                .into_iter()
                .map(|part| component(part, depth + 1))
                .collect::<Result<_>>()?,
        )?),
        ("product", Some(parts)) => Arc::new(Product::new(
            split(parts, '*')?
                .into_iter()
                .map(|part| scaled_kernel(part, depth + 1))
                .collect::<Result<_>>()?,
        )?),
        ("custom", Some(name)) => {
            return Err(Error::unsupported(format!(
                "the kernel custom:{name} was defined in code and cannot be read from text; build \
                 it with kernels::CustomKernel"
            )));
        }
        _ => {
            return Err(Error::parameter(format!(
                "unknown kernel '{spec}'; use gaussian, laplacian, exponential, matern32, \
                 matern52, matern:NU, cauchy, rational-quadratic[:ALPHA], \
                 arc-cosine[:ORDER[:BIAS]], hat, linear, polynomial[:DEGREE[:CONSTANT]], \
                 additive-chi2, skewed-chi2[:SKEWEDNESS], mixture:W*KERNEL@L+... or product:KERNEL@L*..."
            )));
        }
    };
    Ok(kernel)
}

/// `ORDER[:BIAS]`.
fn arc_cosine(spec: &str, argument: &str) -> Result<ArcCosineKernel> {
    let (order, bias) = match argument.split_once(':') {
        Some((order, bias)) => (order, number(bias, "the bias of arc-cosine")?),
        None => (argument, 0.0),
    };
    let order = order
        .trim()
        .parse()
        .map_err(|_| Error::parameter(format!("'{spec}': arc-cosine has orders 0, 1 and 2")))?;
    ArcCosineKernel::new(order)?.with_bias(bias)
}

/// `DEGREE[:CONSTANT]`.
fn polynomial(spec: &str, argument: &str) -> Result<Polynomial> {
    let (degree, constant) = match argument.split_once(':') {
        Some((degree, constant)) => (degree, number(constant, "polynomial's constant")?),
        None => (argument, 1.0),
    };
    let degree = degree.trim().parse().map_err(|_| {
        Error::parameter(format!("'{spec}': a polynomial has a degree from 1 to 64"))
    })?;
    Polynomial::new(degree, constant)
}

/// `0.5*gaussian@2`.
fn component(text: &str, depth: usize) -> Result<Component> {
    let (weight, rest) = text.split_once('*').ok_or_else(|| {
        Error::parameter(format!(
            "'{text}' in a mixture has no weight; write 0.5*{text}"
        ))
    })?;
    let (kernel, lengthscale) = scaled_kernel(rest, depth)?;
    Ok(Component {
        weight: number(weight, "a mixture's weight")?,
        kernel,
        lengthscale,
    })
}

/// `gaussian@2`, `gaussian`, or either with the kernel in parentheses.
fn scaled_kernel(text: &str, depth: usize) -> Result<(Arc<dyn Kernel>, f64)> {
    if depth > NESTED_KERNELS {
        return Err(Error::parameter(format!(
            "mixtures and products of kernels lie in each other more than {NESTED_KERNELS} deep; \
             multiply them out"
        )));
    }
    let text = text.trim();
    let (kernel, lengthscale) = match split(text, '@')?[..] {
        [kernel] => (kernel, 1.0),
        [kernel, lengthscale] => (kernel, number(lengthscale, "a lengthscale")?),
        _ => return Err(Error::parameter(format!("'{text}' has more than one @"))),
    };
    let kernel = kernel.trim();
    let inner = kernel.strip_prefix('(').and_then(|k| k.strip_suffix(')'));
    Ok((parse_inside(inner.unwrap_or(kernel), depth)?, lengthscale))
}

/// Splits at every separator that is outside parentheses.
fn split(text: &str, separator: char) -> Result<Vec<&str>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == separator && depth == 0 {
            parts.push(&text[start..at]);
            start = at + c.len_utf8();
        }
        if depth < 0 {
            break;
        }
    }
    if depth != 0 {
        return Err(Error::parameter(format!(
            "the parentheses of '{text}' do not match"
        )));
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn number(text: &str, what: &str) -> Result<f64> {
    let text = text.trim();
    text.parse()
        .map_err(|_| Error::parameter(format!("{what} must be a number, not '{text}'")))
}

#[cfg(test)]
mod tests {
    use super::{KERNEL_BYTES, NESTED_KERNELS, parse};

    /// The deepest and the longest text that is read, and the next one; without parentheses, too.
    #[test]
    fn texts_are_read_to_their_limits_and_no_further() {
        let inside = |begin: &str, end: &str, depth: usize| {
            format!("{}gaussian{}", begin.repeat(depth), end.repeat(depth))
        };
        for (begin, end) in [
            ("mixture:1*(", ")"),
            ("product:(", ")"),
            ("mixture:1*", ""),
            ("product:", ""),
        ] {
            let read = |depth| parse(&inside(begin, end, depth));
            read(NESTED_KERNELS).expect("reads");
            for depth in [NESTED_KERNELS + 1, KERNEL_BYTES / 16] {
                let error = read(depth).expect_err("too deep").to_string();
                assert!(error.contains("more than 32 deep"), "{error}");
            }
            let error = read(100_000).expect_err("too long").to_string();
            assert!(error.contains("65536 bytes"), "{error}");
        }
        let part = "1*gaussian@1+";
        let wide = format!(
            "mixture:{}1*gaussian",
            part.repeat(KERNEL_BYTES / part.len() - 2)
        );
        let wide = wide + &" ".repeat(KERNEL_BYTES);
        parse(&wide[..KERNEL_BYTES]).expect("reads");
        parse(&wide[..KERNEL_BYTES + 1]).expect_err("too long");
    }
}
