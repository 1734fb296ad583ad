//! Numbers in plain records, read in one go with what separates them.

use super::number::number;
use crate::data::rows::EXACT;
use memchr::memchr;

/// Where the numbers of a column go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slot {
    /// Nowhere: what the column holds does not matter.
    Skipped,
    /// Place in a row of features.
    Feature(usize),
    /// Place in a row of targets.
    Target(usize),
}

/// Reads the numbers of records without quotes.
#[derive(Debug, Default)]
pub(in crate::data) struct Decimals {
    /// Whether the last number had more digits than the short way takes.
    long: bool,
}

impl Decimals {
    /// Takes the numbers of `record`, one field for each of `slots`, into `x` and `y`. False if
    /// there is any but finite numbers below 2^53, or another number of fields: then the rows are
    /// not filled, and who reads field by field says why.
    pub(super) fn take(
        &mut self,
        record: &[u8],
        delimiter: u8,
        slots: &[Slot],
        (x, y): (&mut [f64], &mut [f64]),
    ) -> bool {
        let mut at = 0;
        let last = slots.len().wrapping_sub(1);
        for (k, &slot) in slots.iter().enumerate() {
            if slot != Slot::Skipped || delimiter == b' ' {
                at += blanks(&record[at..]);
            }
            let rest = &record[at..];
            match slot {
                Slot::Skipped => at += memchr(delimiter, rest).unwrap_or(rest.len()),
                Slot::Feature(j) | Slot::Target(j) => {
                    let Some((value, length)) = self.number(rest) else {
                        return false;
                    };
                    match slot {
                        Slot::Target(_) => y[j] = value,
                        _ => x[j] = value,
                    }
                    at += length;
                }
            }
            let blank = blanks(&record[at..]);
            match record.get(at + blank) {
                None => {
                    at += blank;
                    if k < last {
                        return false;
                    }
                }
                Some(_) if k == last => return false,
                Some(_) if delimiter == b' ' && blank > 0 => at += blank,
                Some(&next) if next == delimiter => at += blank + 1,
                Some(_) => return false,
            }
        }
        at == record.len()
    }

    /// The finite number that `text` is; otherwise what is wrong and what to do.
    pub(in crate::data) fn parse(&mut self, text: &[u8]) -> Result<f64, String> {
        match self.number(text) {
            Some((value, length)) if length == text.len() => Ok(value),
            _ => number(text)
                .map(|(value, _)| value)
                .map_err(|wrong| wrong.to_string()),
        }
    }

    /// The number with which `text` begins, and how long it is.
    fn number(&mut self, text: &[u8]) -> Option<(f64, usize)> {
        let short = if self.long { None } else { short(text) };
        let (value, length) = match short {
            Some(found) => found,
            None => fast_float2::parse_partial::<f64, _>(text).ok()?,
        };
        self.long = length > 17;
        // The negation lets NaN through to where it is refused.
        (value.abs() < EXACT).then_some((value, length))
    }
}

/// Spaces at the beginning, which do not count.
fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b' ').count()
}

