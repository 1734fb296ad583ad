//! The ops that are measured, with their floors and shapes. The registry's row of an op names its
//! lines.

use super::{
    Shape, TARGETS, Work,
    jobs::{self, Job},
    shapes::{
        FULL_MAPS, MOVES, MOVES_OF_THREE, ROWS, SMALL_MAPS, SOFTWARE_MAPS, STRUCTURED_MAPS,
        USUAL_MAPS,
    },
};
use crate::{Device, Result};

/// How large the shapes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// For software adapters.
    Software,
    /// For CPUs with few cores.
    Small,
    /// For GPUs and CPUs with many.
    Usual,
    /// 2^17 rows, d up to 4096, D up to 16,384.
    Full,
}

/// An op that is measured.
pub struct OpBench {
    /// Its name.
    pub name: &'static str,
    /// Whether it runs on the host only.
    pub host_only: bool,
    /// The least that it must do.
    pub work: fn(Shape) -> Work,
    pub(super) prepare: fn(&Device, Shape) -> Result<Box<dyn Job>>,
    shapes: [&'static [[usize; 3]]; 4],
}

impl OpBench {
    /// A shape of this op: the sizes that it has none of become zero.
    pub fn shape(&self, rows: usize, dim: usize, features: usize) -> Shape {
        let [has_rows, has_dim, _] = self.shapes[0][0].map(|size| size > 0);
        Shape {
            rows: if has_rows { rows } else { 0 },
            dim: if has_dim { dim } else { 0 },
            features,
        }
    }

