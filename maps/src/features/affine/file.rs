//! What a model file keeps of how its columns are prepared.

use super::{Affine, Bend};
use crate::{Error, Result, kernels::Domain, store::Store};

impl Affine {
    /// Stores both vectors, as `input.center` and `input.scale`, and the domain where there is one.
    pub fn write(&self, store: &mut Store) {
        store.put_vector("input.center", &self.center);
        store.put_vector("input.scale", &self.scale);
        match self.domain {
            Domain::Any => {}
            Domain::NonNegative => store.set("input.domain", "non-negative"),
            Domain::Above(bound) => {
                store.set("input.domain", "above");
                store.set("input.bound", bound);
            }
        }
        if let Some(factor) = self.logarithm {
            store.set("input.logarithm", factor);
        }
        if let Some(bends) = &self.bends {
            Bend::write(bends, store);
        }
    }

    /// Reads what [`Self::write`] stored.
    pub fn read(store: &Store) -> Result<Self> {
        let columns = store.f64("input.center")?.ncols();
        let domain = match store.text("input.domain") {
            Err(Error::Missing(_)) => Domain::Any,
            Ok("non-negative") => Domain::NonNegative,
            Ok("above") => Domain::Above(store.get("input.bound")?),
            Ok(other) => return Err(Error::format(format!("the domain {other:?} is not known"))),
            Err(error) => return Err(error),
        };
        let logarithm = match store.get("input.logarithm") {
            Err(Error::Missing(_)) => None,
            factor => Some(factor?),
        };
        Ok(Self {
            center: store.vector("input.center", columns)?.to_vec(),
            scale: store.vector("input.scale", columns)?.to_vec(),
            domain,
            logarithm,
            bends: Bend::read(store, columns)?,
        })
    }
}