/// As [`Decimals::number`], of digits with perhaps a sign and a point, whose value is a whole
/// number up to 2^53 divided by a power of ten up to 10^22: both are f64, so that the quotient is
/// the number rounded once (Clinger 1990).
fn short(text: &[u8]) -> Option<(f64, usize)> {
    const TENS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let negative = text.first() == Some(&b'-');
    let signed = negative || text.first() == Some(&b'+');
    let start = usize::from(signed);
    let mut whole = 0_u64;
    let mut digits = |from: usize| {
        let mut at = from;
        while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')) {
            if digit > 9 {
                break;
            }
            whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        at
    };
    let mut at = digits(start);
    let mut count = at - start;
    let mut places = 0;
    if text.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        places = end - at - 1;
        count += places;
        at = end;
    }
    // 19 digits fit into 64 bits.
    if !(1..=19).contains(&count) || matches!(text.get(at), Some(b'e' | b'E')) {
        return None;
    }
    if whole > EXACT as u64 {
        return None;
    }
    let value = whole as f64 / TENS[places];
    Some((if negative { -value } else { value }, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng, SeedableRng};

    fn take(record: &str, delimiter: u8, slots: &[Slot]) -> Option<(Vec<f64>, Vec<f64>)> {
        let of = |kind: fn(&Slot) -> bool| slots.iter().filter(|slot| kind(slot)).count();
        let mut x = vec![f64::NAN; of(|slot| matches!(slot, Slot::Feature(_)))];
        let mut y = vec![f64::NAN; of(|slot| matches!(slot, Slot::Target(_)))];
        let rows = (&mut x[..], &mut y[..]);
        Decimals::default()
            .take(record.as_bytes(), delimiter, slots, rows)
            .then_some((x, y))
    }

    /// Random decimal texts, of every length and range of exponents, with the bits of the standard
    /// library, whose numbers are those of the other way.
    #[test]
    fn bits_are_those_of_the_standard_library() {
        let mut draw = ChaCha8Rng::seed_from_u64(7);
        let mut below = |n: u32| draw.next_u32() % n;
        let (mut taken, mut decimals) = (0, Decimals::default());
        for _ in 0..200_000 {
            let mut text = String::new();
            text.push_str(["", "", "-", "+"][below(4) as usize]);
            let (before, after) = (below(21), below(21));
            for _ in 0..before {
                text.push(char::from(b'0' + below(10) as u8));
            }
            if after > 0 && below(4) > 0 {
                text.push('.');
                for _ in 0..after {
                    text.push(char::from(b'0' + below(10) as u8));
                }
            }
            if below(3) == 0 {
                text.push_str(&format!("e{}", i64::from(below(660)) - 340));
            }
            let mut x = [f64::NAN];
            let rows = (&mut x[..], &mut [][..]);
            let took = decimals.take(text.as_bytes(), b',', &[Slot::Feature(0)], rows);
            let truth = text.parse::<f64>();
            let plain = truth
                .as_ref()
                .is_ok_and(|value| value.is_finite() && value.abs() < EXACT);
            assert_eq!(took, plain, "{text:?}");
            if took {
                taken += 1;
                assert_eq!(x[0].to_bits(), truth.unwrap().to_bits(), "{text:?}");
            }
        }
        assert!(taken > 100_000, "{taken}");
    }

    #[test]
    fn columns_go_to_their_slots_and_anything_else_is_left() {
        use Slot::{Feature, Skipped, Target};
        let slots = [Feature(1), Skipped, Target(0), Feature(0)];
        let read = |text| take(text, b',', &slots);
        let row = Some((vec![4.0, -1.5], vec![3.0]));
        assert_eq!(read("-1.5,text,3,4"), row);
        assert_eq!(read(" -1.5 , , 3,4e0 "), row);
        assert_eq!(read("-15e-1,,3.,+4"), row);
        for other in [
            "",
            "1,2,3",
            "1,2,3,4,5",
            "1,2,3,4,",
            "1,2,,4",
            "1,2,3 5,4",
            "1,2,x,4",
            "1,2,3,nan",
            "inf,2,3,4",
            "9007199254740993,2,3,4",
            "1;2;3;4",
            "1,2,3,4\t",
            "0x1,2,3,4",
        ] {
            assert_eq!(read(other), None, "{other:?}");
        }
        let three = [Feature(0), Skipped, Feature(1)];
        for text in ["1 2 3", "  1   2  3 ", "1 x 3"] {
            assert_eq!(take(text, b' ', &three), Some((vec![1.0, 3.0], vec![])));
        }
        for text in ["1 2", "1 2 3 4", "1 2 3x"] {
            assert_eq!(take(text, b' ', &three), None, "{text:?}");
        }
        assert_eq!(
            take("1\t2\t-0", b'\t', &three).map(|row| row.0[1].to_bits()),
            Some((-0.0_f64).to_bits())
        );
    }
}
