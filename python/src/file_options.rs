//! Options of `bochner.scan` for cells and lines, applied to a file.

use bochner::{Result, data::DataFile};

/// Options for cells, in the order of `bochner.scan`: imputation; categorical and numeric columns;
/// maximum number of categories; weight column; decimal and thousands separators; date format;
/// texts for missing values; whether all columns are kept; encoding of dates; and columns for
/// target encoding and for bags of words.
pub(crate) type Cells = (
    String,
    (Vec<String>, Vec<String>),
    usize,
    Option<String>,
    Option<char>,
    Option<char>,
    Option<String>,
    Option<Vec<String>>,
    bool,
    Option<String>,
    (Option<Vec<String>>, Option<Vec<String>>),
);

/// Options for lines: delimiter, header, number of lines to skip, comment prefix, encoding, and
/// whether to drop rows without a target.
pub(crate) type Lines = (
    Option<char>,
    String,
    usize,
    Option<String>,
    Option<String>,
    bool,
);

/// Applies options for cells.
pub(crate) fn with_cells(mut file: DataFile, cells: &Cells) -> Result<DataFile> {
    let (missing, named, most, weight, decimal, thousands, date, na, all, dates, texts) = cells;
    file = file.missing(missing.parse()?).most_categories(*most);
    for column in &named.0 {
        file = file.categorical(column);
    }
    for column in &named.1 {
        file = file.numeric(column);
    }
    if let Some(weight) = weight {
        file = file.weight(weight);
    }
    if let Some(decimal) = decimal {
        file = file.decimal(*decimal);
    }
    if let Some(thousands) = thousands {
        file = file.thousands(*thousands);
    }
    if let Some(date) = date {
        file = file.date_format(date.parse()?);
    }
    if let Some(dates) = dates {
        file = file.dates(dates.parse()?);
    }
    let (by_target, words) = texts;
    if let Some(columns) = by_target {
        file = file.by_target(&borrowed(columns));
    }
    if let Some(columns) = words {
        file = file.words(&borrowed(columns));
    }
    if *all {
        file = file.all_columns();
    }
    if let Some(na) = na {
        file = file.na(&borrowed(na));
    }
    Ok(file)
}

/// Applies options for lines.
pub(crate) fn with_lines(mut file: DataFile, lines: &Lines) -> Result<DataFile> {
    let (delimiter, header, skip_rows, comment, encoding, drop) = lines;
    file = file.header(header.parse()?).skip_rows(*skip_rows);
    if let Some(delimiter) = delimiter {
        file = file.delimiter(*delimiter);
    }
    if let Some(comment) = comment {
        file = file.comment(comment);
    }
    if let Some(encoding) = encoding {
        file = file.encoding(encoding.parse()?);
    }
    Ok(if *drop {
        file.drop_rows_without_target()
    } else {
        file
    })
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
