//! How a text file of columns is laid out, as far as somebody says so.

use super::Header;
use crate::data::TextEncoding;
use crate::error::{Error, Result};

/// What of a file of separated columns is not left to its first lines to tell.
///
/// ```
/// use bochner::data::{CsvTable, Layout, Table};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("sales.csv");
/// std::fs::write(&path, "Sales of 2024\n\nsize;city\n50;Bern\n* checked\n20;Basel\n").unwrap();
/// let layout = Layout { skip_rows: 2, comment: Some("*".into()), ..Layout::default() };
/// let mut sales = CsvTable::open_with(&path, &layout)?;
/// assert_eq!(sales.names(), ["size", "city"]);
/// assert_eq!(sales.next_batch(9)?.map(|batch| batch.rows), Some(2));
/// # Ok::<(), bochner::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// What separates columns, one character of ASCII. `None`: what a first line `sep=;` names, or
    /// else what the line of the names has most of, among comma, tab, semicolon and vertical bar.
    /// A blank stands for any number of blanks.
    pub delimiter: Option<char>,
    /// Whether the first row holds names.
    pub header: Header,
    /// Lines at the beginning of the file that are no rows: titles. Empty ones count.
    pub skip_rows: usize,
    /// What lines begin with that are no rows, wherever they stand. `None`: lines of `#` in front
    /// of the first row are none, unless they have as many cells as the row that follows.
    pub comment: Option<String>,
    /// How characters are written. `None`: UTF-16 where its mark is at the beginning, else UTF-8,
    /// and names and cells that are none in Windows-1252.
    pub encoding: Option<TextEncoding>,
}

impl Layout {
    /// The delimiter as it stands in the file.
    pub(super) fn delimiter_byte(&self) -> Result<Option<u8>> {
        let Some(delimiter) = self.delimiter else {
            return Ok(None);
        };
        match separates(delimiter) {
            Some(byte) => Ok(Some(byte)),
            None => Err(Error::parameter(format!(
                "{delimiter:?} cannot separate columns; take one character of ASCII that numbers \
                 do not have, such as a comma or a tab"
            ))),
        }
    }

    /// What begins comments as it stands in the file; empty where there are none.
    pub(super) fn comment_bytes(&self) -> Result<Vec<u8>> {
        let Some(comment) = &self.comment else {
            return Ok(Vec::new());
        };
        if comment.trim().is_empty() || comment.contains(['"', '\r', '\n']) {
            Err(Error::parameter(format!(
                "{comment:?} cannot begin comments; take a text such as # without quotes and line \
                 breaks"
            )))
        } else {
            Ok(comment.clone().into_bytes())
        }
    }
}

/// A delimiter of one byte that is none of a number's and ends no line.
pub(super) fn separates(delimiter: char) -> Option<u8> {
    let byte = u8::try_from(delimiter).ok()?;
    let is_one = byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n+-.".contains(&byte);
    is_one.then_some(byte)
}
