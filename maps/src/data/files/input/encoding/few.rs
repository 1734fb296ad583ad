//! The encodings that a page reads: UTF-8, UTF-16 and Windows-1252, under the names of the library
//! that reads all of them elsewhere, whose tables would be a tenth of what a page loads.

use std::borrow::Cow;

/// A way to write text as bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    name: &'static str,
    /// What else it is called, as the Encoding Standard of the WHATWG lists it.
    labels: &'static [&'static str],
}

pub(super) static UTF_8: &Encoding = &Encoding {
    name: "UTF-8",
    labels: &[
        "unicode-1-1-utf-8",
        "unicode11utf8",
        "unicode20utf8",
        "utf8",
        "x-unicode20utf8",
    ],
};

pub(super) static UTF_16LE: &Encoding = &Encoding {
    name: "UTF-16LE",
    labels: &[
        "csunicode",
        "iso-10646-ucs-2",
        "ucs-2",
        "unicode",
        "unicodefeff",
        "utf-16",
    ],
};

pub(super) static UTF_16BE: &Encoding = &Encoding {
    name: "UTF-16BE",
    labels: &["unicodefffe"],
};

pub(super) static WINDOWS_1252: &Encoding = &Encoding {
    name: "windows-1252",
    labels: &[
        "ansi_x3.4-1968",
        "ascii",
        "cp1252",
        "cp819",
        "csisolatin1",
        "ibm819",
        "iso-8859-1",
        "iso-ir-100",
        "iso8859-1",
        "iso88591",
        "iso_8859-1",
        "iso_8859-1:1987",
        "l1",
        "latin1",
        "us-ascii",
        "x-cp1252",
    ],
};

impl Encoding {
    pub(super) fn for_label_no_replacement(label: &[u8]) -> Option<&'static Self> {
        let label = label.trim_ascii();
        let named = |name: &&str| name.as_bytes().eq_ignore_ascii_case(label);
        let all = [UTF_8, UTF_16LE, UTF_16BE, WINDOWS_1252];
        all.into_iter()
            .find(|one| named(&one.name) || one.labels.iter().any(named))
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Text in Windows-1252, in which every byte is a character.
    pub(super) fn decode_without_bom_handling<'b>(&self, bytes: &'b [u8]) -> (Cow<'b, str>, bool) {
        let text = bytes.iter().map(|&byte| windows_1252(byte));
        (Cow::Owned(text.collect()), false)
    }

    pub(super) fn new_decoder_with_bom_removal(&'static self) -> Decoder {
        Decoder {
            encoding: self,
            begun: false,
            half: None,
            lead: None,
        }
    }
}

/// The character of a byte: its own number, but for 32 of them.
fn windows_1252(byte: u8) -> char {
    const OTHERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž',
        '\u{8f}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}',
        'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => OTHERS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// How a piece of bytes ended.
#[derive(Debug)]
pub(super) enum DecoderResult {
    /// All of it is text now.
    InputEmpty,
    /// There may be no room for another character.
    OutputFull,
    /// Bytes that are no text.
    Malformed,
}

/// Text that comes in pieces.
pub(super) struct Decoder {
    encoding: &'static Encoding,
    /// Whether anything was read, so that no mark can come.
    begun: bool,
    /// The first byte of a unit of UTF-16 whose second is in the next piece.
    half: Option<u8>,
    /// The first unit of a pair whose second has not come.
    lead: Option<u16>,
}

impl Decoder {
    /// How it ended, the bytes that were read, and those of UTF-8 that were written. UTF-8 itself
    /// is not decoded.
    pub(super) fn decode_to_utf8_without_replacement(
        &mut self,
        raw: &[u8],
        text: &mut [u8],
        last: bool,
    ) -> (DecoderResult, usize, usize) {
        let mut made = 0;
        for (i, &byte) in raw.iter().enumerate() {
            if text.len() - made < char::MAX.len_utf8() {
                return (DecoderResult::OutputFull, i, made);
            }
            match self.next(byte) {
                Ok(None) => {}
                Ok(Some(character)) => made += character.encode_utf8(&mut text[made..]).len(),
                Err(NoCharacter) => return (DecoderResult::Malformed, i + 1, made),
            }
        }
        let cut = last && (self.half.is_some() || self.lead.is_some());
        let result = if cut {
            DecoderResult::Malformed
        } else {
            DecoderResult::InputEmpty
        };
        (result, raw.len(), made)
    }

    /// The character that a byte completes.
    fn next(&mut self, byte: u8) -> Result<Option<char>, NoCharacter> {
        if self.encoding == WINDOWS_1252 {
            return Ok(Some(windows_1252(byte)));
        }
        let Some(half) = self.half.take() else {
            self.half = Some(byte);
            return Ok(None);
        };
        let unit = if self.encoding == UTF_16BE {
            u16::from_be_bytes([half, byte])
        } else {
            u16::from_le_bytes([half, byte])
        };
        if !std::mem::replace(&mut self.begun, true) && unit == 0xfeff {
            return Ok(None);
        }
        let units = [self.lead.take(), Some(unit)];
        let mut characters = char::decode_utf16(units.into_iter().flatten());
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(Some(character)),
            (Some(Err(_)), None) if matches!(unit, 0xd800..=0xdbff) => {
                self.lead = Some(unit);
                Ok(None)
            }
            _ => Err(NoCharacter),
        }
    }
}

