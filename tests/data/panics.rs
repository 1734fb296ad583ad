//! A panic in any thread ends the work, and leaves no partial file.

use bochner::{
    Device, Error, Result, Run,
    data::{Chunk, ChunkSource, NpyWriter, Rows},
    features::{Affine, Fourier, featurize},
    kernels::Gaussian,
};
use ndarray::Array2;
use rayon::prelude::*;
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Origin of the panic, at the second chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Nowhere,
    /// The reading thread.
    Reader,
    /// A thread of the pool, called by the reading thread.
    ReaderPool,
    /// A thread of the pool, called by the computing thread.
    Pool,
    /// The writer.
    Writer,
    /// The progress callback.
    Listener,
}

fn fail_in_the_pool() {
    (0..64_u32)
        .into_par_iter()
        .for_each(|i| assert!(i != 40, "a worker of the pool gave up"));
}

/// Four chunks of eight rows.
struct Source {
    next: usize,
    at: At,
}

impl ChunkSource for Source {
    fn columns(&self) -> usize {
        2
    }
    fn targets(&self) -> usize {
        0
    }
    fn rows(&self) -> Option<usize> {
        Some(32)
    }
    fn next_chunk(&mut self, _: usize) -> Result<Option<Chunk>> {
        self.next += 1;
        match (self.next, self.at) {
            (2, At::Reader) => panic!("the reader gave up"),
            (2, At::ReaderPool) => fail_in_the_pool(),
            _ => {}
        }
        Ok((self.next <= 4).then(|| Chunk {
            x: Rows::F64(Array2::from_shape_fn((8, 2), |(i, j)| (i + j) as f64)),
            y: Array2::zeros((8, 0)),
            weights: None,
        }))
    }
    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
}

/// Writes features of all rows to a file; `None` if the work unwound.
fn work(path: &std::path::Path, at: At) -> Option<Result<u64>> {
    let run = || {
        let map = Fourier::new(Gaussian)
            .features(4)
            .build(Affine::identity(2))?;
        let mut writer = NpyWriter::<f32>::create(path, 4)?;
        let mut chunks = 0;
        let heard = Run::on(&Device::cpu()).progress(move |_| {
            assert!(at != At::Listener, "who hears gave up");
        });
        featurize(&map, &mut Source { next: 0, at }, heard, |z| {
            chunks += 1;
            match (chunks, at) {
                (2, At::Pool) => fail_in_the_pool(),
                (2, At::Writer) => panic!("the writer gave up"),
                _ => {}
            }
            writer.write_rows(z)
        })?;
        writer.finish()
    };
    catch_unwind(AssertUnwindSafe(run)).ok()
}

#[test]
fn a_panic_ends_the_work_and_leaves_no_half_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.npy");
    let files = || fs::read_dir(folder.path()).unwrap().count();
    for at in [
        At::Reader,
        At::ReaderPool,
        At::Pool,
        At::Writer,
        At::Listener,
    ] {
        match work(&path, at) {
            // A panic in an internal thread is an error with its message.
            Some(Err(error)) => {
                assert!(matches!(at, At::Reader | At::ReaderPool), "{at:?}: {error}");
                assert!(matches!(error, Error::Numerical(_)), "{at:?}: {error:?}");
                let says = error.to_string();
                assert!(
                    says.contains("gave up") && !says.contains('\n'),
                    "{at:?}: {says}"
                );
            }
            // A panic in the caller's code propagates to the caller.
            None => assert!(!matches!(at, At::Reader | At::ReaderPool), "{at:?} unwound"),
            Some(Ok(rows)) => panic!("{at:?}: {rows} rows were written"),
        }
        assert_eq!(files(), 0, "{at:?} left a file");
        // An older file is unchanged.
        fs::write(&path, "old").unwrap();
        let _ = work(&path, at);
        assert_eq!(fs::read(&path).unwrap(), b"old", "{at:?}");
        assert_eq!(files(), 1, "{at:?} left a file");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(work(&path, At::Nowhere).unwrap().unwrap(), 32);
}
