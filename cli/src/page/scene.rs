//! A picture before it is drawn: shapes in their own units, coloured by their part in the picture.
//! One scene is drawn inside a page, as a file of SVG, and as PNG.

mod png;
mod svg;

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
    /// A filled rectangle with its upper left corner; `opacity` of 1 covers what lies below.
    Rect {
        at: At,
        size: At,
        ink: Ink,
        opacity: f64,
    },
    /// Straight lines from point to point.
    Line {
        points: Vec<At>,
        width: f64,
        dashed: bool,
        ink: Ink,
    },
    /// A closed, filled outline; hollow ones are filled with the ground and have an edge.
    Mark {
        outline: Outline,
        ink: Ink,
        hollow: bool,
        /// What a pointer that rests on it is told.
        title: String,
    },
    /// One line of text, at the left end, the middle or the right end of its baseline.
    Text {
        at: At,
        text: String,
        size: f64,
        anchor: Anchor,
        ink: Ink,
        /// Whether it runs from below upwards.
        upwards: bool,
    },
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
        self.shapes.push(Shape::Line {
            points,
            width,
            dashed,
            ink,
        });
    }

    /// A text of the usual size.
    pub(crate) fn text(&mut self, at: At, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size: TEXT,
            anchor,
            ink,
            upwards: false,
        });
    }

    /// A text that runs upwards from its start.
    pub(crate) fn upwards(&mut self, at: At, text: impl Into<String>, ink: Ink) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size: TEXT,
            anchor: Anchor::Start,
            ink,
            upwards: true,
        });
    }

    /// A rectangle that lets `1 - opacity` of what lies below through.
    pub(crate) fn rect(&mut self, at: At, size: At, ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Rect {
            at,
            size,
            ink,
            opacity,
        });
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
