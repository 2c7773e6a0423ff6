//! Public names of Rust and Python sources, as lines: a scanner that knows as much of both as this takes.

/// A block of braces that is open.
#[derive(Clone, Copy, PartialEq)]
enum Block {
    /// `pub trait`: every item in it is public.
    Trait,
    /// `pub enum`: every variant is.
    Enum,
    /// `pub struct` with fields.
    Struct,
    /// `impl`: items with `pub` are.
    Impl,
    /// Code, tests, and what is private.
    Other,
}

/// The source without comments, attributes and unit tests.
fn bare(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut bare = String::new();
    let mut open = 0_usize;
    for line in text.lines().map(str::trim) {
        let attribute = open > 0 || line.starts_with("#[") || line.starts_with("#![");
        if attribute {
            let count = |c| line.matches(c).count();
            open = (open + count('[')).saturating_sub(count(']'));
            continue;
        }
        if !line.starts_with("//") {
            bare.push_str(line.split("// ").next().unwrap_or(line));
            bare.push(' ');
        }
    }
    bare
}

/// The public items of a Rust source: a line each, members behind two blanks.
pub(crate) fn rust(text: &str) -> Vec<String> {
    let (mut lines, mut blocks, mut item) = (Vec::new(), Vec::<Block>::new(), String::new());
    // Open brackets within the item, and angles, which may also be shifts.
    let (mut brackets, mut angles) = (0_usize, 0_usize);
    let mut before = ' ';
    for c in bare(text).chars() {
        let inside = blocks.last().copied();
        if inside == Some(Block::Other) {
            match c {
                '{' => blocks.push(Block::Other),
                '}' => drop(blocks.pop()),
                _ => {}
            }
            continue;
        }
        // The fields of a variant are part of it.
        let in_variant = inside == Some(Block::Enum);
        let ends = match c {
            '{' if in_variant => false,
            '}' if in_variant && brackets > 0 => false,
            '{' | '}' => true,
            ';' => brackets == 0,
            ',' => matches!(inside, Some(Block::Enum | Block::Struct)) && brackets + angles == 0,
            _ => false,
        };
        match c {
            '(' | '[' => brackets += 1,
            '{' if in_variant => brackets += 1,
            ')' | ']' | '}' => brackets = brackets.saturating_sub(1),
            '<' => angles += 1,
            '>' if !matches!(before, '-' | '=') => angles = angles.saturating_sub(1),
            _ => {}
        }
        before = c;
        if !ends {
            item.push(c);
            continue;
        }
        if c == '{' {
            blocks.push(opened(&item, inside, &mut lines));
        } else {
            member(&item, inside, &mut lines);
        }
        if c == '}' {
            blocks.pop();
        }
        item.clear();
        (brackets, angles) = (0, 0);
    }
    lines
}

/// What a brace opens behind this text.
fn opened(item: &str, inside: Option<Block>, lines: &mut Vec<String>) -> Block {
    let item = item.trim();
    member(item, inside, lines);
    if item.starts_with("pub trait") {
        Block::Trait
    } else if item.starts_with("pub enum") {
        Block::Enum
    } else if item.starts_with("pub struct") {
        Block::Struct
    } else if item.starts_with("impl") {
        lines.push(words(item));
        Block::Impl
    } else {
        Block::Other
    }
}

/// Adds an item or a member if it is public.
fn member(item: &str, inside: Option<Block>, lines: &mut Vec<String>) {
    let mut item = words(item);
    let public = item.starts_with("pub ");
    if public && item.starts_with("pub const ") && !item.contains('(') {
        // The value of a constant may change, the list of all policies for one.
        item.truncate(item.find(" = ").unwrap_or(item.len()));
    }
    let line = match inside {
        None if public => item,
        Some(Block::Trait | Block::Enum) if !item.is_empty() => format!("  {item}"),
        Some(Block::Struct | Block::Impl) if public => format!("  {item}"),
        _ => return,
    };
    lines.push(line);
}

