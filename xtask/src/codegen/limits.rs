//! What compiled variants are held to: no default spills, and the hot loops of the default
//! projections and Gram sums stay as good as they were.

use super::{
    Row,
    drivers::Driver::{self, Nvk, Radv},
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
    limit(Nvk, "projection", "shared-64x64-4x8", (0.89, 0.84)),
    limit(Nvk, "gram", "shared-128x128", (0.93, 0.91)),
    limit(Nvk, "gram", "shared-64x64", (0.93, 0.91)),
    limit(Radv, "projection", "shared-128x128", (0.97, 0.0)),
    limit(Radv, "projection", "shared-64x64-4x8", (0.98, 0.0)),
    limit(Radv, "projection", "shared-32x32", (0.96, 0.0)),
    limit(Radv, "gram", "shared-128x128", (0.99, 0.0)),
    limit(Radv, "gram", "shared-64x64", (0.99, 0.0)),
    limit(Radv, "gram", "shared-64x64-4x8", (0.99, 0.0)),
    limit(Radv, "gram", "shared-32x32", (0.99, 0.0)),
];

/// Errs with every default variant that spills, and every hot loop that fell below its limit.
pub(super) fn hold(rows: &[Row]) -> Result<()> {
    let mut found = Vec::new();
    let mut used = [false; LIMITS.len()];
    let (mut defaults, mut loops) = (0, 0);
    for row in rows {
        let variant = format!("{} {}", row.variant.op, row.variant.variant);
        for (driver, one) in &row.compiled {
            if !is_default(row, *driver) {
                continue;
            }
            defaults += 1;
            let name = driver.name();
            if one.spills > 0 {
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
    if !found.is_empty() {
        bail!("{} faults:\n{}", found.len(), found.join("\n"));
    }
    eprintln!(
        "{} variants, {defaults} defaults of three drivers, {loops} hot loops",
        rows.len()
    );
    Ok(())
}
