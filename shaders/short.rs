//! Shaders without comments and indentation: what a page loads.

/// Writes `text` to `short` without comments, indentation and empty lines, and returns how many
/// bytes that takes; `short` may be too small to hold them, as it is for one who asks how many.
/// Directions (`//@`) stay. WGSL has no texts in quotes, so that `//` always begins a comment.
pub const fn shorten(text: &str, short: &mut [u8]) -> usize {
    let text = text.as_bytes();
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        while at < text.len() && text[at] == b' ' {
            at += 1;
        }
        let start = at;
        let is_direction = begins_comment(text, at) && at + 2 < text.len() && text[at + 2] == b'@';
        let mut end = at;
        let mut in_comment = false;
        while at < text.len() && text[at] != b'\n' {
            in_comment |= !is_direction && begins_comment(text, at);
            if !in_comment && text[at] != b' ' {
                end = at + 1;
            }
            at += 1;
        }
        at += 1;
        if end > start {
            let mut from = start;
            while from < end {
                put(short, length, text[from]);
                (from, length) = (from + 1, length + 1);
            }
            put(short, length, b'\n');
            length += 1;
        }
    }
    length
}

const fn begins_comment(text: &[u8], at: usize) -> bool {
    text[at] == b'/' && at + 1 < text.len() && text[at + 1] == b'/'
}

const fn put(short: &mut [u8], at: usize, byte: u8) {
    if at < short.len() {
        short[at] = byte;
    }
}
