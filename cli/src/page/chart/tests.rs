use super::*;
use crate::page::scene::{Outline, Text};

/// What is wrong with a picture, as far as a program can see: axes without names, texts that leave
/// the picture or cover each other, a legend that something is drawn over.
pub(crate) fn faults(chart: &Chart) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(scene) = chart.scene() else {
        return vec!["nothing is drawn".into()];
    };
    for panel in &chart.panels {
        for axis in [&panel.x, &panel.y] {
            if axis.name.trim().is_empty() {
                faults.push(format!("an axis of {:?} has no name", panel.title));
            }
        }
    }
    if chart.caption.is_empty() {
        faults.push("there is no caption".into());
    }
    // Left, right, top, bottom of every text but the letters of a panel.
    let texts: Vec<(&str, [f64; 4])> = scene.shapes.iter().filter_map(extent).collect();
    for (i, (text, own)) in texts.iter().enumerate() {
        if own[0] < 0.0 || own[1] > scene.width || own[2] < 0.0 || own[3] > scene.height {
            faults.push(format!("{text:?} leaves the picture"));
        }
        for (other, its) in &texts[..i] {
            if own[0] < its[1] && its[0] < own[1] && own[2] < its[3] && its[2] < own[3] {
                faults.push(format!("{text:?} covers {other:?}"));
            }
        }
    }
    let below = chart.legend_height();
    let (mut inside, mut beside) = (0, 0);
    for shape in &scene.shapes {
        let points: Vec<At> = match shape {
            Shape::Line(line) => line.points.clone(),
            Shape::Mark(mark) => match &mark.outline {
                Outline::Circle(at, _) => vec![*at],
                Outline::Polygon(points) => points.clone(),
            },
            _ => continue,
        };
        if points.iter().all(|p| p.1 < below) {
            inside += 1;
        } else if points.iter().any(|p| p.1 < below) {
            beside += 1;
        }
    }
    let samples: usize = (chart.legend().iter().zip(chart.names()))
        .map(|(_, (_, drawn))| match drawn {
            Drawn::Joined => 2,
            _ => 1,
        })
        .sum();
    if inside != samples || beside > 0 {
        faults.push("something is drawn over the legend".into());
    }
    faults
}

fn extent(shape: &Shape) -> Option<(&str, [f64; 4])> {
    let Shape::Text(Text {
        at: (x, y),
        text,
        size,
        anchor,
        upwards,
        ..
    }) = shape
    else {
        return None;
    };
    if *size < TEXT {
        return None;
    }
    let width = size * font::width(text);
    let back = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    // Letters rise by three quarters of their size and hang by less than a quarter.
    let (up, down) = (0.75 * size, 0.2 * size);
    Some((
        text,
        if *upwards {
            [x - up, x + down, y - width + back, y + back]
        } else {
            [x - back, x - back + width, y - up, y + down]
        },
    ))
}

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    let points = points.iter().map(|&(x, y)| Point::new(x, y));
    Series::new(name, Drawn::Joined, points)
}

fn chart(all: Vec<Series>) -> Chart {
    let (x, y) = (Axis::log("features", ""), Axis::linear("error", "%"));
    Chart::new("a", vec![Panel::new("", x, y, all)])
}

#[test]
fn points_lie_where_the_axes_say() {
    // Of 1 to 100, 10 is in the middle of a logarithmic axis, and 2 of 1 to 3 of a linear one.
    let svg = chart(vec![series(
        "one",
        &[(1.0, 1.0), (10.0, 2.0), (100.0, 3.0)],
    )])
    .figure();
    let (x, y) = ((64.0 + 720.0 - 16.0) / 2.0, (12.0 + 360.0 - 44.0) / 2.0);
    let middle = format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\"");
    assert!(svg.contains(&middle), "{svg}");
    // Larger is to the right and further up.
    let first = 64.0 + 640.0 * 0.05 / 1.1;
    assert!(svg.contains(&format!("points=\"{first:.1},")), "{svg}");
    assert!(svg.contains(">error (%)</text>"), "{svg}");
}

#[test]
fn what_cannot_be_drawn_is_left_out() {
    assert_eq!(chart(vec![]).figure(), "");
    assert_eq!(
        chart(vec![series("one", &[(0.0, 1.0), (-1.0, 2.0)])]).figure(),
        ""
    );
    let gaps = [(1.0, f64::NAN), (2.0, 3.0), (0.0, 1.0)];
    let svg = chart(vec![series("one", &gaps)]).figure();
    assert_eq!(svg.matches("<circle").count(), 1, "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn a_line_does_not_leap_over_a_gap() {
    let points = [
        (1.0, 1.0),
        (2.0, 2.0),
        (3.0, f64::NAN),
        (4.0, 1.0),
        (5.0, 3.0),
    ];
    let svg = chart(vec![series("one", &points)]).figure();
    assert_eq!(svg.matches("class=\"line s0\"").count(), 2, "{svg}");
}

#[test]
fn bars_are_as_long_as_their_values() {
    let svg = bars("share", &[("a".into(), 0.5), ("b".into(), 0.25)], per_cent).inline();
    let long = |width: &str| svg.contains(&format!("width=\"{width}\""));
    assert!(long("450.0") && long("225.0"), "{svg}");
    assert!(svg.contains("50.0 %") && svg.contains("25.0 %"), "{svg}");
}

/// Cells of one colour beside each other are one rectangle, and the first row is the lowest.
#[test]
fn cells_lie_from_below() {
    let mut chart = chart(vec![]);
    let panel = &mut chart.panels[0];
    panel.x = Axis::linear("u", "").range(0.0, 4.0);
    panel.y = Axis::linear("v", "").range(0.0, 2.0);
    panel.cells = Some(Cells {
        x: (0.0, 4.0),
        y: (0.0, 2.0),
        columns: 4,
        values: [0, 0, 1, 1, 2, 2, 2, 2].map(|c| (c, 0.5)).to_vec(),
    });
    let svg = chart.figure();
    assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
    let low = "<rect class=\"area s0\" x=\"64.0\" y=\"164.0\" width=\"320.0\" height=\"152.0\"";
    assert!(svg.contains(low), "{svg}");
}

#[test]
fn legends_wrap_and_cover_nothing() {
    let long = |i: usize| {
        series(
            &format!("a series with a long name, {i}"),
            &[(1.0, 2.0), (9.0, 3.0)],
        )
    };
    let chart = chart((0..9).map(long).collect());
    assert_eq!(faults(&chart), Vec::<String>::new());
    assert!(chart.legend_height() > 2.0 * LEGEND);
}

#[test]
fn faults_are_seen() {
    let mut unnamed = chart(vec![series("one", &[(1.0, 2.0)])]);
    unnamed.panels[0].x.name = String::new();
    assert!(faults(&unnamed)[0].contains("no name"));
    let mut wide = chart(vec![series("one", &[(1.0, 2.0)])]);
    wide.panels[0].title = "far too long for the width of a panel".repeat(4);
    assert!(faults(&wide)[0].contains("leaves the picture"));
    let mut crossing = chart(vec![
        series("one", &[(1.0, 2.0)]),
        series("two", &[(1.0, 9.0)]),
    ]);
    // An axis that ends too low lets a curve reach above it.
    crossing.height = 40.0;
    assert!(!faults(&crossing).is_empty());
}
