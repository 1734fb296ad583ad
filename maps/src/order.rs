//! The order of things by what is compared of them: one piece of code for all callers, for each
//! sort with a comparison of its own is 4 kB more of what a page loads.

use std::cmp::Ordering;

/// 0..n ascending, as `compare` has them; of equals the smaller number comes first.
pub fn ascending(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| compare(i, j));
    order
}
