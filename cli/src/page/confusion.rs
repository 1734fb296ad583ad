//! A table of colours: what was taken for what.

use super::{
    font,
    labels::told_apart,
    scene::{Anchor, Ink, Scene, TEXT},
};

const WIDTH: f64 = 720.0;
/// Sides of a cell, at most.
const CELL: f64 = 44.0;
/// Room for names, at most.
const NAMES: f64 = 150.0;
/// Where counts are written: a cell of this width and more.
const READABLE: f64 = 30.0;
/// Where shares stand below them.
const ROOMY: f64 = 38.0;
/// The size of shares.
const SMALL: f64 = 10.0;
/// Series whose colours stand for right and for wrong.
const RIGHT: Ink = Ink::Series(0);
const WRONG: Ink = Ink::Series(1);

/// Counts of the rows of each label by what was predicted. Rows of labels without a name, the last,
/// are of others.
pub(super) fn scene(what: &str, names: &[String], counts: &[Vec<u64>]) -> Scene {
    let mut rows = told_apart(names, &|name| TEXT * font::width(name) <= NAMES - 12.0);
    rows.resize(counts.len(), "others".into());
    let widest = |of: &[String]| of.iter().map(|n| TEXT * font::width(n)).fold(0.0, f64::max);
    let left = widest(&rows) + 12.0;
    let cell = CELL.min((WIDTH - left - 8.0) / names.len() as f64);
    // Names above lie where they fit side by side, and stand where they do not.
    let above = &rows[..names.len()];
    let upright = widest(above) > cell - 4.0;
    let top = if upright { widest(above) + 12.0 } else { 22.0 };
    let mut scene = Scene::new(WIDTH, top + cell * counts.len() as f64 + 8.0, what);
    // Lines of text need some room.
    let every = (TEXT / cell).ceil().max(1.0) as usize;
    for (j, name) in above.iter().enumerate().filter(|(j, _)| j % every == 0) {
        let middle = left + (j as f64 + 0.5) * cell;
        if upright {
            scene.upwards((middle + 4.0, top - 6.0), name, Anchor::Start, Ink::Soft)
        } else {
            scene.text((middle, top - 7.0), name, Anchor::Middle, Ink::Soft)
        }
    }
    for (i, (name, row)) in rows.iter().zip(counts).enumerate() {
        let y = top + i as f64 * cell;
        let middle = y + 0.5 * cell + 4.0;
        if i % every == 0 {
            scene.text((left - 8.0, middle), name, Anchor::End, Ink::Soft);
        }
        let all: u64 = row.iter().sum();
        for (j, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
            let x = left + j as f64 * cell;
            // Few of many are seen too.
            let share = (count as f64 / all as f64).sqrt();
            let ink = if i == j { RIGHT } else { WRONG };
            let (at, size) = ((x + 0.5, y + 0.5), (cell - 1.0, cell - 1.0));
            scene.rect(at, size, ink, 0.1 + 0.4 * share);
            numbers(&mut scene, (x + 0.5 * cell, middle), cell, (count, all));
        }
    }
    scene
}

/// A count of all rows of a label, and their share below it, as far as a cell has room.
fn numbers(scene: &mut Scene, (x, y): (f64, f64), cell: f64, (count, all): (u64, u64)) {
    let text = count.to_string();
    if cell < READABLE || TEXT * font::width(&text) >= cell - 2.0 {
        return;
    }
    let up = if cell >= ROOMY { 6.0 } else { 0.0 };
    scene.text((x, y - up), text, Anchor::Middle, Ink::Text);
    if cell >= ROOMY {
        scene.small((x, y + 8.0), share(count, all), SMALL, Ink::Text);
    }
}

/// A share in per cent; only none is 0 and only all is 100.
fn share(count: u64, all: u64) -> String {
    let share = 100.0 * count as f64 / all as f64;
    match share {
        s if s < 1.0 => "<1 %".into(),
        s if s > 99.0 && count < all => ">99 %".into(),
        s => format!("{s:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::scene::{Rect, Shape, Text};

    fn shapes(scene: &Scene) -> (Vec<(Ink, f64)>, Vec<&str>) {
        let mut cells = Vec::new();
        let mut texts = Vec::new();
        for shape in &scene.shapes {
            match shape {
                Shape::Rect(Rect { ink, opacity, .. }) => cells.push((*ink, *opacity)),
                Shape::Text(Text { text, .. }) => texts.push(text.as_str()),
                _ => {}
            }
        }
        (cells, texts)
    }

    #[test]
    fn cells_are_coloured_by_their_share_of_a_row() {
        let names = ["cat".to_owned(), "dog".to_owned()];
        let counts = vec![vec![3, 1], vec![0, 4], vec![1, 0]];
        let scene = scene("what", &names, &counts);
        let (cells, texts) = shapes(&scene);
        let expected = [
            (RIGHT, 0.1 + 0.4 * 0.75_f64.sqrt()),
            (WRONG, 0.1 + 0.4 * 0.5),
            (RIGHT, 0.5),
            (WRONG, 0.5),
        ];
        assert_eq!(cells, expected);
        assert_eq!(
            texts,
            [
                "cat", "dog", "cat", "3", "75 %", "1", "25 %", "dog", "4", "100 %", "others", "1",
                "100 %"
            ]
        );
    }

    #[test]
    fn shares_are_whole_only_where_all_are_meant() {
        let shares = [(999, 1000), (1000, 1000), (1, 1000), (10, 1000)];
        let texts = shares.map(|(count, all)| share(count, all));
        assert_eq!(texts, [">99 %", "100 %", "<1 %", "1 %"]);
    }

    #[test]
    fn many_classes_with_long_names_stay_inside() {
        let names: Vec<String> = (0..40)
            .map(|i| format!("a rather long name that ends with {i}"))
            .collect();
        let counts: Vec<Vec<u64>> = (0..40).map(|i| vec![i; 40]).collect();
        let scene = scene("what", &names, &counts);
        for shape in &scene.shapes {
            if let Shape::Rect(Rect { at, size, .. }) = shape {
                assert!(at.0 + size.0 <= WIDTH && at.1 + size.1 <= scene.height);
            }
            if let Shape::Text(Text {
                text, at, upwards, ..
            }) = shape
            {
                let long = TEXT * font::width(text);
                let start = if *upwards { at.1 } else { at.0 };
                assert!(start - long >= 0.0 || !text.contains('…'), "{text}");
            }
        }
        // A name for every line that has room for it.
        let (_, texts) = shapes(&scene);
        let named = texts.iter().filter(|t| t.contains('…')).count();
        assert_eq!(named, 80);
        // All of them tell apart.
        let apart: std::collections::BTreeSet<_> = texts.iter().collect();
        assert_eq!(apart.len(), 40);
    }
}
