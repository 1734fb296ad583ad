//! Pixels that shapes are drawn on, filled by how much of each they cover, in the light theme.

use super::{At, Ink, Line, Mark, Outline, Rect, Shape, Text};
use crate::page::{
    font::Step,
    palette::{Colour, GROUND, light},
};
use ab_glyph_rasterizer::{Point, Rasterizer, point};
use std::f64::consts::TAU;

/// Pixels along one unit.
pub(super) const SCALE: f64 = 2.0;

/// Rows of pixels.
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<Colour>,
}

/// A step of an outline in pixels.
#[derive(Clone, Copy)]
enum Edge {
    Line(Point, Point),
    Curve(Point, Point, Point),
}

impl Canvas {
    /// A ground of this size in units of a scene.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let (width, height) = ((width * SCALE) as usize, (height * SCALE) as usize);
        Self {
            width,
            height,
            pixels: vec![GROUND; width * height],
        }
    }

    /// Draws a shape over what is there.
    pub(super) fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect(rect) => self.draw_rect(rect),
            Shape::Line(line) => self.draw_line(line),
            Shape::Mark(mark) => self.draw_mark(mark),
            Shape::Text(text) => self.draw_text(text),
        }
    }

    fn draw_rect(&mut self, rect: &Rect) {
        let ((x, y), (w, h)) = (rect.at, rect.size);
        let corners = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)];
        self.fill(&polygon(&corners), light(rect.ink), rect.opacity);
    }

    fn draw_line(&mut self, line: &Line) {
        for (from, to) in strokes(&line.points, line.dashed) {
            self.stroke(from, to, line.width, line.ink);
        }
    }

    fn draw_mark(&mut self, mark: &Mark) {
        let points = match &mark.outline {
            Outline::Circle(at, r) => circle(*at, *r),
            Outline::Polygon(points) => points.clone(),
        };
        let fill = if mark.hollow { Ink::Ground } else { mark.ink };
        self.fill(&polygon(&points), light(fill), 1.0);
        if mark.hollow {
            for (i, from) in points.iter().enumerate() {
                self.stroke(*from, points[(i + 1) % points.len()], 1.5, mark.ink);
            }
        }
    }

    fn draw_text(&mut self, text: &Text) {
        let (x, y) = text.at;
        for (_, along, glyph) in text.glyphs() {
            let place = |gx: f64, gy: f64| {
                let (right, up) = ((along + gx) * text.size, gy * text.size);
                let (px, py) = if text.upwards {
                    (x - up, y - right)
                } else {
                    (x + right, y - up)
                };
                pixel((px, py))
            };
            self.fill(&edges(&glyph.outline, place), light(text.ink), 1.0);
        }
    }

    /// A line with round ends, so that what follows it joins.
    fn stroke(&mut self, from: At, to: At, width: f64, ink: Ink) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let half = width / 2.0;
        let angle = dy.atan2(dx);
        // Half a circle about each end; of a point both are a circle.
        let mut points = Vec::new();
        let steps = 8;
        for (end, turn) in [(to, -TAU / 4.0), (from, TAU / 4.0)] {
            for i in 0..=steps {
                let a = angle + turn + TAU / 2.0 * f64::from(i) / f64::from(steps);
                points.push((end.0 + half * a.cos(), end.1 + half * a.sin()));
            }
        }
        // Lines along an axis have straight ends and no more width than they ask for.
        if length > 0.0 && (dx == 0.0 || dy == 0.0) {
            let (nx, ny) = (-dy / length * half, dx / length * half);
            points = vec![
                (from.0 + nx, from.1 + ny),
                (to.0 + nx, to.1 + ny),
                (to.0 - nx, to.1 - ny),
                (from.0 - nx, from.1 - ny),
            ];
        }
        self.fill(&polygon(&points), light(ink), 1.0);
    }

    /// Mixes a colour into every pixel by the share of it that lies inside of the outline.
    fn fill(&mut self, edges: &[Edge], colour: Colour, opacity: f64) {
        let points = || {
            edges.iter().flat_map(|edge| match *edge {
                Edge::Line(a, b) => [a, b, b],
                Edge::Curve(a, b, c) => [a, b, c],
            })
        };
        let least = |of: fn(&Point) -> f32| points().map(|p| of(&p)).fold(f32::INFINITY, f32::min);
        let most =
            |of: fn(&Point) -> f32| points().map(|p| of(&p)).fold(f32::NEG_INFINITY, f32::max);
        let (left, top) = (least(|p| p.x).floor(), least(|p| p.y).floor());
        let (right, bottom) = (most(|p| p.x).ceil(), most(|p| p.y).ceil());
        if !(right - left).is_finite() || !(bottom - top).is_finite() {
            return;
        }
        let size = ((right - left) as usize + 1, (bottom - top) as usize + 1);
        if size.0 > 4 * self.width || size.1 > 4 * self.height {
            return;
        }
        let mut inside = Rasterizer::new(size.0, size.1);
        let near = |p: Point| point(p.x - left, p.y - top);
        for edge in edges {
            match *edge {
                Edge::Line(a, b) => inside.draw_line(near(a), near(b)),
                Edge::Curve(a, b, c) => inside.draw_quad(near(a), near(b), near(c)),
            }
        }
        let (left, top) = (left as i64, top as i64);
        inside.for_each_pixel_2d(|x, y, share| {
            let (x, y) = (left + i64::from(x), top + i64::from(y));
            let holds = |v: i64, size: usize| usize::try_from(v).ok().filter(|&v| v < size);
            let (Some(x), Some(y)) = (holds(x, self.width), holds(y, self.height)) else {
                return;
            };
            let share = f64::from(share).clamp(0.0, 1.0) * opacity;
            let pixel = &mut self.pixels[y * self.width + x];
            for (p, c) in pixel.iter_mut().zip(colour) {
                *p = (f64::from(*p) + share * (f64::from(c) - f64::from(*p))).round() as u8;
            }
        });
    }
}

