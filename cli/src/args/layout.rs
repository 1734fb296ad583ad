//! How the lines of a table of text are laid out.

use super::values::{delimiter, whole};
use bochner::{
    data::{Header, Layout, TextEncoding},
    job::Settings,
};
use clap::Args;

/// What the first lines of a .csv do not tell.
#[derive(Debug, Clone, Args)]
pub(crate) struct LayoutArgs {
    /// What separates the columns of a .csv: a character or `tab` [default: what a first line
    /// `sep=;` names, or what the line of the names has most of]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// Whether the first line of a .csv holds the names of its columns: yes, no (they are called
    /// 0, 1 and so on), or `auto`, which takes a line of numbers alone for data
    #[arg(long, value_name = "WHETHER", default_value_t, value_parser = str::parse::<Header>)]
    header: Header,
    /// So many lines at the beginning of a .csv are no rows: titles. Empty ones count
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<usize>)]
    skip_rows: usize,
    /// Lines of a .csv that begin with this text are no rows, wherever they stand [default: lines
    /// of # in front of the names are none]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    comment: Option<String>,
    /// How the characters of a .csv are written: utf-8, utf-16, windows-1252, latin-1 or another
    /// that browsers read [default: UTF-16 where its first bytes say so, else UTF-8, and what is no
    /// UTF-8 in Windows-1252]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<TextEncoding>)]
    encoding: Option<TextEncoding>,
}

impl LayoutArgs {
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            delimiter: self.delimiter,
            header: self.header,
            skip_rows: self.skip_rows,
            comment: self.comment.clone(),
            encoding: self.encoding,
        }
    }

    /// What is given of it, as a job says it.
    pub(super) fn said(&self, settings: Settings) -> Settings {
        let delimiter = self.delimiter.map(|mark| match mark {
            '\t' => "tab".to_owned(),
            mark => mark.to_string(),
        });
        let header = (self.header != Header::default()).then(|| self.header.to_string());
        let skip_rows = (self.skip_rows > 0).then(|| self.skip_rows.to_string());
        let all = [
            ("delimiter", delimiter),
            ("header", header),
            ("skip-rows", skip_rows),
            ("comment", self.comment.clone()),
            ("encoding", self.encoding.as_ref().map(ToString::to_string)),
        ];
        let given = all
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        given.fold(settings, |settings, (name, value)| {
            settings.text(name, value)
        })
    }
}
