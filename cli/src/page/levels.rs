//! Values of names: a dot each with what it may be off by, and a table of colours of two names.

use super::{
    font,
    labels::told_apart,
    scene::{Anchor, Ink, Scene, TEXT, mark},
};
use crate::report::six_digits;

const WIDTH: f64 = 720.0;
/// Room for names, at most.
const NAMES: f64 = 200.0;
/// A row of dots.
const STEP: f64 = 22.0;
/// Sides of a cell, at most, and all of a picture.
const CELL: f64 = 32.0;
const HEIGHT: f64 = 480.0;
/// Series whose colours stand for values above 0 and below.
const ABOVE: Ink = Ink::Series(0);
const BELOW: Ink = Ink::Series(1);

/// A name, its value, and how far it may be off.
pub(super) type Level = (String, f64, f64);

/// A dot for each name, with a bar so far to both sides, and a line where 0 is.
pub(super) fn dots(what: &str, items: &[Level]) -> Scene {
    let mut scene = Scene::new(WIDTH, STEP * items.len() as f64 + 8.0, what);
    let ends = |of: &Level| [of.1 - of.2, of.1 + of.2];
    let (low, high) = items
        .iter()
        .flat_map(ends)
        .fold((0.0_f64, 0.0_f64), |(low, high), x| {
            (low.min(x), high.max(x))
        });
    let span = if high > low { high - low } else { 1.0 };
    let room = WIDTH - NAMES - 90.0;
    let x = |value: f64| NAMES + room * (value - low) / span;
    let bottom = STEP * items.len() as f64 + 4.0;
    scene.line(vec![(x(0.0), 4.0), (x(0.0), bottom)], 1.0, Ink::Grid);
    let names: Vec<String> = items.iter().map(|item| item.0.clone()).collect();
    let names = told_apart(&names, &|name| TEXT * font::width(name) <= NAMES - 20.0);
    for (i, (name, (_, value, off))) in names.into_iter().zip(items).enumerate() {
        let middle = 4.0 + STEP * (i as f64 + 0.5);
        scene.text(
            (NAMES - 16.0, middle + 4.0),
            name.as_str(),
            Anchor::End,
            Ink::Text,
        );
        if *off > 0.0 {
            let bar = vec![(x(value - off), middle), (x(value + off), middle)];
            scene.line(bar, 1.75, ABOVE);
        }
        let title = format!("{name}: {}", six_digits(*value));
        scene.mark(mark(0, (x(*value), middle)), ABOVE, false, title);
        let after = (x(value + off) + 8.0, middle + 4.0);
        scene.text(after, six_digits(*value), Anchor::Start, Ink::Soft);
    }
    scene
}

/// A cell for each pair of names, coloured by its value: one colour above 0, one below, as much of
/// it as the value has of the largest. Rows are drawn from the last one down.
pub(super) fn cells(
    what: &str,
    (across, up): (&[String], &[String]),
    value: impl Fn(usize, usize) -> f64,
) -> Scene {
    let fits = |name: &str| TEXT * font::width(name) <= 150.0;
    let [across, up] = [across, up].map(|names| told_apart(names, &fits));
    let widest = |of: &[String]| of.iter().map(|n| TEXT * font::width(n)).fold(0.0, f64::max);
    let left = widest(&up) + 12.0;
    let cell = CELL
        .min((WIDTH - left - 8.0) / across.len().max(1) as f64)
        .min(HEIGHT / up.len().max(1) as f64);
    let (top, height) = (4.0, cell * up.len() as f64);
    let mut scene = Scene::new(WIDTH, top + height + widest(&across) + 16.0, what);
    let all = || (0..across.len()).flat_map(|a| (0..up.len()).map(move |b| (a, b)));
    let largest = all().map(|(a, b)| value(a, b).abs()).fold(0.0, f64::max);
    // Lines of text need some room.
    let every = (TEXT / cell).ceil().max(1.0) as usize;
    for (b, name) in up.iter().enumerate().filter(|(b, _)| b % every == 0) {
        let middle = top + height - (b as f64 + 0.5) * cell + 4.0;
        scene.text((left - 8.0, middle), name.as_str(), Anchor::End, Ink::Soft);
    }
    for (a, name) in across.iter().enumerate().filter(|(a, _)| a % every == 0) {
        let below = (left + (a as f64 + 0.5) * cell + 4.0, top + height + 8.0);
        scene.upwards(below, name.as_str(), Anchor::End, Ink::Soft);
    }
    for (a, b) in all() {
        let own = value(a, b);
        let ink = if own < 0.0 { BELOW } else { ABOVE };
        let share = if largest > 0.0 {
            own.abs() / largest
        } else {
            0.0
        };
        let at = (left + a as f64 * cell, top + height - (b + 1) as f64 * cell);
        scene.rect(at, (cell - 0.5, cell - 0.5), ink, 0.9 * share);
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::scene::{Rect, Shape};

    #[test]
    fn cells_are_coloured_by_sign_and_share_of_the_largest() {
        let names = |of: &[&str]| of.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let (across, up) = (names(&["a", "b"]), names(&["1", "2", "3"]));
        let values = [[1.0, -2.0, 0.0], [0.5, 4.0, -4.0]];
        let scene = cells("what", (&across, &up), |a, b| values[a][b]);
        let cells = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect(Rect {
                at, ink, opacity, ..
            }) => Some((*at, *ink, *opacity)),
            _ => None,
        });
        let cells: Vec<_> = cells.collect();
        assert_eq!(cells.len(), 6);
        let opacity: Vec<f64> = cells.iter().map(|of| of.2).collect();
        for (found, share) in opacity.iter().zip([0.25, 0.5, 0.0, 0.125, 1.0, 1.0]) {
            assert!((found - 0.9 * share).abs() < 1e-12, "{opacity:?}");
        }
        assert_eq!((cells[1].1, cells[4].1), (BELOW, ABOVE));
        // The first row is the lowest, and the second name lies to the right.
        assert!(cells[0].0.1 > cells[1].0.1 && cells[0].0.0 < cells[3].0.0);
    }

    #[test]
    fn dots_lie_by_their_values() {
        let items = [("a".to_owned(), -1.0, 0.5), ("b".to_owned(), 2.0, 0.0)];
        let scene = dots("what", &items);
        let lines = scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Line(line) => Some(line.points.clone()),
            _ => None,
        });
        let lines: Vec<_> = lines.collect();
        // Where 0 is, and the bar of the one that may be off: 0.5 to each side of -1.
        let (zero, bar) = (lines[0][0].0, &lines[1]);
        let unit = bar[1].0 - bar[0].0;
        assert_eq!(lines.len(), 2);
        assert!((bar[0].0 - (zero - 1.5 * unit)).abs() < 1e-9, "{lines:?}");
    }
}
