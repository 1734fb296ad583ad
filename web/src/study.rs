//! A table that a page looks at: a target is chosen, a fifth of the rows is held out, and fits
//! follow, each in steps between which the page may think of another one.

mod choice;
mod held;
mod look;
mod settled;
mod trial;

pub use trial::{Outcome, Surface, Trial};

use crate::{
    devices,
    errors::{thrown, wrong},
    options,
};
use bochner::{
    Device, Result, Run,
    data::{
        ChunkSource as _, ColumnChoice, CsvTable, Missing, OpenOptions, PageFile, Part, Split,
        Table as _, TableOptions, TargetUse, open,
    },
    features::{MapKind, MapSpec},
    job::Meaning,
    kernels::Gaussian,
    models::RidgeOptions,
    seed::Seed,
};
use choice::Choice;
use held::Held;
use settled::Settled;
use std::{cell::RefCell, collections::BTreeMap, rc::Rc, sync::Arc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// The share of the rows that is held out and scored.
const TEST: f64 = 0.2;

/// A .csv file in a page. `free` gives its memory back.
#[wasm_bindgen]
pub struct Table {
    _file: PageFile,
    name: String,
    columns: Vec<String>,
}

#[wasm_bindgen]
impl Table {
    /// Takes a file, packed or not. Throws an `Error` of one line where it is no table.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: Vec<u8>) -> std::result::Result<Self, JsValue> {
        // A pattern would stand for several files, of which a page has none.
        let name = name.replace(['*', '?'], "_");
        let file = PageFile::new(&name, bytes);
        let table = CsvTable::open(&name).map_err(|e| thrown(&e))?;
        Ok(Self {
            columns: table.names().to_vec(),
            name,
            _file: file,
        })
    }

    /// The names of its columns.
    #[wasm_bindgen(getter)]
    pub fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    /// Reads the rows for fits of one of its columns: what texts and gaps become is learnt of four
    /// fifths of the rows, and the others are held out, as `bochner fit --test 0.2 --missing
    /// indicator` does. `options.task` is `regression` or `classification`; else the target tells.
    pub fn study(
        &self,
        target: String,
        #[wasm_bindgen(unchecked_optional_param_type = "StudyOptions")] options: JsValue,
    ) -> std::result::Result<Study, JsValue> {
        let meaning = match options::text(&options, "task")?.as_deref() {
            None => None,
            Some("regression") => Some(Meaning::Amounts),
            Some("classification") => Some(Meaning::Labels),
            Some(other) => {
                let problem = format!("task {other:?} is neither regression nor classification");
                return Err(wrong(&problem));
            }
        };
        Study::read(&self.name, target, meaning).map_err(|e| thrown(&e))
    }
}

/// The rows of a table for fits of one target.
#[wasm_bindgen]
pub struct Study {
    name: String,
    target: String,
    train: Held,
    test: Held,
    meaning: Meaning,
    /// Whether the target alone says that.
    is_told: bool,
    settled: RefCell<BTreeMap<(String, String, u64), Rc<Settled>>>,
    /// Where rows are summed.
    device: Device,
}

impl Study {
    fn read(name: &str, target: String, meaning: Option<Meaning>) -> Result<Self> {
        let table = TableOptions {
            missing: Missing::Indicator,
            codes: true,
            ..TableOptions::default()
        };
        let options = OpenOptions {
            target: vec![target.clone()],
            target_use: TargetUse::Required,
            table,
            ..OpenOptions::default()
        };
        let part = |options: &OpenOptions, part| Split::new(open(name, options)?, part, TEST, 0);
        let mut train = part(&options, Part::Train)?;
        // Surveyed as every fit surveys them, so that columns become what they do there.
        let learner = RidgeOptions::default();
        let map = MapSpec::new(MapKind::Fourier.into(), Arc::new(Gaussian));
        let survey = settled::job(&learner, map, Seed(0)).survey(&mut train, &on_cpu())?;
        let guess = Meaning::guess(&survey, train.schema());
        let train = Held::of(&mut train)?;
        let known = train.schema().map(|schema| OpenOptions {
            columns: ColumnChoice::Known(Box::new(schema.clone())),
            same_rows: true,
            ..options.clone()
        });
        let test = Held::of(&mut part(known.as_ref().unwrap_or(&options), Part::Test)?)?;
        Ok(Self {
            name: name.to_owned(),
            target,
            train,
            test,
            is_told: meaning.is_none_or(|meaning| meaning == guess),
            meaning: meaning.unwrap_or(guess),
            settled: RefCell::default(),
            device: Device::cpu(),
        })
    }

