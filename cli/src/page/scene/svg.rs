//! A scene as SVG: inside a page, where the page's style colours it and its font sets it, and as a
//! file that needs neither.

use super::{Anchor, At, COLOURS, Ink, Line, Mark, Outline, Rect, Scene, Shape, TEXT, Text};
use crate::page::{
    escaped,
    font::{self, Step},
};
use std::{collections::BTreeSet, fmt::Write as _};

/// Colours of both themes.
const COLOURS_STYLE: &str = include_str!("../colours.css");
/// What the classes of shapes mean.
const SHAPES_STYLE: &str = include_str!("../shapes.css");

impl Scene {
    /// Part of a page, in its colours and its font.
    pub(crate) fn inline(&self) -> String {
        let mut svg = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
            self.width,
            self.height,
            escaped(&self.label)
        );
        self.write_shapes(&mut svg, write_text);
        svg
    }

    /// A file of its own, for either theme; text is drawn by its outlines.
    pub(crate) fn file(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{}</title>\n\
             <style>\n{COLOURS_STYLE}{SHAPES_STYLE}</style>\n<defs>\n",
            escaped(&self.label)
        );
        self.write_glyphs(&mut svg);
        let _ = writeln!(
            svg,
            "</defs>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>"
        );
        self.write_shapes(&mut svg, write_outlines);
        svg
    }

    /// The outline of each character of its texts, once, by name.
    fn write_glyphs(&self, svg: &mut String) {
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text.text.chars()),
            _ => None,
        });
        let characters: BTreeSet<char> = texts.flatten().collect();
        for c in characters {
            let outline = path(&font::glyph(c).outline);
            if !outline.is_empty() {
                let _ = writeln!(svg, "<path id=\"u{:x}\" d=\"{outline}\"/>", u32::from(c));
            }
        }
    }

    /// All shapes, texts by `write_text`, and the end.
    fn write_shapes(&self, svg: &mut String, write_text: fn(&mut String, &Text)) {
        for shape in &self.shapes {
            match shape {
                Shape::Rect(rect) => write_rect(svg, rect),
                Shape::Line(line) => write_line(svg, line),
                Shape::Mark(mark) => write_mark(svg, mark),
                Shape::Text(text) => write_text(svg, text),
            }
        }
        svg.push_str("</svg>\n");
    }
}

/// A text in the font of the page.
fn write_text(svg: &mut String, text: &Text) {
    let (x, y) = text.at;
    let place = if text.upwards {
        format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\"")
    } else {
        format!("x=\"{x:.1}\" y=\"{y:.1}\"")
    };
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let size = if text.size == TEXT {
        String::new()
    } else {
        format!(" style=\"font-size:{}px\"", text.size)
    };
    let class = match text.ink {
        Ink::Text => String::new(),
        ink => format!(" class=\"{}\"", class(ink)),
    };
    let _ = writeln!(
        svg,
        "<text{class} {place}{anchor}{size}>{}</text>",
        escaped(&text.text)
    );
}

/// A text by the outlines of [`Scene::write_glyphs`].
fn write_outlines(svg: &mut String, text: &Text) {
    let (x, y) = text.at;
    let turn = if text.upwards { " rotate(-90)" } else { "" };
    let scale = text.size / 1000.0;
    let _ = write!(
        svg,
        "<g class=\"glyphs {}\" aria-label=\"{}\" \
         transform=\"translate({x:.1} {y:.1}){turn} scale({scale})\">",
        class(text.ink),
        escaped(&text.text)
    );
    for (c, along, glyph) in text.glyphs() {
        if !glyph.outline.is_empty() {
            let at = 1000.0 * along;
            let _ = write!(svg, "<use href=\"#u{:x}\" x=\"{at:.0}\"/>", u32::from(c));
        }
    }
    svg.push_str("</g>\n");
}

fn write_rect(svg: &mut String, rect: &Rect) {
    let ((x, y), (width, height)) = (rect.at, rect.size);
    let opacity = if rect.opacity < 1.0 {
        format!(" opacity=\"{:.3}\"", rect.opacity)
    } else {
        String::new()
    };
    let _ = writeln!(
        svg,
        "<rect class=\"area {}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\"{opacity}/>",
        class(rect.ink)
    );
}

fn write_line(svg: &mut String, line: &Line) {
    let dashes = if line.dashed { " dashed" } else { "" };
    let _ = writeln!(
        svg,
        "<polyline class=\"line {}{dashes}\" style=\"stroke-width:{}\" points=\"{}\"/>",
        class(line.ink),
        line.width,
        listed(&line.points)
    );
}

fn write_mark(svg: &mut String, mark: &Mark) {
    let hollow = if mark.hollow { " hollow" } else { "" };
    let title = if mark.title.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(&mark.title))
    };
    let outline = match &mark.outline {
        Outline::Circle((x, y), r) => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>"),
        Outline::Polygon(points) => format!("<polygon points=\"{}\"/>", listed(points)),
    };
    let _ = writeln!(
        svg,
        "<g class=\"{}{hollow}\">{title}{outline}</g>",
        class(mark.ink)
    );
}

/// Points as an attribute.
fn listed(points: &[At]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    points.join(" ")
}

fn class(ink: Ink) -> String {
    match ink {
        Ink::Text => "ink".into(),
        Ink::Soft => "soft".into(),
        Ink::Grid => "grid".into(),
        Ink::Ground => "ground".into(),
        Ink::Series(i) => format!("s{}", i % COLOURS),
    }
}

/// An outline in thousandths of an em, y downwards.
fn path(outline: &[Step]) -> String {
    let mut d = String::new();
    let at = |v: f64| (1000.0 * v).round();
    for step in outline {
        let _ = match *step {
            Step::Move(x, y) => write!(d, "M{} {}", at(x), at(-y)),
            Step::Line(x, y) => write!(d, "L{} {}", at(x), at(-y)),
            Step::Curve(x1, y1, x, y) => {
                write!(d, "Q{} {} {} {}", at(x1), at(-y1), at(x), at(-y))
            }
            Step::Close => write!(d, "Z"),
        };
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        let mut scene = Scene::new(100.0, 50.0, "a <b>");
        scene.text((10.0, 20.0), "x & y", Anchor::Middle, Ink::Soft);
        scene.line(vec![(0.0, 0.0), (5.0, 5.0)], 1.5, Ink::Series(11));
        scene
    }

    #[test]
    fn text_is_no_markup_and_colours_begin_anew() {
        for svg in [scene().inline(), scene().file()] {
            assert!(
                svg.contains("a &lt;b&gt;") && svg.contains("x &amp; y"),
                "{svg}"
            );
            assert!(svg.contains("class=\"line s1\""), "{svg}");
        }
    }

    #[test]
    fn a_file_brings_its_glyphs_and_both_themes() {
        let svg = scene().file();
        assert!(
            !svg.contains("<text") && svg.contains("id=\"u78\""),
            "{svg}"
        );
        assert_eq!(svg.matches("href=\"#u").count(), 3, "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"), "{svg}");
        // A third of an em before the middle: half of what the five characters take.
        let back = font::width("x & y") * 500.0;
        assert!(
            svg.contains(&format!("<use href=\"#u78\" x=\"{:.0}\"", -back)),
            "{svg}"
        );
    }
}
