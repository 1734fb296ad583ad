use super::*;
use crate::{
    sampling::round_to_11_bits,
    seed::{Seed, Stream},
};

/// Collects the products, row by row.
struct Collect {
    t: Vec<f32>,
    start: usize,
    width: usize,
}

impl Epilogue for &mut Collect {
    fn row<S: Simd>(&mut self, _: S, row: usize, col: usize, t: &[f32]) {
        let at = row * self.width + col - self.start;
        self.t[at..][..t.len()].copy_from_slice(t);
    }
}

fn products(panels: &Bf16Panels, x: &[f32], part: PanelsView<'_>) -> Vec<f32> {
    let (rows, width) = (x.len() / panels.depth, part.columns());
    let t = vec![f32::NAN; rows * width];
    let start = part.start();
    let mut collect = Collect { t, start, width };
    panels.for_each_row(x, &mut Some(part).into_iter(), &mut collect);
    collect.t
}

/// Columns on 11 bits, and rows of all sizes of a float.
fn data(rows: usize, depth: usize, columns: usize) -> (Vec<f32>, Vec<f32>) {
    let mut draws = Seed(3).stream(Stream::Sample, 0);
    let w = (0..depth * columns).map(|_| round_to_11_bits(draws.normal()));
    let mut w: Vec<f32> = w.collect();
    if depth % 2 == 1 {
        w.iter_mut().step_by(7).for_each(|w| *w = 0.0);
    }
    let x = (0..rows * depth).map(|i| {
        let size = [1.0, 1e-12, 1e3, 1e20][i / depth % 4];
        (size * draws.normal()) as f32
    });
    (w, x.collect())
}

/// 2^-23 of each product for the pieces that are left out, and 2^-24 of the sum of absolute
/// products for each of the additions: chains of 16, one for even and odd, two pieces a block,
/// two at the end.
#[test]
fn products_are_those_of_f64_and_rows_have_one_result() {
    if !amx::available() {
        println!("no matrix unit of bf16 here: f32 is used");
        return;
    }
    for (depth, columns) in [
        (32, 1),
        (33, 31),
        (63, 32),
        (100, 97),
        (784, 65),
        (1030, 160),
    ] {
        let rows = 37;
        let (w, x) = data(rows, depth, columns);
        let packed = Panels::pack(&w, depth, columns);
        let panels = Bf16Panels::from_panels(&packed).expect("11 bits, deep enough, and a unit");
        let t = products(&panels, &x, packed.all());
        let additions = 17 + 2 * depth.div_ceil(DEPTH) + 2;
        for (i, row) in x.chunks_exact(depth).enumerate() {
            for j in 0..columns {
                let terms = row.iter().zip(w.iter().skip(j).step_by(columns));
                let (mut exact, mut size) = (0.0, 0.0);
                for (&x, &w) in terms {
                    let term = f64::from(x) * f64::from(w);
                    exact += term;
                    size += term.abs();
                }
                let bound = size * (2.0 + additions as f64) * (-24_f64).exp2();
                let got = f64::from(t[i * columns + j]);
                let error = (got - exact).abs();
                assert!(
                    error <= bound,
                    "{depth} x {columns} at {i}, {j}: {error:e} of {bound:e}"
                );
                // Far from it: random roundings do not add up. Pieces that are lost, or met by
                // the wrong ones, are 2^-17 of the products and more.
                let near = 8.0 * size * (-22_f64).exp2() / (depth as f64).sqrt();
                assert!(
                    error <= near + 4.0 * (-24_f64).exp2() * exact.abs(),
                    "{depth} x {columns} at {i}, {j}: {error:e}, {near:e}"
                );
            }
        }
        assert_one_result(&panels, &packed, (&x, &t), depth);
    }
}

/// Alone, stacked, in one tile, and in several, with columns in two parts.
fn assert_one_result(panels: &Bf16Panels, packed: &Panels, (x, t): (&[f32], &[f32]), depth: usize) {
    let (rows, columns) = (x.len() / depth, packed.all().columns());
    for batch in [1, 2, 5, 6, 16, 17] {
        let half = columns.div_ceil(2).next_multiple_of(COLUMNS);
        for from in (0..columns).step_by(half) {
            let part = packed.all().part(from, columns.min(from + half));
            for i in (0..rows - batch).step_by(7) {
                let few = products(panels, &x[i * depth..(i + batch) * depth], part);
                let width = part.columns();
                for (r, few) in few.chunks_exact(width).enumerate() {
                    let among = &t[(i + r) * columns + from..][..width];
                    assert_eq!(few, among, "{depth} x {columns}, {batch} rows at {i}");
                }
            }
        }
    }
}

#[test]
fn shallow_columns_and_more_than_eleven_bits_are_refused() {
    assert!(Bf16Panels::from_panels(&Panels::pack(&[1.0; 31], 31, 1)).is_none());
    let mut w = [1.0; 64];
    w[40] = 1.0 + 1.0 / 2048.0;
    assert!(Bf16Panels::from_panels(&Panels::pack(&w, 64, 1)).is_none());
}

#[test]
fn what_is_no_number_stays_none() {
    if !amx::available() {
        println!("no matrix unit of bf16 here: f32 is used");
        return;
    }
    let packed = Panels::pack(&[1.0; 64], 64, 1);
    let panels = Bf16Panels::from_panels(&packed).expect("ones are exact");
    for strange in [
        f32::NAN,
        f32::from_bits(0x7f80_0001),
        f32::from_bits(!0),
        f32::INFINITY,
    ] {
        let mut x = [1.0; 64];
        x[3] = strange;
        assert!(!products(&panels, &x, packed.all())[0].is_finite());
    }
}
