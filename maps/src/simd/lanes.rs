//! Numbers of a vector for multiply-adds that take any of them, as those of ARM do: four come with
//! one load then, where a vector full of each takes a load of its own.

#![allow(
    unsafe_code,
    reason = "an instruction of the processor is an unsafe function; its use says why it is sound"
)]

use pulp::Simd;
use std::arch::aarch64::{float32x4_t, vdupq_laneq_f32};

/// Each of four numbers in all of a vector.
#[inline(always)]
pub(super) fn lanes<S: Simd>(four: S::f32s) -> [S::f32s; 4] {
    let v: float32x4_t = bytemuck::cast(four);
    // SAFETY: vectors are of the base of this architecture, and the caller has one.
    let lanes = unsafe {
        [
            vdupq_laneq_f32::<0>(v),
            vdupq_laneq_f32::<1>(v),
            vdupq_laneq_f32::<2>(v),
            vdupq_laneq_f32::<3>(v),
        ]
    };
    lanes.map(bytemuck::cast)
}
