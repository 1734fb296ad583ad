//! A tree of half-spaces: which leaf a row belongs to.

use crate::{Error, Result, data::Rows, store::Store, text::counted};
use ndarray::{Array2, ArrayView1};

#[doc(hidden)]
pub use crate::limits::{NESTED_NODES as DEEPEST, TREE_LEAVES as MOST_LEAVES};

/// A binary tree over raw rows. Row x goes left at node i if `v_i'(x - c) <= t_i`, in f64, summed
/// from the first column on, so that every machine routes alike; a NaN, which only products beyond
/// the range of f64 give, goes right.
///
/// Nodes are counted from the root on, each before those below it, and leaves from left to right.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Tree {
    /// c, `[d]`.
    center: Vec<f64>,
    /// v of each node, `[nodes, d]`.
    directions: Array2<f64>,
    /// t of each node, `[nodes]`.
    thresholds: Vec<f64>,
    /// Left and right of each node.
    children: Vec<[Child; 2]>,
    depth: usize,
}

/// What lies below a side of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Child {
    Node(usize),
    Leaf(usize),
}

/// Where rows part.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Cut {
    /// v, `[d]`.
    #[doc(hidden)]
    pub direction: Vec<f64>,
    /// t.
    #[doc(hidden)]
    pub threshold: f64,
}

/// `v'(x - c)`.
#[doc(hidden)]
pub fn project(x: &[f64], center: &[f64], direction: ArrayView1<'_, f64>) -> f64 {
    let terms = x.iter().zip(center).zip(direction);
    terms.fold(0.0, |sum, ((x, c), v)| sum + v * (x - c))
}

impl Tree {
    /// The tree of these nodes. Errors with [`Error::Format`] unless each node but the first and
    /// each leaf lies below exactly one node that comes before it.
    #[doc(hidden)]
    pub fn new(center: Vec<f64>, cuts: Vec<Cut>, children: Vec<[Child; 2]>) -> Result<Self> {
        let (d, nodes) = (center.len(), cuts.len());
        let no = |what: String| Err(Error::format(format!("a tree of leaves {what}")));
        if cuts.iter().any(|cut| cut.direction.len() != d) || children.len() != nodes {
            return no(format!("whose nodes do not fit {}", counted(d, "column")));
        }
        let finite = |cut: &Cut| cut.direction.iter().all(|v| v.is_finite());
        if !cuts
            .iter()
            .all(|cut| finite(cut) && cut.threshold.is_finite())
        {
            return no("with a direction or a threshold that is not finite".into());
        }
        if nodes >= MOST_LEAVES {
            return no(format!("with more than {MOST_LEAVES} leaves"));
        }
        let (mut of_node, mut of_leaf) = (vec![None; nodes], vec![false; nodes + 1]);
        if let Some(root) = of_node.first_mut() {
            *root = Some(1);
        }
        let mut depth = 0;
        for (i, sides) in children.iter().enumerate() {
            let Some(own) = of_node[i] else {
                return no(format!("whose node {i} lies below none before it"));
            };
            depth = depth.max(own);
            if own > DEEPEST {
                return no(format!("more than {DEEPEST} deep"));
            }
            for &side in sides {
                let free = match side {
                    Child::Node(j) if j > i && j < nodes => of_node[j].replace(own + 1).is_none(),
                    Child::Leaf(j) if j <= nodes => !std::mem::replace(&mut of_leaf[j], true),
                    _ => false,
                };
                if !free {
                    return no(format!("whose node {i} has a child that is none"));
                }
            }
        }
        let directions = cuts.iter().flat_map(|cut| cut.direction.iter().copied());
        let directions = Array2::from_shape_vec((nodes, d), directions.collect());
        Ok(Self {
            center,
            directions: directions.map_err(|fault| Error::shape(fault.to_string()))?,
            thresholds: cuts.iter().map(|cut| cut.threshold).collect(),
            children,
            depth,
        })
    }

    /// Number of leaves.
    #[doc(hidden)]
    pub fn leaves(&self) -> usize {
        self.children.len() + 1
    }

    /// Nodes above the deepest leaf.
    #[doc(hidden)]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of columns, d.
    #[doc(hidden)]
    pub fn columns(&self) -> usize {
        self.center.len()
    }

    /// The leaf of a row of d values.
    pub(crate) fn leaf_of(&self, x: &[f64]) -> usize {
        let mut at = if self.children.is_empty() {
            return 0;
        } else {
            0
        };
        loop {
            let left = project(x, &self.center, self.directions.row(at)) <= self.thresholds[at];
            match self.children[at][usize::from(!left)] {
                Child::Node(node) => at = node,
                Child::Leaf(leaf) => return leaf,
            }
        }
    }

    /// The indices of the rows of each leaf, in their order.
    #[doc(hidden)]
    pub fn route(&self, rows: &Rows) -> Vec<Vec<usize>> {
        let mut of_leaf = vec![Vec::new(); self.leaves()];
        let mut x = vec![0.0; rows.ncols()];
        for i in 0..rows.nrows() {
            rows.copy_row(i, &mut x);
            of_leaf[self.leaf_of(&x)].push(i);
        }
        of_leaf
    }

    pub(super) fn write(&self, store: &mut Store) {
        let nodes = self.children.len();
        store.put_vector("tree.center", &self.center);
        if nodes == 0 {
            return;
        }
        store.put_f64("tree.directions", self.directions.view());
        store.put_vector("tree.thresholds", &self.thresholds);
        // Leaves count on behind the nodes.
        let number = |child| match child {
            Child::Node(node) => node,
            Child::Leaf(leaf) => nodes + leaf,
        };
        let children = Array2::from_shape_fn((nodes, 2), |(i, side)| {
            number(self.children[i][side]) as u32
        });
        store.put_u32("tree.children", children.view());
    }

    /// What [`Self::write`] wrote, of so many leaves and columns.
    pub(super) fn read(store: &Store, leaves: usize, columns: usize) -> Result<Self> {
        let center = store.vector("tree.center", columns)?.to_vec();
        let nodes = leaves - 1;
        if nodes == 0 {
            return Self::new(center, Vec::new(), Vec::new());
        }
        let directions = store.f64("tree.directions")?;
        let numbers = store.u32("tree.children")?;
        if directions.dim() != (nodes, columns) || numbers.dim() != (nodes, 2) {
            return Err(Error::format(format!(
                "directions of {:?} and children of {:?} are not those of {leaves} leaves",
                directions.dim(),
                numbers.dim()
            )));
        }
        let thresholds = store.vector("tree.thresholds", nodes)?;
        let cuts =
            (directions.rows().into_iter().zip(thresholds)).map(|(direction, threshold)| Cut {
                direction: direction.to_vec(),
                threshold,
            });
        let child = |number: u32| match number as usize {
            node if node < nodes => Child::Node(node),
            leaf => Child::Leaf(leaf - nodes),
        };
        let children = numbers.rows().into_iter();
        let children = children.map(|sides| [child(sides[0]), child(sides[1])]);
        Self::new(center, cuts.collect(), children.collect())
    }
}
