//! The loops that are looked at, and what each must have.

/// Vector instructions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Set {
    Avx2,
    Avx512,
    Neon,
}
use Set::*;

impl Set {
    pub(super) const ALL: [Self; 3] = [Avx2, Avx512, Neon];

    pub(super) fn name(self) -> &'static str {
        ["avx2", "avx512", "neon"][self as usize]
    }

    pub(super) fn target(self) -> &'static str {
        match self {
            Avx2 | Avx512 => "x86_64-unknown-linux-gnu",
            Neon => "aarch64-unknown-linux-gnu",
        }
    }

    /// What only the names of its functions have.
    pub(super) fn symbol(self) -> &'static str {
        ["2V39vectorize", "2V49vectorize", "4Neon9vectorize"][self as usize]
    }
}

/// A loop of the library.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) name: &'static str,
    /// What only the names of its functions have: a type's, after its length.
    pub(super) symbol: &'static str,
    /// And those of the function of `xtask/loops` that calls it, which holds the loop where its
    /// instructions need no function of their own.
    pub(super) caller: &'static str,
    /// Steps of a turn, and rows and vectors of what is summed at each, in the order of
    /// [`Set::ALL`].
    sums: [(usize, usize, usize); 3],
    /// Whether ARM's multiply-adds take each of the four numbers of a vector of rows.
    by_lane: bool,
    /// Other arithmetic with vectors, in the order of [`Set::ALL`]: none of a product.
    others: [usize; 3],
    /// Stores of vectors: none where sums stay in registers.
    pub(super) stores: usize,
    /// Checks of bounds.
    pub(super) checks: usize,
    /// Cycles of a turn over those of its multiply-adds alone; 0 where it does more than these.
    pub(super) cycles: f64,
}

impl Loop {
    /// Multiply-adds of one turn.
    pub(super) fn multiply_adds(&self, set: Set) -> usize {
        let (steps, rows, vectors) = self.sums[set as usize];
        steps * rows * vectors
    }

    /// Loads of one turn, at most: each row and each vector once.
    pub(super) fn loads(&self, set: Set) -> usize {
        let (steps, rows, vectors) = self.sums[set as usize];
        let rows = match set {
            Neon if self.by_lane => rows / 4,
            _ => rows,
        };
        steps * (rows + vectors)
    }

    /// Other arithmetic of one turn.
    pub(super) fn others(&self, set: Set) -> usize {
        self.others[set as usize]
    }
}

const fn sums(
    name: &'static str,
    [symbol, caller]: [&'static str; 2],
    sums: [(usize, usize, usize); 3],
) -> Loop {
    Loop {
        name,
        symbol,
        caller,
        sums,
        by_lane: false,
        others: [0; 3],
        stores: 0,
        checks: 0,
        cycles: 1.1,
    }
}

pub(super) const LOOPS: [Loop; 6] = [
    // Four steps of depth at once on AVX2.
    Loop {
        by_lane: true,
        ..sums(
            "dense tile",
            ["9DenseTile", "10dense_tile"],
            [(4, 6, 2), (1, 12, 2), (1, 12, 2)],
        )
    },
    // Four steps of depth at once, but on ARM.
    sums(
        "gram",
        ["5block5Block", "8triangle4gram"],
        [(4, 6, 2), (4, 8, 3), (1, 6, 3)],
    ),
    sums(
        "cholesky",
        ["8Subtract", "6update8subtract"],
        [(4, 6, 2), (4, 8, 3), (1, 8, 2)],
    ),
    // Three rows by two columns, two vectors each. One comparison stays for all five: LLVM sees
    // through arrays of slices after it has looked for such. Ten loads are hardly hidden.
    Loop {
        checks: 1,
        cycles: 1.3,
        ..sums("dots", ["4Dots", "7product4dots"], [(2, 3, 2); 3])
    },
    // A difference, and its square on top of the sum.
    Loop {
        others: [8, 8, 16],
        cycles: 0.0,
        ..sums(
            "kernel block",
            ["5tiles5Block", "12kernel_block"],
            [(1, 4, 2), (1, 8, 1), (1, 4, 4)],
        )
    },
    // Eight vectors, and a multiply-add for each level inside them; three levels across them.
    Loop {
        others: [24; 3],
        cycles: 0.0,
        stores: 8,
        ..sums(
            "walsh-hadamard",
            [
                "14walsh_hadamard3cpu4Rows",
                "14walsh_hadamard14walsh_hadamard",
            ],
            [(1, 8, 3), (1, 8, 4), (1, 8, 2)],
        )
    },
];

/// The compiler that they are of: where there is a newer one, its loops are looked at before it is
/// named here.
pub(super) const COMPILER: &str = "1.95";

/// What must break a limit on AVX2: the tile of 12 sums and four operands that Gram sums had, one
/// register more than there are.
pub(super) const CONTROL: Loop = sums(
    "four by three",
    ["11FourByThree", "13four_by_three"],
    [(1, 4, 3); 3],
);

/// What breaks a limit, and is known to: nothing is.
pub(super) const KNOWN: [(&str, Set); 0] = [];
