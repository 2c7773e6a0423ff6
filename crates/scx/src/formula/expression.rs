//! Formulas as trees: their size, the names in them, and how they are written.

use std::fmt::{self, Display, Formatter};

use super::function::{Form, Function};
use super::variable::Variable;

/// Most numbers, names and functions of a formula: what one can read, and far below the million
/// instructions that BPF checks of a program.
pub const MOST_NODES: usize = 256;

/// Most values of a formula that wait for others at once: 128 bytes of the 512 that BPF has for the
/// variables of all functions that call each other.
pub const MOST_WAITING: usize = 16;

/// A formula of integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// What is known of the task, its queue or the machine.
    Variable(Variable),
    /// A parameter of the order, by its name.
    Parameter(String),
    /// A function of as many operands as it has ([`Function::arity`]).
    Apply(Function, Vec<Self>),
}

impl Expression {
    /// A function of these operands.
    #[must_use]
    pub fn apply<const N: usize>(function: Function, operands: [Self; N]) -> Self {
        Self::Apply(function, operands.into())
    }

    /// Its operands; none for a number or a name.
    #[must_use]
    pub fn operands(&self) -> &[Self] {
        match self {
            Self::Apply(_, operands) => operands,
            Self::Number(_) | Self::Variable(_) | Self::Parameter(_) => &[],
        }
    }

    /// The number of numbers, names and functions in it.
    #[must_use]
    pub fn nodes(&self) -> usize {
        1 + self.operands().iter().map(Self::nodes).sum::<usize>()
    }

    /// How many values wait for others at once where it is worked out from left to right.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let waiting = self.operands().iter().enumerate().map(|(before, operand)| before + operand.waiting());
        waiting.max().unwrap_or(1)
    }

    /// Calls a function with every part of it, itself first.
    pub fn each<'a>(&'a self, call: &mut impl FnMut(&'a Self)) {
        call(self);
        self.operands().iter().for_each(|operand| operand.each(call));
    }

    /// Whether it reads a variable.
    #[must_use]
    pub fn reads(&self, variable: Variable) -> bool {
        let mut found = false;
        self.each(&mut |part| found |= *part == Self::Variable(variable));
        found
    }

    /// Whether it fits into what is allowed: the number of nodes, and of values that wait.
    ///
    /// # Errors
    /// A half-sentence: it is too long or nested too deeply, or a function has another number of operands.
    pub(crate) fn fits(&self) -> Result<(), String> {
        let mut wrong = None;
        self.each(&mut |part| {
            if let Self::Apply(function, operands) = part
                && operands.len() != function.arity()
            {
                let (word, given, due) = (function.word(), operands.len(), function.arity());
                wrong.get_or_insert(format!("`{word}` has {given} operands in it, not {due}"));
            }
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let nodes = self.nodes();
        if nodes > MOST_NODES {
            return Err(format!(
                "it has {nodes} numbers, names and functions; at most {MOST_NODES} are read"
            ));
        }
        if self.waiting() > MOST_WAITING {
            return Err(format!(
                "it is nested too deeply: at most {MOST_WAITING} values may wait for others"
            ));
        }
        Ok(())
    }

    /// The level at which it binds: what is no operator binds most tightly.
    pub(crate) const fn level(&self) -> u8 {
        match self {
            Self::Apply(function, _) => match function.form() {
                Form::Between(level) => level,
                Form::Named => u8::MAX,
            },
            Self::Number(_) | Self::Variable(_) | Self::Parameter(_) => u8::MAX,
        }
    }
}

/// Writes an operand, in parentheses if it would not be read as one.
fn operand(f: &mut Formatter<'_>, of: &Expression, bare: bool) -> fmt::Result {
    if bare { of.fmt(f) } else { write!(f, "({of})") }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Variable(variable) => f.write_str(variable.name()),
            Self::Parameter(name) => f.write_str(name),
            Self::Apply(function, operands) => match (function.form(), operands.as_slice()) {
                (Form::Between(level), [left, right]) => {
                    // Comparisons do not follow each other; all others are read from left to right.
                    let chained = level != super::function::COMPARISON;
                    operand(f, left, left.level() > level || (chained && left.level() == level))?;
                    write!(f, " {} ", function.word())?;
                    operand(f, right, right.level() > level)
                }
                (_, operands) => {
                    write!(f, "{}(", function.word())?;
                    for (at, one) in operands.iter().enumerate() {
                        f.write_str(if at == 0 { "" } else { ", " })?;
                        one.fmt(f)?;
                    }
                    f.write_str(")")
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: i64) -> Expression {
        Expression::Number(number)
    }

    #[test]
    fn only_parentheses_that_are_needed_are_written() {
        let apply = Expression::apply;
        let sum = || apply(Function::Add, [number(1), Expression::Variable(Variable::Now)]);
        assert_eq!(apply(Function::Add, [sum(), number(-2)]).to_string(), "1 + now + -2");
        assert_eq!(apply(Function::Subtract, [number(2), sum()]).to_string(), "2 - (1 + now)");
        assert_eq!(apply(Function::Multiply, [sum(), number(2)]).to_string(), "(1 + now) * 2");
        let less = || apply(Function::Less, [sum(), number(2)]);
        assert_eq!(apply(Function::Equal, [less(), less()]).to_string(), "(1 + now < 2) == (1 + now < 2)");
        let chosen = Expression::Apply(Function::If, vec![less(), number(1), sum()]);
        assert_eq!(chosen.to_string(), "if(1 + now < 2, 1, 1 + now)");
    }

    #[test]
    fn values_that_wait_are_those_to_the_left() {
        let add = |left, right| Expression::apply(Function::Add, [left, right]);
        let to_the_left = (0..20).fold(number(0), |sum, at| add(sum, number(at)));
        let to_the_right = (0..20).fold(number(0), |sum, at| add(number(at), sum));
        assert_eq!((to_the_left.waiting(), to_the_right.waiting()), (2, 21));
        assert_eq!(to_the_left.fits(), Ok(()));
        let deep = "it is nested too deeply: at most 16 values may wait for others";
        assert_eq!(to_the_right.fits(), Err(deep.into()));
        let odd = Expression::Apply(Function::Abs, vec![number(1), number(2)]);
        assert_eq!(odd.fits(), Err("`abs` has 2 operands in it, not 1".into()));
    }
}
