//! What a checkpoint says of outputs that are written row after row. It stands alone, so that its
//! fuzz target reads what the program reads.

use bochner::data::Done;
use std::collections::BTreeMap;

/// The options of a run, and how far each of its outputs is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) given: BTreeMap<String, String>,
    pub(crate) done: Vec<Done>,
}

impl State {
    /// Its text, with a checksum of what it says.
    pub(crate) fn text(&self) -> String {
        let done: Vec<_> = self.done.iter().map(|d| [d.rows, d.bytes]).collect();
        let state = serde_json::json!({
            "given": self.given, "done": done, "digest": self.digest(),
        });
        state.to_string()
    }

    /// What [`Self::text`] wrote of some outputs; `None` for anything else.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let state: serde_json::Value = serde_json::from_slice(text).ok()?;
        let part = |name: &str| state.get(name).cloned();
        let done: Vec<[u64; 2]> = serde_json::from_value(part("done")?).ok()?;
        let (rows, _) = done.first().map(|&[rows, bytes]| (rows, bytes))?;
        let whole = done.iter().all(|[of, _]| *of == rows);
        let done = done.into_iter().map(|[rows, bytes]| Done { rows, bytes });
        let read = Self {
            given: serde_json::from_value(part("given")?).ok()?,
            done: done.collect(),
        };
        let digest: u64 = serde_json::from_value(part("digest")?).ok()?;
        (whole && digest == read.digest()).then_some(read)
    }

    /// FNV-1a of 64 bits (Fowler, Noll & Vo 1991) of all that it says, in an order of its own.
    fn digest(&self) -> u64 {
        let numbers = self.done.iter().flat_map(|d| [d.rows, d.bytes]);
        let words = self.given.iter().flat_map(|(name, value)| [name, value]);
        let words = words.flat_map(|word| {
            let length = (word.len() as u64).to_le_bytes();
            length.into_iter().chain(word.bytes())
        });
        let bytes = numbers.flat_map(u64::to_le_bytes).chain(words);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}
