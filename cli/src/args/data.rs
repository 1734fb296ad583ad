//! Which rows and columns are read, and how.

use super::{
    LayoutArgs,
    values::{at_least_one, format},
};
use crate::{
    interrupt::Interruptible,
    names::{Names, names},
    report::{Report, Usage, counted},
};
use anyhow::Result;
use bochner::{
    Error,
    data::{
        Alike, ChunkSource, ColumnChoice, DateFormat, Dates, Format, Gaps, Missing, NanRows,
        OpenOptions, Schema, TableOptions, TargetUse, groups, open, parts, times,
    },
    job::Settings,
    models::LinearModel,
};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where the targets are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data options")]
pub(crate) struct DataArgs {
    /// Target column of a .csv; several in a comma list
    ///
    /// The option can stand several times, too. A name with a comma stands in double quotes, in
    /// this list as in the others.
    #[arg(long, value_name = "COLUMN", value_parser = names)]
    target: Vec<Names>,
    /// Targets of a .npy input: [rows] or [rows, targets]
    #[arg(long, value_name = "FILE.npy")]
    targets: Option<PathBuf>,
    /// Columns of a .csv that are features, instead of all that are no target
    ///
    /// They are taken in this order.
    #[arg(long, value_name = "COLUMN,..", value_parser = names, conflicts_with = "ignore")]
    columns: Vec<Names>,
    /// Columns of a .csv that are neither features nor targets and are not read
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    ignore: Vec<Names>,
    /// Fill missing values: auto, mean, median, indicator, error
    ///
    /// `auto` takes means, and adds an indicator column if missing values predict the target.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<Missing>)]
    missing: Missing,
    /// Texts that stand for no value, beside empty cells [default: those of pandas, as NA, N/A,
    /// NaN, None and null, and ?]
    #[arg(long, value_name = "TEXT,..", value_parser = names, allow_hyphen_values = true)]
    na: Option<Names>,
    /// Columns whose values are names of categories though they look like numbers or dates
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    categorical: Vec<Names>,
    /// Columns of numbers that are numbers, though some begin with 0 and all have as many digits,
    /// as codes have, or one word stands at each, as in R12.50 and No. 17
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    numeric: Vec<Names>,
    /// Whether columns are looked for that hold codes, which are no numbers.
    #[arg(skip = true)]
    pub(crate) codes: bool,
    /// A column of text becomes one column per category up to so many, and beyond it this many by
    /// hashing [default: 64]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    most_categories: Option<usize>,
    /// Columns whose texts become the mean of the target over their rows, smoothed and out of
    /// fold, and no others [default: those of more texts than --most-categories, where such means
    /// tell something of the target]
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    by_target: Vec<Names>,
    /// Columns whose texts become the words that they have, hashed, and no others [default: those
    /// of prose, of more texts than --most-categories, where words tell something of the target]
    #[arg(long, value_name = "COLUMN,..", value_parser = names)]
    words: Vec<Names>,
    /// Keep columns that only tell rows apart: a text of its own in each row, or a column called
    /// id, index and the like that counts them. Also keep copies of columns before them
    #[arg(long)]
    pub(crate) all_columns: bool,
    /// What stands before the fraction of numbers in text [default: a point, or a comma where all
    /// cells of a column allow that alone]
    #[arg(long, value_name = "CHAR")]
    decimal: Option<char>,
    /// What stands between groups of three digits of numbers in text: a comma, a point, a blank or
    /// an apostrophe [default: what all cells of a column allow]
    #[arg(long, value_name = "CHAR")]
    thousands: Option<char>,
    /// How dates are written that are not 2024-12-31: %d.%m.%Y, %m/%d/%Y, %d/%m/%y %H:%M and so on
    /// [default: what all cells of a column allow]
    #[arg(long, value_name = "FORMAT", value_parser = str::parse::<DateFormat>)]
    date_format: Option<DateFormat>,
    /// What dates become: `day`, their day as a number, or `parts`, also sine and cosine of their
    /// place in the year, the week and the day, where the column covers more than one [default:
    /// day]
    #[arg(long, value_name = "WHAT", value_parser = str::parse::<Dates>)]
    dates: Option<Dates>,
    /// The column that says what each row counts for, which `fit` has an option for.
    #[arg(skip)]
    pub(crate) weight: Option<String>,
    /// The column of groups of rows, likewise.
    #[arg(skip)]
    pub(crate) group: Option<String>,
    /// What the input is, where its name does not say: csv, libsvm, npy, npz, parquet, arrow,
    /// xlsx or sqlite
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: Option<Format>,
    #[command(flatten)]
    layout: LayoutArgs,
    /// For rows with values that are not finite: error, drop
    ///
    /// What becomes of rows in which a value is NaN, infinite, or missing where --missing lets
    /// nothing stand for it; `drop` leaves them out and counts them.
    #[arg(long, value_name = "WHAT", default_value_t, value_parser = str::parse::<NanRows>)]
    nan: NanRows,
    /// Leave out rows whose target is missing or not finite, and say how many
    #[arg(long)]
    drop_rows_without_target: bool,
    /// Where those are counted.
    #[arg(skip)]
    without_target: Gaps,
    /// Columns of a .libsvm, where its rows have not all of them [default: its largest index]
    #[arg(long, value_name = "D", value_parser = at_least_one)]
    width: Option<usize>,
    /// Indices of a .libsvm count from 0, and not from 1
    #[arg(long)]
    zero_based: bool,
}

