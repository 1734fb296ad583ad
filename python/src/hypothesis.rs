//! Tests of two samples, of independence and of conditional independence.

use crate::{
    arrays::Table,
    calls::{Interrupt, device, interrupted, without_gil},
    options::{Options, Prepared},
    views::{Source, TableView},
};
use bochner::{
    Error, Result, Run,
    data::{Chunk, ChunkSource, Rows},
    features::{Form, Fourier},
    hypothesis::{
        ConditionalIndependence, ConditionalOptions, Independence, Null, Outcome, TwoSample,
        Variant,
    },
    kernels::Gaussian,
    models::{Learner, RowsAlone},
};
use ndarray::{Array2, Axis, concatenate};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Statistic, p-value and other figures, by name.
type Found = BTreeMap<&'static str, f64>;

fn found(outcome: Outcome) -> Found {
    [
        ("statistic", outcome.statistic),
        ("pvalue", outcome.p_value),
    ]
    .into()
}

/// Tables of the same rows, the columns of one after those of another.
struct Beside<'a> {
    parts: Vec<TableView<'a>>,
    stop: Arc<AtomicBool>,
    next: usize,
}

impl Beside<'_> {
    /// The columns of each part.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut from = 0;
        let group = |part: &TableView<'_>| {
            let own: Range<usize> = from..from + part.columns();
            from = own.end;
            own.collect()
        };
        self.parts.iter().map(group).collect()
    }
}

impl ChunkSource for Beside<'_> {
    fn columns(&self) -> usize {
        self.parts.iter().map(TableView::columns).sum()
    }
    fn targets(&self) -> usize {
        0
    }
    fn rows(&self) -> Option<usize> {
        self.parts.first().map(TableView::rows)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(interrupted());
        }
        let all = self.rows().unwrap_or(0);
        let rows = self.next..all.min(self.next.saturating_add(max_rows));
        if rows.is_empty() {
            return Ok(None);
        }
        self.next = rows.end;
        let part = |view: &TableView<'_>| view.part(rows.clone()).map(Rows::into_f64);
        let parts = self.parts.iter().map(part).collect::<Result<Vec<_>>>()?;
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        let x = concatenate(Axis(1), &views).map_err(|e| Error::shape(e.to_string()))?;
        Ok(Some(Chunk {
            x: Rows::F64(x),
            y: Array2::zeros((rows.len(), 0)),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
    // Python has looked already.
    fn is_checked(&self) -> bool {
        true
    }
}

/// What all tests take: map, scales, where they run.
struct Setting {
    prepared: Prepared,
    device: String,
    memory: u64,
    null: Option<Null>,
}

impl Setting {
    fn read(options: &Options<'_, '_>) -> PyResult<Self> {
        let permutations: Option<usize> = options.get("permutations")?;
        Ok(Self {
            prepared: Prepared::read(options)?,
            device: options.need("device")?,
            memory: options.get("memory")?.unwrap_or(Run::DEFAULT_MEMORY),
            null: permutations.map(|n| match n {
                0 => Null::Asymptotic,
                n => Null::Permutation(n),
            }),
        })
    }

    fn on<O: Default>(&self, interrupt: &Interrupt) -> Result<Learner<O, RowsAlone>> {
        let hear = interrupt.hear();
        Ok(Learner::on(self.prepared.spec.clone())
            .bandwidth(self.prepared.bandwidth.clone())
            .standardize(self.prepared.standardize)
            .seed(self.prepared.spec.seed)
            .device(&device(&self.device)?)
            .memory(self.memory)
            .progress(move |_| hear()))
    }
}

/// Whether the rows of `a` and of `b` come from one law.
#[pyfunction]
pub(crate) fn two_sample(
    py: Python<'_>,
    a: Table<'_>,
    b: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let setting = Setting::read(&Options(options))?;
    let (a, b) = (a.view()?, b.view()?);
    without_gil(py, |interrupt| {
        let mut test: TwoSample = setting.on(interrupt)?;
        if let Some(null) = setting.null {
            test = test.null(null);
        }
        let mut a = Source::new(a, interrupt.flag());
        let mut b = Source::new(b, interrupt.flag());
        let outcome = test.test_sources(&mut a, &mut b)?;
        let mut all = found(outcome.outcome);
        all.extend([("biased", outcome.biased), ("unbiased", outcome.unbiased)]);
        Ok(all)
    })
}

/// Whether rows of `x` are independent of those of `y`.
#[pyfunction]
pub(crate) fn independence(
    py: Python<'_>,
    x: Table<'_>,
    y: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let setting = Setting::read(&Options(options))?;
    let parts = vec![x.view()?, y.view()?];
    without_gil(py, |interrupt| {
        let mut test: Independence = setting.on(interrupt)?;
        if let Some(null) = setting.null {
            test = test.null(null);
        }
        let mut source = beside(parts, interrupt);
        let groups = source.groups();
        let outcome = test.test_columns(&mut source, &groups[0], &groups[1])?;
        let mut all = found(outcome.outcome);
        all.insert("hsic", outcome.hsic);
        Ok(all)
    })
}

/// Whether rows of `x` and of `y` are independent given those of `z`.
#[pyfunction]
pub(crate) fn conditional_independence(
    py: Python<'_>,
    x: Table<'_>,
    y: Table<'_>,
    z: Table<'_>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Found> {
    let options = Options(options);
    let setting = Setting::read(&options)?;
    let variant: String = options.need("variant")?;
    let variant = match variant.as_str() {
        "rcot" => Variant::Rcot,
        "rcit" => Variant::Rcit,
        other => {
            let problem = format!("variant is {other:?}; use 'rcot' or 'rcit'");
            return Err(PyValueError::new_err(problem));
        }
    };
    let outer: Option<usize> = options.get("n_outer")?;
    let parts = vec![x.view()?, y.view()?, z.view()?];
    without_gil(py, |interrupt| {
        let test: ConditionalIndependence = setting.on::<ConditionalOptions>(interrupt)?;
        let mut test = test.variant(variant);
        if let Some(features) = outer {
            let map = Fourier::new(Gaussian).form(Form::Phase).features(features);
            test = test.outer(map);
        }
        let mut source = beside(parts, interrupt);
        let groups = source.groups();
        let [x, y, z] = [&groups[0], &groups[1], &groups[2]].map(Vec::as_slice);
        Ok(found(test.test_columns(&mut source, [x, y, z])?.outcome))
    })
}

fn beside<'a>(parts: Vec<TableView<'a>>, interrupt: &Interrupt) -> Beside<'a> {
    Beside {
        parts,
        stop: interrupt.flag(),
        next: 0,
    }
}
