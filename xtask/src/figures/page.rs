//! What a page has: commands, what they print, files that they read, code.

use anyhow::{Context, Result, bail};

/// A fenced block or a command among words, and the number of its first line in the page.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) text: String,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    /// `sh`: what a reader types.
    Commands,
    /// `text`: lines of what the commands before it print, in this order; others may be left out.
    Printed,
    /// `csv`, `toml`: a file, whose name ends the words before it: "`table.csv`:".
    File(String),
    /// A language that is no concern of commands.
    Code,
    /// No block: a command on some file, in backquotes among the words of a line.
    Mentioned,
}

/// Languages whose blocks are code.
const CODE: [&str; 4] = ["rust", "python", "js", "c"];

/// The blocks of a page, in order; errs where one is of no known kind, and where commands stand
/// outside of blocks and so would never be run.
pub(super) fn blocks(text: &str) -> Result<Vec<Block>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = "";
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line.starts_with("    bochner ") {
            bail!("{number}: a command outside of a block: begin one with ```sh");
        }
        let Some(language) = line.strip_prefix("```") else {
            before = if line.is_empty() { before } else { line };
            blocks.extend(mentioned(line).map(|command| Block {
                line: number,
                kind: Kind::Mentioned,
                text: command.to_owned(),
            }));
            continue;
        };
        let kind = kind(language, before).with_context(|| number.to_string())?;
        let after_commands = |block: &Block| matches!(block.kind, Kind::Commands | Kind::Printed);
        let fenced = blocks.iter().rfind(|block| block.kind != Kind::Mentioned);
        if kind == Kind::Printed && !fenced.is_some_and(after_commands) {
            bail!("{number}: what is printed has no commands before it: put a block of sh there");
        }
        let inside = lines.by_ref().map(|(_, line)| line);
        let inside: Vec<&str> = inside.take_while(|line| !line.starts_with("```")).collect();
        blocks.push(Block {
            line: number + 1,
            kind,
            text: inside.join("\n") + "\n",
        });
    }
    Ok(blocks)
}

/// Files that commands among words have.
const FILES: [&str; 6] = [".csv", ".npy", ".npz", ".model", ".html", ".toml"];

/// Commands among the words of a line. Those without a file are names, such as `bochner bench`.
fn mentioned(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|text| {
        text.starts_with("bochner ") && FILES.iter().any(|ending| text.contains(ending))
    })
}

/// What a block of this language is; `before` are the words in front of it.
fn kind(language: &str, before: &str) -> Result<Kind> {
    match language {
        "sh" => Ok(Kind::Commands),
        "text" => Ok(Kind::Printed),
        "csv" | "toml" => {
            let name = before
                .strip_suffix("`:")
                .and_then(|words| words.rsplit('`').next());
            let name = name.context("a file without a name: end the words before it by `NAME`:")?;
            Ok(Kind::File(name.to_owned()))
        }
        _ if CODE.contains(&language) => Ok(Kind::Code),
        other => bail!("a block of {other:?}: say sh, text, csv, toml or {CODE:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_apart_and_what_is_none_is_refused() {
        let page = "# A page: `bochner fit x.csv` or `bochner bench`\n```sh\na\nb\n```\nprints\n```text\nc\n```\nof `t.csv`:\n\n\
                    ```csv\nx\n```\n```rust\nf();\n```\n";
        let found = blocks(page).unwrap();
        let kinds = found.iter().map(|block| &block.kind).collect::<Vec<_>>();
        let file = Kind::File("t.csv".to_owned());
        assert_eq!(
            kinds,
            [
                &Kind::Mentioned,
                &Kind::Commands,
                &Kind::Printed,
                &file,
                &Kind::Code
            ]
        );
        let texts = |at: usize| (found[at].line, found[at].text.as_str());
        assert_eq!(
            [texts(0), texts(1)],
            [(1, "bochner fit x.csv"), (3, "a\nb\n")]
        );
        for (page, says) in [
            ("```text\nx\n```\n", "no commands"),
            ("```csv\nx\n```\n", "without a name"),
            ("```\nx\n```\n", "say sh"),
            ("\n    bochner fit x.csv\n", "2: a command outside"),
        ] {
            let error = format!("{:#}", blocks(page).unwrap_err());
            assert!(error.contains(says), "{error}");
        }
    }
}
