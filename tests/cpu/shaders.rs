//! Checks every shader of the registry, in every variant, without a GPU: it expands, parses,
//! validates with only the capabilities of its op, has the bindings of its Rust side, and fits into
//! the workgroup memory that every adapter has, or that is required of an adapter.

use bochner::{
    form::Tile,
    registry::{self, Binding, Op, Variant},
};
use naga::{
    AddressSpace, StorageAccess,
    valid::{Capabilities, ValidationFlags, Validator},
};

/// Workgroup memory and invocations that every adapter supports.
const EVERYWHERE: (u32, u32) = (16_384, 256);

/// Limits of a variant. Two stages of a tile, a row of 2^13 floats, and matrix units require
/// adapters with more than the minimum.
fn most(op: &Op, variant: &Variant) -> (u32, u32) {
    match op.name {
        "projection_units" => return (38_912, 512),
        "gram_units" => return (25_600, 512),
        _ => {}
    }
    let tile = Tile::from_variant(variant).map_or(0, |tile| tile.workgroup_bytes());
    let row = variant.get("LOG_N").map_or(0, |log_n| 4 << log_n);
    (EVERYWHERE.0.max(tile).max(row), EVERYWHERE.1)
}

/// Capabilities of an op beyond WebGPU's minimum.
fn capabilities(op: &Op) -> Capabilities {
    match op.name {
        "walsh_hadamard_subgroup" => Capabilities::SUBGROUP,
        "projection_units" | "gram_units" => {
            Capabilities::SUBGROUP | Capabilities::SHADER_FLOAT16 | Capabilities::COOPERATIVE_MATRIX
        }
        _ => Capabilities::empty(),
    }
}

fn parse(op: &Op, text: &str) -> Result<naga::Module, String> {
    parse_with(op, text, capabilities(op))
}

fn parse_with(op: &Op, text: &str, capabilities: Capabilities) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|e| e.emit_to_string(text))?;
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|e| format!("{}: {}", op.name, e.emit_to_string(text)))?;
    Ok(module)
}

fn check(op: &Op, variant: &Variant, module: &naga::Module) -> Result<(), String> {
    let mut layouter = naga::proc::Layouter::default();
    layouter
        .update(module.to_ctx())
        .map_err(|e| e.to_string())?;
    let mut workgroup = 0;
    let mut seen = 0;
    for (_, variable) in module.global_variables.iter() {
        let size = layouter[variable.ty].size;
        let name = variable.name.as_deref().unwrap_or_default();
        match (variable.space, variable.binding) {
            // A driver may place any of them first, and fragments must be aligned to 16 bytes.
            (AddressSpace::WorkGroup, _) if op.name.ends_with("_units") && size % 16 != 0 => {
                return Err(format!("{}: {name} has {size} bytes", op.name));
            }
            (AddressSpace::WorkGroup, _) => workgroup += size,
            (AddressSpace::Uniform, Some(at))
                if at.binding != 0 || size as usize > op.params_bytes =>
            {
                return Err(format!(
                    "{}: params of {size} bytes, Rust has {}",
                    op.name, op.params_bytes
                ));
            }
            (AddressSpace::Storage { access }, Some(at)) => {
                let writes = access.contains(StorageAccess::STORE);
                let expected = op.bindings.get(at.binding as usize - 1);
                let matches = match expected {
                    Some(Binding::Read(n)) => *n == name && !writes,
                    Some(Binding::Write(n)) => *n == name && writes,
                    None => false,
                };
                if !matches {
                    return Err(format!(
                        "{}: binding {} is {name}, Rust has {expected:?}",
                        op.name, at.binding
                    ));
                }
                seen += 1;
            }
            _ => {}
        }
    }
    if seen != op.bindings.len() {
        return Err(format!(
            "{}: {seen} of {} bindings",
            op.name,
            op.bindings.len()
        ));
    }
    let (most_bytes, most_invocations) = most(op, variant);
    if workgroup > most_bytes {
        return Err(format!(
            "{}: {workgroup} bytes of workgroup memory",
            op.name
        ));
    }
    let entry = module
        .entry_points
        .iter()
        .find(|e| e.name == "main")
        .ok_or("no main")?;
    let invocations: u32 = entry.workgroup_size.iter().product();
    if invocations > most_invocations {
        return Err(format!("{}: {invocations} invocations", op.name));
    }
    Ok(())
}

