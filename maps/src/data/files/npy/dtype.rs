//! The numeric dtypes of .npy arrays and how their bytes become numbers.

/// A numeric dtype with its byte order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dtype {
    kind: Kind,
    big: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Bool,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    F2,
    F4,
    F8,
}

impl Dtype {
    /// The dtype that a header spells `descr`, such as `<f8`; otherwise what is wrong and what to
    /// do.
    pub(super) fn parse(descr: &str) -> Result<Self, String> {
        let (order, name) = match descr.as_bytes().first() {
            Some(b'<' | b'>' | b'|' | b'=') => descr.split_at(1),
            _ => ("<", descr),
        };
        let kind = match name {
            "b1" | "?" => Kind::Bool,
            "i1" => Kind::I1,
            "i2" => Kind::I2,
            "i4" => Kind::I4,
            "i8" => Kind::I8,
            "u1" => Kind::U1,
            "u2" => Kind::U2,
            "u4" => Kind::U4,
            "u8" => Kind::U8,
            "f2" => Kind::F2,
            "f4" => Kind::F4,
            "f8" => Kind::F8,
            _ => {
                let (what, remedy) = match name.chars().next() {
                    Some('c') => (
                        "complex numbers",
                        "save their real and imaginary parts as columns",
                    ),
                    Some('O') => ("Python objects", "convert it with .astype(float)"),
                    Some('U' | 'S' | 'a') => ("text", "encode it as numbers"),
                    Some('M' | 'm') => ("dates", "convert it with .astype(float)"),
                    Some('f') if matches!(name, "f12" | "f16") => {
                        ("long doubles", "convert it with .astype(float)")
                    }
                    _ => ("no known numbers", "convert it with .astype(float)"),
                };
                let shown: String = descr.chars().filter(|c| !c.is_control()).take(20).collect();
                return Err(format!("has dtype '{shown}', {what}; {remedy}"));
            }
        };
        Ok(Self {
            kind,
            big: order == ">" || (order == "=" && cfg!(target_endian = "big")),
        })
    }

    /// Bytes of one value.
    pub(super) fn size(self) -> usize {
        match self.kind {
            Kind::Bool | Kind::I1 | Kind::U1 => 1,
            Kind::I2 | Kind::U2 | Kind::F2 => 2,
            Kind::I4 | Kind::U4 | Kind::F4 => 4,
            Kind::I8 | Kind::U8 | Kind::F8 => 8,
        }
    }

    /// Whether f32 holds every value of this dtype exactly.
    pub(super) fn fits_f32(self) -> bool {
        self.size() <= 2 || self.kind == Kind::F4
    }

    /// Whether f64 rounds some values of this dtype.
    pub(super) fn exceeds_f64(self) -> bool {
        matches!(self.kind, Kind::I8 | Kind::U8)
    }

    /// Appends the values in `bytes` (a whole number of them), each through `from`. 8-byte integers
    /// beyond 2^53 are rounded to the nearest f64.
    pub(super) fn decode<T>(self, bytes: &[u8], out: &mut Vec<T>, from: impl Fn(f64) -> T) {
        let big = self.big;
        match self.kind {
            Kind::Bool => read_words(bytes, big, out, |[b]| from(f64::from(u8::from(b != 0)))),
            Kind::I1 => read_words(bytes, big, out, |b| from(i8::from_le_bytes(b).into())),
            Kind::I2 => read_words(bytes, big, out, |b| from(i16::from_le_bytes(b).into())),
            Kind::I4 => read_words(bytes, big, out, |b| from(i32::from_le_bytes(b).into())),
            Kind::I8 => read_words(bytes, big, out, |b| from(i64::from_le_bytes(b) as f64)),
            Kind::U1 => read_words(bytes, big, out, |b| from(u8::from_le_bytes(b).into())),
            Kind::U2 => read_words(bytes, big, out, |b| from(u16::from_le_bytes(b).into())),
            Kind::U4 => read_words(bytes, big, out, |b| from(u32::from_le_bytes(b).into())),
            Kind::U8 => read_words(bytes, big, out, |b| from(u64::from_le_bytes(b) as f64)),
            Kind::F2 => read_words(bytes, big, out, |b| from(half(u16::from_le_bytes(b)))),
            Kind::F4 => read_words(bytes, big, out, |b| from(f32::from_le_bytes(b).into())),
            Kind::F8 => read_words(bytes, big, out, |b| from(f64::from_le_bytes(b))),
        }
    }
}

fn read_words<const N: usize, T>(
    bytes: &[u8],
    big: bool,
    out: &mut Vec<T>,
    value: impl Fn([u8; N]) -> T,
) {
    let (words, _) = bytes.as_chunks::<N>();
    if big {
        out.extend(words.iter().map(|&word| {
            let mut word = word;
            word.reverse();
            value(word)
        }));
    } else {
        out.extend(words.iter().map(|&word| value(word)));
    }
}

/// The value of an IEEE 754 half.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2_f64.powi(i32::from(exponent) - 25),
    };
    sign * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(descr: &str, bytes: &[u8]) -> Vec<f64> {
        let mut out = Vec::new();
        Dtype::parse(descr).unwrap().decode(bytes, &mut out, |v| v);
        out
    }

    #[test]
    #[expect(
        clippy::cast_lossless,
        reason = "integers of 64 bits go through it too"
    )]
    fn every_dtype_in_both_orders() {
        assert_eq!(decode("|b1", &[0, 1, 2]), [0.0, 1.0, 1.0]);
        assert_eq!(decode("|i1", &[0xff, 0x80]), [-1.0, -128.0]);
        assert_eq!(decode("|u1", &[0xff]), [255.0]);
        macro_rules! both {
            ($($name:literal $value:expr),*) => {$(
                assert_eq!(decode(concat!("<", $name), &$value.to_le_bytes()), [$value as f64]);
                assert_eq!(decode(concat!(">", $name), &$value.to_be_bytes()), [$value as f64]);
            )*};
        }
        both!("i2" -300_i16, "u2" 60000_u16, "i4" -70000_i32, "u4" 4_000_000_000_u32, "i8" -(1_i64 << 40), "u8" 1_u64 << 63);
        both!("f4" 0.1_f32, "f8" 0.1_f64);
    }

    #[test]
    fn halves() {
        for (bits, value) in [
            (0x3c00_u16, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2_f64.powi(-24)),
            (0x0400, 2_f64.powi(-14)),
            (0x3555, 1365.0 / 4096.0),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(decode("<f2", &bits.to_le_bytes()), [value]);
            assert_eq!(decode(">f2", &bits.to_be_bytes()), [value]);
        }
        assert!(half(0x7e00).is_nan());
    }
}
