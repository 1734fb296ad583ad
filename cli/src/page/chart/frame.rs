//! One panel of a chart, drawn where it lies: axes, cells, series and letters.

use super::{Cells, Drawn, MARGIN, Panel, Point, Series, TITLE};
use crate::{
    page::{
        font,
        scale::{Scale, tick_texts},
        scene::{Anchor, At, Ink, Scene, Shape, TEXT, mark},
    },
    report::six_digits,
};

/// Where a panel lies: its edges, and its scales.
pub(super) struct PanelFrame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    across: Scale,
    up: Scale,
}

impl PanelFrame {
    /// None where no value has a place on the axes.
    pub(super) fn new(panel: &Panel, corner: At, size: At) -> Option<Self> {
        let every = || panel.series.iter().flat_map(|series| &series.points);
        let letters = || panel.letters.iter().map(|letter| letter.at);
        let cells = || panel.cells.iter();
        let xs = every().map(|p| p.x).chain(letters().map(|at| at.0));
        let xs = xs.chain(cells().flat_map(|cells| [cells.x.0, cells.x.1]));
        let ys = every().flat_map(|p| [p.y - p.spread, p.y, p.y + p.spread]);
        let ys = ys.chain(letters().map(|at| at.1));
        let ys = ys.chain(cells().flat_map(|cells| [cells.y.0, cells.y.1]));
        let (left, right, top, bottom) = MARGIN;
        let title = if panel.title.is_empty() { 0.0 } else { TITLE };
        Some(Self {
            left: corner.0 + left,
            right: corner.0 + size.0 - right,
            top: corner.1 + top + title,
            bottom: corner.1 + size.1 - bottom,
            across: Scale::from_values(&panel.x, xs)?,
            up: Scale::from_values(&panel.y, ys)?,
        })
    }

    fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.across.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.up.share(value)
    }

    /// Draws all of the panel; series have the colours of their place among `names`.
    pub(super) fn draw(&self, scene: &mut Scene, panel: &Panel, names: &[(&str, Drawn)]) {
        self.axes(scene, panel);
        if let Some(cells) = &panel.cells {
            self.cells(scene, cells);
        }
        for series in &panel.series {
            let index = names.iter().position(|(name, _)| *name == series.name);
            self.series(scene, panel, series, index.unwrap_or(0));
        }
        for letter in &panel.letters {
            let (x, y) = letter.at;
            if self.across.holds(x) && self.up.holds(y) {
                let at = (self.x(x), self.y(y) + 3.0);
                scene.small(at, letter.text.as_str(), 8.0, letter.ink);
            }
        }
    }

    /// Lines and numbers of the grid, and what the axes are called.
    fn axes(&self, scene: &mut Scene, panel: &Panel) {
        let ticks = self.ticks_across();
        for (text, tick) in tick_texts(&ticks).into_iter().zip(ticks) {
            let at = self.x(tick);
            scene.line(vec![(at, self.top), (at, self.bottom)], 1.0, Ink::Grid);
            let below = (at, self.bottom + 16.0);
            scene.text(below, text, Anchor::Middle, Ink::Soft);
        }
        let ticks = drop_near(self.up.ticks(7), |v| -self.y(v), 14.0);
        for (text, tick) in tick_texts(&ticks).into_iter().zip(ticks) {
            let at = self.y(tick);
            scene.line(vec![(self.left, at), (self.right, at)], 1.0, Ink::Grid);
            let before = (self.left - 6.0, at + 4.0);
            scene.text(before, text, Anchor::End, Ink::Soft);
        }
        let middle = (self.left + self.right) / 2.0;
        let low = (middle, self.bottom + 36.0);
        scene.text(low, panel.x.name.as_str(), Anchor::Middle, Ink::Text);
        let beside = (self.left - 50.0, (self.top + self.bottom) / 2.0);
        scene.upwards(beside, panel.y.name.as_str(), Anchor::Middle, Ink::Text);
        if !panel.title.is_empty() {
            let above = (middle, self.top - 8.0);
            scene.text(above, panel.title.as_str(), Anchor::Middle, Ink::Text);
        }
    }

    /// As many ticks across as have room for their numbers, which would run into each other in a
    /// narrow panel.
    fn ticks_across(&self) -> Vec<f64> {
        let mut most = 8;
        loop {
            let ticks = self.across.ticks(most);
            let widths = tick_texts(&ticks);
            let widths = widths.iter().map(|text| TEXT * font::width(text));
            let apart = widths.fold(0.0, f64::max) + 6.0;
            let near = ticks
                .windows(2)
                .any(|pair| self.x(pair[1]) - self.x(pair[0]) < apart);
            if !near || most <= 3 {
                return drop_near(ticks, |v| self.x(v), apart);
            }
            most -= 1;
        }
    }

    fn cells(&self, scene: &mut Scene, cells: &Cells) {
        let rows = cells.values.len() / cells.columns.max(1);
        let width = (cells.x.1 - cells.x.0) / cells.columns.max(1) as f64;
        let height = (cells.y.1 - cells.y.0) / rows.max(1) as f64;
        for (i, row) in cells.values.chunks(cells.columns.max(1)).enumerate() {
            let low = cells.y.0 + i as f64 * height;
            let (top, bottom) = (self.y(low + height), self.y(low));
            // Neighbours of one colour are one rectangle.
            let mut j = 0;
            while j < row.len() {
                let same = row[j..]
                    .iter()
                    .take_while(|value| **value == row[j])
                    .count();
                let (ink, opacity) = row[j];
                let from = self.x(cells.x.0 + j as f64 * width);
                let to = self.x(cells.x.0 + (j + same) as f64 * width);
                let size = (to - from, bottom - top);
                if opacity > 0.0 {
                    scene.rect((from, top), size, Ink::Series(ink), opacity);
                }
                j += same;
            }
        }
    }

    fn series(&self, scene: &mut Scene, panel: &Panel, series: &Series, index: usize) {
        let ink = Ink::Series(index);
        let is_inside = |p: &Point| self.across.holds(p.x) && self.up.holds(p.y);
        if series.drawn != Drawn::Marks {
            // A line ends where a point is missing, rather than leap over the gap.
            let runs = series.points.split(|p| !is_inside(p));
            for run in runs.filter(|run| run.len() > 1) {
                let points = run.iter().map(|p| (self.x(p.x), self.y(p.y))).collect();
                scene
                    .shapes
                    .push(Shape::Line(series.drawn.line(points, ink)));
            }
        }
        for p in series.points.iter().filter(|p| is_inside(p)) {
            let (cx, cy) = (self.x(p.x), self.y(p.y));
            if p.spread > 0.0 {
                let low = p.y - p.spread;
                let low = if self.up.holds(low) {
                    low
                } else {
                    self.up.least()
                };
                let ends = vec![(cx, self.y(low)), (cx, self.y(p.y + p.spread))];
                scene.line(ends, 1.0, ink);
            }
            if series.drawn.has_marks() {
                let title = format!(
                    "{}: {} {}, {} {}",
                    series.name,
                    panel.x.name,
                    six_digits(p.x),
                    panel.y.name,
                    six_digits(p.y)
                );
                scene.mark(mark(index, (cx, cy)), ink, p.hollow, title);
            }
        }
    }
}

/// Ticks without those that lie nearer to the one before than this.
fn drop_near(ticks: Vec<f64>, at: impl Fn(f64) -> f64, apart: f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for tick in ticks {
        if kept.last().is_none_or(|last| at(tick) - at(*last) >= apart) {
            kept.push(tick);
        }
    }
    kept
}
