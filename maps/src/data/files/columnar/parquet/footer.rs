//! The schema of a .parquet file, as its footer lists it: the crate builds its groups by recursion,
//! so that their depth is looked at before.

use super::thrift::{Fields, Kind, LIST, STRUCT, Thrift};
use crate::error::{Error, Result};
use crate::limits::{FOOTER_BYTES, NESTED_GROUPS};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The length of the footer, and the mark of the format.
const BEHIND: u64 = 8;

const EMPTY: Kind = Kind::Struct(&[]);
const UNIT: Kind = Kind::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const TIME: Kind = Kind::Struct(&[(1, Kind::Bool), (2, UNIT)]);
/// `LogicalType` of the format.
const LOGICAL: Fields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Kind::Struct(&[(1, Kind::Integer), (2, Kind::Integer)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Kind::Struct(&[(1, Kind::Byte), (2, Kind::Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Kind::Struct(&[(1, Kind::Byte)])),
    (17, Kind::Struct(&[(1, Kind::Text)])),
    (18, Kind::Struct(&[(1, Kind::Text), (2, Kind::Integer)])),
];
/// `SchemaElement` of the format.
const ELEMENT: Fields = &[
    (1, Kind::Integer),
    (2, Kind::Integer),
    (3, Kind::Integer),
    (4, Kind::Text),
    (CHILDREN, Kind::Integer),
    (6, Kind::Integer),
    (7, Kind::Integer),
    (8, Kind::Integer),
    (9, Kind::Integer),
    (10, Kind::Struct(LOGICAL)),
];
const CHILDREN: i16 = 5;

/// What is wrong with a footer.
#[derive(Debug, PartialEq)]
enum Fault {
    Unreadable,
    TooDeep,
    TooLong,
}

/// Errors with [`Error::Data`] if the schema nests too deeply or is not listed as the format says.
/// A file without a footer is left to the crate.
pub(super) fn require_flat(path: &Path, file: &File) -> Result<()> {
    let footer = footer(file).map_err(|error| Error::io(path, error))?;
    let problem = match footer.and_then(|bytes| bytes.map_or(Ok(()), |bytes| check(&bytes))) {
        Ok(()) => return Ok(()),
        Err(Fault::TooLong) => format!(
            "has a footer of more than {FOOTER_BYTES} bytes; write it with fewer groups of rows"
        ),
        Err(Fault::TooDeep) => format!(
            "has groups that lie in each other more than {NESTED_GROUPS} deep; save their parts as \
             columns of their own"
        ),
        Err(Fault::Unreadable) => {
            "is damaged: its columns cannot be read; copy or write the file again".into()
        }
    };
    Err(Error::data(path, problem))
}

/// The footer; `None` if there is none.
fn footer(mut file: &File) -> io::Result<std::result::Result<Option<Vec<u8>>, Fault>> {
    let length = file.metadata()?.len();
    let Some(end) = length.checked_sub(BEHIND) else {
        return Ok(Ok(None));
    };
    let mut behind = [0; BEHIND as usize];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut behind)?;
    let [a, b, c, d, magic @ ..] = behind;
    let bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *b"PAR1" || bytes > end {
        return Ok(Ok(None));
    }
    if bytes > FOOTER_BYTES {
        return Ok(Err(Fault::TooLong));
    }
    let mut footer = vec![0; bytes as usize];
    file.seek(SeekFrom::Start(end - bytes))?;
    file.read_exact(&mut footer)?;
    Ok(Ok(Some(footer)))
}

/// Looks at the list of groups and columns, which stands behind the version. Readers take the first
/// list for the schema, and skip others.
fn check(footer: &[u8]) -> std::result::Result<(), Fault> {
    let (mut thrift, mut last) = (Thrift::new(footer), 0);
    loop {
        let found = thrift.field(last).ok_or(Fault::Unreadable)?;
        match found {
            (5, 1) => drop(thrift.integer().ok_or(Fault::Unreadable)?),
            (LIST, 2) => break,
            _ => return Err(Fault::Unreadable),
        }
        last = found.1;
    }
    let (kind, count) = thrift.list().ok_or(Fault::Unreadable)?;
    if count > 0 && kind != STRUCT {
        return Err(Fault::Unreadable);
    }
    // Of each open group how many of its children are to come.
    let mut open: Vec<u32> = Vec::new();
    for k in 0..count {
        let mut children = 0;
        let mut each = |id, value| {
            if id == CHILDREN {
                children = value;
            }
        };
        (thrift.structure(ELEMENT, &mut each)).ok_or(Fault::Unreadable)?;
        let children = u32::try_from(children).map_err(|_| Fault::Unreadable)?;
        if children >= count - k {
            return Err(Fault::Unreadable);
        }
        if children > 0 {
            if open.len() > NESTED_GROUPS {
                return Err(Fault::TooDeep);
            }
            open.push(children);
            continue;
        }
        while let Some(left) = open.last_mut() {
            *left -= 1;
            if *left > 0 {
                break;
            }
            open.pop();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ColumnarTable, Format};

    /// A group of one child, or a column, with a name of one letter.
    fn element(children: u8) -> Vec<u8> {
        let mut bytes = match children {
            0 => vec![0x15, 10, 0x25, 0, 0x18],
            _ => vec![0x35, 0, 0x18],
        };
        bytes.extend([1, b'g']);
        if children > 0 {
            bytes.extend([0x15, 2 * children]);
        }
        bytes.push(0);
        bytes
    }

    /// A footer with `groups` in each other below the root, and a column in them.
    fn nested(groups: usize) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19, 0xfc];
        let mut count = groups + 2;
        while count >= 0x80 {
            footer.push(count as u8 | 0x80);
            count >>= 7;
        }
        footer.push(count as u8);
        for _ in 0..=groups {
            footer.extend(element(1));
        }
        footer.extend(element(0));
        // No rows, and no groups of them.
        footer.extend([0x16, 0, 0x19, 0x0c, 0]);
        footer
    }

    fn error(footer: &[u8]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.parquet");
        let length = (footer.len() as u32).to_le_bytes();
        let file = [b"PAR1", footer, &length, b"PAR1"].concat();
        std::fs::write(&path, file).expect("writes");
        let opened = ColumnarTable::open(&path, Format::Parquet);
        opened.expect_err("has no rows").to_string()
    }

    /// The deepest schema that the crate gets to see, the next one, and one that would end the
    /// program there.
    #[test]
    fn groups_are_read_to_their_limit_and_no_further() {
        assert!(error(&nested(NESTED_GROUPS)).contains("has no rows"));
        for groups in [NESTED_GROUPS + 1, 1_000_000] {
            let error = error(&nested(groups));
            assert!(error.contains("more than 64 deep"), "{error}");
        }
    }

    /// Two trees of which one hides where fields have other types than the format gives them.
    #[test]
    fn schemas_that_are_not_as_the_format_says_are_refused() {
        let good = nested(2);
        assert_eq!(check(&good), Ok(()));
        for length in 0..good.len() - 5 {
            assert_eq!(check(&good[..length]), Err(Fault::Unreadable), "{length}");
        }
        // The version as a text, the list as one of texts, the number of children as a text, and
        // more children than there are elements.
        for (at, byte) in [(0, 0x18), (3, 0xf8), (10, 0x18), (11, 20), (11, 3)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(check(&bad), Err(Fault::Unreadable), "{at}");
        }
    }

    #[test]
    fn a_list_before_the_schema_is_refused() {
        let mut bad = nested(1);
        bad[2] = 0x29;
        assert_eq!(check(&bad), Err(Fault::Unreadable));
    }
}
