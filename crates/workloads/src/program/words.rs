//! Words of programs with their places: from text in blocks, or from lists as tools write them.

use std::ops::Range;

use notation::diagnostics::Place;
use notation::reader::Reader;
use notation::yaml::{Content, Node};

/// What a text is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    Word(String),
    /// `{`.
    Open,
    /// `}`.
    Close,
    /// The end of a line, or `;`.
    End,
}

/// A part of a text with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) what: What,
    pub(super) place: Place,
}

/// Most parts of a program: as many as a text of the largest size that is read can have.
const MOST_TOKENS: usize = 1 << 19;

/// Deepest nesting of lists.
const DEEPEST: usize = 64;

/// The words of a node: of a text, or of a list of statements. `source`: the file that holds it.
pub(super) fn tokens<C>(reader: &mut Reader<C>, node: &Node, source: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    match &node.content {
        Content::Scalar(text) => of_text(text, node.place, source, &mut tokens),
        Content::List(_) => statements(reader, node, source, &mut tokens, 0)?,
        _ => {
            let hint = "write the statements as a text below `code: |`, or as a list";
            reader.wrong_node(node, format!("`code` must be a text or a list, not {}", node.what()), hint);
            return None;
        }
    }
    if tokens.len() > MOST_TOKENS {
        reader.wrong_node(node, format!("a program has at most {MOST_TOKENS} words"), "");
        return None;
    }
    Some(tokens)
}

/// The words of a text at a place of a file.
fn of_text(text: &str, place: Place, source: &str, tokens: &mut Vec<Token>) {
    let starts = starts(text, place, source);
    let mut begin = 0;
    for (line, start) in text.split('\n').zip(starts) {
        let at = |range: Range<usize>| match start {
            Some(start) => Place::range(place.source, start + range.start..start + range.end),
            None => place,
        };
        of_line(line, at, tokens);
        tokens.push(Token { what: What::End, place: at(line.len()..line.len()) });
        begin += line.len() + 1;
    }
    debug_assert!(begin > text.len(), "all lines are read");
}

fn of_line(line: &str, at: impl Fn(Range<usize>) -> Place, tokens: &mut Vec<Token>) {
    let mut word: Option<usize> = None;
    let mut push = |what, range| tokens.push(Token { what, place: at(range) });
    for (i, c) in line.char_indices() {
        let ends = c.is_whitespace() || matches!(c, '{' | '}' | ';');
        if let Some(from) = word.filter(|_| ends) {
            push(What::Word(line[from..i].to_owned()), from..i);
            word = None;
        }
        match c {
            '{' => push(What::Open, i..i + 1),
            '}' => push(What::Close, i..i + 1),
            ';' => push(What::End, i..i + 1),
            '#' if word.is_none() => return,
            _ if !ends && word.is_none() => word = Some(i),
            _ => {}
        }
    }
    if let Some(from) = word {
        push(What::Word(line[from..].to_owned()), from..line.len());
    }
}

