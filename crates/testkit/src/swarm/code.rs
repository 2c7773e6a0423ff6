//! Code of programs: statements, written as a text or as the list that tools write.

use serde_json::{Map, Value, json};
use workloads::program::COLLECTIVES;

use super::source::Source;

/// A statement of a program.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// Its words.
    Plain(String),
    /// Its words before a block.
    Block(String, Vec<Self>),
    /// Blocks, each with its probability in per cent.
    Choose(Vec<(u64, Vec<Self>)>),
}

/// A statement without a block.
pub(super) fn plain(words: impl Into<String>) -> Line {
    Line::Plain(words.into())
}

/// A statement with a block.
pub(super) fn block(words: impl Into<String>, body: Vec<Line>) -> Line {
    Line::Block(words.into(), body)
}

/// Messages among the tasks of a kind.
pub(super) fn messages(source: &mut Source<'_>) -> Line {
    let size = *source.pick(&["", " 8B", " 4kB", " 300kB"]);
    if source.one_in(2) {
        return plain(format!("exchange {}{size}", source.between(1, 3)));
    }
    let (word, _) = *source.pick(&COLLECTIVES);
    plain(format!("{word}{size}"))
}

/// Some of the statements that wait do so under a runtime of their own.
pub(super) fn by_runtimes(
    source: &mut Source<'_>,
    lines: &[Line],
    keys: &mut Map<String, Value>,
) -> Vec<Line> {
    let waits = |words: &str| {
        let first = words.split(' ').next().unwrap_or_default();
        ["receive", "acquire", "barrier", "join", "work", "wait", "exchange", "bcast", "allreduce"]
            .contains(&first)
    };
    let mut of = |line: &Line| match line {
        Line::Plain(words) if waits(words) && source.one_in(6) => {
            let runtime = *source.pick(&["spin", "yield", "block", "libgomp", "r0"]);
            if runtime == "r0" {
                keys.insert("runtimes".into(), json!({ "r0": { "libgomp": { "spin_count": 100 } } }));
            }
            plain(format!("{words} by {runtime}"))
        }
        Line::Plain(_) => line.clone(),
        Line::Block(words, body) => block(words.clone(), by_runtimes(source, body, keys)),
        Line::Choose(cases) => {
            let each = cases.iter().map(|(share, body)| (*share, by_runtimes(source, body, keys)));
            Line::Choose(each.collect())
        }
    };
    lines.iter().map(&mut of).collect()
}

/// The statements in one of the forms that the reader takes.
pub(super) fn write(source: &mut Source<'_>, lines: &[Line]) -> Value {
    match source.below(4) {
        0 => list(source, lines),
        1 => json!(format!("# drawn\n{}\n", text(lines, "\n"))),
        _ => json!(text(lines, "; ")),
    }
}

/// The statements as a text, with this between two of them.
fn text(lines: &[Line], between: &str) -> String {
    let edge = if between == "\n" { "\n" } else { " " };
    let braces = |body: &[Line]| format!("{{{edge}{}{edge}}}", text(body, between));
    let one = |line: &Line| match line {
        Line::Plain(words) => words.clone(),
        Line::Block(words, body) => format!("{words} {}", braces(body)),
        Line::Choose(cases) => {
            let each = cases.iter().map(|(share, body)| format!("{share}% {}", braces(body)));
            format!("choose {{ {} }}", each.collect::<Vec<_>>().join(" "))
        }
    };
    lines.iter().map(one).collect::<Vec<_>>().join(between)
}

/// The statements as a list.
fn list(source: &mut Source<'_>, lines: &[Line]) -> Value {
    lines.iter().map(|line| item(source, line)).collect()
}

