//! Random damage to files.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use std::fs;

/// Maximum memory in KiB that damaged files may add to the peak of the process.
pub(crate) const MOST: u64 = 1 << 20;

/// A number below `n`.
pub(crate) fn below(draw: &mut ChaCha8Rng, n: usize) -> usize {
    (draw.next_u64() % n.max(1) as u64) as usize
}

/// Damages bytes in one to four places.
pub(crate) fn mutate(bytes: &mut Vec<u8>, draw: &mut ChaCha8Rng) {
    const TOKENS: [&[u8]; 24] = [
        b"\"",
        b",",
        b"\n",
        b"\r",
        b"\t",
        b":",
        b"0",
        b"-",
        b"e",
        b"nan",
        b"inf",
        b"1e999",
        b"99999999999",
        b"18446744073709551616",
        b"4294967295",
        b"\0",
        b"\xff",
        b"\xff\xff\xff\xff",
        b"\x80",
        b"(",
        b"}",
        b"#",
        b"PK\x03\x04",
        b"\x1f\x8b",
    ];
    for _ in 0..1 + below(draw, 4) {
        let at = below(draw, bytes.len() + 1);
        let end = (at + 1 + below(draw, 16)).min(bytes.len());
        match below(draw, 8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = below(draw, bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            3 | 4 => {
                let token = TOKENS[below(draw, TOKENS.len())];
                let over = match below(draw, 2) {
                    0 => at,
                    _ => (at + token.len()).min(bytes.len()),
                };
                bytes.splice(at..over, token.iter().copied());
            }
            _ if at < bytes.len() => match below(draw, 2) {
                0 => bytes[at] ^= 1 << below(draw, 8),
                _ => bytes[at] = draw.next_u32() as u8,
            },
            _ => {}
        }
    }
}

/// Peak memory of this process in KiB, if the system reports it.
pub(crate) fn most_held() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
