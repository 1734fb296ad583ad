//! The hot loops of the CPU as assembly, for processors that this machine need not be: built alone
//! (`xtask/loops`), and held to limits that a look at the text can tell.

mod assembly;
mod cycles;
mod limits;

use crate::{
    folders::target_dir,
    metadata::host,
    process::{capture, cargo, run},
};
use anyhow::{Context, Result, bail};
use assembly::{Function, Innermost};
use cycles::Mca;
use limits::{COMPILER, CONTROL, KNOWN, LOOPS, Loop, Set};
use std::{fs, process::Command};

/// `cargo xtask codegen --cpu`.
///
/// Errs with every loop that breaks a limit, and where what must break one does not.
pub(super) fn check() -> Result<()> {
    let (mut faults, mut left) = (Vec::new(), Vec::new());
    let mut looked_at = 0;
    let mca = Mca::find();
    if mca.is_none() {
        left.push("cycles; llvm-mca 19 or later is not here".into());
    }
    for target in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        let sets = Set::ALL.into_iter().filter(|set| set.target() == target);
        if !is_installed(target) {
            left.push(format!("{target}; type `rustup target add {target}`"));
            continue;
        }
        let text = compile(target)?;
        let functions = assembly::functions(&text);
        for set in sets {
            for of in &LOOPS {
                looked_at += 1;
                let is_known = KNOWN.contains(&(of.name, set));
                let held = hold(of, set, &functions, mca.as_ref());
                let words = match (&held, is_known) {
                    (Ok(words), false) => words.clone(),
                    (Err(fault), true) => format!("known: {fault}"),
                    (Ok(_), true) => "holds its limits: take it from what is known".into(),
                    (Err(fault), false) => fault.to_string(),
                };
                if held.is_ok() == is_known {
                    faults.push(format!("{} on {}: {words}", of.name, set.name()));
                } else {
                    println!("{:<15} {:<7} {words}", of.name, set.name());
                }
            }
        }
        if target == Set::Avx2.target() {
            faults.extend(control(&functions, mca.as_ref()));
        }
    }
    for target in left {
        println!("NOT checked    {target}");
    }
    if !faults.is_empty() {
        bail!("{} faults:\n{}", faults.len(), faults.join("\n"));
    }
    println!("{looked_at} loops were looked at");
    Ok(())
}

/// What is wrong where the loop that must break limits breaks none, or only those of its text.
fn control(functions: &[Function<'_>], mca: Option<&Mca>) -> Option<String> {
    let held = hold(&CONTROL, Set::Avx2, functions, None);
    if held.is_ok() {
        return Some(format!("{} breaks no limit, as it must", CONTROL.name));
    }
    let hot = hot_loops(&CONTROL, Set::Avx2, functions).into_iter().next();
    let lines: Vec<_> = hot?.lines().collect();
    let held = mca?.hold(&CONTROL, Set::Avx2, &lines);
    let words = held.ok()?;
    Some(format!(
        "{} has the cycles of a good loop: {words}",
        CONTROL.name
    ))
}

/// Whether limits are of this compiler, by what it says of its version.
pub(super) fn is_known(version: &str) -> bool {
    version
        .strip_prefix("rustc ")
        .and_then(|rest| rest.strip_prefix(COMPILER))
        .is_some_and(|rest| rest.starts_with('.'))
}

/// What is seen of a loop where it holds its limits; else what it breaks. Of several that are alike
/// each is held to them.
fn hold(of: &Loop, set: Set, functions: &[Function<'_>], mca: Option<&Mca>) -> Result<String> {
    let hot = hot_loops(of, set, functions);
    if hot.is_empty() {
        let (sums, others) = (of.multiply_adds(set), of.others(set));
        bail!("no loop has {sums} multiply-adds and {others} other arithmetic");
    }
    let mut cycles = String::new();
    for one in &hot {
        let limits = [
            (one.vectors_on_stack(), 0, "vectors on the stack"),
            (one.vector_stores(), of.stores, "stores of vectors"),
            (one.loads(), of.loads(set), "loads"),
            (one.calls(), 0, "calls"),
            (one.bounds_checks(), of.checks, "checks of bounds"),
        ];
        if let Some((seen, most, what)) = limits.iter().find(|(seen, most, _)| seen > most) {
            bail!("{seen} {what}, where {most} are of use");
        }
        if let Some(mca) = mca.filter(|_| of.cycles > 0.0) {
            let lines: Vec<_> = one.lines().collect();
            cycles = format!("; cycles {}", mca.hold(of, set, &lines)?);
        }
    }
    let length = hot.iter().map(|one| one.len()).max().unwrap_or_default();
    let multiply_adds = of.multiply_adds(set);
    Ok(format!(
        "{multiply_adds} multiply-adds of {length} instructions{cycles}"
    ))
}

/// The loops that have what is looked for.
fn hot_loops<'f, 'a>(of: &Loop, set: Set, functions: &'f [Function<'a>]) -> Vec<Innermost<'f, 'a>> {
    let is_named = |function: &&Function<'_>| {
        let has = |part: &str| function.name.contains(part);
        has(of.symbol) && has(set.symbol())
    };
    // What each processor has, as NEON, may need no function of its own: the caller has the loop.
    let is_apart = functions.iter().any(|function| is_named(&function));
    let is_caller = |function: &&Function<'_>| function.name.contains(of.caller);
    let named = functions.iter().filter(|function| {
        if is_apart {
            is_named(function)
        } else {
            is_caller(function)
        }
    });
    let expected = (of.multiply_adds(set), of.others(set));
    let count = |one: &Innermost<'_, '_>| (one.multiply_adds(), one.other_arithmetic());
    let loops = named.flat_map(Function::loops);
    loops.filter(|one| count(one) == expected).collect()
}

fn is_installed(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]);
    let folder = capture(&mut rustc).unwrap_or_default();
    let entries = fs::read_dir(folder.trim()).into_iter().flatten();
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("libcore"))
}

/// The loops as assembly of a target.
fn compile(target: &str) -> Result<String> {
    let folder = target_dir().join("loops");
    let path = folder.join(format!("{target}.s"));
    let mut build = cargo(["rustc", "--release", "--quiet", "--package", "xtask"]);
    build.args(["--example", "loops", "--features", "loops"]);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    if host()? != target {
        build.args(["--target", target]);
    }
    // Names with their types; one unit, whose file it is; the level of the library.
    build
        .args(["--", "-C", "symbol-mangling-version=v0"])
        .args(["-C", "codegen-units=1", "-C", "opt-level=3"])
        .args(["-C", "debuginfo=0", "--emit"])
        .arg(format!("asm={}", path.display()));
    run(&mut build)?;
    fs::read_to_string(&path).with_context(|| {
        let again = "remove the folder it belongs in, and run this again";
        format!("{} cannot be read; {again}", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_one_compiler_in_all_its_small_versions() {
        let of = |version: &str| is_known(&format!("rustc {version} (59807616e 2026-04-14)\n"));
        assert!(of(&format!("{COMPILER}.0")) && of(&format!("{COMPILER}.2")));
        for other in [format!("{COMPILER}0.0"), "2.0.0".into(), "1.9.5".into()] {
            assert!(!of(&other), "{other}");
        }
    }
}
