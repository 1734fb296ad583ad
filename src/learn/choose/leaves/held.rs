//! Storage for the rows of a side of a tree: in memory if they fit, otherwise in an unnamed
//! temporary file, which the operating system deletes when the process ends.

use crate::{
    Error, Result,
    data::{Chunk, ChunkSource, MemorySource, Rows},
};
use ndarray::{Array1, Array2, Axis, concatenate, s};
use std::{
    env,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    mem,
};

/// Rows per chunk.
const HELD: usize = 4096;

/// Row store; whether it is in memory is decided in advance.
pub(super) enum Keeper {
    Memory(Vec<Chunk>),
    File(BufWriter<File>, Shape),
}

/// Layout of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    columns: usize,
    targets: usize,
    weighted: bool,
    rows: usize,
}

impl Shape {
    pub(super) fn from_source(source: &dyn ChunkSource) -> Self {
        Self {
            columns: source.columns(),
            targets: source.targets(),
            weighted: source.is_weighted(),
            rows: 0,
        }
    }

    /// Bytes per row in f64.
    pub(super) fn bytes(&self) -> u64 {
        8 * (self.columns + self.targets + usize::from(self.weighted)) as u64
    }
}

impl Keeper {
    pub(super) fn new(shape: Shape, in_memory: bool) -> Result<Self> {
        Ok(if in_memory {
            Self::Memory(Vec::new())
        } else {
            let file = tempfile::tempfile().map_err(fault)?;
            Self::File(BufWriter::with_capacity(1 << 18, file), shape)
        })
    }

    /// Appends the rows `taken` of a chunk.
    pub(super) fn push(&mut self, chunk: &Chunk, taken: &[usize]) -> Result<()> {
        if taken.is_empty() {
            return Ok(());
        }
        let part = Chunk {
            x: chunk.x.select(taken),
            y: chunk.y.select(Axis(0), taken),
            weights: (chunk.weights.as_ref()).map(|weights| weights.select(Axis(0), taken)),
        };
        match self {
            Self::Memory(chunks) => chunks.push(part),
            Self::File(file, shape) => {
                shape.rows += taken.len();
                write(file, &part).map_err(fault)?;
            }
        }
        Ok(())
    }

    /// Returns all stored rows as a source.
    pub(super) fn finish(self) -> Result<Box<dyn ChunkSource>> {
        match self {
            Self::Memory(chunks) => {
                let all = join(chunks)?;
                let held = MemorySource::new(all.x, Some(all.y))?;
                Ok(Box::new(match all.weights {
                    Some(weights) => held.with_weights(weights)?,
                    None => held,
                }))
            }
            Self::File(file, shape) => {
                let file = file.into_inner().map_err(|e| fault(e.into_error()))?;
                let mut spilled = Spilled {
                    file: BufReader::with_capacity(1 << 18, file),
                    shape,
                    left: None,
                };
                spilled.rewind()?;
                Ok(Box::new(spilled))
            }
        }
    }
}

/// The temporary file has no name to report, so the error names the folder.
fn fault(error: io::Error) -> Error {
    Error::io(env::temp_dir(), error)
}

/// Concatenates chunks.
fn join(mut chunks: Vec<Chunk>) -> Result<Chunk> {
    if chunks.len() == 1 {
        return Ok(chunks.remove(0));
    }
    let shape = |fault: ndarray::ShapeError| Error::shape(fault.to_string());
    let ys: Vec<_> = chunks.iter().map(|chunk| chunk.y.view()).collect();
    let y = concatenate(Axis(0), &ys).map_err(shape)?;
    let weights: Vec<_> = (chunks.iter())
        .filter_map(|chunk| chunk.weights.as_ref().map(|weights| weights.view()))
        .collect();
    let weights = if weights.is_empty() {
        None
    } else {
        Some(concatenate(Axis(0), &weights).map_err(shape)?)
    };
    let xs = chunks.into_iter().map(|chunk| chunk.x);
    Ok(Chunk {
        x: Rows::stack(xs.collect())?,
        y,
        weights,
    })
}

/// Writes a block: the number of rows, the bytes per value of x, then x, y and weights.
fn write(file: &mut impl Write, chunk: &Chunk) -> io::Result<()> {
    let size = match chunk.x {
        Rows::F32(_) => 4_u64,
        Rows::F64(_) => 8,
    };
    file.write_all(&(chunk.x.nrows() as u64).to_le_bytes())?;
    file.write_all(&size.to_le_bytes())?;
    match &chunk.x {
        Rows::F32(x) => x
            .iter()
            .try_for_each(|v| file.write_all(&v.to_le_bytes()))?,
        Rows::F64(x) => x
            .iter()
            .try_for_each(|v| file.write_all(&v.to_le_bytes()))?,
    }
    let beside = chunk.y.iter().chain(chunk.weights.iter().flatten());
    for v in beside {
        file.write_all(&v.to_le_bytes())?;
    }
    Ok(())
}

