//! Text that is not UTF-8, as UTF-8.

#[cfg(any(target_family = "wasm", test))]
mod few;

#[cfg(not(target_family = "wasm"))]
use encoding_rs as encodings;
#[cfg(target_family = "wasm")]
use few as encodings;

use super::Stream;
use crate::error::{Error, Result};
use encodings::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::{
    borrow::Cow,
    fmt,
    io::{self, Read},
    str::FromStr,
};

/// How the characters of a text file are written as bytes: UTF-8, UTF-16 and all that browsers
/// read (the Encoding Standard of the WHATWG), by any of the names that they have there. In a page
/// they are UTF-8, UTF-16 and Windows-1252, of which the last is what is no UTF-8.
///
/// Latin-1 is Windows-1252, as it is in browsers: they differ in control characters that no table
/// has.
///
/// ```
/// use bochner::data::TextEncoding;
/// let latin: TextEncoding = "latin-1".parse()?;
/// assert_eq!(latin, "cp1252".parse()?);
/// assert_eq!(latin.to_string(), "windows-1252");
/// assert!("klingon".parse::<TextEncoding>().is_err());
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// UTF-8.
    pub(crate) const UTF_8: Self = Self(UTF_8);

    fn is_utf_16(self) -> bool {
        [UTF_16LE, UTF_16BE].contains(&self.0)
    }

    /// What is read where `given` is what somebody said and the file begins with these bytes: a
    /// mark tells UTF-16, and which of the two.
    pub(super) fn detect(given: Option<Self>, first: &[u8]) -> Option<Self> {
        let marked = match first {
            [0xff, 0xfe, ..] => Some(Self(UTF_16LE)),
            [0xfe, 0xff, ..] => Some(Self(UTF_16BE)),
            _ => None,
        };
        match given {
            None => marked,
            Some(given) if given.is_utf_16() => marked.or(Some(given)),
            Some(given) => Some(given),
        }
    }

    /// A stream of bytes in this encoding as one of UTF-8, without a mark at its beginning.
    pub(super) fn decoded(self, source: Stream) -> Stream {
        if self == Self::UTF_8 {
            return source;
        }
        Box::new(Decoded {
            source,
            decoder: self.0.new_decoder_with_bom_removal(),
            raw: vec![0; BLOCK],
            next: 0,
            read: 0,
            text: vec![0; 4 * BLOCK],
            taken: 0,
            made: 0,
            ended: false,
            done: false,
        })
    }
}

impl FromStr for TextEncoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let name = text.trim().to_ascii_lowercase().replace('_', "-");
        // As Python, pandas and editors have them.
        let label = match name.as_str() {
            "utf-8-sig" => "utf-8",
            "utf-16-le" => "utf-16le",
            "utf-16-be" => "utf-16be",
            "ansi" => "windows-1252",
            "mac-roman" => "macintosh",
            "cp932" => "shift-jis",
            "cp936" => "gbk",
            "cp949" => "euc-kr",
            "cp950" => "big5",
            other => other,
        };
        let known = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
        // As it stands, and as `latin-1` or `cp-1252`.
        let found = known(text)
            .or_else(|| known(label))
            .or_else(|| known(&label.replace('-', "")));
        found.map(Self).ok_or_else(|| {
            Error::parameter(format!(
                "{text:?} is no encoding that is known; those that are: utf-8, utf-16, \
                 windows-1252, latin-1, windows-1250, windows-1251, mac-roman, shift-jis, gbk and \
                 the others of browsers"
            ))
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// Bytes that are no UTF-8 as text in Windows-1252, in which every byte is a character.
pub(in crate::data) fn windows_1252(bytes: &[u8]) -> Cow<'_, str> {
    WINDOWS_1252.decode_without_bom_handling(bytes).0
}

/// Bytes that are decoded at a time.
const BLOCK: usize = 64 * 1024;

/// The fault of bytes that are no text in the encoding.
#[derive(Debug)]
pub(super) struct NoText;

impl fmt::Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes that are no text")
    }
}

impl std::error::Error for NoText {}

