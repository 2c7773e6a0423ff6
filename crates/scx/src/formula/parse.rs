//! Reads a formula: from text to a tree, with the place of what is wrong.

use std::ops::Range;

use notation::suggest::advice;

use super::expression::Expression;
use super::function::{COMPARISON, Form, Function};
use super::variable::Variable;

/// Most parentheses within one another: more are nobody's formula, and each is a call of a function here.
const MOST_NESTED: usize = 64;

/// What is wrong with a formula, and where in its text, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// What a formula can refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    /// The parameters of the order.
    pub(crate) parameters: &'a [String],
    /// Whether it compares a task with one that runs.
    pub(crate) compares: bool,
}

/// A formula from its text.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn parse(text: &str, scope: Scope<'_>) -> Result<Expression, Fault> {
    let mut parser = Parser { text, at: 0, scope, nested: 0 };
    let expression = parser.between(0)?;
    let (end, at) = parser.next()?;
    if end != Token::End {
        let found = parser.shown(&at);
        return Err(fault(at, format!("{found} does not belong here"), "an operator is expected"));
    }
    expression.fits().map_err(|why| fault(0..text.len(), format!("this formula: {why}"), ""))?;
    Ok(expression)
}

fn fault(at: Range<usize>, message: impl Into<String>, hint: &str) -> Fault {
    Fault { at, message: message.into(), hint: hint.to_owned() }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Number(u64),
    Name(&'a str),
    Operator(Function),
    Open,
    Close,
    Comma,
    End,
}

struct Parser<'a> {
    text: &'a str,
    /// The byte up to which the text has been read.
    at: usize,
    scope: Scope<'a>,
    nested: usize,
}

impl<'a> Parser<'a> {
    fn shown(&self, at: &Range<usize>) -> String {
        match self.text.get(at.clone()) {
            Some(text) if !text.is_empty() => format!("`{text}`"),
            _ => "the end".to_owned(),
        }
    }

