//! Names that are cut to the room there is, and still tell what they are of.

/// The names, each as it is where it fits. Of others what all names begin with is cut, then what
/// all end with, then the middle; whatever came out alike is told apart by a number.
pub(super) fn told_apart(names: &[String], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut cut = shortened(names, fits);
    for i in 0..names.len() {
        let all = 0..names.len();
        let twins: Vec<usize> = all.filter(|&j| cut[j] == cut[i]).collect();
        if twins.len() > 1 && twins.len() < names.len() {
            // These share more than all names do.
            let own: Vec<String> = twins.iter().map(|&j| names[j].clone()).collect();
            for (j, text) in twins.into_iter().zip(told_apart(&own, fits)) {
                cut[j] = text;
            }
        }
    }
    for i in 1..names.len() {
        let alike = |j: &usize| cut[*j] == cut[i] && names[*j] != names[i];
        if (0..i).any(|j| alike(&j)) {
            let end = format!(" ({})", i + 1);
            let whole = |text: &str| fits(&format!("{text}{end}"));
            cut[i] = middle(&names[i], "", "", &whole) + &end;
        }
    }
    cut
}

fn shortened(names: &[String], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let before = shared(&letters);
    let ends: Vec<Vec<char>> = letters
        .iter()
        .map(|name| name[before..].iter().rev().copied().collect())
        .collect();
    let after = shared(&ends);
    let cut = |name: &Vec<char>| {
        let text = |part: &[char]| part.iter().collect::<String>();
        let (start, end) = (mark(before), mark(after));
        let whole = text(name);
        let without_start = format!("{start}{}", text(&name[before..]));
        if let Some(fit) = [whole, without_start].into_iter().find(|text| fits(text)) {
            return fit;
        }
        middle(&text(&name[before..name.len() - after]), start, end, fits)
    };
    letters.iter().map(cut).collect()
}

/// What stands for so many letters that were cut.
fn mark(letters: usize) -> &'static str {
    if letters > 0 { "…" } else { "" }
}

/// How many letters all names begin with, up to a place between words.
fn shared(names: &[Vec<char>]) -> usize {
    let (Some(first), true) = (names.first(), names.len() > 1) else {
        return 0;
    };
    let alike = (0..first.len())
        .take_while(|&i| names.iter().all(|name| name.get(i) == Some(&first[i])))
        .count();
    let between = |i: &usize| !first[*i].is_alphanumeric();
    (0..alike).rfind(between).map_or(0, |i| i + 1)
}

/// As much of both ends as fits.
fn middle(name: &str, start: &str, end: &str, fits: &dyn Fn(&str) -> bool) -> String {
    let letters: Vec<char> = name.chars().collect();
    let with = |kept: usize| {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let head: String = letters[..head].iter().collect();
        let tail: String = letters[letters.len() - tail..].iter().collect();
        let cut = mark(letters.len() - kept);
        format!("{start}{head}{cut}{tail}{end}")
    };
    let most = (0..=letters.len()).rev();
    most.map(with)
        .find(|text| fits(text))
        .unwrap_or_else(|| "…".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(names: &[&str], most: usize) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        told_apart(&names, &|text| text.chars().count() <= most)
    }

    #[test]
    fn names_are_cut_where_they_do_not_tell_apart() {
        assert_eq!(cut(&["cat", "dog"], 3), ["cat", "dog"]);
        let rooms = ["width of room 1", "width of room 12", "area"];
        // Nothing is shared with the last.
        assert_eq!(cut(&rooms, 9), ["widt…om 1", "widt…m 12", "area"]);
        assert_eq!(cut(&rooms[..2], 15), ["width of room 1", "…12"]);
        assert_eq!(
            cut(
                &["the office 1 of the north", "the office 22 of the north"],
                14
            ),
            ["…1…", "…22…"]
        );
    }

    /// Whatever the names, none is wider than there is room, and no two come out alike.
    #[test]
    fn no_two_names_come_out_alike() {
        let inner = ["aaaa1aaaaaaaaa", "aaaa2aaaaaaaaa", "aaaa3aaaaaaaaa", "b"];
        let deep = [
            "x one y longer",
            "x two y longer",
            "x one z longer",
            "x two z longer",
        ];
        for names in [&inner, &deep] {
            for most in 7..15 {
                let cut = cut(names, most);
                assert!(
                    cut.iter().all(|name| name.chars().count() <= most),
                    "{cut:?}"
                );
                let apart: std::collections::BTreeSet<_> = cut.iter().collect();
                assert_eq!(apart.len(), names.len(), "{most}: {cut:?}");
            }
        }
    }
}