/// A stream on its way to UTF-8, a block at a time.
struct Decoded {
    source: Stream,
    decoder: Decoder,
    raw: Vec<u8>,
    /// What of `raw` is not decoded: from here to there.
    next: usize,
    read: usize,
    text: Vec<u8>,
    /// What of `text` nobody has taken: from here to there.
    taken: usize,
    made: usize,
    /// Whether the source has no more, and whether all of it is decoded.
    ended: bool,
    done: bool,
}

impl Decoded {
    fn more(&mut self) -> io::Result<()> {
        if self.next == self.read && !self.ended {
            self.read = self.source.read(&mut self.raw)?;
            self.next = 0;
            self.ended = self.read == 0;
        }
        let raw = &self.raw[self.next..self.read];
        let (result, read, made) =
            (self.decoder).decode_to_utf8_without_replacement(raw, &mut self.text, self.ended);
        self.next += read;
        (self.taken, self.made) = (0, made);
        match result {
            DecoderResult::InputEmpty => self.done = self.ended,
            DecoderResult::OutputFull => {}
            // With what was wrong, or in a page without.
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, NoText)),
        }
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.made && !buffer.is_empty() {
            if self.done {
                return Ok(0);
            }
            self.more()?;
        }
        let length = buffer.len().min(self.made - self.taken);
        buffer[..length].copy_from_slice(&self.text[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoding(name: &str) -> TextEncoding {
        name.parse().expect(name)
    }

    /// Whatever pieces the bytes come in and are taken in.
    #[test]
    fn text_is_the_same_in_any_pieces() {
        struct Pieces(Vec<u8>, usize);
        impl Read for Pieces {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.1.min(self.0.len()).min(buffer.len());
                let rest = self.0.split_off(length);
                buffer[..length].copy_from_slice(&std::mem::replace(&mut self.0, rest));
                Ok(length)
            }
        }
        let text = "größe,😀\n".repeat(200);
        let units = || text.encode_utf16();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        let little: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(units().flat_map(u16::to_le_bytes))
            .collect();
        for (name, bytes) in [("utf-16be", &big), ("UTF_16_LE", &little)] {
            for (given, taken) in [(1, 1), (3, 7), (1000, 2), (5000, 5000)] {
                let source = Box::new(Pieces(bytes.clone(), given));
                let mut stream = encoding(name).decoded(source);
                let (mut found, mut piece) = (Vec::<u8>::new(), vec![0; taken]);
                loop {
                    match stream.read(&mut piece).expect("decodes") {
                        0 => break,
                        length => found.extend(&piece[..length]),
                    }
                }
                assert!(found == text.as_bytes(), "{name} {given} {taken}");
            }
        }
        let mut cut = encoding("utf-16le").decoded(Box::new(Pieces(vec![b'a', 0, b'b'], 9)));
        let fault = cut.read_to_end(&mut Vec::new()).expect_err("half a unit");
        assert!(fault.get_ref().is_some_and(|fault| fault.is::<NoText>()));
    }

    #[test]
    fn a_mark_tells_which_utf_16() {
        let of = |given: Option<&str>, first: &[u8]| {
            TextEncoding::detect(given.map(encoding), first).map(|found| found.to_string())
        };
        assert_eq!(of(None, b"\xff\xfea"), Some("UTF-16LE".into()));
        assert_eq!(of(None, b"\xfe\xff"), Some("UTF-16BE".into()));
        assert_eq!(of(None, b"a,b"), None);
        assert_eq!(of(Some("utf-16"), b"\xfe\xff"), Some("UTF-16BE".into()));
        assert_eq!(of(Some("utf-16"), b"a\0"), Some("UTF-16LE".into()));
        assert_eq!(
            of(Some("latin-1"), b"\xff\xfe"),
            Some("windows-1252".into())
        );
        for name in ["latin_1", "cp1252", "ISO-8859-1", "ansi", "l1"] {
            assert_eq!(encoding(name).to_string(), "windows-1252", "{name}");
        }
        assert_eq!(encoding("utf-8-sig"), TextEncoding::UTF_8);
        assert_eq!(windows_1252(b"Z\xfcrich \x80"), "Zürich €");
    }
}
