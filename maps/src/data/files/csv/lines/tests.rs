use super::*;
use crate::data::files::csv::head::Head;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use std::io::Write;

type Records = Vec<Vec<Vec<u8>>>;

fn lines(text: &[u8], delimiter: Option<u8>) -> (tempfile::TempDir, Lines) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    std::fs::write(&path, text).unwrap();
    let layout = Layout {
        delimiter: delimiter.map(char::from),
        ..Layout::default()
    };
    let lines = Head::open(&path, &layout).unwrap().0;
    (folder, lines)
}

fn all(lines: &mut Lines) -> Result<Records> {
    let mut records = Vec::new();
    while lines.find()? {
        lines.split();
        let fields = (0..lines.len()).map(|j| lines.field(j).to_vec());
        records.push(fields.collect());
    }
    Ok(records)
}

/// The records and fields of the csv crate, for random texts of everything that separates.
#[test]
fn records_are_those_of_another_reader() {
    let mut draw = ChaCha8Rng::seed_from_u64(3);
    let mut open = 0;
    for _ in 0..3_000 {
        let length = draw.next_u32() % 40;
        let mut text = Vec::new();
        for _ in 0..length {
            text.push(b"1x ,,;\"\"\n\n\r\t"[draw.next_u32() as usize % 12]);
        }
        for delimiter in *b",;\t" {
            let (_folder, mut lines) = lines(&text, Some(delimiter));
            let Ok(found) = all(&mut lines) else {
                // A quote left open, which the other reader ends where the file ends.
                open += 1;
                continue;
            };
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(delimiter)
                .from_reader(&text[..]);
            let records = reader.byte_records().map(|record| record.unwrap());
            let records: Records = records
                .map(|record| record.iter().map(<[u8]>::to_vec).collect())
                .collect();
            assert_eq!(found, records, "{:?}", String::from_utf8_lossy(&text));
            lines.rewind().unwrap();
            assert_eq!(all(&mut lines).unwrap(), records);
        }
    }
    assert!(open < 5_000, "{open}");
}

/// Records that lie across the buffer and larger ones, quoted or not.
#[test]
fn records_may_be_longer_than_the_buffer() {
    for quote in ["", "\""] {
        let mut text = Vec::new();
        let mut expected: Records = Vec::new();
        for length in [10, BUFFER - 20, 3, BUFFER, 5 * BUFFER, 1, 0, 7] {
            let field = "7".repeat(length);
            writeln!(text, "{quote}{field}{quote},b").unwrap();
            expected.push(vec![field.into_bytes(), b"b".to_vec()]);
        }
        let (_folder, mut lines) = lines(&text, None);
        assert!(all(&mut lines).unwrap() == expected);
        assert!(lines.buffer.len() < 16 * BUFFER, "{}", lines.buffer.len());
    }
}

#[test]
fn longer_records_are_refused_in_bounded_memory() {
    for text in ["1,\"2\n3,4\n", "1,2"] {
        let text = format!("a,b\n1,2\n{text}{}", "5,6 ".repeat(1 << 20));
        let (_folder, mut lines) = lines(text.as_bytes(), None);
        lines.longest = 1 << 20;
        let error = all(&mut lines).unwrap_err().to_string();
        assert!(
            error.contains("line 3 begins a record of more than 1 MiB"),
            "{error}"
        );
        assert!(error.contains("quote left open"), "{error}");
        assert!(lines.buffer.len() <= (1 << 20) + BUFFER);
    }
    let (_folder, mut lines) = lines(b"a,b\n1,\"2\n", None);
    let error = all(&mut lines).unwrap_err().to_string();
    assert!(error.contains("line 2 has a quote left open"), "{error}");
}

/// A few packed bytes become any number of them.
#[test]
fn empty_lines_are_as_many_as_a_record_is_long() {
    for (bytes, reads) in [(1 << 20, true), ((1 << 20) + 2 * BUFFER, false)] {
        let text = format!("a,b\n1,2\n{}3,4\n", "\n".repeat(bytes));
        let (_folder, mut lines) = lines(text.as_bytes(), None);
        lines.longest = 1 << 20;
        match all(&mut lines) {
            Ok(_) => assert!(reads, "{bytes}"),
            Err(error) => {
                assert!(
                    !reads && error.to_string().contains("empty lines"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn blanks_in_a_row_are_one() {
    let (_folder, mut lines) = lines(b"  1  2 \"x y\" \n3\n", Some(b' '));
    assert!(lines.find().unwrap());
    lines.split();
    let fields: Vec<_> = (0..lines.len()).map(|j| lines.field(j)).collect();
    assert_eq!(fields, [&b"1"[..], b"2", b"x y"]);
}

/// Lines in front of the records are those of the file, whatever ends them and wherever the buffer
/// does; comments are none wherever they stand.
#[test]
fn lines_are_skipped_wherever_the_buffer_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.csv");
    let layout = Layout {
        skip_rows: 2,
        comment: Some("//".into()),
        ..Layout::default()
    };
    let wanted = [["a", "b"], ["1", "/2"], ["/3", "//4"]];
    for end in ["\n", "\r\n", "\r"] {
        for length in BUFFER - 3..BUFFER + 2 {
            let title = format!("\"{}", "x".repeat(length - 1));
            let text = [
                &title, "", "a,b", "1,/2", "// \"", "", "//", "/3,//4", "//5",
            ]
            .join(end);
            std::fs::write(&path, &text).unwrap();
            let (mut lines, head) = Head::open(&path, &layout).unwrap();
            assert_eq!((head.lines, head.marked), (2, 0));
            for _ in 0..2 {
                let found = all(&mut lines).unwrap();
                let found: Vec<Vec<&str>> = (found.iter())
                    .map(|record| {
                        record
                            .iter()
                            .map(|f| std::str::from_utf8(f).unwrap())
                            .collect()
                    })
                    .collect();
                assert_eq!(found, wanted, "{end:?} {length}");
                assert_eq!(lines.number(), 8, "{end:?} {length}");
                lines.rewind().unwrap();
            }
        }
    }
}
