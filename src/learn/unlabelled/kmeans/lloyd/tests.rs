//! Lloyd's iteration compared with its definition; weights and empty clusters.

use super::*;
use crate::{
    learn::unlabelled::kmeans::{Kept, points::Take},
    seed::{Seed, Stream},
};

/// Points that count how many are requested, and how often.
struct Counting(Kept, usize, usize);

impl Points for Counting {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()> {
        self.1 += wanted.iter().filter(|w| **w).count();
        self.2 += 1;
        self.0.for_each_block(wanted, take)
    }
}

/// Textbook Lloyd iteration: centres, inertia and number of iterations.
fn plain(z: &Array2<f32>, mut centres: Array2<f64>) -> (Array2<f64>, f64, usize) {
    let z = z.mapv(f64::from);
    let mut cluster = vec![usize::MAX; z.nrows()];
    for iteration in 1.. {
        let before = cluster.clone();
        for (cluster, z) in cluster.iter_mut().zip(z.rows()) {
            let distance = |c: usize| (&z - &centres.row(c)).mapv(|v| v * v).sum();
            let all = 0..centres.nrows();
            let near = all.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            *cluster = near.expect("a centre");
        }
        let mut inertia = 0.0;
        for c in 0..centres.nrows() {
            let rows: Vec<usize> = (0..z.nrows()).filter(|&i| cluster[i] == c).collect();
            let own = z.select(Axis(0), &rows);
            let mean = own.mean_axis(Axis(0)).expect("points");
            inertia += (&own - &mean).mapv(|v| v * v).sum();
            centres.row_mut(c).assign(&mean);
        }
        if cluster == before {
            return (centres, inertia, iteration);
        }
    }
    unreachable!("it ends when nothing changes")
}

/// Overlapping clusters, which take many iterations: the steps equal the textbook iteration, with
/// fewer points visited.
#[test]
fn the_steps_are_those_of_the_plain_iteration_and_fewer_points_are_visited() {
    for (seed, columns) in [(1, 3), (2, 8), (3, 20)] {
        let mut draws = Seed(seed).stream(Stream::Data, 0);
        let z = Array2::from_shape_simple_fn((2000, columns), || draws.normal() as f32);
        let starts: Vec<usize> = (0..7).map(|c| 13 * c).collect();
        let start = z.select(Axis(0), &starts).mapv(f64::from);
        let (centres, inertia, iterations) = plain(&z, start.clone());
        let mut points = Counting(
            Kept {
                points_nd: z.clone(),
            },
            0,
            0,
        );
        let mut lloyd = Lloyd::from(start, 2000, None);
        let rules = Rules {
            tolerance: 0.0,
            max_iterations: 1000,
        };
        lloyd.run(&mut points, rules, &|_, _| {}).expect("runs");
        assert!(lloyd.converged() && lloyd.iterations() == iterations);
        assert!((lloyd.inertia() / inertia - 1.0).abs() < 1e-9);
        let worst = (&lloyd.centres_kd - &centres).fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(worst < 1e-9, "{worst}");
        let share = points.1 as f64 / (2000 * iterations) as f64;
        assert!(
            share < 0.8,
            "{columns} columns, {iterations} iterations: {share}"
        );
    }
}

/// Stops at the first moves whose squares are below the requested share of the mean variance.
#[test]
fn the_tolerance_is_a_share_of_the_mean_variance() {
    let mut draws = Seed(4).stream(Stream::Data, 0);
    let z = Array2::from_shape_simple_fn((1500, 6), || draws.normal() as f32);
    let variance = z
        .mapv(f64::from)
        .var_axis(Axis(0), 0.0)
        .mean()
        .expect("columns");
    let start = z.slice(s![..5, ..]).mapv(f64::from);
    let heard = std::cell::RefCell::new(Vec::new());
    for tolerance in [0.02, 0.04, 0.08] {
        let mut lloyd = Lloyd::from(start.clone(), 1500, None);
        let rules = Rules {
            tolerance,
            max_iterations: 1000,
        };
        let mut points = Kept {
            points_nd: z.clone(),
        };
        heard.borrow_mut().clear();
        let hear = |_, moves| heard.borrow_mut().push(moves / variance);
        lloyd.run(&mut points, rules, &hear).expect("runs");
        let mut moves = heard.borrow().clone();
        let last = moves.pop().expect("one iteration");
        assert!(
            last <= tolerance && moves.iter().all(|&m| m > tolerance),
            "{moves:?} {last}"
        );
        assert!(moves.len() > 3 && lloyd.converged());
    }
}

