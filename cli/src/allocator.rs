//! What the C library's allocator keeps of the memory that it is given back.

#![allow(
    unsafe_code,
    reason = "the setting is a function of the C library; its use says why it is sound"
)]

/// Blocks of this many bytes and more go back to the system as soon as they are free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1 << 20;

/// Gives large blocks that are freed back to the system at once, from now on, where that can be set
/// (glibc).
///
/// By itself glibc raises the size from which it does so to that of the largest block it ever
/// freed, up to 32 MiB, and keeps smaller ones for each thread: a search whose buffers come and go
/// would then have twice the memory that it uses. It costs fresh pages, so only a bound asks for
/// it.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function takes two numbers, and its lock lets it be called at any time.
    let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if set == 0 {
        log::debug!("the allocator keeps what it is given back");
    }
}
