//! A picture before it is drawn: shapes in their own units, coloured by their part in the picture.
//! One scene is drawn inside a page, as a file of SVG, and as PNG.

mod canvas;
mod png;
mod svg;

use super::font::{self, Glyph};

/// Colours of series in a theme.
pub(super) const COLOURS: usize = 10;

/// A colour by its part in the picture; a theme says which colour that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Names and titles.
    Text,
    /// Numbers along axes.
    Soft,
    /// Lines behind curves.
    Grid,
    /// What lies behind everything.
    Ground,
    /// The series of this index; indices beyond the palette begin anew.
    Series(usize),
}

/// Where a text lies about its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A point of the scene; y grows downwards.
pub(crate) type At = (f64, f64);

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Rect(Rect),
    Line(Line),
    Mark(Mark),
    Text(Text),
}

/// A filled rectangle with its upper left corner; `opacity` of 1 covers what lies below.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rect {
    pub(crate) at: At,
    pub(crate) size: At,
    pub(crate) ink: Ink,
    pub(crate) opacity: f64,
}

/// Straight lines from point to point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) points: Vec<At>,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
    pub(crate) ink: Ink,
}

/// A closed, filled outline; hollow ones are filled with the ground and have an edge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub(crate) outline: Outline,
    pub(crate) ink: Ink,
    pub(crate) hollow: bool,
    /// What a pointer that rests on it is told.
    pub(crate) title: String,
}

/// One line of text, at the left end, the middle or the right end of its baseline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) at: At,
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) ink: Ink,
    /// Whether it runs from below upwards.
    pub(crate) upwards: bool,
}

impl Text {
    /// Its characters with their glyphs, and how far along the baseline from its point each
    /// begins, in ems.
    fn glyphs(&self) -> impl Iterator<Item = (char, f64, Glyph)> {
        let back = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => font::width(&self.text) / 2.0,
            Anchor::End => font::width(&self.text),
        };
        let mut along = -back;
        self.text.chars().map(move |c| {
            let (glyph, at) = (font::glyph(c), along);
            along += glyph.advance;
            (c, at, glyph)
        })
    }
}

/// The outline of a mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outline {
    Circle(At, f64),
    Polygon(Vec<At>),
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What the picture shows, for who cannot see it.
    pub(crate) label: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Scene {
    /// An empty scene.
    pub(crate) fn new(width: f64, height: f64, label: impl Into<String>) -> Self {
        Self {
            width,
            height,
            label: label.into(),
            shapes: Vec::new(),
        }
    }

    /// A solid line.
    pub(crate) fn line(&mut self, points: Vec<At>, width: f64, ink: Ink) {
        let dashed = false;
        self.shapes.push(Shape::Line(Line {
            points,
            width,
            dashed,
            ink,
        }));
    }

    /// A text of the usual size.
    pub(crate) fn text(&mut self, at: At, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        self.shapes.push(Shape::Text(Text {
            at,
            text: text.into(),
            size: TEXT,
            anchor,
            ink,
            upwards: false,
        }));
    }

    /// A text of a smaller size about its middle.
    pub(crate) fn small(&mut self, at: At, text: impl Into<String>, size: f64, ink: Ink) {
        self.shapes.push(Shape::Text(Text {
            at,
            text: text.into(),
            size,
            anchor: Anchor::Middle,
            ink,
            upwards: false,
        }));
    }

    /// A text that runs upwards from its start, or about its middle.
    pub(crate) fn upwards(&mut self, at: At, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        self.shapes.push(Shape::Text(Text {
            at,
            text: text.into(),
            size: TEXT,
            anchor,
            ink,
            upwards: true,
        }));
    }

    /// A mark that says this where a pointer rests on it.
    pub(crate) fn mark(&mut self, outline: Outline, ink: Ink, hollow: bool, title: String) {
        self.shapes.push(Shape::Mark(Mark {
            outline,
            ink,
            hollow,
            title,
        }));
    }

    /// A rectangle that lets `1 - opacity` of what lies below through.
    pub(crate) fn rect(&mut self, at: At, size: At, ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Rect(Rect {
            at,
            size,
            ink,
            opacity,
        }));
    }
}

/// The usual size of text.
pub(crate) const TEXT: f64 = 12.0;

/// The mark of a series: those of one colour differ in shape.
pub(crate) fn mark(series: usize, (x, y): At) -> Outline {
    match (series / COLOURS + series) % 4 {
        0 => Outline::Circle((x, y), 4.0),
        1 => Outline::Polygon(vec![
            (x - 3.5, y - 3.5),
            (x + 3.5, y - 3.5),
            (x + 3.5, y + 3.5),
            (x - 3.5, y + 3.5),
        ]),
        2 => Outline::Polygon(vec![(x, y - 4.8), (x + 4.6, y + 3.2), (x - 4.6, y + 3.2)]),
        _ => Outline::Polygon(vec![(x, y - 4.8), (x + 4.8, y), (x, y + 4.8), (x - 4.8, y)]),
    }
}
