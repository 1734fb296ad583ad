//! The header of a .npy array: `\x93NUMPY`, a version, a length, and a Python dict literal padded
//! with spaces.

use super::dtype::Dtype;
use crate::limits::{NESTED_LITERALS as DEEPEST, NPY_HEADER_BYTES as LONGEST};
use std::io::Read;

/// What a header says.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
    /// Bytes before the first value.
    pub(super) start: u64,
}

/// Why a header could not be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// The system's reason, or the end of the file.
    Io(std::io::Error),
    /// What is wrong and what to do.
    Problem(String),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl Header {
    /// Reads the header from the first byte of `input` on, and leaves `input` at the first value.
    pub(super) fn read(input: &mut impl Read) -> Result<Self, Fault> {
        let mut magic = [0; 8];
        input.read_exact(&mut magic)?;
        let Some(&[major, _]) = magic.strip_prefix(b"\x93NUMPY") else {
            let hint = if magic.starts_with(b"PK") {
                "it is a zip archive: name it .npz"
            } else {
                "write it with numpy.save"
            };
            return Err(Fault::Problem(format!("is not a .npy array; {hint}")));
        };
        let (prefix, length) = match major {
            1 => {
                let mut length = [0; 2];
                input.read_exact(&mut length)?;
                (10, usize::from(u16::from_le_bytes(length)))
            }
            2 | 3 => {
                let mut length = [0; 4];
                input.read_exact(&mut length)?;
                (
                    12,
                    usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX),
                )
            }
            other => {
                let problem = format!(
                    "is a .npy array of version {other}; versions 1 to 3 can be read: write it \
                     with numpy.save"
                );
                return Err(Fault::Problem(problem));
            }
        };
        if length > LONGEST {
            return Err(damaged("its length is absurd"));
        }
        let mut text = vec![0; length];
        input.read_exact(&mut text)?;
        Self::parse(&text, prefix + length as u64)
    }

    fn parse(text: &[u8], start: u64) -> Result<Self, Fault> {
        let mut parser = Parser { text, at: 0 };
        let dict = parser.value(0)?;
        if parser.peek().is_some() {
            return Err(damaged("something follows the dict"));
        }
        let Literal::Dict(entries) = dict else {
            return Err(damaged("it is not a dict"));
        };
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("descr", Literal::Text(descr)) => {
                    dtype = Some(Dtype::parse(&descr).map_err(Fault::Problem)?)
                }
                ("descr", Literal::List(_)) => {
                    let problem = "has a structured dtype (named fields); save its columns as one \
                     plain numeric array";
                    return Err(Fault::Problem(problem.into()));
                }
                ("fortran_order", Literal::Flag(flag)) => fortran = Some(flag),
                ("shape", Literal::List(items)) => {
                    let dims = items.into_iter().map(|item| match item {
                        Literal::Whole(n) => {
                            usize::try_from(n).map_err(|_| damaged("its shape is absurd"))
                        }
                        _ => Err(damaged(
                            "its shape holds something other than whole numbers",
                        )),
                    });
                    shape = Some(dims.collect::<Result<Vec<_>, _>>()?);
                }
                _ => {
                    return Err(damaged(
                        "it has an unknown key or a value of the wrong type",
                    ));
                }
            }
        }
        match (dtype, fortran, shape) {
            (Some(dtype), Some(fortran), Some(shape)) => Ok(Self {
                dtype,
                fortran,
                shape,
                start,
            }),
            _ => Err(damaged("descr, fortran_order or shape is missing")),
        }
    }
}

fn damaged(what: &str) -> Fault {
    Fault::Problem(format!(
        "has a damaged .npy header ({what}); write it again with numpy.save"
    ))
}

