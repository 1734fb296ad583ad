//! What maps are called: in files, options and messages.

pub(crate) const ADDITIVE_CHI2: &str = "additive-chi2";
pub(crate) const ARC_COSINE: &str = "arc-cosine";
pub(crate) const BINNING: &str = "binning";
pub(crate) const CUSTOM: &str = "custom";
pub(crate) const FASTFOOD: &str = "fastfood";
#[doc(hidden)]
pub const FOURIER: &str = "fourier";
pub(crate) const HADAMARD_SKETCH: &str = "hadamard-sketch";
#[doc(hidden)]
pub const IDENTITY: &str = "identity";
pub(crate) const KERNEL_COLUMNS: &str = "kernel-columns";
pub(crate) const LEAVES: &str = "leaves";
pub(crate) const MIXED: &str = "mixed";
pub(crate) const NYSTROM: &str = "nystrom";
pub(crate) const PRECOMPUTED: &str = "precomputed";
pub(crate) const RANDOM_PROJECTION: &str = "projection";
pub(crate) const SKEWED_CHI2: &str = "skewed-chi2";
pub(crate) const SORF: &str = "sorf";
pub(crate) const TENSOR_SKETCH: &str = "tensor-sketch";
pub(crate) const UNION: &str = "union";

/// Whether maps of this kind take phases in turns, so that a width of the kernel is 1 / (2 pi)
/// behind their preparation, and not 1.
pub fn takes_turns(kind: &str) -> bool {
    matches!(kind, FOURIER | FASTFOOD | SORF)
}
