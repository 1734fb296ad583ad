//! Lanes of a vector that change places.

use pulp::{Simd, bytemuck};
#[cfg(target_arch = "x86_64")]
use {
    pulp::{
        f32x8, f32x16,
        x86::{V3, V4},
    },
    std::any::Any,
};

/// Lane i gets lane `i ^ H`, H a power of two below the number of lanes.
#[inline(always)]
pub(crate) fn swapped<S: Simd, const H: usize>(simd: S, v: S::f32s) -> S::f32s {
    #[cfg(target_arch = "x86_64")]
    if let Some(swapped) = by_one_shuffle::<S, H>(simd, v) {
        return swapped;
    }
    // Two rotations elsewhere: lane i gets lane i + H, and above that lane i - H.
    let lanes = S::F32_LANES;
    let above = simd.rotate_right_f32s(v, lanes - H);
    if 2 * H == lanes {
        return above;
    }
    let upper = std::array::from_fn(|i| if i & H == 0 { 0.0 } else { -0.0 });
    let (upper, minus_zero) = (vector::<S>(upper), simd.splat_f32s(-0.0));
    let upper = simd.equal_u32s(bytemuck::cast(upper), bytemuck::cast(minus_zero));
    simd.select_f32s(upper, simd.rotate_right_f32s(v, H), above)
}

/// Widest vectors of any instruction set that is dispatched to.
pub(crate) const MOST_LANES: usize = 16;

/// The first of some values, as many as there are lanes.
#[inline(always)]
pub(crate) fn vector<S: Simd>(values: [f32; MOST_LANES]) -> S::f32s {
    S::as_simd_f32s(&values).0[0]
}

/// As [`swapped`], where x86-64 has an instruction for it: within 128 bits, or of these among each
/// other. pulp's rotation takes six on AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_one_shuffle<S: Simd, const H: usize>(simd: S, v: S::f32s) -> Option<S::f32s> {
    // Immediate operands: two bits a place, which name where its value comes from.
    const NEIGHBOURS: i32 = 0b10_11_00_01;
    const PAIRS: i32 = 0b01_00_11_10;
    const HALVES: i32 = 1;
    // Known when this is compiled, as are the sizes in the casts.
    let simd = &simd as &dyn Any;
    if let Some(V4 { avx512f, .. }) = simd.downcast_ref() {
        let v: f32x16 = bytemuck::cast(v);
        let v = pulp::cast(v);
        let swapped: f32x16 = pulp::cast(match H {
            1 => avx512f._mm512_permute_ps::<NEIGHBOURS>(v),
            2 => avx512f._mm512_permute_ps::<PAIRS>(v),
            4 => avx512f._mm512_shuffle_f32x4::<NEIGHBOURS>(v, v),
            _ => avx512f._mm512_shuffle_f32x4::<PAIRS>(v, v),
        });
        return Some(bytemuck::cast(swapped));
    }
    if let Some(V3 { avx, .. }) = simd.downcast_ref() {
        let v: f32x8 = bytemuck::cast(v);
        let v = pulp::cast(v);
        let swapped: f32x8 = pulp::cast(match H {
            1 => avx._mm256_permute_ps::<NEIGHBOURS>(v),
            2 => avx._mm256_permute_ps::<PAIRS>(v),
            _ => avx._mm256_permute2f128_ps::<HALVES>(v, v),
        });
        return Some(bytemuck::cast(swapped));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Swap;

    impl pulp::WithSimd for Swap {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) {
            holds::<S, 1>(simd);
            holds::<S, 2>(simd);
            holds::<S, 4>(simd);
            holds::<S, 8>(simd);
        }
    }

    fn holds<S: Simd, const H: usize>(simd: S) {
        let v = vector::<S>(std::array::from_fn(|i| i as f32));
        let expected = vector::<S>(std::array::from_fn(|i| (i ^ H) as f32));
        if H < S::F32_LANES {
            let apart = simd.abs_f32s(simd.sub_f32s(swapped::<S, H>(simd, v), expected));
            assert_eq!(simd.reduce_max_f32s(apart), 0.0, "{H} of {}", S::F32_LANES);
        }
    }

    #[test]
    fn lanes_change_places_under_every_instruction_set_of_the_machine() {
        for set in crate::instructions::InstructionSet::here() {
            set.arch().expect("is here").dispatch(Swap);
        }
    }
}