impl DataArgs {
    /// The file of targets, which is read beside the input.
    pub(crate) fn targets(&self) -> Option<&Path> {
        self.targets.as_deref()
    }

    /// The names that `--columns` has, for a command that asks for other than features by it.
    pub(crate) fn take_columns(&mut self) -> Vec<String> {
        Names::flatten(&std::mem::take(&mut self.columns))
    }

    /// Whether targets are read that may be there: those that are named must be.
    pub(crate) fn target_use(&self) -> TargetUse {
        match (&self.target[..], &self.targets) {
            ([], None) => TargetUse::IfPresent,
            _ => TargetUse::Required,
        }
    }

    /// Opens a source; with targets required it must have some.
    pub(crate) fn open(&self, input: &Path, target_use: TargetUse) -> Result<Box<dyn ChunkSource>> {
        self.open_beside(input, self.targets.as_deref(), (target_use, None), None)
    }

    /// Opens rows for a model: columns by the names that it knows, or those that are asked for.
    pub(crate) fn open_for(
        &self,
        model: &LinearModel,
        input: &Path,
        target_use: TargetUse,
    ) -> Result<Box<dyn ChunkSource>> {
        if self.table() != TableOptions::default() {
            let problem = "--missing, --na, --categorical, --numeric, --most-categories, \
                           --by-target, --words, --all-columns, --decimal, --thousands, \
                           --date-format and --dates are for `fit`: a model reads files as its \
                           fit did";
            return Err(Usage(problem.into()).into());
        }
        let asked = self.choice();
        let columns = match (asked, &model.schema) {
            (ColumnChoice::All, _) => model.columns(),
            (_, Some(_)) => {
                let problem = "--columns and --ignore are for `fit`: this model takes its columns \
                               by their names";
                return Err(Usage(problem.into()).into());
            }
            (asked, None) => asked,
        };
        let width = Some(model.map.input_dim());
        let targets = self.targets.as_deref();
        let how = (target_use, Some(columns));
        match self.targets_of(model, input) {
            Some(target) => {
                let named = Self {
                    target,
                    ..self.clone()
                };
                named.open_beside(input, targets, how, width)
            }
            None => self.open_beside(input, targets, how, width),
        }
    }

    /// Opens two files as samples of one table.
    pub(crate) fn open_alike(&self, paths: [&Path; 2]) -> Result<Alike> {
        let options = OpenOptions {
            target_use: TargetUse::Ignored,
            ..self.options()
        };
        let Alike { sources, schema } = Alike::open(paths, &options)?;
        let sources = sources.map(|source| Box::new(Interruptible(source)) as _);
        Ok(Alike { sources, schema })
    }

    /// The targets of a model, for a table of which none are named.
    fn targets_of(&self, model: &LinearModel, input: &Path) -> Option<Vec<Names>> {
        let names = model.target_names.clone()?;
        let first = |files: Vec<PathBuf>| files.first().and_then(Format::from_path);
        let format = self.format.or_else(|| first(parts(input).ok()?));
        let table = format.is_none_or(Format::is_named);
        let unnamed = self.target.is_empty() && self.targets.is_none();
        (table && unnamed).then(|| vec![Names::from(names)])
    }

    /// The columns that are asked for.
    fn choice(&self) -> ColumnChoice {
        match (&self.columns[..], &self.ignore[..]) {
            ([], []) => ColumnChoice::All,
            ([], ignore) => ColumnChoice::AllBut(Names::flatten(ignore)),
            (columns, _) => ColumnChoice::These(Names::flatten(columns)),
        }
    }

    /// What becomes of rows with gaps.
    fn nan(&self) -> NanRows {
        match (&self.nan, self.drop_rows_without_target) {
            (NanRows::Error, true) => NanRows::DropWithoutTarget(self.without_target.clone()),
            (nan, _) => nan.clone(),
        }
    }

