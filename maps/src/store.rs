//! Named arrays and properties in one safetensors file: the format of models and of saved normal
//! equations.

mod header;
mod stored;

use self::header::{header_length, under};
use self::stored::{Shared, Stored};
use crate::{
    Error, Result,
    atomic_file::AtomicFile,
    device::memory_left,
    error::Remedy,
    limits::{HEADER_BYTES, NESTED_STORES},
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::{BTreeMap, HashMap},
    fs::File,
    io::{Read, Write},
    path::Path,
    sync::Arc,
};

/// The version of the format. A reader refuses files of a later one.
const FORMAT_VERSION: u32 = 1;
const FORMAT: &str = "bochner";

/// Characters of a file that an error cites at most.
const CITED: usize = 200;

/// Arrays and properties under names, in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Store {
    properties: BTreeMap<String, String>,
    arrays: BTreeMap<String, Stored>,
}

impl Store {
    /// Sets a property.
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.properties.insert(name.to_owned(), value.to_string());
    }

    /// A property's text.
    pub fn text(&self, name: &str) -> Result<&str> {
        self.properties
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| missing(name))
    }

    /// A property that is a list of names.
    #[doc(hidden)]
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        serde_json::from_str(self.text(name)?).map_err(|fault| {
            Error::format(format!("property {name:?} is no list of names: {fault}"))
        })
    }

    /// A property, parsed.
    pub fn get<T: std::str::FromStr>(&self, name: &str) -> Result<T> {
        let text = self.text(name)?;
        text.parse()
            .map_err(|_| Error::format(format!("property {name:?} holds {text:?}")))
    }

    /// Puts an f32 matrix.
    pub fn put_f32(&mut self, name: &str, array: ArrayView2<'_, f32>) {
        let bytes = array.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::F32, array.shape(), bytes);
    }

    /// Puts an f64 matrix.
    pub fn put_f64(&mut self, name: &str, array: ArrayView2<'_, f64>) {
        let bytes = array.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::F64, array.shape(), bytes);
    }

    /// Puts an f64 vector.
    pub fn put_vector(&mut self, name: &str, vector: &[f64]) {
        self.put_f64(name, ArrayView1::from(vector).insert_axis(ndarray::Axis(0)));
    }

    /// Puts a matrix of unsigned 32-bit numbers.
    pub fn put_u32(&mut self, name: &str, array: ArrayView2<'_, u32>) {
        let bytes = array.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::U32, array.shape(), bytes);
    }

    /// Puts all of another store under `prefix.`.
    #[doc(hidden)]
    pub fn nest(&mut self, prefix: &str, inner: Self) {
        let under = |name: String| format!("{prefix}.{name}");
        let properties = inner.properties.into_iter();
        self.properties
            .extend(properties.map(|(name, v)| (under(name), v)));
        let arrays = inner.arrays.into_iter();
        self.arrays.extend(arrays.map(|(name, v)| (under(name), v)));
    }

    /// What was [nested](Self::nest) under `prefix.`.
    #[doc(hidden)]
    pub fn nested(&self, prefix: &str) -> Self {
        let prefix = format!("{prefix}.");
        Self {
            properties: under(&self.properties, &prefix),
            arrays: under(&self.arrays, &prefix),
        }
    }

    /// All properties by their names.
    #[doc(hidden)]
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// The first thing that two stores do not have in common, in words; `None` if they are the
    /// same.
    #[doc(hidden)]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let names = self.properties.keys().chain(other.properties.keys());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            match (self.properties.get(name), other.properties.get(name)) {
                (Some(own), Some(other)) if own == other => {}
                (Some(own), Some(other)) => {
                    return Some(format!("{name} is {own} in one and {other} in the other"));
                }
                (own, other) => {
                    let value = own.or(other).map_or("", |v| v);
                    return Some(format!(
                        "{name} is {value} in one and not given in the other"
                    ));
                }
            }
        }
        let names = self.arrays.keys().chain(other.arrays.keys());
        let differ = |name: &&String| self.arrays.get(*name) != other.arrays.get(*name);
        let name = names.into_iter().find(differ)?;
        let shape = |store: &Self| store.arrays.get(name).map(|stored| stored.shape.clone());
        Some(match (shape(self), shape(other)) {
            (Some(own), Some(other)) if own == other => format!("{name} holds other numbers"),
            (Some(own), Some(other)) => {
                format!("{name} has shape {own:?} in one and {other:?} in the other")
            }
            _ => format!("{name} is in one alone"),
        })
    }

    fn put(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        let shape = shape.to_vec();
        let stored = Stored {
            dtype,
            shape,
            bytes: bytes.into(),
        };
        self.arrays.insert(name.to_owned(), stored);
    }

    /// An f32 matrix. Errors when it is missing, of another type, or holds a value that is not
    /// finite.
    pub fn f32(&self, name: &str) -> Result<Array2<f32>> {
        let array = self.array(name, Dtype::F32, |b: [u8; 4]| f32::from_le_bytes(b))?;
        finite(name, array.iter().all(|v| v.is_finite()))?;
        Ok(array)
    }

    /// An f64 matrix, checked likewise.
    pub fn f64(&self, name: &str) -> Result<Array2<f64>> {
        let array = self.array(name, Dtype::F64, |b: [u8; 8]| f64::from_le_bytes(b))?;
        finite(name, array.iter().all(|v| v.is_finite()))?;
        Ok(array)
    }

    /// A matrix of unsigned 32-bit numbers.
    pub fn u32(&self, name: &str) -> Result<Array2<u32>> {
        self.array(name, Dtype::U32, |b: [u8; 4]| u32::from_le_bytes(b))
    }

    /// An f64 vector of length `len`.
    pub fn vector(&self, name: &str, len: usize) -> Result<Array1<f64>> {
        let array = self.f64(name)?;
        if array.dim() != (1, len) {
            return Err(Error::shape(format!(
                "{name:?} has shape {:?}, not {:?}",
                array.dim(),
                (1, len)
            )));
        }
        Ok(array.row(0).to_owned())
    }

    /// Whether there is a property of this name.
    pub fn has_property(&self, name: &str) -> bool {
        self.properties.contains_key(name)
    }

    /// Whether there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    fn array<T, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        read: impl Fn([u8; N]) -> T,
    ) -> Result<Array2<T>> {
        let stored = self.arrays.get(name).ok_or_else(|| missing(name))?;
        let &[rows, cols] = stored.shape.as_slice() else {
            return Err(Error::format(format!("{name:?} is not a matrix")));
        };
        if stored.dtype != dtype {
            return Err(Error::format(format!(
                "{name:?} holds {:?}, not {dtype:?}",
                stored.dtype
            )));
        }
        let values = stored.bytes.chunks_exact(N);
        let values = values
            .map(|b| read(b.try_into().expect("chunks of N")))
            .collect();
        Array2::from_shape_vec((rows, cols), values).map_err(|e| Error::format(e.to_string()))
    }

    /// The file's bytes, the same for the same contents: arrays by name, and the properties as one
    /// JSON object in the metadata entry `bochner`. `kind` says what the file is (`model`,
    /// `normal-equations`).
    #[doc(hidden)]
    pub fn to_bytes(&self, kind: &str) -> Result<Vec<u8>> {
        let mut properties = self.properties.clone();
        properties.insert("format_version".into(), FORMAT_VERSION.to_string());
        properties.insert("kind".into(), kind.into());
        let mut names = properties.keys().chain(self.arrays.keys());
        if names.any(|name| header::is_deep(name)) {
            return Err(Error::unsupported(format!(
                "maps lie in each other more than {NESTED_STORES} deep; use fewer"
            )));
        }
        let views: Result<Vec<_>> = self
            .arrays
            .iter()
            .map(|(name, a)| {
                let view = TensorView::new(a.dtype, a.shape.clone(), &a.bytes)
                    .map_err(|e| Error::format(e.to_string()))?;
                Ok((name.as_str(), view))
            })
            .collect();
        // One entry, because several are written in an order that changes from run to run.
        let json = serde_json::to_string(&properties).map_err(|e| Error::format(e.to_string()))?;
        // What the crate refuses is longer than this, and it would not say what is.
        header::require_length(json.len() as u64, &properties)?;
        let metadata = HashMap::from([(FORMAT.to_owned(), json)]);
        let bytes = safetensors::serialize(views?, Some(metadata))
            .map_err(|e| Error::format(e.to_string()))?;
        header::require_length(header_length(&bytes).unwrap_or(0), &properties)?;
        Ok(bytes)
    }

    /// Reads what [`Self::to_bytes`] wrote. Errors say whether the bytes are truncated, foreign, of
    /// a later version, or of another kind.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8], kind: &str) -> Result<Self> {
        Self::read(Arc::new(bytes.to_vec()), kind)
    }

    fn read(bytes: Arc<Vec<u8>>, kind: &str) -> Result<Self> {
        let no = |what: &str| Error::format(what);
        let damaged = |e: &dyn std::fmt::Display| {
            // It cites the file, which may hold lines and any number of words.
            let cited: String = e.to_string().chars().take(CITED).collect();
            let cited = cited.replace(char::is_control, " ");
            no(&format!(
                "truncated, or not a file of bochner ({cited}); fit again, or name another file"
            ))
        };
        if !header::is_list(&bytes) {
            return Err(damaged(&"its header is cut, too long or no list of arrays"));
        }
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|e| damaged(&e))?;
        let metadata = header.metadata().as_ref();
        let Some(properties) = metadata.and_then(|all| all.get(FORMAT)) else {
            return Err(no(
                "a safetensors file of another program; name one that bochner wrote",
            ));
        };
        let properties: BTreeMap<String, String> =
            serde_json::from_str(properties).map_err(|e| damaged(&e))?;
        let version = properties.get("format_version").map_or("none", |v| v);
        match version.parse::<u32>() {
            Ok(v) if (1..=FORMAT_VERSION).contains(&v) => {}
            _ => {
                return Err(no(&format!(
                    "format version {version}; this bochner reads up to {FORMAT_VERSION}: use a \
                     newer one"
                )));
            }
        }
        let found = properties.get("kind").map_or("nothing known", |v| v);
        if found != kind {
            return Err(no(&format!("holds {found}, not {kind}; name another file")));
        }
        let tensors = SafeTensors::deserialize(&bytes).map_err(|e| damaged(&e))?;
        let mut names = properties.keys().map(String::as_str).chain(tensors.names());
        if names.any(header::is_deep) {
            return Err(no(&format!(
                "holds things that lie in each other more than {NESTED_STORES} deep; name another \
                 file"
            )));
        }
        let arrays = tensors.iter().map(|(name, view)| {
            let stored = Stored {
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                bytes: Shared::part(&bytes, view.data()),
            };
            (name.to_owned(), stored)
        });
        let mut store = Self {
            properties,
            ..Self::default()
        };
        // One by one, where `collect` would bring a sort of its own.
        store.arrays.extend(arrays);
        Ok(store)
    }

    /// Writes the file whole or not at all.
    #[doc(hidden)]
    pub fn save(&self, kind: &str, path: &Path) -> Result<()> {
        let bytes = self.to_bytes(kind).map_err(|e| Error::in_model(path, &e))?;
        let mut file = AtomicFile::create(path)?;
        file.write_all(&bytes).map_err(|e| Error::io(path, e))?;
        file.finish()
    }

    /// Reads a file, naming it in every error. Nothing is read whose length the file does not have.
    #[doc(hidden)]
    pub fn load(kind: &str, path: &Path) -> Result<Self> {
        let fail = |error| Error::io(path, error);
        // Asked first, because opening a pipe that nobody writes to waits forever.
        let found = std::fs::metadata(path).map_err(fail)?;
        if !found.is_file() && !found.is_dir() {
            return Err(Error::in_model(
                path,
                &Error::format("is not a regular file; name one that bochner wrote"),
            ));
        }
        let none = "truncated, or not a file of bochner; fit again, or name another file";
        let none = || Error::in_model(path, &Error::format(none));
        let mut file = File::open(path).map_err(fail)?;
        let mut bytes = vec![0; 8];
        let short = found.len() < 8 && found.is_file();
        if !short {
            file.read_exact(&mut bytes).map_err(fail)?;
            let header = header_length(&bytes).unwrap_or(0);
            let fits = (2..=HEADER_BYTES.min(found.len() - 8)).contains(&header);
            if !fits {
                return Err(none());
            }
            // What is behind it is as long as it says, or the file is none of ours.
            let mut text = vec![0; usize::try_from(header).unwrap_or(0)];
            file.read_exact(&mut text).map_err(fail)?;
            if header::data_bytes(&text) != Some(found.len() - 8 - header) {
                return Err(none());
            }
            bytes.append(&mut text);
        }
        memory_left::require(found.len().into(), || path.display().to_string())
            .map_err(|error| error.instead(&Remedy::FewerFeatures, None))?;
        file.take(found.len())
            .read_to_end(&mut bytes)
            .map_err(fail)?;
        Self::read(Arc::new(bytes), kind).map_err(|e| Error::in_model(path, &e))
    }
}

fn missing(name: &str) -> Error {
    Error::missing(format!("{name:?} is missing"))
}

fn finite(name: &str, all: bool) -> Result<()> {
    if all {
        return Ok(());
    }
    Err(Error::format(format!(
        "{name:?} holds a value that is not finite"
    )))
}

#[cfg(test)]
mod tests;