/// Rows in a temporary file.
struct Spilled {
    file: BufReader<File>,
    shape: Shape,
    /// Rest of a block that was read but not returned yet.
    left: Option<Chunk>,
}

impl Spilled {
    fn number<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn values(&mut self, count: usize) -> io::Result<Vec<f64>> {
        let mut bytes = vec![0; 8 * count];
        self.file.read_exact(&mut bytes)?;
        let values = bytes.chunks_exact(8);
        Ok(values
            .map(|b| f64::from_le_bytes(b.try_into().expect("chunks of 8")))
            .collect())
    }

    fn block(&mut self) -> io::Result<Option<Chunk>> {
        let rows = match self.number::<8>() {
            Ok(bytes) => u64::from_le_bytes(bytes) as usize,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        };
        let Shape {
            columns,
            targets,
            weighted,
            ..
        } = self.shape;
        let size = u64::from_le_bytes(self.number()?);
        let shape = |fault: ndarray::ShapeError| io::Error::other(fault.to_string());
        let x = match size {
            4 => {
                let mut bytes = vec![0; 4 * rows * columns];
                self.file.read_exact(&mut bytes)?;
                let values = bytes.chunks_exact(4);
                let values = values
                    .map(|b| f32::from_le_bytes(b.try_into().expect("chunks of 4")))
                    .collect();
                Rows::F32(Array2::from_shape_vec((rows, columns), values).map_err(shape)?)
            }
            _ => {
                let values = self.values(rows * columns)?;
                Rows::F64(Array2::from_shape_vec((rows, columns), values).map_err(shape)?)
            }
        };
        let y = self.values(rows * targets)?;
        let y = Array2::from_shape_vec((rows, targets), y).map_err(shape)?;
        let weights = if weighted {
            Some(Array1::from(self.values(rows)?))
        } else {
            None
        };
        Ok(Some(Chunk { x, y, weights }))
    }
}

/// The rows of `range`.
fn part(chunk: &Chunk, range: std::ops::Range<usize>) -> Chunk {
    Chunk {
        x: chunk.x.slice(range.clone()),
        y: chunk.y.slice(s![range.clone(), ..]).to_owned(),
        weights: (chunk.weights.as_ref()).map(|weights| weights.slice(s![range]).to_owned()),
    }
}

impl ChunkSource for Spilled {
    fn columns(&self) -> usize {
        self.shape.columns
    }
    fn targets(&self) -> usize {
        self.shape.targets
    }
    fn is_weighted(&self) -> bool {
        self.shape.weighted
    }
    fn rows(&self) -> Option<usize> {
        Some(self.shape.rows)
    }
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Chunk>> {
        if max_rows == 0 {
            return Err(Error::parameter("chunks of 0 rows never reach the end"));
        }
        let (mut found, mut rows) = (Vec::new(), 0);
        while rows < max_rows {
            let block = match mem::take(&mut self.left) {
                Some(left) => left,
                None => match self.block().map_err(fault)? {
                    Some(block) => block,
                    None => break,
                },
            };
            let wanted = max_rows - rows;
            let have = block.x.nrows();
            rows += have.min(wanted);
            if have > wanted {
                self.left = Some(part(&block, wanted..have));
                found.push(part(&block, 0..wanted));
            } else {
                found.push(block);
            }
        }
        if found.is_empty() {
            Ok(None)
        } else {
            join(found).map(Some)
        }
    }
    fn rewind(&mut self) -> Result<()> {
        self.left = None;
        self.file.seek(SeekFrom::Start(0)).map_err(fault)?;
        Ok(())
    }
    fn is_checked(&self) -> bool {
        true
    }
}

/// Distributes the rows of `source` to two stores by `goes_left`; drops rows of weight 0.
pub(super) fn part_rows(
    source: &mut dyn ChunkSource,
    in_memory: bool,
    mut goes_left: impl FnMut(&[f64]) -> bool,
) -> Result<[Box<dyn ChunkSource>; 2]> {
    let shape = Shape::from_source(source);
    let mut keepers = [
        Keeper::new(shape, in_memory)?,
        Keeper::new(shape, in_memory)?,
    ];
    let mut x = vec![0.0; shape.columns];
    source.rewind()?;
    while let Some(chunk) = source.next_chunk(HELD)? {
        let mut sides = [Vec::new(), Vec::new()];
        for i in 0..chunk.x.nrows() {
            if chunk
                .weights
                .as_ref()
                .is_some_and(|weights| weights[i] <= 0.0)
            {
                continue;
            }
            chunk.x.copy_row(i, &mut x);
            sides[usize::from(!goes_left(&x))].push(i);
        }
        for (keeper, taken) in keepers.iter_mut().zip(&sides) {
            keeper.push(&chunk, taken)?;
        }
    }
    let [left, right] = keepers;
    Ok([left.finish()?, right.finish()?])
}
