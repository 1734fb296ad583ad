//! `bochner bench --tune`: measures the tile shapes of a GPU, and what else it may choose, and
//! keeps the fastest.

use super::results::duration;
use crate::flags;
use crate::report::{self, Console, Usage};
use anyhow::Result;
use bochner::{Device, form::Contest, registry::MENUS};
use serde_json::{Value, json};

/// What every op, or the one of that name, may choose among; errs, with the names there are, where
/// there is none.
pub(super) fn menus(op: Option<&str>) -> Result<Vec<&'static dyn Contest>> {
    let all = MENUS.iter().copied();
    let menus: Vec<_> = all
        .filter(|menu| op.is_none_or(|op| menu.op() == op))
        .collect();
    match (menus.is_empty(), op) {
        (true, Some(op)) => {
            let names: Vec<_> = MENUS.iter().map(|menu| menu.op()).collect();
            let why = format!(
                "--op {op}: nothing to choose; there are {}",
                names.join(", ")
            );
            Err(Usage(why).into())
        }
        _ => Ok(menus),
    }
}

/// Prints one line for each class of work, the fastest shape first.
pub(super) fn run(
    console: &Console,
    device: &Device,
    menus: &[&'static dyn Contest],
    as_json: bool,
) -> Result<()> {
    let Some(gpu) = device.as_gpu() else {
        return Err(Usage("the CPU has no tile shapes; use --device with a GPU".into()).into());
    };
    if !as_json {
        report::to_stdout(&format!("{}\n", device.describe()))?;
    }
    let mut classes: Vec<Value> = Vec::new();
    let all = menus.iter().flat_map(|menu| {
        let classes = menu.classes().iter();
        classes.map(move |&class| (menu, class))
    });
    for (menu, class) in all {
        let name = format!("{} {}", menu.op(), class.name());
        let mut tuned = match menu.tune(gpu, class) {
            Ok(tuned) => tuned,
            Err(error) => {
                let why = report::one_line(&flags::explain(&error));
                console.note(&format!("{name} keeps its default: {why}"));
                continue;
            }
        };
        tuned.seconds.sort_by(|a, b| a.1.total_cmp(&b.1));
        let times: serde_json::Map<_, _> = tuned
            .seconds
            .iter()
            .map(|(tile, seconds)| ((*tile).to_owned(), json!(seconds)))
            .collect();
        classes.push(json!({"class": name, "tile": tuned.winner, "seconds": times}));
        if !as_json {
            let times = tuned.seconds.iter();
            let times = times.map(|(tile, s)| format!("{tile} {}", duration(*s)));
            report::to_stdout(&format!(
                "{name:<25} {:<16} of {}\n",
                tuned.winner,
                times.collect::<Vec<_>>().join(", ")
            ))?;
        }
    }
    if as_json {
        report::to_stdout(&format!(
            "{}\n",
            json!({"device": device.describe(), "tuned": classes})
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_tuned_where_no_op_is_named() {
        let classes = |op| -> usize {
            let menus = menus(op).unwrap();
            menus.iter().map(|menu| menu.classes().len()).sum()
        };
        // Four of them are transforms', which have a choice where subgroups can shuffle.
        assert_eq!(classes(None), 18);
        assert_eq!(classes(Some("transform")), 4);
        let error = menus(Some("plate")).err().unwrap().to_string();
        assert!(error.contains("projection, predict"), "{error}");
    }
}
