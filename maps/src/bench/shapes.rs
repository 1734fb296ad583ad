//! Shapes of several ops, in order of [`Size`](super::Size): rows, columns and features.

pub(super) const ROWS: usize = 1 << 17;

/// Everything from d and D that the large benchmark covers.
pub(super) const FULL_MAPS: &[[usize; 3]] = &[
    [1, 784, 4096],
    [64, 784, 4096],
    [ROWS, 32, 1024],
    [ROWS, 32, 8192],
    [ROWS, 32, 16384],
    [ROWS, 784, 1024],
    [ROWS, 784, 8192],
    [ROWS, 784, 16384],
    [ROWS, 4096, 1024],
    [ROWS, 4096, 8192],
    [ROWS, 4096, 16384],
];
pub(super) const USUAL_MAPS: &[[usize; 3]] = &[
    [1, 784, 4096],
    [64, 784, 4096],
    [8192, 784, 4096],
    [65536, 32, 1024],
    [ROWS, 784, 8192],
];
pub(super) const SOFTWARE_MAPS: &[[usize; 3]] = &[
    [1, 784, 4096],
    [64, 784, 1024],
    [256, 784, 512],
    [1024, 32, 1024],
];
pub(super) const SMALL_MAPS: &[[usize; 3]] = &[
    [1, 784, 4096],
    [64, 784, 4096],
    [1024, 784, 2048],
    [4096, 32, 1024],
];

/// In one dispatch, and for the last d of each size in steps.
pub(super) const STRUCTURED_MAPS: [&[[usize; 3]]; 4] = [
    &[
        [1, 784, 4096],
        [256, 784, 8192],
        [1024, 64, 1024],
        [8, 5000, 16384],
    ],
    &[
        [1, 784, 4096],
        [1024, 784, 8192],
        [16384, 64, 1024],
        [64, 5000, 16384],
    ],
    &[
        [1, 784, 4096],
        [65536, 784, 8192],
        [65536, 64, 1024],
        [4096, 5000, 16384],
    ],
    &[
        [1, 784, 4096],
        [ROWS, 256, 8192],
        [ROWS, 784, 8192],
        [ROWS, 4096, 8192],
        [16384, 5000, 16384],
    ],
];

/// Blocks moved from one matrix to another, of any width.
pub(super) const MOVES: [&[[usize; 3]]; 4] = [
    &[[1024, 0, 1024]],
    &[[8192, 0, 1024]],
    &[[65536, 0, 1024]],
    &[[ROWS, 0, 4096]],
];

/// As those, of features that come in threes.
pub(super) const MOVES_OF_THREE: [&[[usize; 3]]; 4] = [
    &[[1024, 0, 1023]],
    &[[8192, 0, 1023]],
    &[[65536, 0, 1023]],
    &[[ROWS, 0, 4095]],
];
