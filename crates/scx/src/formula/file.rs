//! Reads the text of an order: YAML with formulas in it, and what is wrong with it and where.

use notation::diagnostics::{Diagnostic, Place, Problems, Sources};
use notation::reader::Reader;
use notation::yaml::{Content, Entry, Node, tree};
use policies::file_label;

use super::expression::Expression;
use super::order::{Formula, MOST_PARAMETERS, PREEMPTS_WITHOUT_KEY, Parameter, Queue, named};
use super::parse::{Scope, amount, parse};

/// Longest text of an order, bytes: three formulas of [`super::MOST_NODES`] names each, the parameters and
/// comments fit several times.
pub const MOST_BYTES: usize = 64 << 10;

/// The keys of an order.
const KEYS: [&str; 6] = ["about", "parameters", "queue", "key", "slice", "preempts"];

impl Formula {
    /// The order of a text; the name is that of its file, which messages show, and its label is the name of
    /// the order.
    ///
    /// # Errors
    /// All that is wrong, with file, line and column.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let sources = Sources::new(name, text);
        let problems = |problems| Problems::new(sources.clone(), problems);
        if text.len() > MOST_BYTES {
            let message = format!("the text has {} bytes; an order has at most {MOST_BYTES}", text.len());
            return Err(problems(vec![Diagnostic::new(Place::NONE, message)]));
        }
        let root = tree(0, text).map_err(|problem| problems(vec![problem]))?;
        let mut reader = Reader::new(text);
        let read = order(&mut reader, name, &root);
        match read {
            Some(formula) if reader.is_clean() => {
                let checked = formula.check();
                checked.map_err(|why| problems(vec![Diagnostic::new(root.start(), why)]))?;
                Ok(formula)
            }
            _ => Err(problems(reader.problems())),
        }
    }
}

