//! The compute shaders of bochner: a WGSL text an op, and the texts that several of them share.
//!
//! Lines that start with `//@` are directions, which `bochner-maps` carries out before a driver
//! sees the text.

mod short;

pub use short::shorten;

/// The text of a file.
#[cfg(not(target_family = "wasm"))]
macro_rules! text {
    ($file:expr) => {
        include_str!($file)
    };
}

/// The text of a file without what only people read, which a page would have to load.
#[cfg(target_family = "wasm")]
macro_rules! text {
    ($file:expr) => {{
        const TEXT: &str = include_str!($file);
        const SHORT: [u8; shorten(TEXT, &mut [])] = {
            let mut short = [0; _];
            shorten(TEXT, &mut short);
            short
        };
        match str::from_utf8(&SHORT) {
            Ok(short) => short,
            Err(_) => panic!("cut within a character"),
        }
    }};
}

/// A constant a shader, named after its file.
macro_rules! texts {
    ($($name:ident = $file:literal,)*) => {
        $(#[doc = concat!("`", $file, "`")] pub const $name: &str = text!($file);)*
    };
}

texts! {
    ADDITIVE_CHI2 = "additive_chi2.wgsl",
    BINNING = "binning.wgsl",
    CEILING_COPY = "ceiling_copy.wgsl",
    CEILING_FMA = "ceiling_fma.wgsl",
    COLUMN_SCALES = "column_scales.wgsl",
    COMPLEX_PRODUCT = "complex_product.wgsl",
    FEW = "few.wgsl",
    FEW_SUM = "few_sum.wgsl",
    GRAM = "gram.wgsl",
    GRAM_ADD = "gram_add.wgsl",
    GRAM_TARGETS = "gram_targets.wgsl",
    GRAM_UNITS = "gram_units.wgsl",
    KERNEL_BLOCK = "kernel_block.wgsl",
    PLACE = "place.wgsl",
    PREDICT = "predict.wgsl",
    PRODUCT = "product.wgsl",
    PROJECTION = "projection.wgsl",
    PROJECTION_NAIVE = "projection_naive.wgsl",
    PROJECTION_UNITS = "projection_units.wgsl",
    ROW_SCALES = "row_scales.wgsl",
    STRUCTURED = "structured.wgsl",
    STRUCTURED_STAGE = "structured_stage.wgsl",
    WALSH_HADAMARD = "walsh_hadamard.wgsl",
    WALSH_HADAMARD_SUBGROUP = "walsh_hadamard_subgroup.wgsl",
}

/// A text by its stem.
macro_rules! shared {
    ($($stem:literal,)*) => {
        &[$(($stem, text!(concat!("shared/", $stem, ".wgsl"))),)*]
    };
}

/// Texts that several shaders include, by the name that they are included by.
pub const SHARED: &[(&str, &str)] = shared![
    "butterflies",
    "columns",
    "cos2pi",
    "depth_load",
    "exchange_get_a",
    "exchange_get_b",
    "exchange_m",
    "exchange_put_a",
    "exchange_put_b",
    "features",
    "finish_features",
    "gram_load",
    "gram_put",
    "halves",
    "lanes",
    "levels_b",
    "nonlinearity",
    "order",
    "place_of_c",
    "product",
    "product_loop",
    "product_of_x",
    "row_end",
    "row_layout",
    "row_start",
    "stage_bring",
    "stage_put",
    "transform",
    "transform_back",
    "two_sum",
];