/// Of these items only those that begin with one of these heads, with their members; all without heads.
pub(crate) fn only(lines: Vec<String>, heads: &[&str]) -> Vec<String> {
    let mut taken = false;
    let of = |line: &String| {
        if !line.starts_with("  ") {
            taken = heads.is_empty() || heads.iter().any(|head| line.starts_with(head));
        }
        taken
    };
    lines.into_iter().filter(of).collect()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")")
}

/// The public names of a Python source: classes, functions, methods and attributes with their types.
pub(crate) fn python(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut in_class, mut in_all) = (false, false);
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim();
        in_all |= line.starts_with("__all__");
        if in_all {
            lines.push(code.to_owned());
            in_all = !line.ends_with(']');
            continue;
        }
        if code.is_empty() || indent > 4 || indent == 4 && !in_class {
            continue;
        }
        let head = code.strip_prefix("class ").or(code.strip_prefix("def "));
        let private = |name: &str| name.starts_with('_') && !name.starts_with("__init__");
        if let Some(name) = head {
            if indent == 0 {
                in_class = code.starts_with("class ") && !private(name);
            }
            if private(name) {
                continue;
            }
            let mut whole = code.to_owned();
            while !whole.ends_with(':') && !whole.ends_with("...") {
                let Some(next) = rest.next() else { break };
                whole.push_str(next.trim());
                whole.push(' ');
                whole.truncate(whole.trim_end().len() + usize::from(!next.trim_end().ends_with(':')));
                if next.trim_end().ends_with(':') || next.trim_end().ends_with("...") {
                    whole.truncate(whole.trim_end().len());
                    break;
                }
            }
            let whole = whole.trim_end_matches("...").trim_end().trim_end_matches(':');
            let whole = words(whole).replace(",)", ")");
            lines.push(format!("{}{whole}", if indent == 0 { "" } else { "  " }));
        } else if indent == 0 {
            in_class = false;
        } else if let Some((name, _)) = code.split_once(':')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with('_')
        {
            lines.push(format!("  {code}"));
        }
    }
    lines
}

#[test]
fn public_items_are_found_and_private_ones_are_not() {
    let text = r"//! A file.
use a::b;
/// A trait.
#[must_use]
pub trait View {
    /// Now.
    fn now(&self) -> Time;
    fn groups(&self, of: &[(u8, u8)]) -> &[TaskGroup] {
        if a < b { c } else { d }
    }
}
pub enum Kick {
    A,
    #[x(y)]
    B { of: u8, to: Vec<(u8, u8)> },
    C(u8, u8),
}
pub struct S {
    pub a: Vec<BTreeMap<u8, u8>>,
    b: u8,
}
impl S {
    pub const fn of(a: u8) -> Self {
        Self { a }
    }
    fn own(&self) {}
}
pub(crate) fn hidden() {}
pub const MAX: u32 = 1 << 20;
pub type Row = [u8; 4];
#[cfg(test)]
mod tests {
    pub fn x() {}
}
";
    let wanted = [
        "pub trait View",
        "  fn now(&self) -> Time",
        "  fn groups(&self, of: &[(u8, u8)]) -> &[TaskGroup]",
        "pub enum Kick",
        "  A",
        "  B { of: u8, to: Vec<(u8, u8)> }",
        "  C(u8, u8)",
        "pub struct S",
        "  pub a: Vec<BTreeMap<u8, u8>>",
        "impl S",
        "  pub const fn of(a: u8) -> Self",
        "pub const MAX: u32",
        "pub type Row = [u8; 4]",
    ];
    assert_eq!(rust(text), wanted);
}

#[test]
fn public_names_of_python_are_found_and_private_ones_are_not() {
    let text = r#"import x

__all__ = [
    "A",
]


class A:
    """Text: of it."""

    size: int = 3
    _own: int

    def run(
        self,
        *,
        a: int = 1,
    ) -> None:
        b: int = 2

    def _hidden(self) -> None: ...


class _B:
    size: int


def f(a: int) -> int: ...
"#;
    let wanted = [
        "__all__ = [",
        "\"A\",",
        "]",
        "class A",
        "  size: int = 3",
        "  def run(self, *, a: int = 1) -> None",
        "def f(a: int) -> int",
    ];
    assert_eq!(python(text), wanted);
}
