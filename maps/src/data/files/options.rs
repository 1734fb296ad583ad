//! How a file is opened.

use super::{ColumnChoice, Format, Header, Layout, NanRows, TableOptions, TargetUse};
use std::path::{Path, PathBuf};

/// Where [`open`](super::open) finds the targets. The default: array `y` of a .npz archive, none
/// elsewhere.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// What the file is; `None`: what its name says.
    pub format: Option<Format>,
    /// For .npy: the file of the targets.
    pub targets: Option<PathBuf>,
    /// For .csv: the columns that are targets, by name, in this order.
    pub target: Vec<String>,
    /// For .csv: whether the target columns must be there.
    pub target_use: TargetUse,
    /// For .csv: which of the other columns are features.
    pub columns: ColumnChoice,
    /// For .csv: how it is laid out, as far as its first lines do not tell.
    pub layout: Layout,
    /// For .libsvm: number of feature columns; `None`: the largest index of the file. A model
    /// predicts rows of as many as it was fitted on.
    pub width: Option<usize>,
    /// For .libsvm: whether indices count from 0, and not from 1.
    pub zero_based: bool,
    /// What becomes of rows with values that are missing or not finite.
    pub nan: NanRows,
    /// For .csv: how cells are read that are no numbers.
    pub table: TableOptions,
    /// Whether the rows are to be those that a known schema was learnt from: then rows are left
    /// out, too, for gaps in columns that the schema leaves out, so that each has the number that
    /// it had then.
    pub same_rows: bool,
}

impl OpenOptions {
    /// The format of a file: what is asked for, or what its name says.
    pub(in crate::data) fn format_of(&self, path: &Path) -> Option<Format> {
        self.format.or_else(|| Format::from_path(path))
    }

    /// Errors with what is wrong unless a file of this format can have all of this.
    pub(in crate::data) fn check(
        &self,
        format: Format,
        extension: &str,
    ) -> std::result::Result<(), String> {
        let remedy = match format {
            Format::Npz => "save the targets as array y",
            Format::Npy => "give a targets file",
            Format::Libsvm => "the labels are what each line begins with",
            _ => "name a target column",
        };
        if self.targets.is_some() && !matches!(format, Format::Npy | Format::Npz) {
            return Err(format!(
                "a targets file goes with .npy, not with .{extension}; {remedy}"
            ));
        }
        if format == Format::Libsvm && self.nan.gaps().is_some() {
            return Err(format!(
                "rows with missing values are to be left out, and .{extension} has none; remove the \
                 lines"
            ));
        }
        if format != Format::Csv {
            self.check_no_layout(format, extension)?;
        }
        if format.is_named() {
            return Ok(());
        }
        if !self.target.is_empty() {
            return Err(format!(
                "a target column is named, but .{extension} has no column names; {remedy}"
            ));
        }
        let named = matches!(
            self.columns,
            ColumnChoice::These(_) | ColumnChoice::AllBut(_)
        );
        if named {
            return Err(format!(
                "columns are named, but .{extension} has no column names; save it without the \
                 others"
            ));
        }
        if !self.table.is_usual() {
            return Err(format!(
                "missing values, categories, weights, groups or times are asked for, and \
                 .{extension} has numbers alone; leave them out"
            ));
        }
        Ok(())
    }

    /// Errors with what is wrong where something is said of the lines of a file that is no table of
    /// text. A sheet has rows above its names, and names or none.
    fn check_no_layout(&self, format: Format, extension: &str) -> std::result::Result<(), String> {
        let is_sheet = format == Format::Excel;
        let Layout {
            delimiter,
            header,
            skip_rows,
            comment,
            encoding,
        } = &self.layout;
        if delimiter.is_some() {
            return Err(format!(
                "a delimiter is given, which .{extension} does not have; leave it out"
            ));
        }
        if *header != Header::Auto && !is_sheet {
            return Err(format!(
                "it is said whether the first line holds names, and .{extension} has none; leave \
                 that out"
            ));
        }
        let what = match () {
            () if *skip_rows > 0 && !is_sheet => "rows to skip",
            () if comment.is_some() => "comments",
            () if encoding.is_some() => "an encoding",
            () => return Ok(()),
        };
        Err(format!(
            "{what} are said of tables of text, and .{extension} is none; leave that out"
        ))
    }
}