    fn settle(&self, choice: &Choice) -> std::result::Result<Rc<Settled>, JsValue> {
        if choice.by_rule {
            return Ok(Rc::new(Settled::by_rule()));
        }
        if let Some(settled) = self.settled.borrow().get(&choice.basis()) {
            return Ok(settled.clone());
        }
        let (map, rows) = (choice.spec()?, &mut self.train.clone());
        let settled = Settled::of(rows, (choice, map), self.meaning, &on_cpu());
        let settled = Rc::new(settled.map_err(|e| thrown(&e))?);
        let mut all = self.settled.borrow_mut();
        all.insert(choice.basis(), settled.clone());
        Ok(settled)
    }

    /// The command that fits and scores the same.
    fn command(&self, choice: &Choice, settled: &Settled, lengthscales: &[f64]) -> String {
        let task = match (self.is_told, self.meaning) {
            (true, _) => "",
            (false, Meaning::Labels) => " --task classification",
            (false, _) => " --task regression",
        };
        let fields = self
            .train
            .schema()
            .map_or(&[][..], |schema| schema.features());
        let gaps = fields.iter().any(|field| field.has_indicator());
        let missing = if gaps { " --missing indicator" } else { "" };
        let (name, target) = (quoted(&self.name), quoted(&self.target));
        let words = choice.words(settled, lengthscales);
        format!("bochner fit {name} --target {target}{task}{missing} {words} --test {TEST}")
    }
}

#[wasm_bindgen]
impl Study {
    /// Rows that are fitted.
    #[wasm_bindgen(getter)]
    pub fn rows(&self) -> usize {
        self.train.len()
    }

    /// Rows that are held out.
    #[wasm_bindgen(getter, js_name = testRows)]
    pub fn test_rows(&self) -> usize {
        self.test.len()
    }

    /// What the target is taken for.
    #[wasm_bindgen(getter, unchecked_return_type = "'regression' | 'classification'")]
    pub fn task(&self) -> String {
        match self.meaning {
            Meaning::Labels => "classification".into(),
            _ => "regression".into(),
        }
    }

    /// Has fits that begin from here on featurize and sum on `cpu`, `gpu` or `auto`, as `load` has
    /// it, and tells where that is. What is chosen and solved runs on the CPU in any case.
    #[wasm_bindgen(js_name = useDevice)]
    pub async fn use_device(&mut self, name: String) -> std::result::Result<String, JsValue> {
        let (device, _) = devices::open(&name).await.map_err(|e| thrown(&e))?;
        self.device = device;
        Ok(devices::describe(&self.device))
    }

    /// Whether rows left out have chosen preparation and bandwidth of a kernel.
    #[wasm_bindgen(js_name = isPrepared)]
    pub fn is_prepared(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "TrialOptions")] options: JsValue,
    ) -> std::result::Result<bool, JsValue> {
        let choice = Choice::read(&options)?;
        Ok(self.settled.borrow().contains_key(&choice.basis()))
    }

    /// Lets rows left out choose preparation and bandwidth of a kernel, if they have not yet. Fits
    /// do so, too.
    pub fn prepare(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "TrialOptions")] options: JsValue,
    ) -> std::result::Result<(), JsValue> {
        self.settle(&Choice::read(&options)?).map(drop)
    }

    /// Begins a fit: the map is drawn.
    pub fn fit(
        &self,
        #[wasm_bindgen(unchecked_optional_param_type = "TrialOptions")] options: JsValue,
    ) -> std::result::Result<Trial, JsValue> {
        let choice = Choice::read(&options)?;
        let settled = self.settle(&choice)?;
        let (map, rows) = (choice.spec()?, &mut self.train.clone());
        let drawn = settled.draw(rows, (&choice, map), self.meaning, &on_cpu());
        let drawn = drawn.map_err(|e| thrown(&e))?;
        let command = self.command(&choice, &settled, &drawn.lengthscales);
        let rows = (self.train.clone(), self.test.clone());
        Ok(Trial::new(drawn, rows, command, &self.device))
    }
}

/// Where all runs but the sums, which end in a factorisation there.
fn on_cpu() -> Run {
    Run::on(&Device::cpu())
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-+=,/:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
