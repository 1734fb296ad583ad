//! The arrays of a store.

use safetensors::Dtype;
use std::{
    ops::{Deref, Range},
    sync::Arc,
};

/// An array.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stored {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Shared,
}

/// The bytes of an array: all of their own, or a part of the file that they were read from, so that
/// a file is in memory once.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    all: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl Shared {
    /// The part of `all` that `bytes` is, or a copy of `bytes` if it lies elsewhere.
    pub(super) fn part(all: &Arc<Vec<u8>>, bytes: &[u8]) -> Self {
        let start = (bytes.as_ptr() as usize).checked_sub(all.as_ptr() as usize);
        let part = start.map(|start| start..start + bytes.len());
        match part.filter(|part| part.end <= all.len()) {
            Some(part) => Self {
                all: all.clone(),
                part,
            },
            None => bytes.to_vec().into(),
        }
    }
}

impl From<Vec<u8>> for Shared {
    fn from(all: Vec<u8>) -> Self {
        let part = 0..all.len();
        Self {
            all: Arc::new(all),
            part,
        }
    }
}

impl Deref for Shared {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.all[self.part.clone()]
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
