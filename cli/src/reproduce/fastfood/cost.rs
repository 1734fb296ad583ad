//! Time of features and size of maps against d and D.

use super::{Context, Kind};
use crate::{
    page::chart::{Axis, Chart, Drawn, Panel, Point, Series},
    reproduce::findings::{Findings, Grid, slope},
};
use anyhow::Result;
use bochner::{
    data::Rows,
    features::{Affine, Store, Transformer},
    seed::Stream,
};
use ndarray::Array2;
use serde_json::{Value, json};
use std::time::Instant;

/// Rows at a time, and how often the time of them is taken; the least counts.
const ROWS: usize = 1024;
const TIMES: usize = 7;

/// What one map takes: seconds a row, and bytes of its file.
#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    bytes: f64,
}

/// One of the costs, in its unit.
type Of = fn(&Cost) -> f64;

/// The costs of all maps, in the order of [`Kind::ALL`]: timed in turn, so that what else the
/// machine does meets all of them.
fn costs(context: &Context<'_>, d: usize, features: usize) -> Result<Vec<Cost>> {
    let mut draws = context.seed(0).stream(Stream::Data, d as u64);
    // As many as Nystrom takes for landmarks.
    let x = Array2::from_shape_simple_fn((ROWS.max(features), d), || draws.normal());
    let input = Affine::identity(d).lengthscale((d as f64).sqrt())?;
    let map = |kind: &Kind| kind.map(features, context.seed(0), input.clone(), &x);
    let maps = Kind::ALL.iter().map(map).collect::<Result<Vec<_>>>()?;
    let mut costs = Vec::new();
    let mut transformers = Vec::new();
    for map in &maps {
        let mut store = Store::default();
        map.write(&mut store)?;
        costs.push(Cost {
            seconds: f64::INFINITY,
            bytes: store.to_bytes("map")?.len() as f64,
        });
        transformers.push(Transformer::new(map.as_ref(), context.run())?);
    }
    let rows = Rows::from(x.slice(ndarray::s![..ROWS, ..]).mapv(|v| v as f32));
    let mut z = Array2::<f32>::zeros((ROWS, features));
    // The first time warms caches and chooses tiles.
    for time in 0..=TIMES {
        for (transformer, cost) in transformers.iter_mut().zip(&mut costs) {
            let begun = Instant::now();
            transformer.rows(&rows, z.view_mut())?;
            let seconds = begun.elapsed().as_secs_f64() / ROWS as f64;
            if time > 0 {
                cost.seconds = cost.seconds.min(seconds);
            }
        }
    }
    Ok(costs)
}

/// Sizes along which costs are measured, with the other one fixed.
struct Sweep {
    name: &'static str,
    sizes: &'static [usize],
    /// d and D at a size.
    at: fn(usize, bool) -> (usize, usize),
}

const SWEEPS: [Sweep; 2] = [
    Sweep {
        name: "d",
        sizes: &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
        at: |d, quick| (d, if quick { 256 } else { 2048 }),
    },
    Sweep {
        name: "D",
        sizes: &[128, 256, 512, 1024, 2048, 4096],
        at: |features, quick| (if quick { 256 } else { 1024 }, features),
    },
];

/// The costs of all maps along one sweep.
struct Measured {
    sweep: &'static Sweep,
    quick: bool,
    sizes: Vec<usize>,
    /// In the order of [`Kind::ALL`], one a size.
    costs: Vec<Vec<Cost>>,
}