/// Where each line of a scalar begins in its file; nothing where that cannot be told (a folded text).
fn starts(text: &str, place: Place, source: &str) -> Vec<Option<usize>> {
    let count = text.split('\n').count();
    let unknown = || vec![None; count];
    if !place.is_known() {
        return unknown();
    }
    let whole = text.trim_end_matches('\n');
    if !whole.contains('\n') {
        // As it stands, or behind a quotation mark.
        let here = |skip: usize| source.get(place.start + skip..).is_some_and(|rest| rest.starts_with(whole));
        if let Some(skip) = [0, 1].into_iter().find(|skip| here(*skip)) {
            return std::iter::once(Some(place.start + skip)).chain(vec![None; count - 1]).collect();
        }
    }
    let first = source.get(..place.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let Some(rest) = source.get(first..) else { return unknown() };
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut at = first;
    // A block may begin with empty lines; a few more than the text has are looked at.
    for line in rest.split('\n').take(count + 8) {
        lines.push((at, line.strip_suffix('\r').unwrap_or(line)));
        at += line.len() + 1;
    }
    let wanted: Vec<&str> = whole.split('\n').collect();
    let matches = |window: &[(usize, &str)]| {
        window.iter().zip(&wanted).all(|((_, line), own)| line.trim_end().ends_with(own.trim_end()))
    };
    let Some(found) = lines.windows(wanted.len()).find(|window| matches(window)) else { return unknown() };
    let of = |((start, line), own): (&(usize, &str), &&str)| {
        Some(start + line.trim_end().len().saturating_sub(own.trim_end().len()))
    };
    let known = found.iter().zip(&wanted).map(of);
    known.chain(std::iter::repeat(None)).take(count).collect()
}

/// The words of a list of statements.
fn statements<C>(
    reader: &mut Reader<C>,
    node: &Node,
    source: &str,
    tokens: &mut Vec<Token>,
    depth: usize,
) -> Option<()> {
    let Content::List(items) = &node.content else { return None };
    if depth > DEEPEST {
        reader.wrong_node(node, format!("statements nest at most {DEEPEST} deep"), "");
        return None;
    }
    for item in items {
        match &item.content {
            Content::Scalar(text) => of_text(text, item.place, source, tokens),
            Content::Map(entries) if entries.len() == 1 => {
                let entry = entries.first()?;
                tokens.push(Token { what: What::Word(entry.key.clone()), place: entry.place });
                // The blocks of `choose` stand in braces of their own.
                arguments(reader, &entry.value, source, (tokens, &entry.key), depth + 1)?;
            }
            _ => {
                let hint = "write `yield`, `{ run: 5ms }` or `{ repeat: [3, [ ... ]] }`";
                reader.wrong_node(
                    item,
                    format!("a statement is a word or one key, not {}", item.what()),
                    hint,
                );
                return None;
            }
        }
        tokens.push(Token { what: What::End, place: item.place });
    }
    Some(())
}

/// What follows the first word (`of`) of a statement in a list, or one of its arguments (`""`): words, and
/// blocks as lists.
fn arguments<C>(
    reader: &mut Reader<C>,
    node: &Node,
    source: &str,
    (tokens, of): (&mut Vec<Token>, &str),
    depth: usize,
) -> Option<()> {
    let place = node.place;
    match &node.content {
        Content::Null => Some(()),
        Content::Scalar(text) => {
            of_text(text, place, source, tokens);
            while tokens.last().is_some_and(|token| token.what == What::End) {
                tokens.pop();
            }
            Some(())
        }
        Content::List(items) if of == "choose" => {
            tokens.push(Token { what: What::Open, place });
            for item in items {
                arguments(reader, item, source, (&mut *tokens, ""), depth + 1)?;
                tokens.push(Token { what: What::End, place: item.place });
            }
            tokens.push(Token { what: What::Close, place });
            Some(())
        }
        Content::List(items) => {
            // A list of statements, as in `forever: [yield]`, or of arguments, the last of which may be one.
            let is_block = |item: &Node| matches!(item.content, Content::Map(_));
            let takes = ["forever", "parallel", "repeat", "share"].contains(&of);
            if takes && (items.first().is_none_or(is_block) || is_statement(items.first())) {
                return block(reader, node, source, tokens, depth);
            }
            for item in items {
                match item.content {
                    Content::List(_) => block(reader, item, source, tokens, depth)?,
                    _ => arguments(reader, item, source, (&mut *tokens, ""), depth + 1)?,
                }
            }
            Some(())
        }
        Content::Map(_) => {
            reader.wrong_node(node, "a statement has words and lists", "write `{ repeat: [3, [ ... ]] }`");
            None
        }
    }
}

/// True for a word with which statements begin.
fn is_statement(node: Option<&Node>) -> bool {
    let Some(Content::Scalar(text)) = node.map(|node| &node.content) else { return false };
    let first = text.split([' ', '\n', ';', '{']).next().unwrap_or_default();
    super::statements::STATEMENTS.iter().any(|statement| statement.word == first)
}

/// A list of statements in braces.
fn block<C>(
    reader: &mut Reader<C>,
    node: &Node,
    source: &str,
    tokens: &mut Vec<Token>,
    depth: usize,
) -> Option<()> {
    tokens.push(Token { what: What::Open, place: node.place });
    statements(reader, node, source, tokens, depth + 1)?;
    tokens.push(Token { what: What::Close, place: node.place });
    Some(())
}
