//! Hints to the memory system that the language has no words for. None changes a result.

#![allow(
    unsafe_code,
    reason = "the processor's hints are unsafe functions; each use says why it is sound"
)]

/// Asks for the cache line that holds `data[at]`, into the second-level cache. Nothing happens beyond the end.
#[inline(always)]
pub(super) fn prefetch(data: &[f32], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = data.get(at) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees and faults on no address; this one is valid anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}