#[test]
fn every_variant_of_every_op_validates() {
    let mut variants = 0;
    for op in registry::shaders() {
        for variant in (op.variants)() {
            let text = op.text(&variant).expect("expands");
            let module = parse(op, &text).unwrap_or_else(|e| panic!("{}{variant}: {e}", op.name));
            check(op, &variant, &module).unwrap_or_else(|e| panic!("{variant}: {e}"));
            for builtin in ["cos(", "sin(", "tan(", "exp2(", "pow("] {
                let call = text.lines().any(|l| {
                    let code = l.split("//").next().unwrap_or_default();
                    code.match_indices(builtin).any(|(at, _)| {
                        !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                    })
                });
                assert!(!call, "{}{variant} calls the builtin {builtin}", op.name);
            }
            variants += 1;
        }
    }
    println!("{variants} variants of {} ops", registry::shaders().count());
}

/// Negative control: shaders that the check above must refuse.
#[test]
fn the_check_refuses_wrong_bindings_and_too_much_memory() {
    let refusal = |op: &Op, change: &dyn Fn(&str) -> String| {
        let variant = (op.variants)().swap_remove(0);
        let text = change(&op.text(&variant).expect("expands"));
        let module = parse(op, &text).expect("still valid WGSL");
        check(op, &variant, &module).expect_err("is wrong")
    };
    let op = registry::shaders().next().expect("an op");
    let renamed = refusal(op, &|text| text.replace("feature", "other"));
    assert!(renamed.contains("binding 3"), "{renamed}");
    let larger = refusal(op, &|text| {
        text.replace("struct Params {", "struct Params { extra: array<vec4u, 9>,")
    });
    assert!(larger.contains("params of"), "{larger}");
    let and =
        |variable: &'static str| move |text: &str| format!("{text}\nvar<workgroup> {variable};");
    let fat = refusal(op, &and("fat: array<vec4f, 2000>"));
    assert!(fat.contains("workgroup memory"), "{fat}");
    let units = registry::shaders().find(|op| op.name == "projection_units");
    let uneven = refusal(units.expect("is an op"), &and("word: u32"));
    assert!(uneven.contains("word has 4 bytes"), "{uneven}");
}

/// Claimed capabilities are necessary: without them the op does not validate.
#[test]
fn ops_need_the_capabilities_they_claim() {
    let mut claims = 0;
    for op in registry::shaders().filter(|op| !capabilities(op).is_empty()) {
        for variant in (op.variants)() {
            let text = op.text(&variant).expect("expands");
            let without = parse_with(op, &text, Capabilities::empty());
            assert!(without.is_err(), "{}{variant}", op.name);
            claims += 1;
        }
    }
    assert!(claims > 0);
}

/// The one loop that does not count up: the row of a tile in the triangle. Each iteration subtracts
/// the tiles of a row, at least one.
const TRIANGLE: &str = "while tile_j >= in_row {";

/// Whether a loop increments its own variable by a positive constant up to a bound.
fn ends(header: &str) -> bool {
    let parts: Vec<&str> = header.split(';').map(str::trim).collect();
    let [start, condition, step] = parts[..] else {
        return false;
    };
    let Some((name, _)) = start
        .strip_prefix("var ")
        .and_then(|rest| rest.split_once(" = "))
    else {
        return false;
    };
    let Some((counted, bound)) = condition.split_once(" < ") else {
        return false;
    };
    let counts = counted == name || counted == format!("4u * {name}");
    let constant = |text: &str| text.strip_suffix('u').and_then(|n| n.parse::<u32>().ok());
    let up = step == format!("{name}++")
        || step
            .strip_prefix(&format!("{name} += "))
            .and_then(constant)
            .is_some_and(|by| by > 0);
    let mut words = bound.split(|c: char| !c.is_alphanumeric() && c != '_');
    counts && up && words.all(|word| word != name)
}

/// Loops of shaders are not bounded by their compiler: see `device/gpu/driver_code.rs`.
#[test]
fn every_loop_ends() {
    let mut seen = 0;
    for op in registry::shaders() {
        for variant in (op.variants)() {
            let text = op.text(&variant).expect("expands");
            for line in text
                .lines()
                .map(|line| line.split("//").next().unwrap_or("").trim())
            {
                let word = |word: &str| {
                    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                    words.any(|w| w == word)
                };
                if word("for") {
                    let header = line
                        .split_once("for (")
                        .and_then(|(_, rest)| rest.split_once(") {"));
                    let ends = header.is_some_and(|(header, _)| ends(header));
                    assert!(ends, "{}{variant}: no bound that is known: {line}", op.name);
                    seen += 1;
                }
                assert!(
                    !(word("while") || word("loop")) || line == TRIANGLE,
                    "{}{variant}: count up in a for loop: {line}",
                    op.name
                );
            }
        }
    }
    assert!(seen > 0);
    for endless in [
        "var i = 0u; i < n; i += 0u",
        "var i = 0u; i < n; i--",
        "var i = 0u; j < n; i++",
        "var i = 0u; i < i + 1u; i++",
        "var i = 0u; i <= n; i++",
        "var i = 0u; ; i++",
    ] {
        assert!(!ends(endless), "{endless}");
    }
}
