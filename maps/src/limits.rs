//! What files may hold at most: one table, for the code that writes a format and for the code that
//! reads it, so that what is written can be read and a file that somebody else made takes no more
//! than this. `SECURITY.md` lists the same table.

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The constant.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What is counted.
    pub unit: &'static str,
}

macro_rules! limits {
    ($($(#[$reason:meta])* $name:ident: $number:ty = $value:expr, $unit:literal;)*) => {
        $($(#[$reason])* pub const $name: $number = $value;)*

        /// All limits of this module.
        pub const TABLE: &[Limit] = &[
            $(Limit { name: stringify!($name), value: $value, unit: $unit }),*
        ];
    };
}

limits! {
    /// Names, shapes and properties are JSON, which is held whole and several times while it is
    /// read. Names and categories of hundreds of thousands of columns fit.
    HEADER_BYTES: u64 = 32 << 20, "bytes of the header of a model, sums or map";
    /// Maps are read by recursion. Maps of maps go four deep in practice.
    NESTED_STORES: usize = 32, "levels of maps in maps, and of other parts of a model";
    /// safetensors has no bound of its own; ours are matrices.
    ARRAY_DIMENSIONS: usize = 16, "dimensions of an array of a model";
    /// An object of JSON takes some 600 bytes of memory, and 7 in a file. A schema of 32 MiB whose
    /// columns have names has fewer.
    SCHEMA_OBJECTS: usize = 1 << 20, "opening braces in the schema of a model";
    /// Kernels are read by recursion, and each level goes over the text of all below.
    NESTED_KERNELS: usize = 32, "levels of mixtures and products of kernels";
    /// About a thousand components.
    KERNEL_BYTES: usize = 64 << 10, "bytes of the text of a kernel";
    /// More parts than anybody writes, which would take long to tell apart.
    UNION_PARTS: usize = 1024, "parts of a union of maps";
    /// Inner nodes above each other, which a reader follows for every row.
    NESTED_NODES: usize = 64, "levels of a tree of leaves";
    /// A map for each is held in memory.
    TREE_LEAVES: usize = 4096, "leaves of a tree";
    /// A longer text is no function that anybody wrote, and could nest too deeply for drivers.
    EXPRESSION_BYTES: usize = 500, "bytes of an expression in WGSL";
    /// Compilers of shaders read parentheses by recursion.
    NESTED_PARENTHESES: usize = 32, "levels of parentheses in an expression in WGSL";
    /// A longer record is a quote that was left open, or no table.
    RECORD_BYTES: usize = 64 << 20, "bytes of a record of text, or of empty lines";
    /// A name is kept for each.
    RECORD_FIELDS: usize = 1 << 22, "fields of a record of text";
    /// A row with its zeros takes 8 bytes for each.
    SPARSE_COLUMNS: usize = 1 << 22, "columns of sparse rows (libsvm, CSR)";
    /// One row of f64 takes 128 MiB.
    ARRAY_COLUMNS: usize = 1 << 24, "columns of a .npy array";
    /// Longer headers exist only for structured dtypes, which are not read anyway.
    NPY_HEADER_BYTES: usize = 1 << 20, "bytes of the header of a .npy array";
    /// The literal is read by recursion; a plain header has two levels.
    NESTED_LITERALS: usize = 16, "levels of the header of a .npy array";
    /// What `zstd --ultra -22` writes; it is memory.
    ZSTD_WINDOW_BYTES: u64 = 128 << 20, "bytes of a window of Zstandard";
    /// The crate holds some times as much as it reads of the footer.
    FOOTER_BYTES: u64 = 256 << 20, "bytes of the footer of a .parquet file";
    /// The crate reads groups by recursion. A list takes two.
    NESTED_GROUPS: usize = 64, "levels of groups in the schema of a .parquet file";
    /// Unpacked, they are in memory together.
    HELD_BYTES: u64 = 4 << 30, "bytes of an Arrow batch, or of one page of each selected column";
    /// A page is 1 MiB as files are usually written, and a batch some.
    SMALL_BYTES: u64 = 128 << 20, "bytes of these, however few they are packed in";
    /// Text packs 3 to 10 times; only constants pack more, and these take whole pages in few files.
    PACKED_RATIO: u64 = 32, "bytes of these more, for each byte that they are packed in";
    /// A name and a place are kept for each.
    COLUMNS: usize = 1 << 20, "columns of a .parquet or Arrow file, places of lists counted";
    /// Each place of a list has a name that contains that of its column.
    NAMES_BYTES: usize = 64 << 20, "bytes of the names of these columns";
}

#[cfg(test)]
mod tests {
    use super::TABLE;
    use std::path::Path;

    #[test]
    fn the_table_of_the_security_policy_is_this_one() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let Some(Ok(policy)) = root.map(|r| std::fs::read_to_string(r.join("SECURITY.md"))) else {
            return; // A package by itself has no such file.
        };
        let listed: Vec<_> = policy
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        let rows = TABLE
            .iter()
            .map(|limit| format!("| `{}` | {} | {} |", limit.name, limit.value, limit.unit));
        assert_eq!(listed, rows.collect::<Vec<_>>());
    }
}