    /// The next token, without taking it.
    fn peek(&mut self) -> Result<Token<'a>, Fault> {
        let before = self.at;
        let (token, _) = self.next()?;
        self.at = before;
        Ok(token)
    }

    /// Takes the next token, with its place.
    fn next(&mut self) -> Result<(Token<'a>, Range<usize>), Fault> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        let taken = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let (token, length) = match rest.chars().next() {
            None => (Token::End, 0),
            Some('(') => (Token::Open, 1),
            Some(')') => (Token::Close, 1),
            Some(',') => (Token::Comma, 1),
            Some('0'..='9') => {
                let length = taken(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
                (Token::Number(number(&rest[..length], start)?), length)
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = taken(|c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Name(&rest[..length]), length)
            }
            Some(c) => match operator(rest) {
                Some(function) => (Token::Operator(function), function.word().len()),
                None => {
                    let at = start..start + c.len_utf8();
                    return Err(fault(at, format!("`{c}` is no operator"), operators(c)));
                }
            },
        };
        self.at = start + length;
        Ok((token, start..start + length))
    }

    /// Operators from a level on, with their operands.
    fn between(&mut self, least: u8) -> Result<Expression, Fault> {
        let mut left = self.single()?;
        loop {
            let Token::Operator(function) = self.peek()? else { return Ok(left) };
            let Form::Between(level) = function.form() else { return Ok(left) };
            if level < least {
                return Ok(left);
            }
            self.next()?;
            let right = self.between(level + 1)?;
            left = Expression::apply(function, [left, right]);
            let again = |next| matches!(next, Token::Operator(next) if next.form() == Form::Between(level));
            if level == COMPARISON && again(self.peek()?) {
                let (_, at) = self.next()?;
                let hint = "write `a < b && b < c`";
                return Err(fault(at, "a comparison of a comparison", hint));
            }
        }
    }

    /// A number, a name, a call, or a formula in parentheses; with a sign.
    fn single(&mut self) -> Result<Expression, Fault> {
        let (token, at) = self.next()?;
        match token {
            Token::Number(number) => match i64::try_from(number) {
                Ok(number) => Ok(Expression::Number(number)),
                Err(_) => Err(too_large(at)),
            },
            Token::Name(name) if self.peek()? == Token::Open => self.call(name, at),
            Token::Name(name) => self.name(name, at),
            Token::Open => {
                let inside = self.inside(at)?;
                self.closes(Token::Close)?;
                self.nested -= 1;
                Ok(inside)
            }
            Token::Operator(Function::Subtract) => {
                if let Token::Number(number) = self.peek()? {
                    let (_, at) = self.next()?;
                    // 2^63 is a number only with a sign.
                    let number = 0_i64.checked_sub_unsigned(number).ok_or_else(|| too_large(at))?;
                    return Ok(Expression::Number(number));
                }
                self.deeper(&at)?;
                let operand = self.single()?;
                self.nested -= 1;
                Ok(Expression::apply(Function::Subtract, [Expression::Number(0), operand]))
            }
            _ => {
                let found = self.shown(&at);
                let message = format!("a number or a name is missing before {found}");
                Err(fault(at, message, "write a number, a variable, a parameter or a function"))
            }
        }
    }

    fn deeper(&mut self, at: &Range<usize>) -> Result<(), Fault> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} parentheses within one another");
            return Err(fault(at.clone(), message, ""));
        }
        Ok(())
    }

    /// The formula behind a parenthesis that opens here.
    fn inside(&mut self, at: Range<usize>) -> Result<Expression, Fault> {
        self.deeper(&at)?;
        self.between(0)
    }

    /// Takes this token, which ends a formula in parentheses or an argument.
    fn closes(&mut self, due: Token<'_>) -> Result<(), Fault> {
        let (token, at) = self.next()?;
        if token == due {
            return Ok(());
        }
        let found = self.shown(&at);
        let due = if due == Token::Comma { "`,`" } else { "`)`" };
        Err(fault(at, format!("{due} is missing before {found}"), ""))
    }

    /// A function with its arguments; `min` and `max` have two or more.
    fn call(&mut self, name: &'a str, at: Range<usize>) -> Result<Expression, Fault> {
        let named = Function::find(name);
        let Some(function) = named else {
            let message = match Variable::find(name) {
                Some(_) => format!("`{name}` is a variable, not a function"),
                None => format!("unknown function `{name}`"),
            };
            let all = Function::ALL.into_iter().filter(|function| function.form() == Form::Named);
            return Err(fault(at, message, &advice(name, &all.map(Function::word).collect::<Vec<_>>())));
        };
        let (_, open) = self.next()?;
        let mut operands = vec![self.inside(open)?];
        while self.peek()? == Token::Comma {
            self.next()?;
            operands.push(self.between(0)?);
        }
        let many = matches!(function, Function::Min | Function::Max) && operands.len() > 2;
        if operands.len() != function.arity() && !many {
            let whole = at.start..self.at;
            let message = format!(
                "`{name}` takes {} argument{}, not {}",
                function.arity(),
                if function.arity() == 1 { "" } else { "s" },
                operands.len()
            );
            return Err(fault(whole, message, &format!("write `{}`", function.usage())));
        }
        self.closes(Token::Close)?;
        self.nested -= 1;
        let mut rest = operands.drain(if many { 2.. } else { operands.len().. }).collect::<Vec<_>>();
        let first = Expression::Apply(function, operands);
        Ok(rest.drain(..).fold(first, |first, next| Expression::apply(function, [first, next])))
    }

    fn name(&self, name: &str, at: Range<usize>) -> Result<Expression, Fault> {
        if let Some(variable) = Variable::find(name) {
            if variable.compares() && !self.scope.compares {
                let message = format!("`{name}` is known in `preempts` only");
                return Err(fault(at, message, "a key and a slice are of one task"));
            }
            return Ok(Expression::Variable(variable));
        }
        if self.scope.parameters.iter().any(|parameter| parameter == name) {
            return Ok(Expression::Parameter(name.to_owned()));
        }
        if let Some(function) = Function::find(name) {
            let hint = format!("write `{}`", function.usage());
            return Err(fault(at, format!("`{name}` is a function, and has no arguments here"), &hint));
        }
        let variables = Variable::ALL.into_iter().filter(|one| self.scope.compares || !one.compares());
        let mut known: Vec<&str> = variables.map(Variable::name).collect();
        known.extend(self.scope.parameters.iter().map(String::as_str));
        Err(fault(at, format!("unknown name `{name}`"), &advice(name, &known)))
    }
}

fn too_large(at: Range<usize>) -> Fault {
    fault(at, "this number is too large", "integers have 64 bits: up to 9223372036854775807")
}

/// The operator at the beginning of a text.
fn operator(text: &str) -> Option<Function> {
    let all = Function::ALL.into_iter().filter(|function| function.form() != Form::Named);
    all.filter(|function| text.starts_with(function.word())).max_by_key(|function| function.word().len())
}

/// What to write in place of a character that begins no operator.
const fn operators(c: char) -> &'static str {
    match c {
        '=' => "equality is `==`",
        '&' => "`a && b`: both hold",
        '|' => "`a || b`: one of them holds",
        '!' => "write `a == 0`",
        '?' | ':' => "write `if(condition, a, b)`",
        '^' => "there are no powers: write `a * a`",
        _ => "operators are + - * / % < <= > >= == != && ||",
    }
}

/// Units of time, in ns.
const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// A number, with or without a unit of time: `20000000`, `20_000_000` or `20ms`. Returns also whether it has
/// one.
///
/// # Errors
/// A sentence, and what would be right.
pub(crate) fn amount(text: &str) -> Result<(u64, bool), (&'static str, &'static str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if unit.starts_with('.') {
        return Err((
            "a number with a decimal point",
            "formulas have integers only: multiply first, divide then",
        ));
    }
    let size = match unit {
        "" => Some(1),
        unit => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size),
    };
    let Some(size) = size else {
        return Err(("a number with an unknown unit", "units of time are ns, us, ms and s"));
    };
    let digits = digits.replace('_', "");
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(size));
    let number =
        number.ok_or(("this number is too large", "integers have 64 bits: up to 9223372036854775807"));
    Ok((number?, !unit.is_empty()))
}

