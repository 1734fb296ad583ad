//! Codes of 16 bits for numbers of 11 significant bits, from which integer operations make the two
//! pieces of bf16 that sum to each.
//!
//! Every number but zero is `s (P 2^(e - 7) + J 2^(e - 10))` in one way, with a sign s, P in 128 to
//! 255 and J in 1 to 8. The first piece is the term of P, the second that of J. J begins at 1: no
//! second piece is zero, which an exponent could not say. A code is the sign, e + 31 in five bits,
//! the lower seven bits of P, and J - 1 in three: of numbers in order of size, the one below.

use super::{
    amx::{DEPTH, Tile},
    hint::prefetch,
};
use crate::device::Line;
use pulp::x86::V4;

/// The least exponent of a code, as an f32 or a bf16 stores it.
const LEAST: u32 = 96;

/// The code of a value below 2 that has one, exactly; 0 of zero.
pub(super) fn code(value: f32) -> Option<u16> {
    if value == 0.0 {
        return Some(0);
    }
    let bits = value.abs().to_bits();
    let at = (bits >> 13).checked_sub(LEAST << 10)?;
    // 0 is taken, and what lies below the least is no code.
    let exact = bits & 0x1fff == 0 && (2..1 << 15).contains(&at);
    let sign = if value < 0.0 { 0x8000 } else { 0 };
    exact.then(|| sign | (at as u16 - 1))
}

/// By the last five bits of a code, what the exponent and the mantissa of its second piece are
/// beyond the exponent of its first. J begins ten places below the first bit of P.
const SECOND: [u16; DEPTH] = {
    let mut second = [0; DEPTH];
    let mut i = 0;
    while i < DEPTH {
        let j = (i as u16 & 7) + 1;
        let log = j.ilog2() as u16;
        let mantissa = (j << 7 >> log) & 0x7f;
        second[i] = (log << 7 | mantissa).wrapping_sub(10 << 7);
        i += 1;
    }
    second
};

/// The first pieces of 32 depths of 32 columns, and the second, in the order of their codes. Where
/// `zeros` says that there may be some, the code 0 is one. `ahead` more lines are asked for
/// meanwhile.
#[inline(always)]
pub(super) fn expand(
    token: V4,
    lines: &[Line],
    pieces: &mut [Tile; 4],
    zeros: bool,
    ahead: Option<usize>,
) {
    if zeros {
        expand_some::<true>(token, lines, pieces, ahead)
    } else {
        expand_some::<false>(token, lines, pieces, ahead)
    }
}

#[inline(always)]
fn expand_some<const ZEROS: bool>(
    token: V4,
    lines: &[Line],
    pieces: &mut [Tile; 4],
    ahead: Option<usize>,
) {
    let (f, bw) = (token.avx512f, token.avx512bw);
    let second_of = pulp::cast(SECOND);
    let above = pulp::cast([0x7000_u16; DEPTH]);
    let least = pulp::cast([(LEAST << 7) as u16; DEPTH]);
    let exponent = pulp::cast([0xff80_u16; DEPTH]);
    let (first, second) = pieces.split_at_mut(2);
    let (first, second) = (first.as_flattened_mut(), second.as_flattened_mut());
    for (i, ((line, first), second)) in lines.iter().zip(first).zip(second).enumerate() {
        if let Some(ahead) = ahead {
            prefetch(lines, i + ahead);
        }
        let code = pulp::cast(line.0);
        // The sign is copied to where the upper bits of the exponent belong, which all codes share.
        const CHOOSE: i32 = 0xca;
        let shifted = bw._mm512_srai_epi16::<3>(code);
        let p = f._mm512_ternarylogic_epi64::<CHOOSE>(above, least, shifted);
        let beyond = bw._mm512_permutexvar_epi16(code, second_of);
        let j = bw._mm512_add_epi16(f._mm512_and_si512(p, exponent), beyond);
        let (p, j) = if ZEROS {
            let some = bw._mm512_test_epi16_mask(code, code);
            let p = bw._mm512_maskz_mov_epi16(some, p);
            (p, bw._mm512_maskz_mov_epi16(some, j))
        } else {
            (p, j)
        };
        *first = Line(pulp::cast(p));
        *second = Line(pulp::cast(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code is a number of 11 bits, whose pieces sum to it, the first of them by cutting off.
    #[test]
    fn pieces_of_every_code_sum_to_its_number() {
        let Some(token) = V4::try_new() else {
            println!("no AVX-512 here: codes are not used");
            return;
        };
        let numbers = (-31..=0).flat_map(|e| {
            (1024..2048).map(move |m| m as f32 * (-10_f32).exp2() * (e as f32).exp2())
        });
        let numbers: Vec<f32> = numbers.skip(2).flat_map(|v| [v, -v]).collect();
        let width = 2 * 16 * DEPTH;
        for (zeros, group) in numbers
            .chunks(width - 1)
            .flat_map(|g| [(true, g), (false, g)])
        {
            // A zero among them in the last place.
            let mut words = [0_u16; 2 * 16 * DEPTH];
            for (word, &value) in words.iter_mut().zip(group) {
                *word = code(value).unwrap_or_else(|| panic!("{value:e} has a code"));
            }
            let lines: [Line; 32] = bytemuck::cast(words);
            let mut pieces = [[Line([0.0; 16]); 16]; 4];
            expand(token, &lines, &mut pieces, zeros, None);
            let pieces: &[u16] = bytemuck::cast_slice(pieces.as_flattened());
            let (first, second) = pieces.split_at(width);
            let float = |bits: u16| f32::from_bits(u32::from(bits) << 16);
            for (i, &value) in group.iter().enumerate() {
                let (p, j) = (float(first[i]), float(second[i]));
                assert_eq!(p + j, value, "{p:e} + {j:e}");
                let ratio = j / p;
                assert!(
                    ratio > 0.0 && ratio <= (-7_f32).exp2(),
                    "{j:e} beside {p:e}"
                );
            }
            if zeros {
                assert_eq!((first[width - 1], second[width - 1]), (0, 0));
            }
        }
    }

    #[test]
    fn numbers_without_a_code() {
        let least = (-31_f32).exp2();
        for none in [
            2.0,
            f32::NAN,
            f32::INFINITY,
            1.0 + 1.0 / 2048.0,
            least,
            least / 2.0,
        ] {
            assert_eq!(code(none), None, "{none:e}");
            assert_eq!(code(-none), None, "{none:e}");
        }
        assert_eq!((code(0.0), code(-0.0)), (Some(0), Some(0)));
        assert_eq!(code(least * (1.0 + 2.0 / 1024.0)), Some(1));
    }
}
