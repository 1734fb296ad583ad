//! Nonlinearities that programs have registered, and how files name them.

use super::names::CUSTOM;
use crate::{
    Error, Result,
    error::Remedy,
    ops::{Nonlinearity, Pointwise},
    store::Store,
};
use ndarray::Array2;
use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

/// The nonlinearities that programs have registered, by name.
static REGISTERED: RwLock<BTreeMap<String, Pointwise>> = RwLock::new(BTreeMap::new());

/// Has files name a function. Errors with [`Error::Parameter`] when the name is taken.
pub(super) fn register(own: Pointwise) -> Result<()> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if registered.contains_key(own.name()) {
        return Err(Error::parameter(format!(
            "the nonlinearity {:?} is registered already; register each once, under a name of its \
             own",
            own.name()
        )));
    }
    registered.insert(own.name().to_owned(), own);
    Ok(())
}

/// Writes the name and some values. Errors with [`Error::Unsupported`] unless the function has been
/// registered.
pub(super) fn write(own: &Pointwise, store: &mut Store) -> Result<()> {
    let name = own.name();
    let known = registered(name).ok_or_else(|| {
        Error::unsupported(format!("a file cannot keep the function {name:?} itself"))
            .help(register_it(name))
    })?;
    if !agree(&values(&known), &values(own)) {
        return Err(Error::unsupported(format!(
            "another function than this is registered as {name:?}; give each a name of its own"
        )));
    }
    store.set("nonlinearity", CUSTOM);
    store.set("function", name);
    store.put_f32("values", values(own).view());
    Ok(())
}

/// The registered function whose name and values are in a file. Errors with [`Error::Missing`] when
/// there is none of the name, and with [`Error::Format`] when there is another.
pub(super) fn read(store: &Store) -> Result<Nonlinearity> {
    let name = store.text("function")?;
    let own = registered(name).ok_or_else(|| {
        Error::missing(format!(
            "no function is known for the nonlinearity {name:?}"
        ))
        .help(register_it(name))
    })?;
    if !agree(&store.f32("values")?, &values(&own)) {
        return Err(Error::format(format!(
            "the function that is registered as {name:?} gives other values than that which was \
             saved; register the same"
        )));
    }
    Ok(Nonlinearity::Custom(own))
}

fn registered(name: &str) -> Option<Pointwise> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.get(name).cloned()
}

fn register_it(name: &str) -> Remedy {
    Remedy::words(format!(
        "register it by Custom::new({name:?}, ..).register() before saving and before loading"
    ))
}

/// What a function gives from -4 to 4: by which it is known again. Infinities and NaNs count as
/// zero.
fn values(own: &Pointwise) -> Array2<f32> {
    Array2::from_shape_fn((1, 65), |(_, i)| {
        let value = own.at((i as f32 - 32.0) / 8.0);
        if value.is_finite() { value } else { 0.0 }
    })
}

/// Whether these are values of one function, computed perhaps by different machines.
fn agree(a: &Array2<f32>, b: &Array2<f32>) -> bool {
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * (1.0 + a.abs().max(b.abs()));
    a.dim() == b.dim() && a.iter().zip(b).all(close)
}
