//! A scene as SVG: inside a page, where the page's style colours it and its font sets it, and as a
//! file that needs neither.

use super::{Anchor, COLOURS, Ink, Outline, Scene, Shape, TEXT};
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
        for shape in &self.shapes {
            match shape {
                Shape::Text {
                    at: (x, y),
                    text,
                    size,
                    anchor,
                    ink,
                    upwards,
                } => {
                    let place = if *upwards {
                        format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\"")
                    } else {
                        format!("x=\"{x:.1}\" y=\"{y:.1}\"")
                    };
                    let anchor = match anchor {
                        Anchor::Start => "",
                        Anchor::Middle => " text-anchor=\"middle\"",
                        Anchor::End => " text-anchor=\"end\"",
                    };
                    let size = if *size == TEXT {
                        String::new()
                    } else {
                        format!(" style=\"font-size:{size}px\"")
                    };
                    let class = match ink {
                        Ink::Text => String::new(),
                        ink => format!(" class=\"{}\"", class(*ink)),
                    };
                    let _ = writeln!(
                        svg,
                        "<text{class} {place}{anchor}{size}>{}</text>",
                        escaped(text)
                    );
                }
                shape => drawn(&mut svg, shape),
            }
        }
        svg.push_str("</svg>\n");
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
        let texts = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text { text, .. } => Some(text.chars()),
            _ => None,
        });
        let characters: BTreeSet<char> = texts.flatten().collect();
        for c in characters {
            let outline = path(&font::glyph(c).outline);
            if !outline.is_empty() {
                let _ = writeln!(svg, "<path id=\"u{:x}\" d=\"{outline}\"/>", u32::from(c));
            }
        }
        let _ = writeln!(
            svg,
            "</defs>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>"
        );
        for shape in &self.shapes {
            match shape {
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
                    let turn = if *upwards { " rotate(-90)" } else { "" };
                    let scale = size / 1000.0;
                    let _ = write!(
                        svg,
                        "<g class=\"glyphs {}\" aria-label=\"{}\" \
                         transform=\"translate({x:.1} {y:.1}){turn} scale({scale})\">",
                        class(*ink),
                        escaped(text)
                    );
                    let mut along = -back;
                    for c in text.chars() {
                        let glyph = font::glyph(c);
                        if !glyph.outline.is_empty() {
                            let at = 1000.0 * along;
                            let _ =
                                write!(svg, "<use href=\"#u{:x}\" x=\"{at:.0}\"/>", u32::from(c));
                        }
                        along += glyph.advance;
                    }
                    svg.push_str("</g>\n");
                }
                shape => drawn(&mut svg, shape),
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Whatever is no text, which is the same in both.
fn drawn(svg: &mut String, shape: &Shape) {
    match shape {
        Shape::Rect {
            at: (x, y),
            size: (width, height),
            ink,
            opacity,
        } => {
            let opacity = if *opacity < 1.0 {
                format!(" opacity=\"{opacity:.3}\"")
            } else {
                String::new()
            };
            let _ = writeln!(
                svg,
                "<rect class=\"area {}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\"{opacity}/>",
                class(*ink)
            );
        }
        Shape::Line {
            points,
            width,
            dashed,
            ink,
        } => {
            let dashes = if *dashed { " dashed" } else { "" };
            let way: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline class=\"line {}{dashes}\" style=\"stroke-width:{width}\" \
                 points=\"{}\"/>",
                class(*ink),
                way.join(" ")
            );
        }
        Shape::Mark {
            outline,
            ink,
            hollow,
            title,
        } => {
            let hollow = if *hollow { " hollow" } else { "" };
            let title = if title.is_empty() {
                String::new()
            } else {
                format!("<title>{}</title>", escaped(title))
            };
            let shape = match outline {
                Outline::Circle((x, y), r) => {
                    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>")
                }
                Outline::Polygon(points) => {
                    let way: Vec<String> = points
                        .iter()
                        .map(|(x, y)| format!("{x:.1},{y:.1}"))
                        .collect();
                    format!("<polygon points=\"{}\"/>", way.join(" "))
                }
            };
            let _ = writeln!(
                svg,
                "<g class=\"{}{hollow}\">{title}{shape}</g>",
                class(*ink)
            );
        }
        Shape::Text { .. } => {}
    }
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
