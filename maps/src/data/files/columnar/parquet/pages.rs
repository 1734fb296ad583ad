//! The headers of the pages of a column, which say how much memory a page takes.

use super::thrift::{Fields, Kind, Thrift};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Bytes read at a time: a header is short, and the page that follows is not read.
const BUFFER: usize = 512;

const INTEGER: Kind = Kind::Integer;
/// `PageHeader` of the format.
const HEADER: Fields = &[
    (TYPE, INTEGER),
    (UNPACKED, INTEGER),
    (PACKED, INTEGER),
    (4, INTEGER),
    (
        5,
        Kind::Struct(&[(1, INTEGER), (2, INTEGER), (3, INTEGER), (4, INTEGER)]),
    ),
    (6, Kind::Struct(&[])),
    (
        7,
        Kind::Struct(&[(1, INTEGER), (2, INTEGER), (3, Kind::Bool)]),
    ),
    (
        8,
        Kind::Struct(&[
            (1, INTEGER),
            (2, INTEGER),
            (3, INTEGER),
            (4, INTEGER),
            (5, INTEGER),
            (6, INTEGER),
            (7, Kind::Bool),
        ]),
    ),
];
const TYPE: i16 = 1;
const UNPACKED: i16 = 2;
const PACKED: i16 = 3;
/// The type of pages of dictionaries.
const DICTIONARY: i64 = 2;

/// The most bytes of a column that are unpacked together: a dictionary, and the largest page of
/// values. `None` if the headers cannot be read.
pub(super) fn unpacked_bytes(mut file: &File, (start, length): (u64, u64)) -> Option<u64> {
    let end = start.checked_add(length)?;
    let (mut at, mut dictionary, mut values) = (start, 0, 0);
    while at < end {
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut header = Thrift::new(BufReader::with_capacity(BUFFER, file.take(end - at)));
        let mut sizes = [0_i64; 3];
        header.structure(HEADER, &mut |id, value| {
            if let TYPE..=PACKED = id {
                sizes[usize::from(id.unsigned_abs()) - 1] = value;
            }
        })?;
        let [kind, unpacked, packed] = sizes;
        let unpacked = u64::try_from(unpacked).ok()?;
        let largest = match kind {
            DICTIONARY => &mut dictionary,
            _ => &mut values,
        };
        *largest = unpacked.max(*largest);
        at = at.checked_add(header.taken())?;
        at = at.checked_add(u64::try_from(packed).ok()?)?;
    }
    (at == end).then_some(dictionary + values)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a page of a type, with its two sizes, and so many bytes behind it.
    fn page(kind: u8, unpacked: u8, packed: u8) -> Vec<u8> {
        let header = [0x15, 2 * kind, 0x15, 2 * unpacked, 0x15, 2 * packed, 0];
        [&header[..], &vec![7; packed.into()]].concat()
    }

    /// Of values the largest page counts, and the dictionary besides.
    #[test]
    fn a_column_takes_its_dictionary_and_its_largest_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pages");
        let pages = [
            page(2, 50, 3),
            page(0, 20, 5),
            page(3, 60, 0),
            page(0, 10, 9),
        ];
        let bytes = pages.concat();
        let length = bytes.len() as u64;
        std::fs::write(&path, [b"PAR1", &bytes[..]].concat()).expect("writes");
        let file = File::open(&path).expect("opens");
        assert_eq!(unpacked_bytes(&file, (4, length)), Some(110));
        assert_eq!(unpacked_bytes(&file, (4, length - 1)), None);
        assert_eq!(unpacked_bytes(&file, (3, length)), None);
        assert_eq!(unpacked_bytes(&file, (4, 0)), Some(0));
    }
}
