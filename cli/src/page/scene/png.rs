//! A scene as PNG: shapes filled by how much of each pixel they cover, in the light theme.

use super::{Anchor, Ink, Outline, Scene, Shape};
use crate::page::{
    font::{self, Step},
    palette::{Colour, GROUND, light},
};
use ab_glyph_rasterizer::{Point, Rasterizer, point};
use flate2::{Compression, write::ZlibEncoder};
use std::{f64::consts::TAU, io::Write as _};

/// Pixels along one unit.
const SCALE: f64 = 2.0;

impl Scene {
    /// The picture as a file.
    pub(crate) fn png(&self) -> Vec<u8> {
        let mut canvas = Canvas::new(self.width, self.height);
        for shape in &self.shapes {
            canvas.draw(shape);
        }
        canvas.encoded()
    }
}

/// Rows of pixels.
struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

/// A step of an outline in pixels.
#[derive(Clone, Copy)]
enum Edge {
    Line(Point, Point),
    Curve(Point, Point, Point),
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = ((width * SCALE) as usize, (height * SCALE) as usize);
        Self {
            width,
            height,
            pixels: vec![GROUND; width * height],
        }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rect {
                at: (x, y),
                size: (w, h),
                ink,
                opacity,
            } => {
                let corners = [(*x, *y), (x + w, *y), (x + w, y + h), (*x, y + h)];
                self.fill(&polygon(&corners), light(*ink), *opacity);
            }
            Shape::Line {
                points,
                width,
                dashed,
                ink,
            } => {
                for (from, to) in strokes(points, *dashed) {
                    self.stroke(from, to, *width, *ink);
                }
            }
            Shape::Mark {
                outline,
                ink,
                hollow,
                ..
            } => {
                let points = match outline {
                    Outline::Circle(at, r) => circle(*at, *r),
                    Outline::Polygon(points) => points.clone(),
                };
                let fill = if *hollow { Ink::Ground } else { *ink };
                self.fill(&polygon(&points), light(fill), 1.0);
                if *hollow {
                    for (i, from) in points.iter().enumerate() {
                        self.stroke(*from, points[(i + 1) % points.len()], 1.5, *ink);
                    }
                }
            }
            Shape::Text {
                at: (x, y),
                text,
                size,
                anchor,
                ink,
                upwards,
            } => {
                let back = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => font::width(text) / 2.0,
                    Anchor::End => font::width(text),
                };
                let mut along = -back;
                for c in text.chars() {
                    let glyph = font::glyph(c);
                    let place = |gx: f64, gy: f64| {
                        let (right, up) = ((along + gx) * size, gy * size);
                        let (px, py) = if *upwards {
                            (x - up, y - right)
                        } else {
                            (x + right, y - up)
                        };
                        pixel((px, py))
                    };
                    self.fill(&edges(&glyph.outline, place), light(*ink), 1.0);
                    along += glyph.advance;
                }
            }
        }
    }

    /// A line with round ends, so that what follows it joins.
    fn stroke(&mut self, from: (f64, f64), to: (f64, f64), width: f64, ink: Ink) {
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

    /// The file (PNG, third edition, sections 5 and 11): eight bits of red, green and blue.
    fn encoded(&self) -> Vec<u8> {
        let mut rows = Vec::with_capacity(self.height * (3 * self.width + 1));
        for row in self.pixels.chunks(self.width.max(1)) {
            // Each byte less that of the pixel above, which is mostly 0.
            rows.push(0);
            rows.extend(row.iter().flatten());
        }
        let mut above = vec![0_u8; 3 * self.width];
        for row in rows.chunks_mut(3 * self.width + 1) {
            row[0] = 2;
            for (byte, above) in row[1..].iter_mut().zip(&mut above) {
                let own = *byte;
                *byte = own.wrapping_sub(*above);
                *above = own;
            }
        }
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        // A vector takes whatever is written to it.
        let _ = packed.write_all(&rows);
        let packed = packed.finish().unwrap_or_default();
        let mut header = Vec::new();
        header.extend((self.width as u32).to_be_bytes());
        header.extend((self.height as u32).to_be_bytes());
        header.extend([8, 2, 0, 0, 0]);
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (name, content) in [
            (b"IHDR", &header),
            (b"IDAT", &packed),
            (b"IEND", &Vec::new()),
        ] {
            file.extend((content.len() as u32).to_be_bytes());
            let mut check = flate2::Crc::new();
            check.update(name);
            check.update(content);
            file.extend(name);
            file.extend(content);
            file.extend(check.sum().to_be_bytes());
        }
        file
    }
}

