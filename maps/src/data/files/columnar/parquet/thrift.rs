//! Structures of Thrift's compact protocol, of which numbers are read and the rest is skipped.
//!
//! What is declared for each known field is required of it: the crate reads these fields by their
//! numbers, whatever type a file gives them, and would otherwise see other bytes than are seen
//! here.

use std::io::{Read, copy, sink};

/// Structures and lists in each other that are skipped, as in the crate.
const NESTED: usize = 64;

/// The types of the protocol that are named here.
const BYTE: u8 = 3;
const TEXT: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Bool,
    Byte,
    Integer,
    Text,
    Struct(Fields),
}

/// The fields of a structure by their numbers; others are skipped.
pub(super) type Fields = &'static [(i16, Kind)];

/// A source of bytes, and how many were taken from it. `None` is said of a source that ends early
/// or holds something else.
pub(super) struct Thrift<R> {
    source: R,
    taken: u64,
}

impl<R: Read> Thrift<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, taken: 0 }
    }

    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Reads a structure; `each` gets the number and the value of its integers.
    pub(super) fn structure(
        &mut self,
        fields: Fields,
        each: &mut dyn FnMut(i16, i64),
    ) -> Option<()> {
        let mut last = 0;
        loop {
            let (found, id) = self.field(last)?;
            if found == 0 {
                return Some(());
            }
            last = id;
            let known = fields.iter().find(|(known, _)| *known == id);
            match (known.map(|(_, kind)| kind), found) {
                (None, _) => self.skip(found, NESTED)?,
                (Some(Kind::Bool), 1 | 2) => {}
                (Some(Kind::Byte), BYTE) => self.pass(1)?,
                (Some(Kind::Integer), 4..=6) => each(id, self.integer()?),
                (Some(Kind::Text), TEXT) => self.text()?,
                (Some(Kind::Struct(inner)), STRUCT) => self.structure(inner, &mut |_, _| ())?,
                _ => return None,
            }
        }
    }

    /// The type and the number of the next field, after one of number `last`; type 0 at the end of
    /// the structure.
    pub(super) fn field(&mut self, last: i16) -> Option<(u8, i16)> {
        let head = self.byte()?;
        let (delta, kind) = (i16::from(head >> 4), head & 15);
        match (kind, delta) {
            (0, _) => Some((0, 0)),
            (_, 0) => Some((kind, self.integer()? as i16)),
            _ => Some((kind, last.checked_add(delta)?)),
        }
    }

    /// The type of the elements of a list, and their number.
    pub(super) fn list(&mut self) -> Option<(u8, u32)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => u32::try_from(i32::try_from(self.number()?).ok()?).ok()?,
            count => count.into(),
        };
        Some((head & 15, count))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            1 | 2 => {}
            BYTE => self.pass(1)?,
            4..=6 => drop(self.number()?),
            7 => self.pass(8)?,
            TEXT => self.text()?,
            LIST | 10 => {
                let (kind, count) = self.list()?;
                // The crate takes no byte for a truth value.
                let count = if kind <= 2 { 0 } else { count };
                for _ in 0..count {
                    self.skip(kind, depth)?;
                }
            }
            STRUCT => loop {
                match self.field(0)? {
                    (0, _) => break,
                    (kind, _) => self.skip(kind, depth)?,
                }
            },
            _ => return None,
        }
        Some(())
    }

    fn text(&mut self) -> Option<()> {
        let length = self.number()?;
        self.pass(length)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        let passed = copy(&mut self.source.by_ref().take(bytes), &mut sink()).ok()?;
        self.taken += passed;
        (passed == bytes).then_some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.source.read_exact(&mut byte).ok()?;
        self.taken += 1;
        Some(byte[0])
    }

    /// A number without a sign. Bits beyond 64 are refused, where the crate lets them wrap.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
