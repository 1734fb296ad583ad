//! Some of many things in a row, evenly spread, whatever their number.

/// Every so manieth, at most so many.
#[derive(Debug, Clone)]
pub(crate) struct Sample<T> {
    seen: u64,
    /// One in so many is kept.
    every: u64,
    most: usize,
    kept: Vec<T>,
}

impl<T> Sample<T> {
    /// Of nothing yet.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            seen: 0,
            every: 1,
            most,
            kept: Vec::new(),
        }
    }

    /// Looks at one more. Samples of equal size that saw equally many kept those of the same
    /// places.
    pub(crate) fn add(&mut self, item: T) {
        if self.seen.is_multiple_of(self.every) {
            if self.kept.len() == self.most {
                let mut i = 0;
                self.kept.retain(|_| {
                    i += 1;
                    i % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.kept.push(item);
            }
        }
        self.seen += 1;
    }

    /// How many it saw.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// What it kept, in order.
    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }
}
