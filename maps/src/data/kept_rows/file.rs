//! Kept rows in a file.

use super::{Kept, KeptRows};
use crate::{Error, Result, store::Store};
use ndarray::{Array1, Array2, s};

impl KeptRows {
    /// Puts them under names of their own.
    #[doc(hidden)]
    pub fn write(&self, store: &mut Store) {
        let rows = || self.rows.values();
        store.set("most", self.most);
        store.set("columns", self.columns);
        store.set("end", self.end);
        // As two halves: no array of a file has 64-bit integers.
        let halves = self.rows.keys().flat_map(|h| [(h >> 32) as u32, *h as u32]);
        let halves: Vec<u32> = halves.collect();
        let lengths: Vec<u32> = rows().map(|row| row.columns.len() as u32).collect();
        let columns: Vec<u32> = rows().flat_map(|row| row.columns.clone()).collect();
        for (name, numbers) in [("hashes", halves), ("lengths", lengths), ("at", columns)] {
            let row = Array1::from(numbers).insert_axis(ndarray::Axis(0));
            store.put_u32(name, row.view());
        }
        let values: Vec<f64> = rows().flat_map(|row| row.values.clone()).collect();
        store.put_vector("values", &values);
        let targets: Vec<f64> = rows().flat_map(|row| row.targets.clone()).collect();
        let shape = (self.rows.len(), self.targets);
        let targets = Array2::from_shape_fn(shape, |(i, k)| targets[i * self.targets + k]);
        store.put_f64("targets", targets.view());
        let of_row: [fn(&Kept) -> f64; 2] = [|row| row.weight, |row| row.count as f64];
        for (name, of_row) in ["weights", "counts"].into_iter().zip(of_row) {
            store.put_vector(name, &rows().map(of_row).collect::<Vec<_>>());
        }
    }

    /// What [`Self::write`] put. Errors with [`Error::Format`], [`Error::Missing`] or
    /// [`Error::Shape`] on anything else.
    #[doc(hidden)]
    pub fn read(store: &Store) -> Result<Self> {
        let wrong = || Error::format("kept rows whose parts do not go together");
        let numbers = |name| Ok::<_, Error>(store.u32(name)?.into_iter());
        let targets = store.f64("targets")?;
        let rows = targets.nrows();
        let lengths: Vec<u32> = numbers("lengths")?.collect();
        let hashes: Vec<u32> = numbers("hashes")?.collect();
        let columns: Vec<u32> = numbers("at")?.collect();
        let total: usize = lengths.iter().map(|&length| length as usize).sum();
        let values = store.vector("values", total)?;
        let (weights, counts) = (
            store.vector("weights", rows)?,
            store.vector("counts", rows)?,
        );
        let width: usize = store.get("columns")?;
        let in_range = columns.iter().all(|&column| (column as usize) < width);
        if lengths.len() != rows || hashes.len() != 2 * rows || columns.len() != total || !in_range
        {
            return Err(wrong());
        }
        let mut kept = Self {
            end: store.get("end")?,
            ..Self::new(store.get("most")?, (width, targets.ncols()))
        };
        let mut from = 0;
        for (i, halves) in hashes.chunks_exact(2).enumerate() {
            let to = from + lengths[i] as usize;
            let row = Kept {
                columns: columns[from..to].to_vec(),
                values: values.slice(s![from..to]).to_vec(),
                targets: targets.row(i).to_vec(),
                weight: weights[i],
                count: counts[i] as u64,
                group: 0,
            };
            let hash = u64::from(halves[0]) << 32 | u64::from(halves[1]);
            kept.rows.insert(hash, row);
            from = to;
        }
        if kept.rows.len() == rows && rows <= kept.most {
            Ok(kept)
        } else {
            Err(wrong())
        }
    }
}
