//! Functions and loops in the assembly that rustc emits, x86-64's as AT&T writes it and ARM's.

use std::collections::HashMap;

/// A function: instructions and labels, line by line.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    lines: Vec<&'a str>,
}

/// A loop without another inside it.
pub(super) struct Innermost<'f, 'a> {
    of: &'f Function<'a>,
    labels: HashMap<&'a str, usize>,
    first: usize,
    last: usize,
}

/// All functions of a file.
pub(super) fn functions(text: &str) -> Vec<Function<'_>> {
    let mut functions: Vec<Function<'_>> = Vec::new();
    for line in text.lines() {
        // Directives say nothing of what runs, and comments follow the code.
        let code = line.split("# ").next().unwrap_or_default();
        let code = code.split("//").next().unwrap_or_default().trim_end();
        let is_directive = code.starts_with('\t') && code[1..].starts_with('.');
        if code.is_empty() || is_directive {
            continue;
        }
        match code.strip_suffix(':') {
            Some(name) if !name.starts_with(".L") => functions.push(Function {
                name,
                lines: Vec::new(),
            }),
            _ => {
                if let Some(function) = functions.last_mut() {
                    function.lines.push(code.trim_start());
                }
            }
        }
    }
    functions
}

impl<'a> Function<'a> {
    /// Whether the register of frames has one: it is a register as others else.
    fn has_frame(&self) -> bool {
        self.lines.contains(&"movq\t%rsp, %rbp")
    }

    /// Loops without another inside them.
    pub(super) fn loops(&self) -> Vec<Innermost<'_, 'a>> {
        let labels: HashMap<_, _> = (self.lines.iter().enumerate())
            .filter_map(|(at, line)| Some((line.strip_suffix(':')?, at)))
            .collect();
        let back = (self.lines.iter().enumerate()).filter_map(|(last, line)| {
            let first = *labels.get(jump(line)?)?;
            (first <= last).then_some((first, last))
        });
        let back: Vec<_> = back.collect();
        let inner = back.iter().filter(|(first, last)| {
            let within = |other: &(usize, usize)| other.0 >= *first && other.1 <= *last;
            back.iter().filter(|other| within(other)).count() == 1
        });
        let inner = inner.map(|&(first, last)| Innermost {
            of: self,
            labels: labels.clone(),
            first,
            last,
        });
        inner.collect()
    }
}

impl<'a> Innermost<'_, 'a> {
    /// Its instructions.
    pub(super) fn lines(&self) -> impl Iterator<Item = &'a str> {
        let lines = self.of.lines[self.first..=self.last].iter().copied();
        lines.filter(|line| !line.ends_with(':'))
    }

    fn count(&self, is: impl Fn(&str) -> bool) -> usize {
        self.lines().filter(|line| is(line)).count()
    }

    /// Instructions.
    pub(super) fn len(&self) -> usize {
        self.lines().count()
    }

    pub(super) fn multiply_adds(&self) -> usize {
        self.count(|line| {
            ["vfmadd", "vfnmadd", "fmla"]
                .iter()
                .any(|f| line.starts_with(f))
        })
    }

    /// Other arithmetic with vectors.
    pub(super) fn other_arithmetic(&self) -> usize {
        const X86: [&str; 8] = [
            "vadd",
            "vsub",
            "vmul",
            "vdiv",
            "vmin",
            "vmax",
            "vsqrt",
            "vrndscale",
        ];
        const ARM: [&str; 7] = ["fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "fsqrt"];
        let is = |line: &str| X86.iter().chain(&ARM).any(|op| line.starts_with(op));
        self.count(|line| has_vector(line) && is(line))
    }

    /// Instructions that read or write a vector on the stack.
    pub(super) fn vectors_on_stack(&self) -> usize {
        let has_frame = self.of.has_frame();
        self.count(|line| has_vector(line) && is_on_stack(line, has_frame))
    }

    /// Instructions that write a vector to memory.
    pub(super) fn vector_stores(&self) -> usize {
        self.count(|line| {
            let arm = ["st1", "str", "stp", "stur"]
                .iter()
                .any(|s| line.starts_with(s));
            let x86 = line.starts_with("vmov") && line.ends_with(')');
            has_vector(line) && (arm || x86)
        })
    }

    /// Instructions that read memory.
    pub(super) fn loads(&self) -> usize {
        self.count(|line| {
            let no_load = ["lea", "prefetch"].iter().any(|op| line.starts_with(op));
            let x86 = line.contains('(') && !line.ends_with(')') && !no_load;
            line.starts_with("ld") || x86
        })
    }

    pub(super) fn calls(&self) -> usize {
        self.count(is_call)
    }

    /// Jumps out of the loop to where the program panics.
    pub(super) fn bounds_checks(&self) -> usize {
        self.count(|line| {
            let to = jump(line).and_then(|label| self.labels.get(label));
            to.is_some_and(|&to| self.panics(to))
        })
    }

    /// Whether what begins there ends in a panic.
    fn panics(&self, at: usize) -> bool {
        let rest = self.of.lines[at..].iter();
        let mut rest = rest.take_while(|line| !is_end(line));
        rest.any(|line| is_call(line) && line.contains("panic"))
    }
}

