//! Jobs timed in turn: ratios of their medians hold on a busy machine too.

use std::time::Instant;

/// A name and what is timed.
pub(crate) type Job<'a> = (String, Box<dyn FnMut() + 'a>);

/// Median seconds of each job over interleaved rounds, after one warm-up of each.
pub(crate) fn medians(rounds: usize, jobs: &mut [Job<'_>]) -> Vec<f64> {
    let mut times = vec![Vec::new(); jobs.len()];
    for round in 0..=rounds {
        for ((_, job), times) in jobs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            job();
            if round > 0 {
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    times
        .iter_mut()
        .map(|t| {
            t.sort_by(f64::total_cmp);
            t[t.len() / 2]
        })
        .collect()
}
