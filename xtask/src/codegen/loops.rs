//! The hot loop of a shader in machine code: the run of instructions without a branch that has the
//! most multiply-adds, and the innermost loop around it.

use std::fmt;

/// Fewer multiply-adds than this are no loop of a matrix product.
const LEAST: usize = 16;

/// Instructions of the hot run, and the loop around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HotLoop {
    /// Multiply-adds of all instructions of the run that take a turn of the units which multiply:
    /// all of NVIDIA's, and AMD's vector instructions. Both halves of a dual one count.
    pub(super) share: f64,
    /// Multiply-adds of the cycles in which the run is issued, where the code says.
    pub(super) of_cycles: Option<f64>,
    /// As `share`, of the whole loop: a stage where the depth is unrolled.
    pub(super) of_loop: f64,
}

impl fmt::Display for HotLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ", multiply-adds {:.3} of instructions", self.share)?;
        if let Some(share) = self.of_cycles {
            write!(f, ", {share:.3} of cycles")?;
        }
        write!(f, ", {:.3} of the loop", self.of_loop)
    }
}

/// A run of instructions and where it may go on, by the places of runs in the text.
#[derive(Default)]
struct Block<'a> {
    instructions: Vec<&'a str>,
    next: Vec<usize>,
}

/// What an instruction counts for.
#[derive(Default, Clone, Copy)]
struct Count {
    multiply_adds: usize,
    instructions: usize,
    cycles: usize,
}

impl Count {
    fn share(self) -> f64 {
        self.multiply_adds as f64 / self.instructions as f64
    }

    fn sum<'a>(blocks: impl Iterator<Item = &'a Block<'a>>, each: fn(&str) -> Self) -> Self {
        let instructions = blocks.flat_map(|block| &block.instructions);
        instructions.fold(Self::default(), |sum, line| {
            let one = each(line);
            Self {
                multiply_adds: sum.multiply_adds + one.multiply_adds,
                instructions: sum.instructions + one.instructions,
                cycles: sum.cycles + one.cycles,
            }
        })
    }
}

