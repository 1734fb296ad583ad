//! Unsupervised learners.

pub(super) mod density;
pub(super) mod ica;
pub(super) mod kmeans;
pub(super) mod one_class;
pub(super) mod pca;
pub(super) mod spectral;
