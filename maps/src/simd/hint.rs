//! Hints to the memory system that the language has no words for. None changes a result.

#![allow(
    unsafe_code,
    reason = "the processor's hints are unsafe functions; each use says why it is sound"
)]

#[cfg(target_arch = "x86_64")]
use crate::instructions::{InstructionSet, instruction_set};
use pulp::Simd;
use std::marker::PhantomData;

/// Floats of a cache line.
pub(super) const LINE: usize = 16;

/// Asks for the cache line that holds `data[at]`, into the second-level cache. Nothing happens
/// beyond the end.
#[inline(always)]
pub(crate) fn prefetch<T>(data: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = data.get(at) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees and faults on no address; this one
        // is valid anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}

/// As [`prefetch`], without a look at the end: for lines that follow `data`, too, which costs a
/// loop no branch.
#[inline(always)]
pub(crate) fn prefetch_beyond<T>(data: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(data.as_ptr().wrapping_add(at).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}

/// Numbers that are read next: their cache lines are asked for while others are worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upcoming<'a> {
    /// Not empty: the address of an empty slice is no memory, and a hint for it takes long.
    all: &'a [f32],
    at: usize,
}

impl<'a> Upcoming<'a> {
    /// Those of `all` from `at` on.
    #[inline(always)]
    pub(crate) fn new(all: &'a [f32], at: usize) -> Self {
        Self { all, at }
    }

    /// Takes so many lines of them off.
    #[inline(always)]
    pub(crate) fn lines(&mut self, count: usize) -> Self {
        let taken = *self;
        self.at += count * LINE;
        taken
    }

    /// Asks for the line `k`.
    #[inline(always)]
    pub(crate) fn ask_for(self, k: usize) {
        prefetch_beyond(self.all, self.at + k * LINE);
    }
}

/// How results are written.
pub(crate) trait Sink {
    /// Writes one vector.
    fn store<S: Simd>(&self, to: &mut S::f32s, value: S::f32s);
}

/// Writes as usual.
#[derive(Debug)]
pub(crate) struct ThroughCache;

impl Sink for ThroughCache {
    #[inline(always)]
    fn store<S: Simd>(&self, to: &mut S::f32s, value: S::f32s) {
        *to = value;
    }
}

/// Writes vectors past the caches: for results too large to stay there, which are then neither read
/// in before they are overwritten nor push out what is still needed.
///
/// It stays on its thread; other threads may read what was written once it is dropped.
#[derive(Debug)]
pub(crate) struct PastCache {
    /// Whether the processor has stores of 64 and of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    wide: [bool; 2],
    here: PhantomData<*const ()>,
}

impl PastCache {
    /// Whether results of so many bytes go past the caches: a common third-level cache holds no
    /// more than a few million. Other processors than x86-64 are asked for no such stores.
    pub(crate) fn suits(bytes: usize) -> bool {
        cfg!(target_arch = "x86_64") && bytes >= 16 << 20
    }

    pub(crate) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            wide: match instruction_set() {
                InstructionSet::Avx512 => [true, true],
                InstructionSet::Avx2 => [false, true],
                _ => [false, false],
            },
            here: PhantomData,
        }
    }
}

impl Sink for PastCache {
    /// Through the caches where `to` is not aligned or the processor knows no other way.
    #[inline(always)]
    fn store<S: Simd>(&self, to: &mut S::f32s, value: S::f32s) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{__m256, __m512, _mm256_stream_ps, _mm512_stream_ps};
            let size = size_of::<S::f32s>();
            let at = std::ptr::from_mut(to);
            if at.addr().is_multiple_of(size) {
                // SAFETY: `at` is valid, writable and aligned, the vectors are plain floats of the
                // same size, and the processor has the instruction. The fence that must come before
                // other accesses is in `drop`.
                unsafe {
                    match size {
                        64 if self.wide[0] => {
                            let value = std::mem::transmute_copy::<S::f32s, __m512>(&value);
                            return _mm512_stream_ps(at.cast(), value);
                        }
                        32 if self.wide[1] => {
                            let value = std::mem::transmute_copy::<S::f32s, __m256>(&value);
                            return _mm256_stream_ps(at.cast(), value);
                        }
                        _ => {}
                    }
                }
            }
        }
        *to = value;
    }
}

impl Drop for PastCache {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the fence.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}
