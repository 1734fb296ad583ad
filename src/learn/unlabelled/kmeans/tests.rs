//! The memory budget does not change the results of k-means.

use super::{KMeansOptions, Kept, Points, points::Take};
use crate::{
    Result,
    seed::{Seed, Stream},
};
use ndarray::Array2;

/// Points in blocks of a given size, with a count of the passes.
struct Passes(Kept, usize, usize);

impl Points for Passes {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn for_each_block(&mut self, wanted: &[bool], take: Take<'_>) -> Result<()> {
        let Self(kept, rows, passes) = self;
        *passes += 1;
        (0..wanted.len()).step_by(*rows).try_for_each(|first| {
            let block = first..(first + *rows).min(wanted.len());
            let of_block: Vec<bool> = (0..wanted.len())
                .map(|i| wanted[i] && block.contains(&i))
                .collect();
            kept.for_each_block(&of_block, take)
        })
    }
}

/// Overlapping clusters of points, some of weight 0, from a sample and from all: with memory for
/// all points, for the sample only, and for none, in blocks of any size. Less memory takes more
/// passes.
#[test]
fn room_shows_in_no_bit_and_saves_passes() {
    let mut draws = Seed(3).stream(Stream::Data, 0);
    let z = Array2::from_shape_simple_fn((400, 21), || draws.normal() as f32);
    let weights: Vec<f64> = (0..400).map(|i| [1.0, 0.0, 2.5][i % 3]).collect();
    let options = KMeansOptions {
        clusters: 7,
        starts: 2,
        ..KMeansOptions::default()
    };
    for (most, weights) in [(150, None), (150, Some(&weights[..])), (2000, None)] {
        let run = |room: usize, block: usize| {
            let mut points = Passes(
                Kept {
                    points_nd: z.clone(),
                },
                block,
                0,
            );
            let found = options
                .cluster_from((&mut points, weights), (most, room), Seed(1), &|_, _| {})
                .expect("clusters");
            let on_sample = found.facts["iterations_on_sample"];
            assert_eq!(on_sample > 0.0, most < 400);
            let bits = found.centres_kd.mapv(f64::to_bits);
            (bits, found.facts["inertia"].to_bits(), points.2)
        };
        let (centres, inertia, passes) = run(400, 400);
        assert_eq!(passes, 1);
        for (room, block) in [(400, 7), (399, 400), (150, 129), (149, 200), (0, 31)] {
            let (own, own_inertia, own_passes) = run(room, block);
            assert_eq!(
                (own, own_inertia),
                (centres.clone(), inertia),
                "{room}, {block}"
            );
            assert!((own_passes == 1) == (room == 400), "{room}: {own_passes}");
        }
    }
}