/// Adds what features cost.
pub(super) fn add(context: &Context<'_>, findings: &mut Findings) -> Result<()> {
    let measured = SWEEPS.iter().map(|sweep| sweep.measure(context));
    let measured = measured.collect::<Result<Vec<_>>>()?;
    // Against d and against D: two of the time, two of the bytes.
    let exponents: Vec<Vec<f64>> = (0..Kind::ALL.len())
        .map(|kind| measured.iter().flat_map(|m| m.exponents(kind)).collect())
        .collect();
    let crossovers = [2, 3].map(|kind| measured[0].crossover(kind));
    let (_, fixed) = (SWEEPS[0].at)(0, context.is_quick());
    findings.heading("Cost");
    findings.picture("cost", chart(&measured, context.is_quick()));
    for crossover in &crossovers {
        findings.text(crossover.said(fixed));
    }
    findings.grid(table(&exponents));
    let numbers = measured.iter().flat_map(Measured::numbers);
    findings.number("cost", numbers.collect::<Vec<_>>());
    let exponents = Kind::ALL.iter().zip(&exponents).map(|(kind, e)| {
        json!({"map": kind.name(), "time_d": e[0], "bytes_d": e[1], "time_D": e[2],
               "bytes_D": e[3]})
    });
    findings.number("exponents", exponents.collect::<Vec<_>>());
    let crossovers = crossovers.map(
        |Crossover { kind, at }| json!({"map": kind.name(), "d": at.filter(|at| at.is_finite())}),
    );
    findings.number("crossovers", crossovers.to_vec());
    Ok(())
}

impl Sweep {
    fn measure(&'static self, context: &Context<'_>) -> Result<Measured> {
        let quick = context.is_quick();
        let all = self.sizes.iter().copied();
        let sizes: Vec<usize> = if quick {
            all.skip(1).step_by(3).take(2).collect()
        } else {
            all.collect()
        };
        let mut costs = vec![Vec::new(); Kind::ALL.len()];
        for &size in &sizes {
            context.say(format!("time of features, {} = {size}", self.name));
            let (d, features) = (self.at)(size, quick);
            for (costs, cost) in costs.iter_mut().zip(self::costs(context, d, features)?) {
                costs.push(cost);
            }
        }
        Ok(Measured {
            sweep: self,
            quick,
            sizes,
            costs,
        })
    }
}

/// What is measured: an axis for each of the costs.
fn quantities() -> [(Axis, Of); 2] {
    [
        (Axis::log("time of a row", "µs"), |c| 1e6 * c.seconds),
        (Axis::log("size of the map", "KiB"), |c| c.bytes / 1024.0),
    ]
}

impl Measured {
    fn xs(&self) -> Vec<f64> {
        self.sizes.iter().map(|&size| size as f64).collect()
    }

    /// A panel for each of the costs.
    fn panels(&self) -> [Panel; 2] {
        quantities().map(|(y, of)| {
            let series = Kind::ALL.iter().zip(&self.costs).map(|(kind, costs)| {
                let points = self.xs().into_iter().zip(costs);
                let points = points.map(|(x, cost)| Point::new(x, of(cost)));
                Series::new(kind.name(), Drawn::Joined, points)
            });
            Panel::new("", Axis::log(self.sweep.name, ""), y, series.collect())
        })
    }

    /// Slopes of the logarithms of both costs of a kind, over the upper half of the sizes, where
    /// what is fixed weighs less.
    fn exponents(&self, kind: usize) -> [f64; 2] {
        let xs = self.xs();
        let upper = (xs.len() / 2).min(xs.len() - 2);
        quantities().map(|(_, of)| {
            let ys: Vec<f64> = self.costs[kind].iter().map(of).collect();
            slope(&xs[upper..], &ys[upper..])
        })
    }

    /// Where a kind takes less time than the dense maps, the first two.
    fn crossover(&self, kind: usize) -> Crossover {
        let dense = self.costs[0].iter().zip(&self.costs[1]);
        let ratio: Vec<f64> = (self.costs[kind].iter().zip(dense))
            .map(|(own, (one, other))| own.seconds / one.seconds.min(other.seconds))
            .collect();
        Crossover {
            kind: Kind::ALL[kind],
            at: crossover(&self.xs(), &ratio),
        }
    }

    /// Every cost, for programs.
    fn numbers(&self) -> Vec<Value> {
        let mut numbers = Vec::new();
        for (i, &size) in self.sizes.iter().enumerate() {
            let (d, features) = (self.sweep.at)(size, self.quick);
            for (kind, costs) in Kind::ALL.iter().zip(&self.costs) {
                numbers.push(json!({"map": kind.name(), "d": d, "features": features,
                                    "seconds": costs[i].seconds, "bytes": costs[i].bytes}));
            }
        }
        numbers
    }
}