fn item(source: &mut Source<'_>, line: &Line) -> Value {
    let keyed = |word: &str, value: Value| Value::Object(Map::from_iter([(word.to_owned(), value)]));
    match line {
        Line::Plain(words) => match words.split_once(' ') {
            None => json!(words),
            Some((word, rest)) => match source.below(3) {
                0 => json!(words),
                1 => keyed(word, json!(rest)),
                _ => keyed(word, rest.split(' ').map(argument).collect()),
            },
        },
        Line::Block(words, body) => {
            let body = list(source, body);
            match words.split_once(' ') {
                None => keyed(words, body),
                Some((word, rest)) => keyed(word, json!([argument(rest), body])),
            }
        }
        Line::Choose(cases) => {
            let each = cases.iter().map(|(share, body)| json!([format!("{share}%"), list(source, body)]));
            let each: Vec<Value> = each.collect();
            keyed("choose", json!(each))
        }
    }
}

/// A word, as a number where it is one.
fn argument(word: &str) -> Value {
    word.parse::<u64>().map_or_else(|_| json!(word), |number| json!(number))
}

/// A statement as it is taken apart to be made smaller: words, and what stands in braces behind them.
#[derive(Clone, PartialEq, Debug)]
struct Part {
    words: Vec<String>,
    body: Option<Vec<Self>>,
}

