//! Which columns of a table are what, and which of its rows are taken.

/// Which columns of a table are what, by their places.
#[derive(Debug, Clone, Default)]
pub(in crate::data) struct Places {
    pub(in crate::data) features: Vec<usize>,
    pub(in crate::data) targets: Vec<usize>,
    pub(in crate::data) weight: Option<usize>,
    /// Of groups, which no batch holds.
    pub(in crate::data) group: Option<usize>,
}

impl Places {
    /// All of them but groups, in the order of the batches.
    pub(in crate::data) fn all(&self) -> Vec<usize> {
        let each = self.features.iter().chain(&self.targets);
        each.chain(&self.weight).copied().collect()
    }
}

/// What was answered of each row, a bit a row: who answers may count what he is asked.
#[derive(Debug, Default)]
pub(super) struct Answers {
    words: Vec<u64>,
    rows: u64,
}

impl Answers {
    pub(super) fn push(&mut self, answer: bool) {
        if self.rows.is_multiple_of(64) {
            self.words.push(0);
        }
        if let Some(word) = self.words.last_mut() {
            *word |= u64::from(answer) << (self.rows % 64);
        }
        self.rows += 1;
    }

    /// How many rows were asked for.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Those of the first rows, at most so many.
    pub(super) fn first(&self, most: u64) -> Self {
        let rows = self.rows.min(most);
        Self {
            words: self.words[..rows.div_ceil(64) as usize].to_vec(),
            rows,
        }
    }

    pub(super) fn get(&self, row: u64) -> bool {
        let word = self.words.get((row / 64) as usize);
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }
}
