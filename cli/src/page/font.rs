//! The font of pictures: a part of DejaVu Sans, whose licence lies beside it.

use std::sync::LazyLock;
use ttf_parser::{Face, OutlineBuilder};

static FACE: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(include_bytes!("font/DejaVuSans.ttf"), 0).ok());

/// A step of an outline, in ems with y upwards from the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Move(f64, f64),
    Line(f64, f64),
    Curve(f64, f64, f64, f64),
    Close,
}

/// A glyph: its outline, and how far the next one lies, in ems.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Glyph {
    pub(crate) outline: Vec<Step>,
    pub(crate) advance: f64,
}

/// The glyph of a character; a question mark's where the font has none.
pub(crate) fn glyph(c: char) -> Glyph {
    let Some(face) = FACE.as_ref() else {
        return Glyph::default();
    };
    let Some(id) = face.glyph_index(c).or_else(|| face.glyph_index('?')) else {
        return Glyph::default();
    };
    let em = f64::from(face.units_per_em());
    let mut pen = Pen {
        em,
        outline: Vec::new(),
    };
    // A blank has no outline.
    let _ = face.outline_glyph(id, &mut pen);
    Glyph {
        outline: pen.outline,
        advance: f64::from(face.glyph_hor_advance(id).unwrap_or(0)) / em,
    }
}

/// How wide a text of one em is.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(|c| glyph(c).advance).sum()
}

struct Pen {
    em: f64,
    outline: Vec<Step>,
}

impl Pen {
    fn at(&self, v: f32) -> f64 {
        f64::from(v) / self.em
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.outline.push(Step::Move(self.at(x), self.at(y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.outline.push(Step::Line(self.at(x), self.at(y)));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let step = Step::Curve(self.at(x1), self.at(y1), self.at(x), self.at(y));
        self.outline.push(step);
    }

    /// The font has no cubic curves; one would be drawn by its middle.
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.quad_to((x1 + x2) / 2.0, (y1 + y2) / 2.0, x, y);
    }

    fn close(&mut self) {
        self.outline.push(Step::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The font's own numbers: 2,048 units an em, of which a digit takes 1,303 and a blank 651.
    #[test]
    fn advances_are_those_of_the_font() {
        assert!((width("7") - 1303.0 / 2048.0).abs() < 1e-12);
        assert!((width("7 7") - (2.0 * 1303.0 + 651.0) / 2048.0).abs() < 1e-12);
        assert!(glyph(' ').outline.is_empty());
    }

    #[test]
    fn what_pictures_say_has_glyphs() {
        for c in "0aZ%|±µσγλωΔΣ√∞≤×²−–’…‖".chars() {
            assert!(FACE.as_ref().unwrap().glyph_index(c).is_some(), "{c}");
        }
        // A character without a glyph is seen.
        assert_eq!(glyph('字'), glyph('?'));
    }
}
