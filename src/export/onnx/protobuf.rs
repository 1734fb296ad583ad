//! Messages of Protocol Buffers, as far as a model in ONNX needs them: written, never read.

/// A message that is being written, field by field.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    /// The bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// As [`Self::bytes`].
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A whole number that is not negative.
    pub(super) fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Text.
    pub(super) fn text(self, field: u64, value: &str) -> Self {
        self.block(field, value.as_bytes())
    }

    /// A message inside of this one.
    pub(super) fn message(self, field: u64, value: &Self) -> Self {
        self.block(field, &value.0)
    }

    /// Raw bytes.
    pub(super) fn block(mut self, field: u64, value: &[u8]) -> Self {
        self.varint(field << 3 | BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own description: 150 in field 1, "testing" in field 2, and a
    /// message of the first in field 3.
    #[test]
    fn messages_are_as_the_format_describes_them() {
        let number = Message::default().number(1, 150);
        assert_eq!(number.bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.bytes(), b"\x12\x07testing");
        let nested = Message::default().message(3, &number);
        assert_eq!(nested.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(
            Message::default().number(20, 0).into_bytes(),
            [0xa0, 0x01, 0x00]
        );
    }
}