/// Code with a statement less, without the words of a loop, with a word less or a smaller number; of a list
/// also the same as a text.
pub(super) fn smaller(code: &Value) -> Vec<Value> {
    let text = match code {
        Value::String(text) => text.clone(),
        Value::Array(items) => return vec![json!(items.iter().map(words).collect::<Vec<_>>().join("; "))],
        _ => return Vec::new(),
    };
    let mut tokens = tokens(&text);
    tokens.reverse();
    let parts = parts(&mut tokens);
    let count = total(&parts);
    let mut found = Vec::new();
    // Larger cuts first.
    for edit in [Edit::Remove, Edit::Unwrap, Edit::Shorten(2), Edit::Shorten(1), Edit::One, Edit::Halve] {
        for at in 0..count {
            let mut changed = parts.clone();
            let mut left = at;
            if change(&mut changed, &mut left, edit) && changed != parts {
                found.push(json!(joined(&changed)));
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Edit {
    /// The statement goes.
    Remove,
    /// What is in its braces takes its place.
    Unwrap,
    /// So many of its last words go.
    Shorten(usize),
    /// Its first number becomes 1.
    One,
    /// Each of its numbers is halved.
    Halve,
}

fn total(parts: &[Part]) -> usize {
    parts.iter().map(|part| 1 + part.body.as_deref().map_or(0, total)).sum()
}

/// Changes the statement with this number; false if it does not have what is to be changed.
fn change(parts: &mut Vec<Part>, left: &mut usize, edit: Edit) -> bool {
    for at in 0..parts.len() {
        if *left > 0 {
            *left -= 1;
            let inside = parts[at].body.as_deref().map_or(0, total);
            if *left < inside {
                return parts[at].body.as_mut().is_some_and(|body| change(body, left, edit));
            }
            *left -= inside;
            continue;
        }
        let part = &mut parts[at];
        match edit {
            Edit::Remove => drop(parts.remove(at)),
            Edit::Unwrap => match part.body.take() {
                Some(body) => drop(parts.splice(at..=at, body)),
                None => return false,
            },
            Edit::Shorten(by) if part.words.len() > by + 1 => part.words.truncate(part.words.len() - by),
            Edit::Shorten(_) => return false,
            Edit::One => match part.words.iter_mut().find(|word| word.parse::<u64>().is_ok_and(|n| n > 1)) {
                Some(word) => *word = "1".into(),
                None => return false,
            },
            Edit::Halve => {
                for word in &mut part.words {
                    let half = word.parse::<u64>().ok().map(|n| (n / 2).max(1).to_string());
                    if let Some(half) = half.or_else(|| halved(word)) {
                        *word = half;
                    }
                }
            }
        }
        return true;
    }
    false
}

/// Half of a number with a unit, in whole units where possible.
pub(super) fn halved(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let smaller = [("s", "ms"), ("ms", "us"), ("us", "ns")];
    if number > 1.0 {
        return Some(format!("{}{unit}", (number / 2.0).round().max(1.0)));
    }
    let (_, below) = smaller.iter().find(|(of, _)| *of == unit)?;
    Some(format!("500{below}"))
}

/// Words, braces and ends of statements.
fn tokens(text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let spaced: Vec<String> =
        code.map(|line| line.replace('{', " { ").replace('}', " } ").replace(';', " ; ")).collect();
    spaced.join(" ; ").split_whitespace().map(str::to_owned).collect()
}

/// The statements up to the brace that closes them; `tokens`: the rest, the next one last.
fn parts(tokens: &mut Vec<String>) -> Vec<Part> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    while let Some(token) = tokens.pop() {
        match token.as_str() {
            "{" => {
                let body = Some(parts(tokens));
                found.push(Part { words: std::mem::take(&mut words), body });
            }
            ";" | "}" => {
                if !words.is_empty() {
                    found.push(Part { words: std::mem::take(&mut words), body: None });
                }
                if token == "}" {
                    return found;
                }
            }
            _ => words.push(token),
        }
    }
    if !words.is_empty() {
        found.push(Part { words, body: None });
    }
    found
}

fn joined(parts: &[Part]) -> String {
    let one = |part: &Part| {
        let words = part.words.join(" ");
        part.body.as_ref().map_or(words.clone(), |body| format!("{words} {{ {} }}", joined(body)))
    };
    parts.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// An item of a list of statements as text.
fn words(item: &Value) -> String {
    let Some((word, value)) = item.as_object().and_then(|map| map.iter().next()) else { return scalar(item) };
    let block = |items: &[Value]| format!("{{ {} }}", items.iter().map(words).collect::<Vec<_>>().join("; "));
    let argument = |value: &Value| value.as_array().map_or_else(|| scalar(value), |items| block(items));
    let rest = match value {
        Value::Array(cases) if word == "choose" => {
            let case = |case: &Value| {
                case.as_array().into_iter().flatten().map(argument).collect::<Vec<_>>().join(" ")
            };
            format!("{{ {} }}", cases.iter().map(case).collect::<Vec<_>>().join(" "))
        }
        Value::Array(items) if word == "forever" => block(items),
        Value::Array(items) => items.iter().map(argument).collect::<Vec<_>>().join(" "),
        other => scalar(other),
    };
    format!("{word} {rest}")
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let cases = vec![(30, vec![plain("run 1ms")]), (70, vec![plain("yield"), plain("sleep 2ms")])];
        let body = vec![plain("lock l"), Line::Choose(cases), plain("unlock l")];
        vec![block("repeat 4", vec![plain("run 5ms exponential"), block("forever", body)])]
    }

    #[test]
    fn a_list_is_the_same_as_its_text() {
        let wanted = "repeat 4 { run 5ms exponential; forever { lock l; choose { 30% { run 1ms } \
            70% { yield; sleep 2ms } }; unlock l } }";
        assert_eq!(text(&lines(), "; "), wanted);
        for seed in 0..20 {
            let code = list(&mut Source::seed(seed), &lines());
            assert_eq!(smaller(&code), [json!(wanted)], "{code}");
        }
        let again = tokens(&text(&lines(), "\n"));
        assert_eq!(again.iter().filter(|token| *token != ";").count(), {
            let once = tokens(wanted);
            once.iter().filter(|token| *token != ";").count()
        });
    }

    #[test]
    fn statements_words_and_numbers_are_left_out_one_by_one() {
        let all = smaller(&json!("repeat 4 { run 5ms exponential; yield }\nsleep 1ms"));
        for wanted in [
            "sleep 1ms",
            "repeat 4 { yield }; sleep 1ms",
            "repeat 4 { run 5ms exponential; yield }",
            "run 5ms exponential; yield; sleep 1ms",
            "repeat 4 { run 5ms; yield }; sleep 1ms",
            "repeat 1 { run 5ms exponential; yield }; sleep 1ms",
            "repeat 4 { run 3ms exponential; yield }; sleep 1ms",
        ] {
            assert!(all.contains(&json!(wanted)), "{wanted}: {all:?}");
        }
    }
}