/// Of the run with the most multiply-adds, if it is in a loop.
fn hottest(blocks: &[Block<'_>], each: fn(&str) -> Count) -> Option<HotLoop> {
    let counts = blocks
        .iter()
        .map(|block| Count::sum([block].into_iter(), each));
    let (hot, run) = counts
        .enumerate()
        .max_by_key(|(_, run)| run.multiply_adds)?;
    let back = (0..blocks.len()).flat_map(|end| {
        let next = blocks[end].next.iter().copied();
        next.filter(move |&start| start <= end)
            .map(move |start| (start, end))
    });
    let loops = back.map(|(start, end)| around(blocks, start, end));
    let innermost = loops
        .filter(|body| body.contains(&hot) && run.multiply_adds >= LEAST)
        .min_by_key(Vec::len)?;
    let whole = Count::sum(innermost.iter().map(|&at| &blocks[at]), each);
    Some(HotLoop {
        share: run.share(),
        of_cycles: (run.cycles > 0).then(|| run.multiply_adds as f64 / run.cycles as f64),
        of_loop: whole.share(),
    })
}

/// The loop that `end` closes by going back to `start`: all from where `end` can be reached without
/// passing `start`. Compilers may put what follows a loop in the middle of it.
fn around(blocks: &[Block<'_>], start: usize, end: usize) -> Vec<usize> {
    let mut body = vec![start];
    let mut open = vec![end];
    while let Some(at) = open.pop() {
        if !body.contains(&at) {
            body.push(at);
            open.extend((0..blocks.len()).filter(|&from| blocks[from].next.contains(&at)));
        }
    }
    body
}

/// Of NAK's assembly: `block N ... -> {`, instructions, each with `// delay=CYCLES`, `} -> [N,
/// ...]`.
pub(super) fn nvidia(code: &str) -> Option<HotLoop> {
    let (_, code) = code.split_once("=== NAK assembly")?;
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in code.lines() {
        if line.starts_with("block") {
            blocks.push(Block::default());
        } else if let (Some(next), Some(block)) = (line.strip_prefix("} -> ["), blocks.last_mut()) {
            let places = next.trim_end_matches(']').split(',');
            block.next = places.filter_map(|n| n.trim().parse().ok()).collect();
        } else if let (true, Some(block)) = (line.contains("// delay="), blocks.last_mut()) {
            block.instructions.push(line);
        }
    }
    hottest(&blocks, |line| {
        let delay = line.split_once("// delay=").map(|(_, rest)| rest);
        let cycles = delay.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        Count {
            multiply_adds: line.contains("= ffma").into(),
            instructions: 1,
            cycles: cycles.unwrap_or(0),
        }
    })
}

/// Of ACO's assembly: `BBn:`, instructions, of which branches name a block.
pub(super) fn amd(code: &str) -> Option<HotLoop> {
    let (_, code) = code.split_once("=== Assembly")?;
    let mut names = Vec::new();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut branches = Vec::new();
    for line in code.lines() {
        let line = line.split(';').next().unwrap_or_default().trim();
        if let Some(name) = line.strip_suffix(':') {
            names.push(name);
            blocks.push(Block::default());
        } else if let (false, Some(block)) = (line.is_empty(), blocks.last_mut()) {
            block.instructions.push(line);
            if let (true, Some(to)) = (line.contains("branch"), line.split_whitespace().last()) {
                branches.push((blocks.len() - 1, to));
            }
        }
    }
    for (from, to) in branches {
        let to = names.iter().position(|name| *name == to);
        blocks[from].next.extend(to);
    }
    hottest(&blocks, |line| {
        if !line.starts_with("v_") {
            return Count::default();
        }
        // A dual instruction does two things in one turn.
        let halves = line.split("::");
        Count {
            multiply_adds: halves.clone().filter(|half| half.contains("fma")).count(),
            instructions: halves.count(),
            cycles: 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen multiply-adds in a block that goes back to itself, inside a longer loop.
    #[test]
    fn the_innermost_loop_is_found_in_nvidias_code() {
        let fma = "  r1 = ffma r2 r3 r1 // delay=2\n".repeat(16);
        let code = format!(
            "=== NIR\nblock 9\n=== NAK assembly\nblock 0 [] -> {{\n r1 = mov // delay=1\n}} -> [1]\n\
             block 1 [] -> {{\n r9 = mov // delay=5\n}} -> [2]\n\
             block 2 [] -> {{\n{fma} r4 = ld.shared // delay=4 wr:1\n}} -> [2, 3]\n\
             block 3 [] -> {{\n bra // delay=1\n}} -> [1, 4]\nblock 4 [] -> {{\n}} -> []\n"
        );
        let hot = nvidia(&code).unwrap();
        assert_eq!(hot.share, 16.0 / 17.0);
        assert_eq!(hot.of_cycles, Some(16.0 / 36.0));
        assert_eq!(hot.of_loop, hot.share);
        // Around a loop of two runs, with what follows in between.
        let far = code.replace("[2, 3]", "[3, 4]");
        let hot = nvidia(&far).unwrap();
        assert_eq!((hot.share, hot.of_loop), (16.0 / 17.0, 16.0 / 19.0));
        // Fewer multiply-adds are none of a product, and without a way back there is no loop.
        assert_eq!(nvidia(&code.replacen("ffma", "fmul", 1)), None);
        assert_eq!(
            nvidia(&code.replace("[2, 3]", "[3]").replace("[1, 4]", "[4]")),
            None
        );
    }

    #[test]
    fn dual_multiply_adds_count_twice_in_amds_code() {
        let fma = "\tv_fmac_f32_e32 v1, v2, v3 ; 56\n".repeat(14);
        let code = format!(
            "=== Assembly\nBB0:\n\tv_mov_b32 v1, 0\nBB1:\n{fma}\
             \tv_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6 ; 57\n\
             \tv_dual_fmac_f32 v1, v2, v3 :: v_dual_mov_b32 v4, v5 ; 57\n\
             \ts_add_u32 s1, s1, 1\n\ts_cbranch_scc1 BB1 ; 1\n\ts_endpgm\n"
        );
        let hot = amd(&code).unwrap();
        assert_eq!((hot.share, hot.of_cycles), (17.0 / 18.0, None));
        assert_eq!(amd(&code.replace("BB1 ;", "BB2 ;")), None);
    }
}
