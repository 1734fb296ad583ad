use super::*;
use crate::form::few;

#[test]
fn the_shapes_that_are_raced_stand_for_their_class() {
    for &class in Class::ALL {
        let Shape { rows, depth, cols } = raced(AdapterKind::Discrete, class);
        assert_eq!(depth > DEEP, class.deep);
        assert_eq!(rows.div_ceil(64) * cols.div_ceil(64) >= 512, class.large);
    }
}

#[test]
fn large_shapes_that_are_raced_are_several_waves_in_every_tile() {
    for kind in [AdapterKind::Discrete, AdapterKind::Integrated] {
        for class in Class::ALL.iter().filter(|class| class.large) {
            let Shape { rows, cols, .. } = raced(kind, *class);
            for tile in MENU.iter().filter(|tile| tile.bk > 0) {
                let groups = (rows / tile.rows() as usize) * (cols / tile.cols() as usize);
                let invocations = groups * (tile.tx * tile.ty) as usize;
                let wave = few::enough_invocations(kind);
                assert!(invocations >= 4 * wave, "{kind:?}, {}", tile.name);
            }
        }
    }
}

/// What the text of shaders asks of a shape, by `//@ if` and by numbers of lines.
fn branches(tile: &Tile) -> Vec<(&'static str, u32)> {
    // Straight from the buffers there are no stages, and one shape in registers.
    if tile.bk == 0 {
        return vec![("straight", 1)];
    }
    let (ahead, two) = (tile.ahead, tile.stages == 2);
    let blocks = (tile.rows() / 4) * (tile.bk / 4);
    vec![
        ("rows in registers", tile.tm),
        ("columns in registers", tile.tn),
        ("written out whole", (tile.unroll == tile.bk).into()),
        (
            "written out in part",
            (tile.unroll > 1 && tile.unroll < tile.bk).into(),
        ),
        ("not written out", (tile.unroll == 1).into()),
        ("lanes", tile.lanes_4x8.into()),
        ("ahead in a stage", (ahead && !two).into()),
        ("two stages", (two && !ahead).into()),
        ("ahead into the next stage", (ahead && two).into()),
        ("bands", (tile.band > 0).into()),
        ("idle invocations", (blocks < tile.tx * tile.ty).into()),
    ]
}

#[test]
fn the_shapes_of_short_checks_take_every_branch() {
    // Of each menu by itself: a branch that another op has checked is other text here.
    for menu in [MENU, SQUARE_MENU, PREDICT_MENU] {
        let short = menu.iter().filter(|tile| BRANCHES.contains(tile));
        let short: Vec<_> = short.flat_map(branches).collect();
        for tile in menu {
            for branch in branches(tile) {
                assert!(short.contains(&branch), "{branch:?} of {}", tile.name);
            }
        }
    }
    // Each of those through workgroup memory is needed.
    for left in BRANCHES.iter().filter(|tile| tile.bk > 0) {
        let others = BRANCHES.iter().filter(|tile| *tile != left);
        let others: Vec<_> = others.flat_map(branches).collect();
        let mut all = MENU.iter().flat_map(branches);
        assert!(all.any(|branch| !others.contains(&branch)), "{}", left.name);
    }
}
