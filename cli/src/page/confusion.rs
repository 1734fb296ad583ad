//! A table of colours: what was taken for what.

use super::{
    chart::{Anchor, Ink, Scene, TEXT},
    font,
};

const WIDTH: f64 = 720.0;
/// Sides of a cell, at most.
const CELL: f64 = 44.0;
/// Room for names, at most.
const NAMES: f64 = 150.0;
/// Where counts are written: a cell of this width and more.
const READABLE: f64 = 30.0;
/// Series whose colours stand for right and for wrong.
const RIGHT: Ink = Ink::Series(0);
const WRONG: Ink = Ink::Series(3);

/// Counts of the rows of each label by what was predicted. Rows of labels without a name, the last,
/// are of others.
pub(super) fn scene(what: &str, names: &[String], counts: &[Vec<u64>]) -> Scene {
    let cut = |name: &String| -> String {
        let mut name = name.clone();
        while TEXT * font::width(&name) > NAMES - 12.0 && name.chars().count() > 2 {
            let most = name.chars().count() - 2;
            name = name.chars().take(most).chain(['…']).collect();
        }
        name
    };
    let mut rows: Vec<String> = names.iter().map(cut).collect();
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
        match upright {
            true => scene.upwards((middle + 4.0, top - 6.0), name, Ink::Soft),
            false => scene.text((middle, top - 7.0), name, Anchor::Middle, Ink::Soft),
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
            let text = count.to_string();
            if cell >= READABLE && TEXT * font::width(&text) < cell - 2.0 {
                scene.text((x + 0.5 * cell, middle), text, Anchor::Middle, Ink::Text);
            }
        }
    }
    scene
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::scene::Shape;

    fn shapes(scene: &Scene) -> (Vec<(Ink, f64)>, Vec<&str>) {
        let mut cells = Vec::new();
        let mut texts = Vec::new();
        for shape in &scene.shapes {
            match shape {
                Shape::Rect { ink, opacity, .. } => cells.push((*ink, *opacity)),
                Shape::Text { text, .. } => texts.push(text.as_str()),
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
            ["cat", "dog", "cat", "3", "1", "dog", "4", "others", "1"]
        );
    }

    #[test]
    fn many_classes_with_long_names_stay_inside() {
        let names: Vec<String> = (0..40)
            .map(|i| format!("a rather long name, {i}"))
            .collect();
        let counts: Vec<Vec<u64>> = (0..40).map(|i| vec![i; 40]).collect();
        let scene = scene("what", &names, &counts);
        for shape in &scene.shapes {
            if let Shape::Rect { at, size, .. } = shape {
                assert!(at.0 + size.0 <= WIDTH && at.1 + size.1 <= scene.height);
            }
            if let Shape::Text {
                text, at, upwards, ..
            } = shape
            {
                let long = TEXT * font::width(text);
                let start = if *upwards { at.1 } else { at.0 };
                assert!(start - long >= 0.0 || !text.contains("name"), "{text}");
            }
        }
        // A name for every line that has room for it.
        let (_, texts) = shapes(&scene);
        let named = texts.iter().filter(|t| t.starts_with("a rat")).count();
        assert_eq!(named, 80);
    }
}
