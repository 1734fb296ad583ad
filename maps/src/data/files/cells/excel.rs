//! Sheets of .xlsx, .xlsm, .xlsb, .xls and .ods files.

use super::room::{CELL, ROW, Room};
use super::{Cells, Row, listed};
use crate::data::files::{guarded::guarded, input::open_file};
use crate::data::{Header, Layout};
use crate::error::{Error, Remedy, Result};
use calamine::{Data, ExcelDateTime, Reader, Sheets, open_workbook_auto};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, sink};
use std::path::Path;

/// Thousandths of a second that a day has.
const DAY: f64 = 86_400_000.0;

/// The cells of the sheet called `part`, or of the first, of the file at `file`, which messages
/// call `path`. Rows and columns without any value are none.
pub(super) fn read(
    (path, file): (&Path, &Path),
    part: Option<&str>,
    layout: &Layout,
) -> Result<Cells> {
    // Says why where it cannot be opened, as for every other file.
    let opened = open_file(file)?;
    let mut room = Room::of(file)?;
    require_unpacked(opened, &mut room, path)?;
    let placed = guarded(path, || {
        placed((path, file), part, layout, &mut Room::of(file)?)
    })?;
    Ok(named(rows(placed, &mut room, path)?, layout.header))
}

/// Errors if the parts of a packed file are too large, which the reader of sheets keeps whole.
fn require_unpacked(file: File, room: &mut Room, path: &Path) -> Result<()> {
    // What is no archive is an .xls, or is refused by the reader.
    let Ok(mut archive) = zip::ZipArchive::new(BufReader::new(file)) else {
        return Ok(());
    };
    for part in 0..archive.len() {
        let Ok(mut part) = archive.by_index(part) else {
            continue;
        };
        // Piece by piece: the size that a part says it has need not be true.
        loop {
            let mut piece = part.by_ref().take(1 << 20);
            match std::io::copy(&mut piece, &mut sink()) {
                Ok(0) | Err(_) => break,
                Ok(bytes) => room.take(bytes, path)?,
            }
        }
    }
    Ok(())
}

/// Texts by their rows and columns, both from 0.
type Placed = BTreeMap<u32, BTreeMap<u32, Box<str>>>;

/// The cells of the sheet called `part`, or of the first, that hold something.
fn placed(
    (path, file): (&Path, &Path),
    part: Option<&str>,
    layout: &Layout,
    room: &mut Room,
) -> Result<Placed> {
    let fail = |error: calamine::Error| {
        let says = error.to_string().replace('\n', " ");
        Error::data(
            path,
            format!("is no spreadsheet that can be read ({says}); save it again"),
        )
    };
    let mut book = open_workbook_auto(file).map_err(fail)?;
    let sheet = &sheet(book.sheet_names(), part, path)?;
    let mut placed = Placed::new();
    let mut place = |(row, column): (u32, u32), cell: &Data| -> Result<()> {
        let is_above = u64::from(row) < layout.skip_rows as u64;
        if let Some(text) = text(cell).filter(|_| !is_above) {
            // A tree has a key and a few pointers for each.
            room.take(text.len() as u64 + 4 * CELL, path)?;
            placed.entry(row).or_default().insert(column, text);
        }
        Ok(())
    };
    // Cell by cell where the format allows it: a table of all rows and columns between two cells
    // far apart has no room anywhere.
    match &mut book {
        Sheets::Xlsx(book) => {
            let cells = book.worksheet_cells_reader(sheet);
            let mut cells = cells.map_err(|e| fail(e.into()))?;
            while let Some(cell) = cells.next_cell().map_err(|e| fail(e.into()))? {
                place(cell.get_position(), &cell.get_value().clone().into())?;
            }
        }
        Sheets::Xlsb(book) => {
            let cells = book.worksheet_cells_reader(sheet);
            let mut cells = cells.map_err(|e| fail(e.into()))?;
            while let Some(cell) = cells.next_cell().map_err(|e| fail(e.into()))? {
                place(cell.get_position(), &cell.get_value().clone().into())?;
            }
        }
        book => {
            let range = book.worksheet_range(sheet).map_err(fail)?;
            let (top, left) = range.start().unwrap_or_default();
            for (row, column, cell) in range.used_cells() {
                place((top + row as u32, left + column as u32), cell)?;
            }
        }
    }
    Ok(placed)
}

/// The sheet called `part` of these, or the first.
fn sheet(sheets: Vec<String>, part: Option<&str>, path: &Path) -> Result<String> {
    let sheet = match part {
        Some(name) => sheets.iter().find(|sheet| *sheet == name),
        None => sheets.first(),
    };
    sheet.cloned().ok_or_else(|| {
        let problem = match part {
            Some(name) => format!("has no sheet {name:?}, but {}", listed(&sheets)),
            None => "has no sheet".to_owned(),
        };
        Error::data(path, problem).help(Remedy::words("name another"))
    })
}