    /// The shapes of a size.
    pub fn shapes(&self, size: Size) -> impl Iterator<Item = Shape> {
        let shapes = match size {
            Size::Software => self.shapes[0],
            Size::Small => self.shapes[1],
            Size::Usual => self.shapes[2],
            Size::Full => self.shapes[3],
        };
        let shape = |&[rows, dim, features]: &[usize; 3]| Shape {
            rows,
            dim,
            features,
        };
        shapes.iter().map(shape)
    }
}

impl std::fmt::Debug for OpBench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What a frequency has to be read of: a sign in a bit, a place in two bytes, the diagonal, the
/// radius.
const FASTFOOD_TABLE_BYTES: f64 = 1.0 / 8.0 + 2.0 + 4.0 + 4.0;
/// Three signs and the radius.
const SORF_TABLE_BYTES: f64 = 3.0 / 8.0 + 4.0;

/// Features of dense maps.
pub(crate) const PROJECTION: &[OpBench] = &[
    OpBench {
        name: "projection-paired",
        host_only: false,
        work: |shape| map_work(shape, 0.5),
        prepare: jobs::projection_paired,
        shapes: [SOFTWARE_MAPS, SMALL_MAPS, USUAL_MAPS, FULL_MAPS],
    },
    OpBench {
        name: "projection-phase",
        host_only: false,
        work: |shape| map_work(shape, 1.0),
        prepare: jobs::projection_phase,
        shapes: [SOFTWARE_MAPS, SMALL_MAPS, USUAL_MAPS, FULL_MAPS],
    },
];

/// Gram sums.
pub(crate) const GRAM: &[OpBench] = &[OpBench {
    name: "gram",
    host_only: false,
    work: |Shape { rows, features, .. }| {
        let (n, d) = (rows as f64, features as f64);
        Work {
            flops: n * d * (d + 1.0) + 2.0 * n * d,
            bytes: 4.0 * n * (d + 1.0),
        }
    },
    prepare: jobs::gram,
    shapes: [
        &[[1024, 0, 256], [512, 0, 512]],
        &[[4096, 0, 512], [2048, 0, 1024]],
        &[[65536, 0, 1024], [8192, 0, 4096], [32768, 0, 8192]],
        &[[ROWS, 0, 1024], [ROWS, 0, 8192], [ROWS, 0, 16384]],
    ],
}];

/// Fused predictions.
pub(crate) const PREDICT: &[OpBench] = &[OpBench {
    name: "predict",
    host_only: false,
    work: |shape| {
        let (n, d) = (shape.rows as f64, shape.dim as f64);
        let (features, targets) = (shape.features as f64, TARGETS as f64);
        Work {
            flops: n * d * features + 2.0 * n * features * targets,
            bytes: 4.0 * (n * (d + targets) + d * features / 2.0 + features * targets),
        }
    },
    prepare: jobs::predict,
    shapes: [SOFTWARE_MAPS, SMALL_MAPS, USUAL_MAPS, FULL_MAPS],
}];

/// Matrix products.
pub(crate) const PRODUCT: &[OpBench] = &[OpBench {
    name: "product",
    host_only: false,
    work: |shape| map_work(shape, 1.0),
    prepare: jobs::product,
    shapes: [
        &[[1024, 1024, 10], [256, 784, 512]],
        &[[4096, 1024, 10], [1024, 784, 1024]],
        &[[65536, 4096, 10], [8192, 784, 4096]],
        &[[ROWS, 8192, 10], [ROWS, 784, 8192]],
    ],
}];

/// Products of few rows; projections and predictions of them are among the shapes of those.
pub(crate) const FEW: &[OpBench] = &[OpBench {
    name: "few",
    host_only: false,
    work: |shape| map_work(shape, 1.0),
    prepare: jobs::product,
    shapes: [
        &[[1, 1024, 10], [16, 784, 512]],
        &[[1, 1024, 10], [1, 784, 4096], [64, 784, 1024]],
        &[[1, 4096, 10], [1, 784, 4096], [64, 784, 4096]],
        &[[1, 8192, 10], [1, 784, 8192], [64, 784, 8192]],
    ],
}];

/// Walsh-Hadamard transforms.
pub(crate) const WALSH_HADAMARD: &[OpBench] = &[OpBench {
    name: "walsh-hadamard",
    host_only: false,
    work: |Shape { rows, features, .. }| {
        let (n, d) = (rows as f64, features as f64);
        Work {
            flops: n * d * d.log2(),
            bytes: 8.0 * n * d,
        }
    },
    prepare: jobs::walsh_hadamard,
    shapes: [
        &[
            [16384, 0, 64],
            [1024, 0, 1024],
            [256, 0, 4096],
            [16, 0, 1 << 16],
        ],
        &[
            [131_072, 0, 64],
            [8192, 0, 1024],
            [2048, 0, 4096],
            [16, 0, 1 << 18],
        ],
        &[
            [ROWS, 0, 64],
            [65536, 0, 1024],
            [65536, 0, 4096],
            [1024, 0, 1 << 16],
            [64, 0, 1 << 20],
        ],
        &[
            [1 << 21, 0, 64],
            [1 << 19, 0, 256],
            [ROWS, 0, 1024],
            [ROWS, 0, 4096],
            [16384, 0, 1 << 15],
            [128, 0, 1 << 20],
        ],
    ],
}];

/// Fastfood and SORF.
pub(crate) const STRUCTURED: &[OpBench] = &[
    OpBench {
        name: "fastfood",
        host_only: false,
        work: |shape| structured_work(shape, 2.0, FASTFOOD_TABLE_BYTES),
        prepare: jobs::fastfood,
        shapes: STRUCTURED_MAPS,
    },
    OpBench {
        name: "sorf",
        host_only: false,
        work: |shape| structured_work(shape, 3.0, SORF_TABLE_BYTES),
        prepare: jobs::sorf,
        shapes: STRUCTURED_MAPS,
    },
    OpBench {
        name: "fastfood-predict",
        host_only: false,
        work: |shape| {
            let (n, features) = (shape.rows as f64, shape.features as f64);
            let targets = TARGETS as f64;
            let map = structured_work(shape, 2.0, FASTFOOD_TABLE_BYTES);
            Work {
                flops: map.flops + 2.0 * n * features * targets,
                bytes: map.bytes + 4.0 * (n * targets + features * targets - n * features),
            }
        },
        prepare: jobs::fastfood_predict,
        shapes: STRUCTURED_MAPS,
    },
];

/// A kernel of the distance of long rows takes a product; else subtract, multiply, add.
fn kernel_work(shape: Shape) -> Work {
    let work = map_work(shape, 1.0);
    let flops = if shape.dim >= 64 { 1.0 } else { 1.5 } * work.flops;
    Work { flops, ..work }
}

/// Kernel blocks, and the Nystrom features that are made of them.
pub(crate) const KERNEL_BLOCK: &[OpBench] = &[
    OpBench {
        name: "kernel-block",
        host_only: false,
        work: kernel_work,
        prepare: jobs::kernel_block,
        shapes: [
            &[[1024, 32, 256], [256, 784, 256]],
            &[[8192, 32, 1024], [1024, 784, 1024]],
            &[[65536, 32, 4096], [16384, 784, 4096]],
            &[[ROWS, 32, 8192], [ROWS, 784, 8192]],
        ],
    },
    OpBench {
        name: "nystrom",
        host_only: false,
        work: |shape| {
            let block = kernel_work(shape);
            let (n, m) = (shape.rows as f64, shape.features as f64);
            Work {
                // The block, then its product with the inverse root.
                flops: block.flops + 2.0 * n * m * m,
                bytes: block.bytes + 4.0 * m * m,
            }
        },
        prepare: jobs::nystrom,
        shapes: [
            &[[1024, 32, 256]],
            &[[8192, 32, 1024], [1024, 784, 1024]],
            &[[65536, 32, 1024], [16384, 784, 2048]],
            &[[ROWS, 32, 2048], [ROWS, 784, 2048]],
        ],
    },
];

/// Random binning.
pub(crate) const BINNING: &[OpBench] = &[OpBench {
    name: "binning",
    host_only: false,
    work: |Shape {
               rows,
               dim,
               features,
           }| {
        let (n, d, grids) = (rows as f64, dim as f64, features as f64);
        Work {
            // Its products are of integers, for which no ceiling is measured.
            flops: 0.0,
            bytes: 4.0 * n * d + 8.0 * d * grids + 8.0 * n * grids,
        }
    },
    prepare: jobs::binning,
    shapes: [
        &[[1024, 32, 128]],
        &[[4096, 32, 1024], [1024, 784, 256]],
        &[[65536, 32, 1024], [8192, 784, 1024]],
        &[[ROWS, 32, 1024], [ROWS, 784, 1024]],
    ],
}];

/// Blocks moved between matrices.
pub(crate) const PLACE: &[OpBench] = &[OpBench {
    name: "place",
    host_only: false,
    work: |Shape { rows, features, .. }| {
        let (n, d) = (rows as f64, features as f64);
        Work {
            flops: 0.0,
            bytes: 8.0 * n * d + 8.0 * d,
        }
    },
    prepare: jobs::place,
    shapes: MOVES,
}];

/// What joins the two factors of a tensor sketch of degree 2.
pub(crate) const COMPLEX_PRODUCT: &[OpBench] = &[OpBench {
    name: "complex-product",
    host_only: false,
    work: |Shape { rows, features, .. }| Work {
        flops: 0.0,
        bytes: 12.0 * rows as f64 * features as f64,
    },
    prepare: jobs::complex_product,
    shapes: MOVES,
}];

/// Two samples of the additive chi-squared spectrum: three features a column.
pub(crate) const ADDITIVE_CHI2: &[OpBench] = &[OpBench {
    name: "additive-chi2",
    host_only: false,
    work: |Shape { rows, features, .. }| Work {
        flops: 0.0,
        bytes: 4.0 * rows as f64 * (features / 3 + features) as f64,
    },
    prepare: jobs::additive_chi2,
    shapes: MOVES_OF_THREE,
}];

/// The copy that the others are held against: its share is what the table reads of a ceiling.
pub(crate) const CEILING: &[OpBench] = &[OpBench {
    name: "copy",
    host_only: false,
    work: |Shape { rows, features, .. }| Work {
        flops: 0.0,
        bytes: 8.0 * rows as f64 * features as f64,
    },
    prepare: jobs::copy,
    shapes: MOVES,
}];

/// What is measured beside the ops: it has no shader.
pub(crate) const BESIDE: &[OpBench] = &[OpBench {
    name: "cholesky",
    host_only: true,
    work: |Shape { features, .. }| {
        let n = features as f64;
        Work {
            // n^3 / 3 in f64.
            flops: 2.0 * n * n * n / 3.0,
            bytes: 8.0 * n * n,
        }
    },
    prepare: jobs::cholesky,
    shapes: [
        &[[0, 0, 512]],
        &[[0, 0, 1024], [0, 0, 2048]],
        &[[0, 0, 2048], [0, 0, 4096]],
        &[[0, 0, 4096], [0, 0, 8192]],
    ],
}];

/// A product of `[rows, dim]` with `[dim, features * per_feature]`, written as `[rows, features]`.
fn map_work(shape: Shape, per_feature: f64) -> Work {
    let (n, d, features) = (shape.rows as f64, shape.dim as f64, shape.features as f64);
    let freqs = per_feature * features;
    Work {
        flops: 2.0 * n * d * freqs,
        bytes: 4.0 * (n * d + d * freqs + n * features),
    }
}

/// Whole blocks of transforms, so many levels of additions for each feature's frequency; rows read
/// and features written once.
fn structured_work(shape: Shape, transforms: f64, table_bytes: f64) -> Work {
    let (n, d, features) = (shape.rows as f64, shape.dim as f64, shape.features as f64);
    let padded = shape.dim.next_power_of_two().max(2);
    let freqs = (shape.features / 2).next_multiple_of(padded) as f64;
    Work {
        flops: n * freqs * transforms * (padded as f64).log2(),
        bytes: 4.0 * n * (d + features) + table_bytes * freqs,
    }
}
