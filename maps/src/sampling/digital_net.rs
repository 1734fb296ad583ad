//! A base-2 digital net: Sobol's generating matrices (Joe & Kuo 2008), multiplied by random lower
//! triangular ones (Matousek 1998; Hong & Hickernell 2003) and digitally shifted. As balanced as
//! the Sobol' points; between their two scramblings in randomness, it keeps one-dimensional
//! projections as regular as a shift does.

use super::{
    quasi::{Sequence, check_table},
    sobol::{DIMENSIONS, Net, Scramble},
};
use crate::{error::Result, seed::Seed};

/// The net in `dim` coordinates.
pub(super) fn sequence(dim: usize, seed: Seed) -> Result<impl Sequence> {
    check_table("digital-net", dim, DIMENSIONS)?;
    Ok(Net::new(Scramble::Linear, dim, seed))
}