    /// The option that leaves rows out, if one does.
    pub(crate) fn drops_rows(&self) -> Option<&'static str> {
        match self.nan() {
            NanRows::Error => None,
            NanRows::DropWithoutTarget(_) => Some("--drop-rows-without-target"),
            NanRows::Drop(_) => Some("--nan drop"),
        }
    }

    /// Has it kept which rows are left out, for one output in the order of the file: theirs.
    pub(crate) fn list_gaps(&mut self) -> Option<Gaps> {
        let listed = self.nan.gaps().map(|_| Gaps::listed());
        if let Some(gaps) = &listed {
            self.nan = NanRows::Drop(gaps.clone());
        }
        listed
    }

    /// What was left out, where that was asked for.
    pub(crate) fn describe_gaps(&self, report: &mut Report) {
        describe_gaps(&self.nan(), report);
    }

    /// How cells are read.
    fn table(&self) -> TableOptions {
        let default = TableOptions::default();
        TableOptions {
            missing: self.missing,
            categorical: Names::flatten(&self.categorical),
            numeric: Names::flatten(&self.numeric),
            codes: self.codes,
            most_categories: self.most_categories.unwrap_or(default.most_categories),
            by_target: (!self.by_target.is_empty()).then(|| Names::flatten(&self.by_target)),
            words: (!self.words.is_empty()).then(|| Names::flatten(&self.words)),
            weight: self.weight.clone(),
            group: self.group.clone(),
            decimal: self.decimal,
            thousands: self.thousands,
            date_format: self.date_format.clone(),
            dates: self.dates,
            na: self
                .na
                .as_ref()
                .map(|texts| Names::flatten(std::slice::from_ref(texts))),
            all_columns: self.all_columns,
        }
    }

    /// How the input is read where nothing else is asked for.
    fn options(&self) -> OpenOptions {
        OpenOptions {
            format: self.format,
            targets: self.targets.clone(),
            target: Names::flatten(&self.target),
            target_use: TargetUse::Required,
            columns: self.choice(),
            table: self.table(),
            layout: self.layout.layout(),
            nan: self.nan(),
            width: self.width,
            zero_based: self.zero_based,
            same_rows: false,
        }
    }

    /// What is given of the file and its rows, as a job says it: how cells are read a model keeps
    /// beside its columns.
    pub(crate) fn said(&self) -> Settings {
        let settings = self.layout.said(Settings::default());
        let settings = match &self.group {
            Some(group) => settings.text("group", group),
            None => settings,
        };
        let settings = match self.nan {
            NanRows::Error => settings,
            NanRows::Drop(_) | NanRows::DropWithoutTarget(_) => settings.text("nan", "drop"),
        };
        settings
            .flag("drop-rows-without-target", self.drop_rows_without_target)
            .flag("weighted", self.weight.is_some())
    }

    /// The group of each row, by the column of groups.
    pub(crate) fn groups(&self, input: &Path) -> Result<Vec<u32>> {
        Ok(groups(input, &self.options())?)
    }

    /// The time of each row, by this column.
    pub(crate) fn times(&self, input: &Path, column: &str) -> Result<Vec<f64>> {
        Ok(times(input, column, &self.options())?)
    }

    /// As [`Self::open`], with another file of targets, columns by their names instead of those
    /// that were asked for, and of so many columns, where the file does not say.
    pub(crate) fn open_beside(
        &self,
        input: &Path,
        targets: Option<&Path>,
        (target_use, columns): (TargetUse, Option<ColumnChoice>),
        width: Option<usize>,
    ) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            targets: targets.map(Path::to_owned),
            target_use,
            columns: columns.unwrap_or_else(|| self.choice()),
            width: width.or(self.width),
            ..self.options()
        };
        self.opened(input, &options)
    }

    /// Opens the rows that a schema was learnt from once more: the same rows, by that schema.
    pub(crate) fn open_again(&self, input: &Path, schema: &Schema) -> Result<Box<dyn ChunkSource>> {
        let options = OpenOptions {
            columns: ColumnChoice::Known(Box::new(schema.clone())),
            same_rows: true,
            ..self.options()
        };
        self.opened(input, &options)
    }

    /// Opens rows that are counted, and of which nothing is learnt: what is said of texts and
    /// dates is said of those of the fit.
    pub(crate) fn open_to_count(&self, input: &Path) -> Result<Box<dyn ChunkSource>> {
        let mut options = self.options();
        let table = &mut options.table;
        table.dates.get_or_insert(Dates::Day);
        table.by_target.get_or_insert_default();
        table.words.get_or_insert_default();
        self.opened(input, &options)
    }

    fn opened(&self, input: &Path, options: &OpenOptions) -> Result<Box<dyn ChunkSource>> {
        let source = open(input, options)?;
        if options.target_use == TargetUse::Required && source.targets() == 0 {
            let first = |files: Vec<PathBuf>| files.first().and_then(Format::from_path);
            let named = || parts(input).ok().and_then(first);
            let remedy = match self.format.or_else(named) {
                None if input == Path::new("-") => "name a column with --target COLUMN",
                Some(format) if format.is_named() => "name a column with --target COLUMN",
                Some(Format::Npz) => "save them in it as array y",
                _ => "give them with --targets FILE.npy (--test-targets for a test input)",
            };
            return Err(Error::data(input, format!("has no targets; {remedy}")).into());
        }
        Ok(Box::new(Interruptible(source)))
    }
}

/// What was left out, where that was asked for.
pub(crate) fn describe_gaps(nan: &NanRows, report: &mut Report) {
    if let Some(gaps) = nan.gaps() {
        let dropped = gaps.dropped();
        report.set("rows_dropped", dropped);
        let rows = counted(dropped, "row");
        let why = match nan {
            NanRows::DropWithoutTarget(_) => "without a target",
            NanRows::Drop(_) | NanRows::Error => "with values that are missing or not finite",
        };
        report.line("dropped", format!("{rows} {why}"));
    }
}