/// A unit of UTF-16 that has no other half.
struct NoCharacter;

#[cfg(test)]
mod tests {
    use super::*;

    /// What all of `bytes` is, in pieces of `piece` bytes; `None` where it is no text.
    fn decoded(encoding: &'static Encoding, bytes: &[u8], piece: usize) -> Option<String> {
        let (mut decoder, mut found) = (encoding.new_decoder_with_bom_removal(), Vec::new());
        let mut text = [0; 7];
        let mut pieces = bytes.chunks(piece).peekable();
        while let Some(mut raw) = pieces.next() {
            let last = pieces.peek().is_none();
            loop {
                let (result, read, made) =
                    decoder.decode_to_utf8_without_replacement(raw, &mut text, last);
                found.extend(&text[..made]);
                raw = &raw[read..];
                match result {
                    DecoderResult::InputEmpty => break,
                    DecoderResult::OutputFull => {}
                    DecoderResult::Malformed => return None,
                }
            }
        }
        Some(String::from_utf8(found).expect("UTF-8"))
    }

    #[test]
    fn text_is_what_it_is_elsewhere() {
        let bytes: Vec<u8> = (0..=255).collect();
        let there = encoding_rs::WINDOWS_1252
            .decode_without_bom_handling(&bytes)
            .0;
        assert_eq!(WINDOWS_1252.decode_without_bom_handling(&bytes).0, there);
        assert_eq!(decoded(WINDOWS_1252, &bytes, 5).as_deref(), Some(&*there));

        let whole = "\u{feff}größe,😀\u{feff}\n€";
        let cut = [0xd83d, 0x41, 0xde00];
        let low = [0x41, 0xde00, 0x41];
        let twice = [0xd83d, 0xd83d, 0xde00];
        let end = [0x41, 0xd83d];
        let all = [
            &whole.encode_utf16().collect::<Vec<_>>(),
            &cut[..],
            &low,
            &twice,
            &end,
        ];
        for units in all {
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            let cases = [
                (UTF_16LE, encoding_rs::UTF_16LE, little),
                (UTF_16BE, encoding_rs::UTF_16BE, big),
            ];
            for (here, there, bytes) in cases {
                for length in [bytes.len(), bytes.len() - 1] {
                    let bytes = &bytes[..length];
                    let (text, faults) = there.decode_with_bom_removal(bytes);
                    let text = (!faults).then(|| text.into_owned());
                    for piece in [1, 2, 3, 100] {
                        assert_eq!(decoded(here, bytes, piece), text, "{bytes:?}, {piece}");
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_what_they_are_elsewhere() {
        for one in [UTF_8, UTF_16LE, UTF_16BE, WINDOWS_1252] {
            for label in one.labels.iter().chain([&one.name]) {
                let label = format!(" {} ", label.to_uppercase());
                let there = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes());
                assert_eq!(there.map(|found| found.name()), Some(one.name()), "{label}");
                assert_eq!(
                    Encoding::for_label_no_replacement(label.as_bytes()),
                    Some(one)
                );
            }
        }
        assert_eq!(Encoding::for_label_no_replacement(b"klingon"), None);
    }
}
