//! Choices among equals that were made by measuring on this adapter: in memory, and on disk for the
//! next process.

use super::{AdapterReport, lock};
use crate::device::cache::Cache;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Mutex,
};

/// The name of the cached file.
const NAME: &str = "tiles";

/// What was chosen for each class of work on one adapter and driver, both named by text: nothing
/// here knows what they mean.
#[derive(Debug)]
pub(crate) struct Choices {
    cache: Cache,
    /// Adapter and driver.
    key: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `None` until the disk was looked at.
    chosen: Option<BTreeMap<String, String>>,
    /// Operations done in each class, and the classes that somebody has begun to measure.
    work: HashMap<String, f64>,
    begun: BTreeSet<String>,
    /// Taken instead of every choice.
    forced: Option<String>,
}

impl Choices {
    pub(super) fn new(cache: Cache, report: &AdapterReport) -> Self {
        Self {
            cache,
            key: format!("{}; {}; {}", report.name, report.backend, report.driver),
            state: Mutex::default(),
        }
    }

    /// What was chosen for a class, in this process or an earlier one.
    pub(crate) fn get(&self, class: &str) -> Option<String> {
        let mut state = lock(&self.state);
        let chosen = state.chosen.get_or_insert_with(|| self.load());
        chosen.get(class).cloned()
    }

    /// Every choice.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        let mut state = lock(&self.state);
        state.chosen.get_or_insert_with(|| self.load()).clone()
    }

    /// Keeps a choice, beside those that other processes have stored meanwhile.
    pub(crate) fn set(&self, class: &str, choice: &str) {
        let mut state = lock(&self.state);
        let chosen = state.chosen.get_or_insert_with(BTreeMap::new);
        chosen.extend(self.load());
        chosen.insert(class.to_owned(), choice.to_owned());
        let lines = chosen
            .iter()
            .map(|(class, choice)| format!("{class}\t{choice}\n"));
        let text: String = lines.collect();
        self.cache.store(NAME, &self.key, text.as_bytes());
    }

    /// Adds to the work of a class; true for the one caller that finds it to be `enough` and should
    /// measure now.
    pub(crate) fn worked(&self, class: &str, operations: f64, enough: f64) -> bool {
        let mut state = lock(&self.state);
        let work = state.work.entry(class.to_owned()).or_insert(0.0);
        *work += operations;
        *work >= enough && state.begun.insert(class.to_owned())
    }

    /// Takes one choice for all classes that know it, or none again.
    pub(crate) fn force(&self, choice: Option<String>) {
        lock(&self.state).forced = choice;
    }

    /// What [`Self::force`] was given.
    pub(crate) fn forced(&self) -> Option<String> {
        lock(&self.state).forced.clone()
    }

    fn load(&self) -> BTreeMap<String, String> {
        let bytes = self.cache.load(NAME, &self.key).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        pairs
            .map(|(class, choice)| (class.to_owned(), choice.to_owned()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::gpu::AdapterKind;
    use std::{fs, path::Path};

    fn choices(folder: &Path, driver: &str) -> Choices {
        let report = AdapterReport {
            name: "adapter".into(),
            kind: AdapterKind::Discrete,
            driver: driver.into(),
            backend: "Vulkan".into(),
            max_binding_bytes: 0,
            workgroup_bytes: 0,
            workgroup_invocations: 0,
            subgroup: (32, 32),
            refusal: None,
        };
        Choices::new(Cache::at(folder), &report)
    }

    #[test]
    fn choices_outlive_the_process_for_their_driver_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = choices(folder.path(), "1.0");
        let other = choices(folder.path(), "1.0");
        assert_eq!(other.get("a"), None);
        first.set("a", "x");
        // Another process that had looked before.
        other.set("b", "y");
        let next = choices(folder.path(), "1.0");
        assert_eq!(next.get("a").as_deref(), Some("x"));
        assert_eq!(next.get("b").as_deref(), Some("y"));
        assert_eq!(next.all().len(), 2);
        assert_eq!(choices(folder.path(), "1.1").get("a"), None);
    }

    #[test]
    fn a_damaged_file_counts_as_absent_and_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        choices(folder.path(), "1.0").set("a", "x");
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap();
        let path = path.unwrap().path();
        for damage in [&b"nonsense"[..], &[], &[0xff; 400]] {
            fs::write(&path, damage).unwrap();
            let fresh = choices(folder.path(), "1.0");
            assert_eq!(fresh.get("a"), None);
            fresh.set("a", "z");
            assert_eq!(choices(folder.path(), "1.0").get("a").as_deref(), Some("z"));
        }
    }

    #[test]
    fn one_caller_measures_once_enough_was_done() {
        let folder = tempfile::tempdir().unwrap();
        let choices = choices(folder.path(), "1.0");
        let asked = [6.0, 6.0, 6.0].map(|work| choices.worked("a", work, 10.0));
        assert_eq!(asked, [false, true, false]);
        assert!(!choices.worked("b", 6.0, 10.0));
    }
}