fn number(text: &str, start: usize) -> Result<u64, Fault> {
    match amount(text) {
        Ok((number, _)) => Ok(number),
        Err((message, hint)) => Err(fault(start..start + text.len(), message, hint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expression, Fault> {
        let parameters = ["slice_us".to_owned()];
        parse(text, Scope { parameters: &parameters, compares: false })
    }

    #[test]
    fn operators_bind_as_in_c_and_what_is_written_is_read_again() {
        for (text, written) in [
            ("1+2*3-4", "1 + 2 * 3 - 4"),
            ("(1+2)*-3", "(1 + 2) * -3"),
            ("-(now)", "0 - now"),
            ("a_b", ""),
            ("1 - (2 - 3)", "1 - (2 - 3)"),
            ("20ms / max(1, queued, cpus)", "20000000 / max(max(1, queued), cpus)"),
            (
                "slice_us * 1000 < burst && vtime >= 5 || woken",
                "slice_us * 1000 < burst && vtime >= 5 || woken",
            ),
            ("if(woken, -9223372036854775808, 9_000)", "if(woken, -9223372036854775808, 9000)"),
            ("1us+2s+3ns", "1000 + 2000000000 + 3"),
            ("now - -5 % 2", "now - -5 % 2"),
        ] {
            if written.is_empty() {
                assert!(read(text).is_err());
                continue;
            }
            let tree = read(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            assert_eq!(tree.to_string(), written);
            assert_eq!(read(written).as_ref(), Ok(&tree));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_what_would_be_right() {
        for (text, at, message, hint) in [
            ("", 0..0, "a number or a name is missing before the end", "write a number"),
            ("now +", 5..5, "a number or a name is missing before the end", ""),
            ("now vtime", 4..9, "`vtime` does not belong here", "an operator is expected"),
            ("1.5 * now", 0..3, "a number with a decimal point", "integers only"),
            ("5m", 0..2, "a number with an unknown unit", "ns, us, ms and s"),
            ("9223372036854775808", 0..19, "this number is too large", "64 bits"),
            ("99999999999999999999", 0..20, "this number is too large", "64 bits"),
            ("-9223372036854775809", 1..20, "this number is too large", ""),
            ("vtimes + 1", 0..6, "unknown name `vtimes`", "did you mean `vtime`?"),
            ("slice_ns", 0..8, "unknown name `slice_ns`", "did you mean `slice_us`?"),
            ("mim(1, 2)", 0..3, "unknown function `mim`", "did you mean `min`?"),
            ("vtime(1)", 0..5, "`vtime` is a variable, not a function", ""),
            ("1 + min", 4..7, "`min` is a function, and has no arguments here", "write `min(a, b)`"),
            ("abs(1, 2)", 0..8, "`abs` takes 1 argument, not 2", "write `abs(a)`"),
            ("min(1)", 0..5, "`min` takes 2 arguments, not 1", ""),
            ("if(1, 2)", 0..7, "`if` takes 3 arguments, not 2", "write `if(condition, a, b)`"),
            ("(1 + 2", 6..6, "`)` is missing before the end", ""),
            ("1 + 2)", 5..6, "`)` does not belong here", ""),
            ("1 < 2 < 3", 6..7, "a comparison of a comparison", "write `a < b && b < c`"),
            ("a + b", 0..1, "unknown name `a`", ""),
            ("now = 5", 4..5, "`=` is no operator", "equality is `==`"),
            ("!now", 0..1, "`!` is no operator", "write `a == 0`"),
            ("now & 1", 4..5, "`&` is no operator", "both hold"),
            ("now \u{b7} 1", 4..6, "`\u{b7}` is no operator", "operators are"),
            ("running_key", 0..11, "`running_key` is known in `preempts` only", "of one task"),
        ] {
            let fault = read(text).expect_err(text);
            assert_eq!((fault.at.clone(), fault.message.as_str()), (at, message), "{text}");
            assert!(fault.hint.contains(hint), "{text}: {}", fault.hint);
        }
        let compares = parse("key < running_key", Scope { parameters: &[], compares: true });
        assert!(compares.is_ok());
    }

    #[test]
    fn depth_and_length_have_bounds() {
        let deep = format!("{}1{}", "(".repeat(65), ")".repeat(65));
        assert_eq!(read(&deep).map_err(|fault| fault.at), Err(64..65));
        assert!(read(&format!("{}1{}", "(".repeat(64), ")".repeat(64))).is_ok());
        assert!(read(&"-".repeat(100_000)).is_err());
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read(&"abs(".repeat(100_000)).is_err());
        let long = vec!["1"; 200].join(" + ");
        assert!(read(&long).expect_err("399 nodes").message.contains("it has 399 numbers"));
        let nested = (0..20).fold("1".to_owned(), |text, _| format!("1 + ({text})"));
        assert!(read(&nested).expect_err("21 values").message.contains("nested too deeply"));
    }
}