fn pixel((x, y): At) -> Point {
    point((SCALE * x) as f32, (SCALE * y) as f32)
}

fn polygon(points: &[At]) -> Vec<Edge> {
    let next = points.iter().cycle().skip(1);
    let sides = points.iter().zip(next);
    sides
        .map(|(a, b)| Edge::Line(pixel(*a), pixel(*b)))
        .collect()
}

fn circle((x, y): At, r: f64) -> Vec<At> {
    let at = |i: u32| TAU * f64::from(i) / 32.0;
    (0..32)
        .map(|i| (x + r * at(i).cos(), y + r * at(i).sin()))
        .collect()
}

/// The outline of a glyph where `place` puts it.
fn edges(outline: &[Step], place: impl Fn(f64, f64) -> Point) -> Vec<Edge> {
    let mut edges = Vec::new();
    let (mut first, mut last) = (point(0.0, 0.0), point(0.0, 0.0));
    for step in outline {
        match *step {
            Step::Move(x, y) => {
                first = place(x, y);
                last = first;
            }
            Step::Line(x, y) => {
                let to = place(x, y);
                edges.push(Edge::Line(last, to));
                last = to;
            }
            Step::Curve(x1, y1, x, y) => {
                let to = place(x, y);
                edges.push(Edge::Curve(last, place(x1, y1), to));
                last = to;
            }
            Step::Close => {
                edges.push(Edge::Line(last, first));
                last = first;
            }
        }
    }
    edges
}

/// The straight parts of a line; of a dashed one what lies in its dashes.
fn strokes(points: &[At], dashed: bool) -> Vec<(At, At)> {
    let pairs = points.windows(2).map(|pair| (pair[0], pair[1]));
    if !dashed {
        return pairs.collect();
    }
    const DASH: (f64, f64) = (6.0, 4.0);
    let (mut strokes, mut run) = (Vec::new(), 0.0);
    for (from, to) in pairs {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |t: f64| {
            let share = t / length;
            (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            )
        };
        let mut t = 0.0;
        while t < length {
            let phase = run % (DASH.0 + DASH.1);
            let inside = phase < DASH.0;
            let rest = if inside { DASH.0 } else { DASH.0 + DASH.1 } - phase;
            // A rest of nothing would never end.
            let end = (t + rest.max(1e-6)).min(length);
            if inside {
                strokes.push((at(t), at(end)));
            }
            run += end - t;
            t = end;
        }
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_leave_gaps() {
        let dashes = strokes(&[(0.0, 0.0), (16.0, 0.0), (16.0, 10.0)], true);
        let length: f64 = dashes
            .iter()
            .map(|(a, b)| (b.0 - a.0).hypot(b.1 - a.1))
            .sum();
        // Of 26 units in steps of ten, six in each are drawn.
        assert!((length - 18.0).abs() < 1e-6, "{dashes:?}");
    }
}