/// From how many columns on a kind takes less time than dense maps, as [`crossover`] has it.
struct Crossover {
    kind: Kind,
    at: Option<f64>,
}

impl Crossover {
    /// In words, with so many features.
    fn said(&self, features: usize) -> String {
        let name = self.kind.name();
        match self.at {
            Some(at) if at.is_finite() => format!(
                "{name} takes less time than a dense map from about {at:.0} columns on, with D = {features}."
            ),
            Some(_) => format!("The dense map takes less time than {name} at all of these d."),
            None => format!("{name} takes less time than a dense map at all of these d."),
        }
    }
}

fn chart(measured: &[Measured], quick: bool) -> Chart {
    let ((_, fixed), (d, _)) = ((SWEEPS[0].at)(0, quick), (SWEEPS[1].at)(0, quick));
    let caption = format!(
        "Above: against the number of columns d with D = {fixed}; below: against the number of features D with d = {d}. Left: \
         time of a row, {ROWS} rows at a time, the least of {TIMES} runs in turn, on the machine that this page was made on. Right: \
         the map in a file."
    );
    let panels = measured.iter().flat_map(Measured::panels).collect();
    let mut chart = Chart::new(caption, panels);
    chart.columns = 2;
    chart.height = 300.0;
    chart
}

/// From where on a ratio stays below 1, by the logarithms of its neighbours; none where it always
/// is, infinity where it is not at the end.
fn crossover(xs: &[f64], ratio: &[f64]) -> Option<f64> {
    let above = ratio.iter().rposition(|r| *r >= 1.0)?;
    let (Some(after), Some(x)) = (ratio.get(above + 1), xs.get(above + 1)) else {
        return Some(f64::INFINITY);
    };
    let share = ratio[above].ln() / (ratio[above].ln() - after.ln());
    Some((xs[above].ln() * (1.0 - share) + x.ln() * share).exp())
}

/// Measured exponents beside those of the complexity tables.
fn table(exponents: &[Vec<f64>]) -> Grid {
    let mut grid = Grid::new([
        "map",
        "time, known",
        "time ~ d^",
        "time ~ D^",
        "memory, known",
        "memory ~ d^",
        "memory ~ D^",
    ])
    .caption(
        "Exponents: slopes of the logarithms over the larger half of the sizes. Known, for a row: Le, Sarlos & Smola 2013 and \
         Yu et al. 2016; Nystrom with D landmarks. A map keeps the centre and the scale of each column, too, so that the \
         memory of structured maps is not constant in d; blocks of a power of two columns make steps.",
    );
    for (kind, e) in Kind::ALL.iter().zip(exponents) {
        let (time, memory) = match kind {
            Kind::Sinks | Kind::Orthogonal => ("d D", "d D"),
            Kind::Fastfood | Kind::Sorf => ("D log d", "D"),
            Kind::Nystrom => ("d D + D²", "d D + D²"),
        };
        grid.row([
            kind.name().to_owned(),
            time.to_owned(),
            format!("{:.2}", e[0]),
            format!("{:.2}", e[2]),
            memory.to_owned(),
            format!("{:.2}", e[1]),
            format!("{:.2}", e[3]),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crossover_is_where_the_ratio_stays_below_one() {
        let xs = [16.0, 64.0, 256.0];
        assert_eq!(crossover(&xs, &[0.5, 0.4, 0.3]), None);
        assert_eq!(crossover(&xs, &[0.5, 0.4, 1.3]), Some(f64::INFINITY));
        let at = crossover(&xs, &[4.0, 2.0, 0.5]).unwrap();
        assert!((at - 128.0).abs() < 1e-9, "{at}");
        // A single dip before does not count.
        let at = crossover(&xs, &[0.9, 2.0, 0.5]).unwrap();
        assert!((at - 128.0).abs() < 1e-9, "{at}");
    }
}
