//! What compiled variants are held to: no default spills, and the hot loops of the default
//! projections and Gram sums stay as good as they were.

use super::{
    Row,
    drivers::Driver::{self, Honeykrisp, Nvk, Radv},
    is_default,
};
use anyhow::{Result, bail};

/// The least shares of multiply-adds in the hot run of a default, of its instructions and of the
/// cycles in which it is issued: what was reached, rounded down. Cycles are zero where the code
/// does not say.
struct Limit {
    driver: Driver,
    op: &'static str,
    tile: &'static str,
    shares: (f64, f64),
}

const fn limit(driver: Driver, op: &'static str, tile: &'static str, shares: (f64, f64)) -> Limit {
    Limit {
        driver,
        op,
        tile,
        shares,
    }
}

const LIMITS: &[Limit] = &[
    limit(Nvk, "projection", "shared-128x128", (0.92, 0.89)),
    limit(Nvk, "projection", "shared-64x64", (0.92, 0.89)),
    limit(Nvk, "gram", "shared-128x128", (0.93, 0.91)),
    limit(Nvk, "gram", "shared-64x64", (0.93, 0.91)),
    limit(Radv, "projection", "shared-128x128", (0.97, 0.0)),
    limit(Radv, "projection", "shared-64x64", (0.98, 0.0)),
    limit(Radv, "projection", "shared-64x64-4x8", (0.98, 0.0)),
    limit(Radv, "projection", "shared-32x32", (0.96, 0.0)),
    limit(Radv, "gram", "shared-128x128", (0.99, 0.0)),
    limit(Radv, "gram", "shared-64x64", (0.99, 0.0)),
    limit(Radv, "gram", "shared-64x64-4x8", (0.99, 0.0)),
    limit(Radv, "gram", "shared-32x32", (0.99, 0.0)),
];

/// Default variants that are known to spill: those of an op whose constants read so, and the most
/// spills of any of them. Each is a fault that is still to be mended.
struct Known {
    driver: Driver,
    op: &'static str,
    constants: &'static str,
    most: u64,
}

const fn known(driver: Driver, op: &'static str, constants: &'static str, most: u64) -> Known {
    Known {
        driver,
        op,
        constants,
        most,
    }
}

const KNOWN: &[Known] = &[
    known(
        Nvk,
        "walsh_hadamard",
        "LOG_E 4, ROWS 1, QUADS 0, STRIDED 1, IN_PLACE 1)",
        2,
    ),
    known(
        Nvk,
        "walsh_hadamard",
        "LOG_E 5, ROWS 1, QUADS 0, STRIDED 1, IN_PLACE 1)",
        258,
    ),
    known(
        Honeykrisp,
        "walsh_hadamard",
        "LOG_E 5, ROWS 1, QUADS 0, STRIDED 1, IN_PLACE 1)",
        104,
    ),
    known(Honeykrisp, "structured", "(LOG_N 11,", 90),
    known(Honeykrisp, "structured", "(LOG_N 12,", 89),
    known(Honeykrisp, "structured_stage", "(LOG_N 5,", 104),
];

/// Errs with every default variant that spills, unless it is known to, and every hot loop that fell
/// below its limit.
pub(super) fn hold(rows: &[Row]) -> Result<()> {
    let mut found = Vec::new();
    let (mut used, mut spilling) = ([false; LIMITS.len()], [false; KNOWN.len()]);
    let (mut defaults, mut loops) = (0, 0);
    for row in rows {
        let variant = format!("{} {}", row.variant.op, row.variant.variant);
        for (driver, one) in &row.compiled {
            if !is_default(row, *driver) {
                continue;
            }
            defaults += 1;
            let name = driver.name();
            let known = KNOWN.iter().zip(&mut spilling).find(|(known, _)| {
                known.driver == *driver
                    && known.op == row.variant.op
                    && row.variant.variant.contains(known.constants)
            });
            let most = known.map_or(0, |(known, spills)| {
                *spills |= one.spills > 0;
                known.most
            });
            if one.spills > most {
                found.push(format!("{variant}: {} spills on {name}", one.spills));
            }
            let tile = row.variant.tile.as_deref();
            for (limit, used) in LIMITS.iter().zip(&mut used) {
                let is_this = limit.driver == *driver && limit.op == row.variant.op;
                if !is_this || Some(limit.tile) != tile {
                    continue;
                }
                *used = true;
                loops += 1;
                let share = one.hot_loop.map_or(0.0, |hot| hot.share);
                let cycles = one.hot_loop.and_then(|hot| hot.of_cycles);
                if share < limit.shares.0 || cycles.unwrap_or(0.0) < limit.shares.1 {
                    found.push(format!(
                        "{variant}: multiply-adds are {share:.3} of the hot loop's instructions and \
                         {:.3} of its cycles on {name}, the limits are {} and {}",
                        cycles.unwrap_or(0.0),
                        limit.shares.0,
                        limit.shares.1
                    ));
                }
            }
        }
    }
    for (limit, used) in LIMITS.iter().zip(used) {
        if !used {
            let Limit { op, tile, .. } = limit;
            found.push(format!("no default {op} {tile} on {}", limit.driver.name()));
        }
    }
    for (known, spills) in KNOWN.iter().zip(spilling) {
        if !spills {
            let Known { op, constants, .. } = known;
            let name = known.driver.name();
            found.push(format!(
                "no {op} {constants} spills on {name} any more: strike it"
            ));
        }
    }
    if !found.is_empty() {
        bail!("{} faults:\n{}", found.len(), found.join("\n"));
    }
    eprintln!(
        "{} variants, {defaults} defaults of three drivers, {loops} hot loops; {} forms are known to \
         spill",
        rows.len(),
        KNOWN.len()
    );
    Ok(())
}