/// Rows of as many cells each, of the columns that hold something. Errors if they take too much.
fn rows(placed: Placed, room: &mut Room, path: &Path) -> Result<Vec<Row>> {
    let columns: BTreeSet<u32> = placed
        .values()
        .flat_map(|row| row.keys().copied())
        .collect();
    let each = ROW + CELL * columns.len() as u64;
    room.take(each.saturating_mul(placed.len() as u64), path)?;
    let row = |(row, mut cells): (u32, BTreeMap<u32, Box<str>>)| Row {
        number: u64::from(row) + 1,
        cells: columns.iter().map(|column| cells.remove(column)).collect(),
    };
    Ok(placed.into_iter().map(row).collect())
}

/// Rows whose first may be names, without the columns that hold nothing.
fn named(mut rows: Vec<Row>, header: Header) -> Cells {
    let width = rows.first().map_or(0, |row| row.cells.len());
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    let has_names = match (header, rows.first()) {
        (Header::Yes, first) => first.is_some(),
        (Header::No, _) | (_, None) => false,
        (Header::Auto, Some(first)) => {
            let mut cells = first.cells.iter().flatten();
            !cells.all(|cell| is_number(cell))
        }
    };
    let used = |j: &usize| rows.iter().any(|row| row.cells[*j].is_some());
    let used: Vec<usize> = (0..width).filter(used).collect();
    for row in &mut rows {
        row.cells = used.iter().map(|&j| row.cells[j].take()).collect();
    }
    let mut names: Vec<String> = (0..used.len()).map(|place| place.to_string()).collect();
    if has_names {
        let written = rows.remove(0).cells;
        for (name, written) in names.iter_mut().zip(written) {
            if let Some(written) = written {
                *name = written.into();
            }
        }
    }
    let bytes = vec![None; names.len()];
    Cells { names, rows, bytes }
}

