//! Tests of routing and splitting of rows.

use super::*;

#[test]
fn rows_go_where_their_projections_say() {
    let tree = tree();
    let rows = array![
        [2.0, 0.0],
        [2.0, 0.1],
        [9.0, 2.0],
        [9.0, 2.1],
        [-5.0, 6.9],
        [-5.0, 7.1]
    ];
    let found = tree.route(&Rows::from(rows.clone()));
    assert_eq!(found, [vec![0, 4], vec![1, 2], vec![3, 5]]);
    let single = rows.mapv(|v| v as f32);
    assert_eq!(tree.route(&Rows::from(single))[0], [0, 4]);
    assert_eq!((tree.leaves(), tree.depth(), tree.columns()), (3, 2, 2));
    let alone = Tree::new(vec![0.0; 2], Vec::new(), Vec::new()).expect("a leaf");
    assert_eq!(alone.route(&Rows::from(rows))[0].len(), 6);
}

#[test]
fn trees_that_are_none_are_refused() {
    use Child::{Leaf, Node};
    let of = |threshold, children: Vec<[Child; 2]>| {
        let cuts = children.iter().map(|_| cut(&[1.0], threshold)).collect();
        Tree::new(vec![0.0], cuts, children)
    };
    assert!(of(0.0, vec![[Leaf(1), Leaf(0)]]).is_ok());
    for (what, bad) in [
        ("itself", vec![[Node(0), Leaf(0)]]),
        ("a leaf twice", vec![[Leaf(0), Leaf(0)]]),
        ("a leaf too many", vec![[Leaf(0), Leaf(2)]]),
        ("a node that there is not", vec![[Leaf(0), Node(1)]]),
        ("a node twice", vec![[Node(1), Node(1)], [Leaf(0), Leaf(1)]]),
        ("a node above", vec![[Node(1), Leaf(0)], [Node(0), Leaf(1)]]),
        (
            "a node below none",
            vec![[Leaf(0), Leaf(1)], [Leaf(2), Node(1)]],
        ),
    ] {
        assert!(of(0.0, bad).is_err(), "{what}");
    }
    assert!(of(f64::NAN, vec![[Leaf(0), Leaf(1)]]).is_err());
    let chain = |nodes: usize| {
        let below = |i| {
            if i + 1 < nodes {
                Node(i + 1)
            } else {
                Leaf(nodes)
            }
        };
        (0..nodes).map(|i| [Leaf(i), below(i)]).collect()
    };
    assert!(of(0.0, chain(64)).is_ok());
    assert!(of(0.0, chain(65)).is_err());
}

/// Half of the values are at or below the median, in any order; equal values stay together.
#[test]
fn medians_split_in_halves_as_far_as_equal_values_allow() {
    let up_to = |values: &[f64], t: f64| values.iter().filter(|v| **v <= t).count();
    for n in [2, 7, 1000, 1001] {
        let values: Vec<f64> = (0..n).map(|i| f64::from((i * 389) % 1009)).collect();
        let t = median(values.clone()).expect("a median");
        assert_eq!(up_to(&values, t), values.len().div_ceil(2), "{n}");
    }
    for (ones, expected) in [
        (0, None),
        (12, None),
        (13, Some(87)),
        (60, Some(40)),
        (88, None),
    ] {
        let values: Vec<f64> = (0..100).map(|i| f64::from(u8::from(i < ones))).collect();
        let found = median(values.clone()).map(|t| up_to(&values, t));
        assert_eq!(found, expected, "{ones}");
    }
    // 70 zeros in the middle: takes the nearer boundary.
    let values: Vec<f64> = (0..100)
        .map(|i| f64::from((i - 20).clamp(0, 70) % 70))
        .collect();
    let t = median(values.clone()).map(|t| up_to(&values, t));
    assert!(t.is_some_and(|left| (12..=88).contains(&left)), "{t:?}");
    let next = f64::from_bits(1.0_f64.to_bits() + 1);
    assert_eq!(median(vec![1.0, next]), Some(1.0));
}

/// Rows in a temporary file are read back unchanged, in chunks of any size.
#[test]
fn rows_in_a_temporary_file_are_those_in_memory() {
    let x = uniform(10_000, 3, 1);
    let y = normal(10_000, 2);
    let weights = y.mapv(|y| if y > 1.0 { 0.0 } else { y.abs() });
    let single = MemorySource::new(x.mapv(|v| v as f32), None).expect("rows");
    let weighted = source(&x, &y).with_weights(weights).expect("weights");
    let sources: [Box<dyn ChunkSource>; 2] = [Box::new(single), Box::new(weighted)];
    for mut rows in sources {
        let goes_left = |x: &[f64]| x[0] + x[1] <= 0.1;
        let kept = part_rows(rows.as_mut(), true, goes_left).expect("parts");
        let spilled = part_rows(rows.as_mut(), false, goes_left).expect("parts");
        let mut all = 0;
        for (mut kept, mut spilled) in kept.into_iter().zip(spilled) {
            assert_eq!(kept.rows(), spilled.rows());
            all += kept.rows().expect("known");
            for size in [700, 5000, 1 << 20] {
                kept.rewind().expect("rewinds");
                spilled.rewind().expect("rewinds");
                loop {
                    let chunk = kept.next_chunk(size).expect("reads");
                    assert_eq!(chunk, spilled.next_chunk(size).expect("reads"));
                    if chunk.is_none() {
                        break;
                    }
                }
            }
        }
        let counted = if rows.is_weighted() {
            y.iter().filter(|y| **y <= 1.0).count()
        } else {
            10_000
        };
        assert_eq!(all, counted);
    }
    let none = Keeper::new(Shape::from_source(&source(&x, &y)), true);
    assert!(none.and_then(Keeper::finish).is_err());
}