/// The label that an instruction jumps to.
fn jump(line: &str) -> Option<&str> {
    let is_jump = line.starts_with('j') || line.starts_with("b.") || line.starts_with("b\t");
    let is_test = ["cbz", "cbnz", "tbz", "tbnz"];
    let is_jump = is_jump || is_test.iter().any(|test| line.starts_with(test));
    let to = line.split([' ', '\t', ',']).next_back()?;
    (is_jump && to.starts_with(".L")).then_some(to)
}

fn is_call(line: &str) -> bool {
    ["call", "bl\t", "blr\t"]
        .iter()
        .any(|c| line.starts_with(c))
}

/// Whether nothing runs on beyond.
fn is_end(line: &str) -> bool {
    ["jmp", "ret", "b\t", "ud2", "brk"]
        .iter()
        .any(|end| line.starts_with(end))
}

fn has_vector(line: &str) -> bool {
    let x86 = ["%xmm", "%ymm", "%zmm"].iter().any(|v| line.contains(v));
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric()).skip(1);
    x86 || words.any(|word| {
        let number = word.strip_prefix(['q', 'v', 'd', 's']);
        number.is_some_and(|n| n.parse::<u8>().is_ok_and(|n| n < 32))
    })
}

fn is_on_stack(line: &str, has_frame: bool) -> bool {
    let is_at = |base: &str| line.contains(base);
    ["(%rsp", "[sp", "[x29"].into_iter().any(is_at) || (has_frame && is_at("(%rbp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "\
_RtileV3:
\t.cfi_startproc
.LBB0_1:
\tmovq\t8(%rsp), %rax
.LBB0_2:
\tprefetcht1\t(%rdx)
\tvbroadcastss\t(%rsi), %ymm3
\tvfmadd231ps\t(%rdi), %ymm3, %ymm1
\tvfmadd231ps\t%ymm2, %ymm3, %ymm4 # a comment
\tcmpq\t%rax, %rcx
\tjae\t.LBB0_9
\tjne\t.LBB0_2
\tjne\t.LBB0_1
\tretq
.LBB0_9:
\tcallq\t*panic_bounds_check@GOTPCREL(%rip)
\tud2
";

    #[test]
    fn the_innermost_loop_and_what_it_breaks_are_seen() {
        let one = |text: &str, counts: [usize; 6]| {
            let found = functions(text);
            let loops = found[0].loops();
            let [hot] = loops.as_slice() else {
                panic!("{} loops", loops.len());
            };
            let (stacked, stores) = (hot.vectors_on_stack(), hot.vector_stores());
            let seen = [hot.multiply_adds(), hot.len(), stacked, stores, hot.calls()];
            assert_eq!(
                (seen.as_slice(), hot.bounds_checks()),
                (&counts[..5], counts[5])
            );
        };
        one(X86, [2, 7, 0, 0, 0, 1]);
        let with = |line: &str| X86.replace("\tprefetcht1\t(%rdx)", line);
        one(&with("\tvmovups\t%ymm1, 32(%rsp)"), [2, 7, 1, 1, 0, 1]);
        one(&with("\tvmovups\t32(%rsp), %ymm1"), [2, 7, 1, 0, 0, 1]);
        one(&with("\tvmovups\t%ymm1, (%rdi)"), [2, 7, 0, 1, 0, 1]);
        one(&with("\tmovq\t8(%rsp), %rdx"), [2, 7, 0, 0, 0, 1]);
        let at_frame = with("\tvmovups\t32(%rbp), %ymm1");
        one(&at_frame, [2, 7, 0, 0, 0, 1]);
        let framed = at_frame.replace(".LBB0_1:\n", "\tmovq\t%rsp, %rbp\n.LBB0_1:\n");
        one(&framed, [2, 7, 1, 0, 0, 1]);
        let text = with("\tvsubps\t%ymm1, %ymm2, %ymm2");
        assert_eq!(functions(&text)[0].loops()[0].other_arithmetic(), 1);
        one(&with("\tcallq\tmemcpy"), [2, 7, 0, 0, 1, 1]);
        let loads = |text: &str| functions(text)[0].loops()[0].loads();
        assert_eq!(loads(X86), 2);
        assert_eq!(loads(&with("\tvmovups\t32(%rsp), %ymm1")), 3);
        assert_eq!(loads(&with("\tvmovups\t%ymm1, (%rdi)")), 2);
        one(
            &X86.replace("panic_bounds_check", "next"),
            [2, 7, 0, 0, 0, 0],
        );
        let arm = "_RtileNeon:\n.LBB0_1:\n\tldr\tq0, [x1], #16\n\tfmla\tv1.4s, v0.4s, v2.s[0]\n\
                   \tstr\tq3, [sp, #16]\n\tsubs\tx8, x8, #1\n\tb.ne\t.LBB0_1\n\tret\n";
        one(arm, [1, 5, 1, 1, 0, 0]);
        assert_eq!(loads(arm), 1);
        one(&arm.replace("[sp, #16]", "[x2]"), [1, 5, 0, 1, 0, 0]);
        one(
            &arm.replace("\tstr\tq3, [sp, #16]\n", "\tldr\tx3, [sp]\n"),
            [1, 5, 0, 0, 0, 0],
        );
    }
}
