//! The statements of programs as words and blocks. The scenario has been checked before.

use notation::yaml::{Content, Node};

/// A statement: its words, and the block behind them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Statement {
    pub(super) words: Vec<String>,
    pub(super) block: Option<Vec<Self>>,
}

/// Deepest nesting that is followed.
const DEEPEST: usize = 32;

/// The statements of a node: of a text or a list.
pub(super) fn read(node: &Node) -> Vec<Statement> {
    match &node.content {
        Content::Scalar(text) => of_text(text),
        Content::List(items) => of_list(items, 0),
        _ => Vec::new(),
    }
}

fn of_text(text: &str) -> Vec<Statement> {
    // For each open block: its statements, and the words in front of it.
    let mut open: Vec<(Vec<Statement>, Vec<String>)> = vec![(Vec::new(), Vec::new())];
    let end = |open: &mut Vec<(Vec<Statement>, Vec<String>)>| {
        if let Some((statements, words)) = open.last_mut()
            && !words.is_empty()
        {
            statements.push(Statement { words: std::mem::take(words), block: None });
        }
    };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let spaced = line.replace('{', " { ").replace('}', " } ").replace(';', " ; ");
        for word in spaced.split_whitespace() {
            match word {
                "{" if open.len() <= DEEPEST => open.push((Vec::new(), Vec::new())),
                "}" => {
                    end(&mut open);
                    if open.len() > 1
                        && let Some((block, _)) = open.pop()
                        && let Some((statements, words)) = open.last_mut()
                    {
                        statements.push(Statement { words: std::mem::take(words), block: Some(block) });
                    }
                }
                ";" => end(&mut open),
                word => {
                    if let Some((_, words)) = open.last_mut() {
                        words.push(word.to_owned());
                    }
                }
            }
        }
        end(&mut open);
    }
    open.swap_remove(0).0
}

fn of_list(items: &[Node], depth: usize) -> Vec<Statement> {
    let mut statements = Vec::new();
    for item in items {
        match &item.content {
            Content::Scalar(text) => statements.extend(of_text(text)),
            Content::Map(entries) if depth < DEEPEST => {
                for entry in entries {
                    let mut statement = Statement { words: vec![entry.key.clone()], block: None };
                    arguments(&mut statement, &entry.value, depth);
                    statements.push(statement);
                }
            }
            _ => {}
        }
    }
    statements
}

/// Words and a block behind the first word: `[3, [...]]`, `[...]` or `5ms`.
fn arguments(statement: &mut Statement, node: &Node, depth: usize) {
    match &node.content {
        Content::Scalar(text) => {
            statement.words.extend(text.split_whitespace().map(str::to_owned));
        }
        Content::List(items) => {
            let loops = matches!(statement.words[0].as_str(), "forever" | "repeat" | "share");
            let whole = statement.words[0] == "forever";
            if whole {
                statement.block = Some(of_list(items, depth + 1));
                return;
            }
            for item in items {
                match &item.content {
                    Content::List(inner) if loops => statement.block = Some(of_list(inner, depth + 1)),
                    _ => arguments(statement, item, depth + 1),
                }
            }
        }
        _ => {}
    }
}

/// Puts the blocks of sections in the place of their calls.
pub(super) fn inlined(
    block: &[Statement],
    sections: &dyn Fn(&str) -> Option<Vec<Statement>>,
    depth: usize,
) -> Vec<Statement> {
    let mut done = Vec::new();
    for statement in block {
        let called = match &statement.words[..] {
            [word, name] if word == "call" && depth < DEEPEST => sections(name),
            _ => None,
        };
        match called {
            Some(section) => done.extend(inlined(&section, sections, depth + 1)),
            None => done.push(Statement {
                words: statement.words.clone(),
                block: statement.block.as_ref().map(|inner| inlined(inner, sections, depth)),
            }),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(block: &[Statement]) -> String {
        let one = |s: &Statement| {
            let inner = s.block.as_ref().map_or(String::new(), |block| format!(" {{{}}}", shown(block)));
            s.words.join(" ") + &inner
        };
        block.iter().map(one).collect::<Vec<_>>().join(";")
    }

    #[test]
    fn texts_and_lists_are_the_same_statements() {
        let text = "repeat 3 { run 5ms exponential # why\n lock a; unlock a }\nforever {\n yield\n}\n";
        let expected = "repeat 3 {run 5ms exponential;lock a;unlock a};forever {yield}";
        assert_eq!(shown(&of_text(text)), expected);
        let list = "[{repeat: [3, [{run: 5ms exponential}, {lock: a}, {unlock: a}]]}, {forever: [yield]}]";
        let node = notation::yaml::tree(0, list).unwrap();
        assert_eq!(shown(&read(&node)), expected);
    }

    #[test]
    fn braces_without_their_other_half_are_no_danger() {
        assert_eq!(shown(&of_text("} } run 1ms")), ";;run 1ms".trim_start_matches(';'));
        assert_eq!(shown(&of_text(&"repeat 2 {".repeat(1_000))), "");
    }
}