fn pixel((x, y): (f64, f64)) -> Point {
    point((SCALE * x) as f32, (SCALE * y) as f32)
}

fn polygon(points: &[(f64, f64)]) -> Vec<Edge> {
    let next = points.iter().cycle().skip(1);
    let sides = points.iter().zip(next);
    sides
        .map(|(a, b)| Edge::Line(pixel(*a), pixel(*b)))
        .collect()
}

fn circle((x, y): (f64, f64), r: f64) -> Vec<(f64, f64)> {
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
fn strokes(points: &[(f64, f64)], dashed: bool) -> Vec<((f64, f64), (f64, f64))> {
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
    use crate::page::palette::{INK, SERIES};
    use std::io::Read as _;

    /// Undoes the file by its own rules.
    fn pixels(file: &[u8]) -> (usize, usize, Vec<Colour>) {
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        let (mut at, mut size, mut packed) = (8, (0, 0), Vec::new());
        while at < file.len() {
            let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
            let length = word(at) as usize;
            let content = &file[at + 8..at + 8 + length];
            let mut check = flate2::Crc::new();
            check.update(&file[at + 4..at + 8 + length]);
            assert_eq!(check.sum(), word(at + 8 + length));
            match &file[at + 4..at + 8] {
                b"IHDR" => size = (word(at + 8) as usize, word(at + 12) as usize),
                b"IDAT" => packed.extend(content),
                _ => {}
            }
            at += 12 + length;
        }
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(packed.as_slice())
            .read_to_end(&mut rows)
            .unwrap();
        let mut above = vec![0_u8; 3 * size.0];
        let mut pixels = Vec::new();
        for row in rows.chunks(3 * size.0 + 1) {
            assert_eq!(row[0], 2);
            for (above, byte) in above.iter_mut().zip(&row[1..]) {
                *above = above.wrapping_add(*byte);
            }
            pixels.extend(above.chunks(3).map(|c| [c[0], c[1], c[2]]));
        }
        (size.0, size.1, pixels)
    }

    #[test]
    fn shapes_cover_the_pixels_that_they_lie_on() {
        let mut scene = Scene::new(20.0, 10.0, "");
        scene.rect((2.0, 3.0), (4.0, 2.0), Ink::Series(0), 1.0);
        scene.rect((10.0, 3.0), (4.0, 2.0), Ink::Text, 0.5);
        let (width, height, pixels) = pixels(&scene.png());
        assert_eq!((width, height), (40, 20));
        let at = |x: usize, y: usize| pixels[y * width + x];
        for (x, y, inside) in [
            (4, 6, true),
            (11, 9, true),
            (3, 6, false),
            (12, 9, false),
            (4, 5, false),
            (11, 10, false),
        ] {
            let wanted = if inside { SERIES[0] } else { GROUND };
            assert_eq!(at(x, y), wanted, "{x}, {y}");
        }
        // Half of the ink, half of the ground.
        assert_eq!(at(21, 7), [0x8d, 0x8d, 0x8f]);
    }

    /// The ink of a text is the area of its outlines, and lies about its point.
    #[test]
    fn text_has_the_area_of_its_glyphs() {
        let mut scene = Scene::new(60.0, 40.0, "");
        scene.shapes.push(Shape::Text {
            at: (30.0, 30.0),
            text: "l".into(),
            size: 20.0,
            anchor: Anchor::Middle,
            ink: Ink::Text,
            upwards: false,
        });
        let (width, _, pixels) = pixels(&scene.png());
        let dark = |c: &Colour| (255.0 - f64::from(c[0])) / (255.0 - f64::from(INK[0]));
        let (mut sum, mut middle) = (0.0, 0.0);
        for (i, c) in pixels.iter().enumerate() {
            sum += dark(c);
            middle += dark(c) * ((i % width) as f64 + 0.5);
        }
        // The letter is a bar, 184 units wide and 1,556 high of 2,048.
        let area = (184.0 / 2048.0) * (1556.0 / 2048.0) * 20.0 * 20.0 * SCALE * SCALE;
        assert!((sum / area - 1.0).abs() < 0.02, "{sum} {area}");
        assert!(
            (middle / sum - 30.0 * SCALE).abs() < 0.3,
            "{}",
            middle / sum
        );
    }

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
