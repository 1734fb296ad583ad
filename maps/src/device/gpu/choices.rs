//! Choices among equals that were made by measuring on this adapter: in memory, and on disk for the
//! next process.

use super::{AdapterReport, lock};
use crate::device::cache::Cache;
use std::{collections::BTreeMap, sync::Mutex};

/// The name of the cached file.
const NAME: &str = "tiles";

/// What was chosen for each class of work of each op, on one adapter and driver, all named by text:
/// nothing here knows what the names mean.
#[derive(Debug)]
pub(crate) struct Choices {
    cache: Cache,
    /// Adapter and driver.
    key: String,
    state: Mutex<State>,
}

/// Choices by op and class.
type Chosen = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Debug, Default)]
struct State {
    /// `None` until the disk was looked at.
    chosen: Option<Chosen>,
    /// Taken instead of every choice.
    forced: Option<String>,
}

fn look<'a>(chosen: &'a Chosen, op: &str, class: &str) -> Option<&'a str> {
    chosen.get(op)?.get(class).map(String::as_str)
}

impl Choices {
    pub(super) fn new(cache: Cache, report: &AdapterReport) -> Self {
        Self {
            cache,
            key: format!("{}; {}; {}", report.name, report.backend, report.driver),
            state: Mutex::default(),
        }
    }

    /// What `named` makes of the forced choice, else of the one for a class.
    pub(crate) fn find<T>(
        &self,
        op: &str,
        class: &str,
        named: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let mut state = lock(&self.state);
        let forced = state.forced.as_deref().and_then(&named);
        forced.or_else(|| {
            let chosen = state.chosen.get_or_insert_with(|| self.load());
            look(chosen, op, class).and_then(named)
        })
    }

    /// What was chosen for a class, in this process or an earlier one.
    pub(crate) fn get(&self, op: &str, class: &str) -> Option<String> {
        let mut state = lock(&self.state);
        let chosen = state.chosen.get_or_insert_with(|| self.load());
        look(chosen, op, class).map(str::to_owned)
    }

    /// Keeps a choice, beside those that other processes have stored meanwhile.
    pub(crate) fn set(&self, op: &str, class: &str, choice: &str) {
        let mut state = lock(&self.state);
        let chosen = state.chosen.get_or_insert_default();
        for (op, classes) in self.load() {
            chosen.entry(op).or_default().extend(classes);
        }
        let classes = chosen.entry(op.to_owned()).or_default();
        classes.insert(class.to_owned(), choice.to_owned());
        let mut text = String::new();
        for (op, classes) in chosen {
            for (class, choice) in classes {
                text.push_str(&format!("{op} {class}\t{choice}\n"));
            }
        }
        self.cache.store(NAME, &self.key, text.as_bytes());
    }

    /// Takes one choice for all classes that know it, or none again.
    pub(crate) fn force(&self, choice: Option<String>) {
        lock(&self.state).forced = choice;
    }

    /// What [`Self::force`] was given.
    pub(crate) fn forced(&self) -> Option<String> {
        lock(&self.state).forced.clone()
    }

    fn load(&self) -> Chosen {
        let bytes = self.cache.load(NAME, &self.key).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut chosen = Chosen::new();
        for line in text.lines() {
            // "op class\tchoice"; the name of a class has a space too.
            let Some((work, choice)) = line.split_once('\t') else {
                continue;
            };
            if let Some((op, class)) = work.split_once(' ') {
                let classes = chosen.entry(op.to_owned()).or_default();
                classes.insert(class.to_owned(), choice.to_owned());
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::gpu::AdapterKind;
    use std::{fs, path::Path};

    fn choices(folder: &Path, driver: &str) -> Choices {
        let report = AdapterReport {
            driver: driver.into(),
            ..AdapterReport::example("adapter", AdapterKind::Discrete)
        };
        Choices::new(Cache::at(folder), &report)
    }

    #[test]
    fn choices_outlive_the_process_for_their_driver_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = choices(folder.path(), "1.0");
        let other = choices(folder.path(), "1.0");
        assert_eq!(other.get("op", "a b"), None);
        first.set("op", "a b", "x");
        // Another process that had looked before.
        other.set("op", "b", "y");
        let next = choices(folder.path(), "1.0");
        assert_eq!(next.get("op", "a b").as_deref(), Some("x"));
        assert_eq!(next.get("op", "b").as_deref(), Some("y"));
        assert_eq!(next.get("other", "b"), None);
        // What is forced comes first, where it is known.
        let known = |name: &str| (name != "z").then(|| name.to_owned());
        next.force(Some("z".into()));
        assert_eq!(next.find("op", "a b", known).as_deref(), Some("x"));
        next.force(Some("w".into()));
        assert_eq!(next.find("op", "a b", known).as_deref(), Some("w"));
        assert_eq!(choices(folder.path(), "1.1").get("op", "a b"), None);
    }

    #[test]
    fn a_damaged_file_counts_as_absent_and_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        choices(folder.path(), "1.0").set("op", "a b", "x");
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap();
        let path = path.unwrap().path();
        for damage in [&b"nonsense"[..], &[], &[0xff; 400]] {
            fs::write(&path, damage).unwrap();
            let fresh = choices(folder.path(), "1.0");
            assert_eq!(fresh.get("op", "a b"), None);
            fresh.set("op", "a b", "z");
            assert_eq!(
                choices(folder.path(), "1.0").get("op", "a b").as_deref(),
                Some("z")
            );
        }
    }
}
