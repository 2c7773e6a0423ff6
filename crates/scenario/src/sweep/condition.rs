//! Conditions on configurations, such as `threads_per_core * 2 <= 8 and kernel.yield == posix`.

use crate::configuration::Setting;

/// How a condition is written, as the end of a sentence.
pub(super) const HOW: &str = "write comparisons of swept paths, as `threads_per_core * 2 <= 8`, joined by \
    `and`, `or`, `not` and parentheses";

/// Parentheses and `not` are nested at most this deep.
const MAX_DEPTH: usize = 64;

/// A condition: an expression with a truth value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Condition(Expression);

/// What a part of a condition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    Number,
    Text,
    Truth,
}

/// A value of it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Number(f64),
    Text(String),
    Truth(bool),
}

#[derive(Clone, PartialEq, Debug)]
enum Expression {
    Constant(Value),
    Path(usize),
    Not(Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
}

impl Value {
    /// A value of a setting; `infinite` is a number.
    pub(super) fn of(setting: &Setting) -> Self {
        match setting {
            Setting::Flag(flag) => Self::Truth(*flag),
            Setting::Number(number) => Self::Number(*number),
            Setting::Text(text) if text == "infinite" => Self::Number(f64::INFINITY),
            Setting::Text(text) => Self::Text(text.clone()),
        }
    }

    pub(super) const fn kind(&self) -> Type {
        match self {
            Self::Number(_) => Type::Number,
            Self::Text(_) => Type::Text,
            Self::Truth(_) => Type::Truth,
        }
    }
}

/// What is wrong: the byte at which, and a sentence.
pub(super) type Wrong = (usize, String);

impl Condition {
    /// Reads a condition; `path` finds the number and the type of a swept path.
    ///
    /// # Errors
    /// The byte at which something is wrong, and a sentence.
    pub(super) fn read(text: &str, path: &dyn Fn(&str) -> Option<(usize, Type)>) -> Result<Self, Wrong> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, end: text.len(), depth: 0, path };
        let (expression, kind) = parser.either()?;
        if let Some((at, token)) = parser.tokens.get(parser.at) {
            return Err((*at, format!("`{token}` is not expected here")));
        }
        if kind != Type::Truth {
            return Err((0, "a condition is a comparison".into()));
        }
        Ok(Self(expression))
    }

    /// Whether it holds; `value` gives the values of paths by their number.
    pub(super) fn holds(&self, value: &dyn Fn(usize) -> Value) -> bool {
        evaluate(&self.0, value) == Value::Truth(true)
    }
}

fn evaluate(expression: &Expression, value: &dyn Fn(usize) -> Value) -> Value {
    use Value::{Number, Truth};
    match expression {
        Expression::Constant(constant) => constant.clone(),
        Expression::Path(at) => value(*at),
        Expression::Not(inner) => Truth(evaluate(inner, value) != Truth(true)),
        Expression::Binary(operator, a, b) => {
            let (a, b) = (evaluate(a, value), evaluate(b, value));
            match (*operator, &a, &b) {
                ("==", ..) => Truth(a == b),
                ("!=", ..) => Truth(a != b),
                ("and", Truth(a), Truth(b)) => Truth(*a && *b),
                ("or", Truth(a), Truth(b)) => Truth(*a || *b),
                ("<", Number(a), Number(b)) => Truth(a < b),
                ("<=", Number(a), Number(b)) => Truth(a <= b),
                (">", Number(a), Number(b)) => Truth(a > b),
                (">=", Number(a), Number(b)) => Truth(a >= b),
                ("+", Number(a), Number(b)) => Number(a + b),
                ("-", Number(a), Number(b)) => Number(a - b),
                ("*", Number(a), Number(b)) => Number(a * b),
                ("/", Number(a), Number(b)) => Number(a / b),
                // The types have been checked.
                _ => Truth(false),
            }
        }
    }
}

/// Words, numbers and signs with the byte at which each begins.
fn tokens(text: &str) -> Result<Vec<(usize, &str)>, Wrong> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            word(rest)
        } else {
            let signs = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")"];
            let sign = signs.into_iter().find(|sign| rest.starts_with(sign));
            sign.ok_or_else(|| (at, format!("`{first}` is not understood")))?.len()
        };
        tokens.push((at, &rest[..length]));
        rest = &rest[length..];
    }
}

/// The length of a word, path or number with its unit: `kernel.yield`, `linux-2.6.28`, `1.5GB/s`, `20%`.
fn word(text: &str) -> usize {
    let bytes = text.as_bytes();
    let plain = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut end = 1;
    while plain(end)
        || bytes.get(end) == Some(&b'%')
        || (matches!(bytes.get(end), Some(b'.' | b'-')) && plain(end + 1))
        || (bytes[0].is_ascii_digit()
            && bytes[end - 1] == b'B'
            && bytes.get(end..end + 2) == Some(b"/s")
            && !plain(end + 2))
    {
        end += 1;
    }
    end
}

struct Parser<'a> {
    tokens: &'a [(usize, &'a str)],
    at: usize,
    end: usize,
    depth: usize,
    path: &'a dyn Fn(&str) -> Option<(usize, Type)>,
}