/// A point of weight w equals w points: the same steps, centres and inertia. A point of weight 0 is
/// ignored, even if it is the farthest of all.
#[test]
fn points_count_by_their_weights() {
    let mut draws = Seed(7).stream(Stream::Data, 0);
    let mut z = Array2::from_shape_simple_fn((900, 4), || draws.normal() as f32);
    let weight = |i: usize| [1, 0, 3, 2][i % 4];
    z.row_mut(1).fill(50.0);
    let copies: Vec<usize> = (0..900).flat_map(|i| vec![i; weight(i)]).collect();
    // The last cluster is empty at first.
    let mut start = z.slice(s![2..8, ..]).mapv(f64::from);
    start.row_mut(5).fill(-90.0);
    let rules = Rules {
        tolerance: 1e-3,
        max_iterations: 1000,
    };
    let all: Vec<f64> = (0..900).map(|i| weight(i) as f64).collect();
    let run = |z: Array2<f32>, weights| {
        let mut lloyd = Lloyd::from(start.clone(), z.nrows(), weights);
        let mut points = Kept { points_nd: z };
        lloyd.run(&mut points, rules, &|_, _| {}).expect("runs");
        lloyd
    };
    let repeated = run(z.select(Axis(0), &copies), None);
    let weighted = run(z, Some(&all));
    assert!(weighted.iterations() > 5 && weighted.iterations() == repeated.iterations());
    assert!((weighted.inertia() / repeated.inertia() - 1.0).abs() < 1e-9);
    let apart = (&weighted.centres_kd - &repeated.centres_kd).mapv(f64::abs);
    assert!(apart.iter().all(|d| *d < 1e-9), "{apart}");
}

/// An empty cluster takes the point farthest from its centre.
#[test]
fn an_empty_cluster_moves_to_the_farthest_point() {
    let z = ndarray::array![[0.0_f32], [0.1], [0.2], [0.3], [9.0]];
    let mut lloyd = Lloyd::from(ndarray::array![[0.1], [100.0]], 5, None);
    let rules = Rules {
        tolerance: 0.0,
        max_iterations: 10,
    };
    let mut points = Kept { points_nd: z };
    lloyd.run(&mut points, rules, &|_, _| {}).expect("runs");
    assert!((lloyd.centres_kd[[1, 0]] - 9.0).abs() < 1e-6);
    assert!((lloyd.centres_kd[[0, 0]] - 0.15).abs() < 1e-6);
    assert_eq!(lloyd.counts, [4, 1]);
}

/// Two empty clusters take two points in one pass.
#[test]
fn empty_clusters_are_filled_in_one_pass() {
    let z = ndarray::array![[0.0_f32], [-8.0], [0.2], [0.3], [9.0]];
    let mut lloyd = Lloyd::from(ndarray::array![[0.1], [100.0], [200.0]], 5, None);
    let mut points = Counting(Kept { points_nd: z }, 0, 0);
    lloyd.assign(&mut points).expect("goes");
    assert_eq!(lloyd.fill_empty(&mut points).expect("fills"), 2);
    // One pass over all points, then over these two.
    assert_eq!((points.1, points.2), (7, 2));
    lloyd.move_centres();
    let expected = [0.5 / 3.0, 9.0, -8.0];
    for (centre, expected) in lloyd.centres_kd.iter().zip(expected) {
        assert!((centre - expected).abs() < 1e-6, "{}", lloyd.centres_kd);
    }
    assert_eq!(lloyd.counts, [3, 1, 1]);
}