/// Reads an order; what is wrong is noted.
fn order(reader: &mut Reader<&str>, name: &str, root: &Node) -> Option<Formula> {
    if root.content == Content::Null {
        let hint = "an order has at least `slice:`, and `key:` unless tasks run first come, first served";
        reader.wrong_with_hint(Place::NONE, "the file is empty", hint);
        return None;
    }
    reader.mapping(root, "an order", &KEYS)?;
    let parameters = root.get("parameters").map_or_else(Vec::new, |entry| parameters(reader, entry));
    let names: Vec<String> = match root.get("parameters").map(|entry| entry.value.entries()) {
        // Also those that are wrong are known.
        Some(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
        None => Vec::new(),
    };
    let queue = root.get("queue").map_or(Some(Queue::Machine), |entry| queue(reader, &entry.value));
    let about = root.get("about").map_or_else(String::new, |entry| sentence(reader, &entry.value, "`about`"));
    let mut part = |key: &str| {
        let scope = Scope { parameters: &names, compares: key == "preempts" };
        root.get(key).map(|entry| formula(reader, &entry.value, key, scope))
    };
    let [key, slice, preempts] = ["key", "slice", "preempts"].map(&mut part);
    if preempts.is_some()
        && key.is_none()
        && let Some(entry) = root.get("preempts")
    {
        reader.wrong(entry.place, PREEMPTS_WITHOUT_KEY);
    }
    if slice.is_none() {
        let hint = "add `slice: 20ms`, or a formula";
        reader.wrong_with_hint(root.start(), "there is no `slice`", hint);
    }
    let label = file_label(name);
    Some(Formula {
        name: if label.is_empty() { "order" } else { label }.to_owned(),
        about,
        parameters,
        queue: queue?,
        key: match key {
            Some(key) => Some(key?),
            None => None,
        },
        slice: slice??,
        preempts: match preempts {
            Some(preempts) => Some(preempts?),
            None => None,
        },
    })
}

/// A text in one line.
fn sentence(reader: &mut Reader<&str>, node: &Node, what: &str) -> String {
    let text = reader.text(node, what).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn queue(reader: &mut Reader<&str>, node: &Node) -> Option<Queue> {
    let word = reader.text(node, "`queue`")?;
    let found = Queue::find(word);
    if found.is_none() {
        reader.unknown(node.place, "queue", word, &Queue::ALL.map(Queue::word));
    }
    found
}

fn parameters(reader: &mut Reader<&str>, entry: &Entry) -> Vec<Parameter> {
    let Content::Map(entries) = &entry.value.content else {
        let message = format!("`parameters` must be a mapping, not {}", entry.value.what());
        let hint = "write `name: { default: 10, range: 1..100 }` below it";
        reader.wrong_node(&entry.value, message, hint);
        return Vec::new();
    };
    if let Some(first) = entries.get(MOST_PARAMETERS) {
        let given = entries.len();
        reader.wrong(
            first.place,
            format!("there are {given} parameters; an order has at most {MOST_PARAMETERS}"),
        );
    }
    entries.iter().filter_map(|entry| parameter(reader, entry)).collect()
}

fn parameter(reader: &mut Reader<&str>, entry: &Entry) -> Option<Parameter> {
    if let Err(why) = named(&entry.key) {
        reader.wrong(entry.place, why);
    }
    let node = &entry.value;
    reader.mapping(node, &format!("the parameter `{}`", entry.key), &["default", "range", "about"])?;
    let about = node.get("about").map(|about| sentence(reader, &about.value, "`about`"));
    let mut part = |key: &str, hint: &str| {
        let Some(found) = node.get(key) else {
            reader.wrong_with_hint(entry.place, format!("`{}` has no `{key}`", entry.key), hint);
            return None;
        };
        reader.text(&found.value, &format!("`{key}` of `{}`", entry.key)).map(|text| (&found.value, text))
    };
    let default = part("default", "write `default: 10`, or with a unit of time `default: 10ms`");
    let range = part("range", RANGE);
    let (default_node, default) = default?;
    let (range_node, range) = range?;
    let (default, is_time) = number(reader, default_node, default)?;
    let Some((least, most)) = range.split_once("..") else {
        reader.wrong_node(range_node, format!("`{range}` is no range"), RANGE);
        return None;
    };
    let (least, least_time) = number(reader, range_node, least)?;
    let (most, most_time) = number(reader, range_node, most)?;
    // 0 is the same in every unit.
    if [(least, least_time), (most, most_time)].iter().any(|(end, time)| *time != is_time && *end != 0) {
        let message = "the default and the range have different units";
        reader.wrong_node(range_node, message, "write all of them with a unit of time, or none");
        return None;
    }
    let about = about.unwrap_or_default();
    let read = Parameter { name: entry.key.clone(), default, least, most, time: is_time, about };
    if named(&read.name).is_ok()
        && let Err(why) = read.check()
    {
        reader.wrong_node(range_node, why, RANGE);
    }
    Some(read)
}

/// How a range is written.
const RANGE: &str = "write `range: 1..100`, least and largest value";

/// A number with its sign, and whether it has a unit of time.
fn number(reader: &mut Reader<&str>, node: &Node, text: &str) -> Option<(i64, bool)> {
    let text = text.trim();
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let read = match digits.starts_with(|c: char| c.is_ascii_digit()) {
        true => amount(digits),
        false => Err(("this is no number", "write an integer, as `16` or `-1`, or a time, as `20ms`")),
    };
    let signed = read.and_then(|(number, time)| {
        let number = if negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() };
        let large = ("this number is too large", "integers have 64 bits: up to 9223372036854775807");
        number.map(|number| (number, time)).ok_or(large)
    });
    signed.map_err(|(message, hint)| reader.wrong_node(node, format!("{message}: `{text}`"), hint)).ok()
}

/// Reads a formula; what is wrong is noted where it stands.
fn formula(reader: &mut Reader<&str>, node: &Node, key: &str, scope: Scope<'_>) -> Option<Expression> {
    let Content::Scalar(words) = &node.content else {
        let message = format!("`{key}` must be a formula, not {}", node.what());
        reader.wrong_node(node, message, "write, for instance, `vtime + 2 * average_burst`");
        return None;
    };
    // A text of several lines ends with a line feed.
    let words = words.trim_end();
    match parse(words, scope) {
        Ok(expression) => Some(expression),
        Err(fault) => {
            let start = locate(reader.context, node.place, words, fault.at.start);
            let end = locate(reader.context, node.place, words, fault.at.end);
            let place = match start.zip(end) {
                Some((start, end)) => Place { start, end: end.max(start), ..node.place },
                None => node.place,
            };
            let problem = Diagnostic::new(place, fault.message);
            reader.add(if fault.hint.is_empty() { problem } else { problem.hint(fault.hint) });
            None
        }
    }
}

/// Where in a text the byte of a scalar is: YAML takes quotation marks, line feeds and indentation out of it.
/// None where the scalar is written in another way.
fn locate(text: &str, place: Place, words: &str, byte: usize) -> Option<usize> {
    let mut at = place.start;
    let rest = text.get(at..)?;
    if rest.starts_with(['"', '\'']) {
        at += 1;
    } else if rest.starts_with(['|', '>']) {
        at += rest.find('\n')? + 1;
    }
    // White space stands for as much of it as there is.
    let mut between = true;
    for (position, c) in words.char_indices() {
        if between || c.is_whitespace() {
            let rest = text.get(at..)?;
            at += rest.len() - rest.trim_start().len();
        }
        if position >= byte {
            return Some(at);
        }
        between = c.is_whitespace();
        if !between {
            at += text.get(at..)?.strip_prefix(c).map(|_| c.len_utf8())?;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<String> {
        let problems = Formula::parse("a.order", text).expect_err(text).located();
        let shown = |one: &notation::diagnostics::Located| {
            format!("{}:{}: {}", one.start.0, one.start.1, one.message)
        };
        problems.iter().map(shown).collect()
    }

    #[test]
    fn the_shortest_order_is_first_come_first_served() {
        let order = Formula::parse("x/short.order", "slice: 5ms\n").expect("an order");
        assert_eq!((order.name.as_str(), order.queue, order.key), ("short", Queue::Machine, None));
        assert_eq!((order.slice, order.preempts), (Expression::Number(5_000_000), None));
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        for (text, expected) in [
            ("", "1:1: the file is empty"),
            ("- a\n", "1:1: an order must be a mapping, not a list"),
            ("key: vtime\n", "1:1: there is no `slice`"),
            ("slice: 1\nkee: 2\n", "2:1: unknown key `kee`"),
            ("slice: 1\nqueue: core\n", "2:8: unknown queue `core`"),
            ("slice: [1]\n", "1:8: `slice` must be a formula, not a list"),
            ("slice:\n", "1:6: `slice` must be a formula, not nothing"),
            ("slice: 1\nkey: vtime +\n  2 * wieght\n", "3:7: unknown name `wieght`"),
            ("slice: 1\nkey: 'vtime * * 2'\n", "2:15: a number or a name is missing before `*`"),
            ("slice: |\n  1 +\n    (2\nkey: 1\n", "3:7: `)` is missing before the end"),
            ("slice: 1\npreempts: 1\n", "2:1: `preempts` compares keys, and there is no `key`"),
            ("slice: 1\nparameters: 3\n", "2:13: `parameters` must be a mapping, not a single value"),
            (
                "slice: 1\nparameters:\n  a1: 3\n",
                "3:7: the parameter `a1` must be a mapping, not a single value",
            ),
            ("slice: 1\nparameters:\n  a1: { default: 1 }\n", "3:3: `a1` has no `range`"),
            ("slice: 1\nparameters:\n  a1: { range: 1..2 }\n", "3:3: `a1` has no `default`"),
            ("slice: 1\nparameters:\n  a1: { default: 1, range: 3 }\n", "3:28: `3` is no range"),
            (
                "slice: 1\nparameters:\n  a1: { default: 1, range: 3..4 }\n",
                "3:28: the default of `a1` lies outside of its range",
            ),
            (
                "slice: 1\nparameters:\n  a1: { default: 1ms, range: 0..4 }\n",
                "3:30: the default and the range have different units",
            ),
            ("slice: 1\nparameters:\n  a1: { default: x, range: 0..4 }\n", "3:18: this is no number: `x`"),
            (
                "slice: 1\nparameters:\n  a1: { default: 1.5, range: 0..4 }\n",
                "3:18: a number with a decimal point: `1.5`",
            ),
            (
                "slice: 1\nparameters:\n  vtime: { default: 1, range: 0..4 }\n",
                "3:3: `vtime` is a variable: a parameter has another name",
            ),
            ("slice: a: b\n", "1:9: mapping values are not allowed"),
            ("slice: !x\n", "1:8: the tag `!x`: tags are not read"),
        ] {
            let found = wrong(text);
            assert!(found[0].starts_with(expected), "{text:?}: {found:?}");
        }
        let all = wrong("slice: vtimes\nkey: wieght\nqueue: x\n");
        assert_eq!(all.len(), 3, "{all:?}");
    }

    #[test]
    fn long_texts_and_bombs_are_refused() {
        let long = format!("slice: 1\n#{}\n", "x".repeat(MOST_BYTES));
        assert!(wrong(&long)[0].starts_with("1:1: the text has "));
        let deep = format!("slice: {}1\n", "(".repeat(5_000));
        assert_eq!(wrong(&deep), ["1:72: more than 64 parentheses within one another"]);
        let many: String = (0..40).map(|at| format!("  x{at}: {{ default: 1, range: 0..1 }}\n")).collect();
        let found = wrong(&format!("slice: 1\nparameters:\n{many}"));
        assert_eq!(found, ["35:3: there are 40 parameters; an order has at most 32"]);
    }

    #[test]
    fn comments_several_lines_and_units_are_read() {
        let text = "# Why.\nabout: one\n  two\nparameters:\n  a1: { default: 0, range: -5..5, about: c }\n\
                    \x20 b1: { default: 5ms, range: 0..1s }\nqueue: cpu\nkey: >\n  vtime\n  + a1\n\
                    slice: b1 # ns\n\
                    preempts: key + 1ms < running_key\n";
        let order =
            Formula::parse("a.order", text).map_err(|problems| problems.to_string()).expect("an order");
        assert_eq!(order.about, "one two");
        assert_eq!((order.parameters[1].time, order.parameters[1].most), (true, 1_000_000_000));
        assert_eq!(order.key.map(|key| key.to_string()), Some("vtime + a1".into()));
        assert_eq!(order.preempts.map(|key| key.to_string()), Some("key + 1000000 < running_key".into()));
    }
}
