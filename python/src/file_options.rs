//! What Python says of the cells and the lines of a file, told to the file.

use bochner::{Result, data::DataFile};

/// What stands for missing values, columns of categories that look like numbers and of numbers that
/// look like codes, most categories of a column, the column of weights, the marks of numbers, the
/// format of dates, what stands for no value, whether all columns are kept, what dates become, and
/// columns by the target and of words.
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

/// What separates columns, whether the first row holds names, lines that are skipped, what begins
/// comments, the encoding, and whether rows without a target are left out.
pub(crate) type Lines = (
    Option<char>,
    String,
    usize,
    Option<String>,
    Option<String>,
    bool,
);

/// The file, whose cells are read so.
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

/// The file, whose lines are laid out so.
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
