//! Memory in pages of 2 MB, where a system gives them to who asks: a large matrix is first written
//! in far fewer faults, and its addresses stay known to the processor.

/// Bytes from which on it is worth a call; numpy has the same.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Asks for large pages for memory that is not written yet. Nothing happens where there are none.
pub(crate) fn ask_for<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= LARGE {
        use rustix::mm::{Advice, madvise};
        // An emulator that starts the loader by itself may say 0.
        let page = rustix::param::page_size().max(1 << 12);
        // Whole pages, for the others are shared with what lies beside.
        let from = memory.as_mut_ptr().cast::<u8>();
        let skipped = from.align_offset(page);
        let len = (size_of_val(memory).saturating_sub(skipped)) / page * page;
        #[expect(unsafe_code, reason = "advice to the system is an unsafe function")]
        // SAFETY: the pages are this slice's own, and their contents stay as they are.
        let asked = unsafe {
            madvise(
                from.wrapping_add(skipped).cast(),
                len,
                Advice::LinuxHugepage,
            )
        };
        // A system without large pages refuses, and nothing changes.
        asked.ok();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::device::Aligned;
    use std::{fs, path::Path};

    /// Whether the system knows that large pages were asked for at this address.
    fn asked_for(address: usize) -> bool {
        let maps = fs::read_to_string("/proc/self/smaps").expect("reads");
        let mut here = false;
        for line in maps.lines() {
            let range = line
                .split_once(' ')
                .and_then(|(range, _)| range.split_once('-'));
            let ends = range.map(|(from, to)| {
                [from, to].map(|end| usize::from_str_radix(end, 16).unwrap_or_default())
            });
            match (ends, line.strip_prefix("VmFlags:")) {
                (Some([from, to]), _) => here = (from..to).contains(&address),
                (None, Some(flags)) if here => return flags.split(' ').any(|flag| flag == "hg"),
                _ => {}
            }
        }
        panic!("no memory at {address:x}");
    }

    #[test]
    fn large_pages_are_asked_for_where_memory_is_large() {
        if !Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            println!("not tested: this system has no large pages");
            return;
        }
        let middle = |memory: &Aligned| memory.as_slice()[memory.as_slice().len() / 2..].as_ptr();
        let mut grown = Aligned::default();
        grown.take(2 << 20);
        for large in [Aligned::zeroed(2 << 20), grown] {
            assert!(asked_for(middle(&large).addr()));
            assert!(large.as_slice().iter().all(|v| *v == 0.0));
        }
        assert!(!asked_for(middle(&Aligned::zeroed(100_000)).addr()));
    }
}
