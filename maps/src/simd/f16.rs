//! Numbers of 16 bits with 11 significant ones, as f16 has them.

/// The smallest normal f16.
const LEAST_NORMAL: f32 = 1.0 / 16_384.0;
/// What would be rounded up beyond the largest f16.
const TOO_LARGE: f32 = 65_520.0;
/// What all smaller ones are multiples of.
const QUANTUM: f32 = 1.0 / 16_777_216.0;

/// The power of two that brings the largest value to [2^top, 2^(top + 1)), and its inverse; `None`
/// when there is none or a power is no normal number.
pub(crate) fn scale<'a>(values: impl IntoIterator<Item = &'a f32>, top: i32) -> Option<(f32, f32)> {
    let largest = values.into_iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return None;
    }
    let scale = libm::scalbnf(1.0, top - libm::ilogbf(largest));
    let unscale = 1.0 / scale;
    (scale.is_normal() && unscale.is_normal()).then_some((scale, unscale))
}

/// The f16 of a value that f16 holds exactly.
pub(crate) fn exact(value: f32) -> Option<u16> {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xff) as i32 - 127;
    let mantissa = bits & 0x7f_ffff | 0x80_0000;
    let half = match exponent {
        -127 => 0,
        -14..=15 => ((exponent + 15) as u32) << 10 | mantissa >> 13 & 0x3ff,
        -24..=-15 => mantissa >> (13 - 14 - exponent),
        _ => return None,
    };
    (self::value(half as u16) == value.abs()).then_some(sign | half as u16)
}

/// What a finite f16 stands for.
pub(crate) fn value(half: u16) -> f32 {
    let magnitude = match half >> 10 & 0x1f {
        0 => f32::from(half & 0x3ff) * QUANTUM,
        e => f32::from_bits((u32::from(e) + 112) << 23 | u32::from(half & 0x3ff) << 13),
    };
    if half >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// The nearest number that f16 holds, infinity beyond the largest. Of two that are as near, the one
/// farther from zero, or of those below the normal ones the even one. In integers, as in
/// `shared/halves.wgsl`, so that no device rounds otherwise.
pub(crate) fn nearest(value: f32) -> f32 {
    if value.abs() < LEAST_NORMAL {
        return (value / QUANTUM).round_ties_even() * QUANTUM;
    }
    if value.abs() >= TOO_LARGE {
        return f32::INFINITY.copysign(value);
    }
    f32::from_bits(value.to_bits().wrapping_add(0x1000) & 0xffff_e000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_eleven_bits_has_an_f16() {
        assert_eq!(exact(1.0), Some(0x3c00));
        assert_eq!(exact(-65504.0), Some(0xfbff));
        assert_eq!(exact(QUANTUM), Some(1));
        assert_eq!(exact(0.0), Some(0));
        assert_eq!(exact(65536.0), None);
        assert_eq!(exact(QUANTUM / 2.0), None);
        assert_eq!(exact(1.0 + 1.0 / 2048.0), None);
    }

    #[test]
    fn every_finite_f16_is_what_it_stands_for() {
        for half in 0..=u16::MAX {
            if half >> 10 & 0x1f < 31 {
                assert_eq!(exact(value(half)), Some(half), "{half:x}");
                assert_eq!(nearest(value(half)), value(half), "{half:x}");
            }
        }
    }

    /// A neighbour of each f16 is nearer to it than to the next, on both sides of the middle.
    #[test]
    fn the_nearest_is_on_this_side_of_the_middle() {
        for half in 0..0x7800_u16 {
            let (low, high) = (value(half), value(half + 1));
            let middle = f32::midpoint(low, high);
            for sign in [1.0, -1.0] {
                assert_eq!(nearest(sign * middle.next_down()), sign * low, "{half:x}");
                assert_eq!(nearest(sign * middle.next_up()), sign * high, "{half:x}");
            }
        }
    }
}