type Part = Result<(Expression, Type), Wrong>;

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(at, _)| *at)
    }

    /// One of these operators, if it is next.
    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let found = operators.iter().find(|operator| **operator == self.peek())?;
        self.at += 1;
        Some(found)
    }

    /// Operands of one type, joined from left to right.
    fn chain(&mut self, operators: &[&'static str], operand: fn(&mut Self) -> Part, kind: Type) -> Part {
        let mut begin = self.place();
        let mut left = operand(self)?;
        while let Some(operator) = self.operator(operators) {
            let place = self.place();
            let right = operand(self)?;
            for (at, part) in [(begin, &left), (place, &right)] {
                if part.1 != kind {
                    let needs = if kind == Type::Number { "numbers" } else { "comparisons" };
                    return Err((at, format!("`{operator}` needs {needs}")));
                }
            }
            begin = place;
            left = (Expression::Binary(operator, Box::new(left.0), Box::new(right.0)), kind);
        }
        Ok(left)
    }

    fn either(&mut self) -> Part {
        self.chain(&["or"], Self::both, Type::Truth)
    }

    fn both(&mut self) -> Part {
        self.chain(&["and"], Self::negated, Type::Truth)
    }

    fn negated(&mut self) -> Part {
        if self.operator(&["not"]).is_none() {
            return self.comparison();
        }
        let at = self.place();
        let (inner, kind) = self.deeper(Self::negated)?;
        if kind != Type::Truth {
            return Err((at, "`not` needs a comparison".into()));
        }
        Ok((Expression::Not(Box::new(inner)), Type::Truth))
    }

    fn comparison(&mut self) -> Part {
        let (left, kind) = self.sum()?;
        let Some(operator) = self.operator(&["<=", ">=", "==", "!=", "<", ">"]) else {
            return Ok((left, kind));
        };
        let place = self.place();
        let (right, other) = self.sum()?;
        if kind != other {
            return Err((place, "a number and a name, or a truth value, are never equal".into()));
        }
        if kind != Type::Number && !matches!(operator, "==" | "!=") {
            return Err((place, format!("`{operator}` needs numbers")));
        }
        Ok((Expression::Binary(operator, Box::new(left), Box::new(right)), Type::Truth))
    }

    fn sum(&mut self) -> Part {
        self.chain(&["+", "-"], Self::product, Type::Number)
    }

    fn product(&mut self) -> Part {
        self.chain(&["*", "/"], Self::atom, Type::Number)
    }

    fn atom(&mut self) -> Part {
        let place = self.place();
        if self.operator(&["("]).is_some() {
            let inner = self.deeper(Self::either)?;
            if self.operator(&[")"]).is_none() {
                return Err((self.place(), "a `)` is missing".into()));
            }
            return Ok(inner);
        }
        let Some((_, token)) = self.tokens.get(self.at).filter(|(_, token)| {
            token.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && !["and", "or", "not"].contains(token)
        }) else {
            return Err((place, "a value or a path is missing".into()));
        };
        self.at += 1;
        if let Some((path, kind)) = (self.path)(token) {
            return Ok((Expression::Path(path), kind));
        }
        let value = Value::of(&Setting::of(token));
        let kind = value.kind();
        Ok((Expression::Constant(value), kind))
    }

    fn deeper(&mut self, part: fn(&mut Self) -> Part) -> Part {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.place(), "the condition is nested too deep".into()));
        }
        let done = part(self);
        self.depth -= 1;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [(&str, Type); 4] = [
        ("threads_per_core", Type::Number),
        ("kernel.yield", Type::Text),
        ("apps.my-job.grain", Type::Number),
        ("machine.turbo", Type::Truth),
    ];

    fn read(text: &str) -> Result<Condition, Wrong> {
        Condition::read(text, &|path| {
            let at = PATHS.iter().position(|(known, _)| *known == path)?;
            Some((at, PATHS[at].1))
        })
    }

    /// Whether it holds with 2 threads, POSIX yields, a grain of 1 ms, and turbo.
    fn holds(text: &str) -> bool {
        let values =
            [Value::Number(2.0), Value::Text("posix".into()), Value::Number(0.001), Value::Truth(true)];
        read(text).unwrap().holds(&|at| values[at].clone())
    }

    #[test]
    fn conditions_are_evaluated_as_arithmetic_has_it() {
        assert!(holds("threads_per_core * 2 + 1 <= 5"));
        assert!(!holds("threads_per_core * (2 + 1) <= 5"));
        assert!(holds("10 - 4 - 3 == 3 and 8 / 2 / 2 == 2"));
        assert!(holds("kernel.yield == posix and apps.my-job.grain == 1ms"));
        assert!(holds("not kernel.yield == fair and machine.turbo"));
        assert!(holds("kernel.yield == fair or apps.my-job.grain < 1.5ms"));
        assert!(holds("threads_per_core > 3 or not (threads_per_core > 2 and machine.turbo)"));
        assert!(holds("machine.turbo == true and apps.my-job.grain < infinite and 1GB/s < 2GB/s"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert_eq!(wrong("threads_per_core"), (0, "a condition is a comparison".into()));
        assert_eq!(wrong("threads_per_core <").0, 18);
        assert!(wrong("kernel.yield < posix").1.contains("needs numbers"));
        assert!(wrong("kernel.yield == 3").1.contains("never equal"));
        assert!(wrong("threads_per_core == three").1.contains("never equal"));
        assert!(wrong("(threads_per_core < 2").1.contains("`)`"));
        assert!(wrong("threads_per_core < 2 )").1.contains("not expected"));
        assert!(wrong("threads_per_core & 2").1.contains("not understood"));
        assert!(wrong("not threads_per_core").1.contains("needs a comparison"));
        assert!(wrong("threads_per_core and machine.turbo").1.contains("needs comparisons"));
        assert!(wrong(&format!("{}1 < 2", "(".repeat(10_000))).1.contains("too deep"));
        assert!(wrong("").1.contains("missing"));
    }
}
