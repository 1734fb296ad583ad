//! The header of a file: how long and how deep it may be, and what it may list.

use crate::{
    Error, Result,
    limits::{ARRAY_DIMENSIONS, HEADER_BYTES, NESTED_STORES},
    text::human_bytes,
};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::{collections::BTreeMap, fmt, ops::Bound};

/// Errors unless a reader takes a header of so many bytes. The largest of the properties is named.
pub(super) fn require_length(bytes: u64, properties: &BTreeMap<String, String>) -> Result<()> {
    if bytes <= HEADER_BYTES {
        return Ok(());
    }
    let largest = properties.iter().max_by_key(|(_, value)| value.len());
    let largest = largest.map_or_else(String::new, |(name, value)| {
        let size = human_bytes(value.len() as u64);
        format!(", of which {name:?} takes {size} before it is escaped")
    });
    Err(Error::unsupported(format!(
        "names and properties would take {}{largest}, and a file holds {}; use fewer columns, or \
         shorter names and texts",
        human_bytes(bytes),
        human_bytes(HEADER_BYTES)
    )))
}

/// Whether a name lies in more stores than a reader follows.
pub(super) fn is_deep(name: &str) -> bool {
    name.matches('.').nth(NESTED_STORES).is_some()
}

/// How many bytes of arrays a header announces. `None` if it lists anything but arrays and texts:
/// the crate that reads the header would keep all else in memory, many times its length.
pub(super) fn data_bytes(header: &[u8]) -> Option<u64> {
    if header.len() as u64 > HEADER_BYTES {
        return None;
    }
    serde_json::from_slice(header).ok().map(|Entries(end)| end)
}

/// Whether bytes begin with a header that lists arrays.
pub(super) fn is_list(bytes: &[u8]) -> bool {
    let length = header_length(bytes).and_then(|length| usize::try_from(length).ok());
    let header = length.and_then(|length| bytes[8..].get(..length));
    header.and_then(data_bytes).is_some()
}

/// The length of the header, which is what a file begins with.
pub(super) fn header_length(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|first| u64::from_le_bytes(*first))
}

/// The entries whose names begin with a prefix, without it. Takes time for these alone: a file may
/// have many parts, and many names besides.
pub(super) fn under<T: Clone>(all: &BTreeMap<String, T>, prefix: &str) -> BTreeMap<String, T> {
    let from = (Bound::Included(prefix), Bound::Unbounded);
    let inner = all.range::<str, _>(from);
    let inner = inner.map_while(|(name, v)| Some((name.strip_prefix(prefix)?, v.clone())));
    inner.map(|(name, v)| (name.to_owned(), v)).collect()
}

/// The end of the last array.
struct Entries(u64);

/// The end of one array.
struct Entry(u64);

/// Texts under names, which are not kept.
struct Texts;

/// A shape, which is not kept.
struct Shape;

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("arrays under names")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Entries, A::Error> {
                let mut end = 0;
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<Texts>()?;
                    } else {
                        end = map.next_value::<Entry>()?.0.max(end);
                    }
                }
                Ok(Entries(end))
            }
        }
        from.deserialize_map(All)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct One;
        impl<'de> Visitor<'de> for One {
            type Value = Entry;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type, a shape and two offsets")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Entry, A::Error> {
                let (mut end, mut members) = (0, 0);
                while let Some(name) = map.next_key::<String>()? {
                    members += 1;
                    match name.as_str() {
                        "dtype" => drop(map.next_value::<String>()?),
                        "shape" => Shape = map.next_value()?,
                        "data_offsets" => [_, end] = map.next_value::<[u64; 2]>()?,
                        _ => members = usize::MAX,
                    }
                    if members > 3 {
                        return Err(A::Error::custom("another member"));
                    }
                }
                Ok(Entry(end))
            }
        }
        from.deserialize_map(One)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Texts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts under names")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Texts, A::Error> {
                while map.next_entry::<String, String>()?.is_some() {}
                Ok(Texts)
            }
        }
        from.deserialize_map(Each)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = Shape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a few sizes")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> std::result::Result<Shape, A::Error> {
                let mut dimensions = 0;
                while seq.next_element::<u64>()?.is_some() {
                    dimensions += 1;
                    if dimensions > ARRAY_DIMENSIONS {
                        return Err(A::Error::custom("too many dimensions"));
                    }
                }
                Ok(Shape)
            }
        }
        from.deserialize_seq(Sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_lists_arrays_and_texts_alone() {
        let array =
            |shape: &str| format!(r#"{{"dtype":"F32","shape":[{shape}],"data_offsets":[0,8]}}"#);
        let sizes = |count: usize| vec!["1"; count].join(",");
        let one = array("1,2");
        let full = format!(r#"{{"__metadata__":{{"bochner":"{{}}"}},"a":{one}}}"#);
        assert_eq!(data_bytes(full.as_bytes()), Some(8));
        let most = format!(r#"{{"a":{}}}"#, array(&sizes(ARRAY_DIMENSIONS)));
        assert_eq!(data_bytes(most.as_bytes()), Some(8));
        for bad in [
            format!(r#"{{"a":{}}}"#, array(&sizes(ARRAY_DIMENSIONS + 1))),
            r#"{"a":[{"":0},{"":0}]}"#.to_owned(),
            r#"{"a":{"dtype":"F32","shape":[],"data_offsets":[0,0],"more":0}}"#.to_owned(),
            r#"{"a":{"dtype":"F32","dtype":"F32","dtype":"F32","dtype":"F32"}}"#.to_owned(),
            r#"{"__metadata__":{"bochner":[0]}}"#.to_owned(),
            r#"{"a":{"dtype":[0],"shape":[],"data_offsets":[0,0]}}"#.to_owned(),
            "[]".to_owned(),
        ] {
            assert_eq!(data_bytes(bad.as_bytes()), None, "{bad}");
        }
    }
}
