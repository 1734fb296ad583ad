//! Rows by shuffles within subgroups, on adapters whose subgroups all have one size.

use super::layout::Params;
use crate::ops::{Binding, Op, Variant};
use std::ops::RangeInclusive;

/// The op for the registry: rows by shuffles.
pub(crate) static SUBGROUP_OP: Op = Op {
    name: "walsh_hadamard_subgroup",
    source: bochner_shaders::WALSH_HADAMARD_SUBGROUP,
    params_bytes: size_of::<Params>(),
    bindings: &[Binding::Read("x"), Binding::Write("y")],
    variants: || {
        let sizes = [4, 8, 16, 32, 64];
        let lengths = sizes.into_iter().flat_map(|s| LENGTHS.map(move |k| (s, k)));
        lengths
            .flat_map(|(s, k)| [false, true].map(|p| shuffled(s, k, p).1))
            .collect()
    },
};

/// Logarithms of the lengths for which there is a choice: shorter rows are too few values to share,
/// longer ones too many registers.
pub(super) const LENGTHS: RangeInclusive<u32> = 5..=10;
/// Invocations of a workgroup, as in the shader: a multiple of every size of subgroups.
const INVOCATIONS: u32 = 128;

/// How many rows of 2^`log_n` elements, each within a subgroup of `size`, a workgroup takes, and
/// the variant that does.
pub(super) fn shuffled(size: u32, log_n: u32, in_place: bool) -> (u32, Variant) {
    let quads = 1 << (log_n - 2);
    let sharing = size.min(quads);
    let rows = INVOCATIONS / sharing;
    let pairs = [
        ("SIZE", size),
        ("T", sharing),
        ("E", quads / sharing),
        ("ROWS", rows),
        ("IN_PLACE", in_place.into()),
    ];
    let variant = Variant::new(pairs.map(|(name, value)| (name, value.into())));
    (rows, variant)
}