/// The part of Python's literals that a header may hold.
enum Literal {
    Text(String),
    Flag(bool),
    Whole(u64),
    List(Vec<Literal>),
    Dict(Vec<(String, Literal)>),
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    /// The next byte that is not white space, not taken.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Takes `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Literal, Fault> {
        if depth > DEEPEST {
            return Err(damaged("it is nested too deeply"));
        }
        match self.peek() {
            Some(b'{') => self.dict(depth),
            Some(b'(') => self.list(b')', depth),
            Some(b'[') => self.list(b']', depth),
            Some(quote @ (b'\'' | b'"')) => self.text(quote).map(Literal::Text),
            Some(b'0'..=b'9') => self.whole(),
            _ => {
                for (word, flag) in [("True", true), ("False", false)] {
                    if self.text[self.at..].starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return Ok(Literal::Flag(flag));
                    }
                }
                Err(damaged("it is not a Python literal"))
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Result<Literal, Fault> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.take(b'}') {
            let Some(quote @ (b'\'' | b'"')) = self.peek() else {
                return Err(damaged("a key is not a string"));
            };
            let key = self.text(quote)?;
            if !self.take(b':') {
                return Err(damaged("a colon is missing"));
            }
            entries.push((key, self.value(depth + 1)?));
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(damaged("a comma is missing"));
            }
        }
        Ok(Literal::Dict(entries))
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Literal, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value(depth + 1)?);
            if !self.take(b',') && self.peek() != Some(close) {
                return Err(damaged("a comma is missing"));
            }
        }
        Ok(Literal::List(items))
    }

    fn text(&mut self, quote: u8) -> Result<String, Fault> {
        let rest = &self.text[self.at + 1..];
        let end = rest
            .iter()
            .position(|&b| b == quote)
            .ok_or_else(|| damaged("a string does not end"))?;
        self.at += end + 2;
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }

    fn whole(&mut self) -> Result<Literal, Fault> {
        let mut value = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            value = (value.checked_mul(10))
                .and_then(|v| v.checked_add(u64::from(digit - b'0')))
                .ok_or_else(|| damaged("its shape is absurd"))?;
            self.at += 1;
        }
        // Python 2 wrote long integers as 3L.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(Literal::Whole(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(dict: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(dict.len()).unwrap().to_le_bytes());
        bytes.extend(dict.as_bytes());
        bytes
    }

    fn problem(bytes: &[u8]) -> String {
        match Header::read(&mut &bytes[..]) {
            Err(Fault::Problem(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reads_what_numpy_writes() {
        let bytes = header("{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4L), }      \n");
        let read = Header::read(&mut &bytes[..]).unwrap();
        assert_eq!(
            (read.shape, read.fortran, read.start),
            (vec![3, 4], true, bytes.len() as u64)
        );
        let bytes = header("{\"shape\":(7,),\"descr\":\"|u1\",\"fortran_order\":False}");
        assert_eq!(Header::read(&mut &bytes[..]).unwrap().shape, [7]);
    }

    #[test]
    fn names_what_it_cannot_read() {
        let with = |descr: &str| {
            header(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}"
            ))
        };
        for (descr, needle) in [
            ("'<c16'", "complex"),
            ("'|O'", "object"),
            ("'<U3'", "text"),
            ("'|S3'", "text"),
            ("'<M8[ns]'", "date"),
            ("'<f16'", "long double"),
            ("'<f3'", "<f3"),
            ("''", "dtype"),
            ("[('a', '<f8')]", "structured"),
        ] {
            let problem = problem(&with(descr));
            assert!(
                problem.contains(needle) && !problem.contains('\n'),
                "{descr}: {problem}"
            );
        }
        assert!(problem(b"PK\x03\x04aaaaaaaaa").contains(".npz"));
        assert!(problem(&header(&"(".repeat(1000))).contains("nested"));
        assert!(problem(&header("{'shape': (99999999999999999999999,)}")).contains("absurd"));
    }

    #[test]
    fn no_damage_panics() {
        let bytes = header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n");
        for end in 0..bytes.len() {
            assert!(Header::read(&mut &bytes[..end]).is_err());
            for value in 0..=255 {
                let mut flipped = bytes.clone();
                flipped[end] = value;
                let _ = Header::read(&mut &flipped[..]);
            }
        }
    }
}