/// A cell as a .csv has it; `None` for an empty one.
fn text(cell: &Data) -> Option<Box<str>> {
    let text = match cell {
        Data::Empty => return None,
        Data::Int(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
        Data::Bool(value) => value.to_string(),
        Data::String(text) | Data::DateTimeIso(text) => text.trim().to_owned(),
        Data::DateTime(date) => date_text(date),
        Data::DurationIso(text) => clock_of(text).unwrap_or_else(|| text.clone()),
        // As it is written: who counts it as a gap says so.
        Data::Error(error) => error.to_string(),
    };
    (!text.is_empty()).then(|| text.into())
}

/// A date by ISO 8601, a time of the day or a length of time as hours, minutes and seconds.
fn date_text(date: &ExcelDateTime) -> String {
    if date.is_duration() || (0.0..1.0).contains(&date.as_f64()) {
        return clock(date.as_f64() * DAY);
    }
    let (year, month, day, hour, minute, second, milli) = date.to_ymd_hms_milli();
    let day = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => day,
        (.., 0) => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{day}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

/// `125:30:10`, of thousandths of a second.
fn clock(millis: f64) -> String {
    let sign = if millis < 0.0 { "-" } else { "" };
    let millis = millis.abs().round() as u64;
    let (seconds, milli) = (millis / 1000, millis % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = match milli {
        0 => String::new(),
        milli => format!(".{milli:03}"),
    };
    format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}")
}

/// The same of `PT13H45M00S`, as .ods files have it.
fn clock_of(text: &str) -> Option<String> {
    let (hours, rest) = text.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds: f64 = rest.strip_suffix('S')?.parse().ok()?;
    let whole = |text: &str| text.parse::<u32>().ok().map(f64::from);
    let minutes = 60.0 * whole(hours)? + whole(minutes)?;
    Some(clock(1000.0 * (60.0 * minutes + seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ChunkSource, Format, OpenOptions, open};

    fn fixture(name: &str) -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/cells");
        format!("{folder}/{name}")
    }

    /// Names, what became of them, and the numbers of all rows.
    fn all(path: &str) -> (Vec<String>, String, Vec<f64>) {
        let mut source = open(path, &OpenOptions::default()).expect("opens");
        source.settle(true, &mut |_| true).expect("a schema");
        let chunk = source.next_chunk(100).expect("reads").expect("rows");
        let fields = source.schema().expect("of text").features().iter();
        let became: Vec<String> = fields.map(ToString::to_string).collect();
        let values = chunk.x.into_f64().into_iter().collect();
        (
            source.column_names().expect("names"),
            became.join("; "),
            values,
        )
    }

    /// A sheet is what its .csv is: numbers, texts, amounts, truth values, dates and times.
    #[test]
    fn sheets_are_read_as_their_csv() {
        let expected = all(&fixture("flats.csv"));
        for name in ["flats.xlsx", "flats.xlsx#Flats", "flats.ods"] {
            assert_eq!(all(&fixture(name)), expected, "{name}");
        }
    }

    /// The second sheet has a title, a blank column and numbers alone behind its names.
    #[test]
    fn a_sheet_is_named_and_errors_name_its_rows() {
        let path = fixture("flats.xlsx#Prices 2024");
        let mut options = OpenOptions::default();
        options.layout.skip_rows = 2;
        let mut prices = open(&path, &options).expect("opens");
        assert_eq!(prices.column_names().expect("names"), ["a", "b"]);
        let chunk = prices.next_chunk(9).expect("reads").expect("rows");
        assert_eq!(
            chunk.x.into_f64().into_raw_vec_and_offset().0,
            [1.0, 2.5, 3.0, 4.0]
        );
        options.layout.header = Header::No;
        let mut rows = open(&path, &options).expect("opens");
        let said = rows
            .next_chunk(9)
            .expect_err("names among numbers")
            .to_string();
        assert!(
            said.contains("#Prices 2024: row 3 of the sheet, column \"0\""),
            "{said}"
        );
        let refuse = |name: &str| {
            let error = open(fixture(name), &OpenOptions::default()).err();
            error.expect("refused").to_string()
        };
        let said = refuse("flats.xlsx#Nowhere");
        assert!(
            said.contains("no sheet \"Nowhere\", but Flats, Prices 2024"),
            "{said}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let broken = folder.path().join("x.xlsx");
        std::fs::write(&broken, "a,b\n1,2\n").expect("writes");
        let error = open(&broken, &OpenOptions::default())
            .err()
            .expect("no book");
        assert!(error.to_string().contains("is no spreadsheet"), "{error}");
        assert_eq!(Format::from_path("a/b.xlsx#c.csv"), Some(Format::Excel));
    }

    /// A .xlsx of one sheet with these cells.
    fn book(folder: &Path, cells: &str) -> std::path::PathBuf {
        let path = folder.join("far.xlsx");
        let mut zip = zip::ZipWriter::new(File::create(&path).expect("a file"));
        let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
        let sheet =
            format!("<worksheet xmlns=\"{main}\"><sheetData>{cells}</sheetData></worksheet>");
        let list = |kind_of: &str, target: &str| {
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" \
                 Type=\"{kind}/{kind_of}\" Target=\"{target}\"/></Relationships>"
            )
        };
        let workbook = format!(
            "<workbook xmlns=\"{main}\" xmlns:r=\"{kind}\"><sheets><sheet name=\"S\" \
             sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
        );
        for (name, text) in [
            ("_rels/.rels", list("officeDocument", "xl/workbook.xml")),
            (
                "xl/_rels/workbook.xml.rels",
                list("worksheet", "worksheets/s.xml"),
            ),
            ("xl/workbook.xml", workbook),
            ("xl/worksheets/s.xml", sheet),
        ] {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(name, options).expect("a part");
            std::io::Write::write_all(&mut zip, text.as_bytes()).expect("writes");
        }
        zip.finish().expect("finishes");
        path
    }

    fn cell(place: &str) -> String {
        format!("<c r=\"{place}\"><v>1</v></c>")
    }

    /// Corners of the largest sheet: two rows of two columns, and not what lies between.
    #[test]
    fn cells_far_apart_take_no_room_between_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let row = |row: &str, cells: &str| format!("<row r=\"{row}\">{cells}</row>");
        let last = row("1048576", &(cell("A1048576") + &cell("XFD1048576")));
        let path = book(
            folder.path(),
            &(row("1", &(cell("A1") + &cell("XFD1"))) + &last),
        );
        let mut options = OpenOptions::default();
        options.layout.header = Header::No;
        let mut source = open(&path, &options).expect("opens");
        let chunk = source.next_chunk(9).expect("reads").expect("rows");
        assert_eq!(chunk.x.into_f64(), ndarray::array![[1.0, 1.0], [1.0, 1.0]]);
    }

    /// Each row with a column of its own makes a table of their product, and a packed part of zeros
    /// a thousand times the bytes of its file.
    #[test]
    fn small_files_of_large_tables_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |column: usize| {
            let letter = |k: usize| char::from(b'A' + (k % 26) as u8);
            String::from_iter([letter(column / 676), letter(column / 26), letter(column)])
        };
        let diagonal: String = (1..4_000)
            .map(|k| format!("<row r=\"{k}\">{}</row>", cell(&format!("{}{k}", name(k)))))
            .collect();
        for cells in [diagonal, " ".repeat(80 << 20)] {
            let path = book(folder.path(), &cells);
            let error = open(&path, &OpenOptions::default()).err().expect("refused");
            let said = error.to_string();
            assert!(said.contains("asks for more than"), "{said}");
        }
    }
}
