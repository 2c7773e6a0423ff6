//! Operators and functions of formulas: how they are written, and what they give.

/// An operator or a function. Numbers are integers of 64 bits that wrap around; a condition is 1 or 0, and
/// any number but 0 holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "each is the row of its name in the table below")]
pub enum Function {
    Or,
    And,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Min,
    Max,
    Clamp,
    Abs,
    Log2,
    If,
}

/// How a function is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Between its operands; larger levels bind more tightly.
    Between(u8),
    /// As a name with arguments.
    Named,
}

/// The level of comparisons, which have no order among each other.
pub(crate) const COMPARISON: u8 = 3;

impl Function {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 19] = {
        use Function as F;
        [
            F::Or,
            F::And,
            F::Less,
            F::AtMost,
            F::Greater,
            F::AtLeast,
            F::Equal,
            F::Unequal,
            F::Add,
            F::Subtract,
            F::Multiply,
            F::Divide,
            F::Remainder,
            F::Min,
            F::Max,
            F::Clamp,
            F::Abs,
            F::Log2,
            F::If,
        ]
    };

    /// The operator or the name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Min => "min",
            Self::Max => "max",
            Self::Clamp => "clamp",
            Self::Abs => "abs",
            Self::Log2 => "log2",
            Self::If => "if",
        }
    }

    /// The number of operands or arguments.
    #[must_use]
    pub const fn arity(self) -> usize {
        match self {
            Self::Abs | Self::Log2 => 1,
            Self::Clamp | Self::If => 3,
            _ => 2,
        }
    }

    /// How it is written, for messages and tables.
    #[must_use]
    pub const fn usage(self) -> &'static str {
        match self {
            Self::Or => "a || b",
            Self::And => "a && b",
            Self::Less => "a < b",
            Self::AtMost => "a <= b",
            Self::Greater => "a > b",
            Self::AtLeast => "a >= b",
            Self::Equal => "a == b",
            Self::Unequal => "a != b",
            Self::Add => "a + b",
            Self::Subtract => "a - b",
            Self::Multiply => "a * b",
            Self::Divide => "a / b",
            Self::Remainder => "a % b",
            Self::Min => "min(a, b)",
            Self::Max => "max(a, b)",
            Self::Clamp => "clamp(a, least, most)",
            Self::Abs => "abs(a)",
            Self::Log2 => "log2(a)",
            Self::If => "if(condition, a, b)",
        }
    }

    /// How it is written.
    pub(crate) const fn form(self) -> Form {
        match self {
            Self::Or => Form::Between(1),
            Self::And => Form::Between(2),
            Self::Less | Self::AtMost | Self::Greater | Self::AtLeast | Self::Equal | Self::Unequal => {
                Form::Between(COMPARISON)
            }
            Self::Add | Self::Subtract => Form::Between(4),
            Self::Multiply | Self::Divide | Self::Remainder => Form::Between(5),
            Self::Min | Self::Max | Self::Clamp | Self::Abs | Self::Log2 | Self::If => Form::Named,
        }
    }

    /// Whether it gives 1 or 0.
    #[must_use]
    pub const fn is_condition(self) -> bool {
        matches!(
            self,
            Self::Or
                | Self::And
                | Self::Less
                | Self::AtMost
                | Self::Greater
                | Self::AtLeast
                | Self::Equal
                | Self::Unequal
        )
    }

    /// The function of a name or an operator.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.word() == word)
    }

    /// What it gives for its operands; the last ones are not read where there are fewer. As in BPF, numbers
    /// wrap around, a division by 0 gives 0, and its remainder is the dividend.
    #[must_use]
    pub const fn of(self, [a, b, c]: [i64; 3]) -> i64 {
        match self {
            Self::Or => (a != 0 || b != 0) as i64,
            Self::And => (a != 0 && b != 0) as i64,
            Self::Less => (a < b) as i64,
            Self::AtMost => (a <= b) as i64,
            Self::Greater => (a > b) as i64,
            Self::AtLeast => (a >= b) as i64,
            Self::Equal => (a == b) as i64,
            Self::Unequal => (a != b) as i64,
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide if b == 0 => 0,
            Self::Divide => a.wrapping_div(b),
            Self::Remainder if b == 0 => a,
            Self::Remainder => a.wrapping_rem(b),
            Self::Min => least(a, b),
            Self::Max => most(a, b),
            Self::Clamp => most(b, least(a, c)),
            Self::Abs => a.wrapping_abs(),
            Self::Log2 if a < 2 => 0,
            Self::Log2 => 63 - a.leading_zeros() as i64,
            Self::If if a != 0 => b,
            Self::If => c,
        }
    }
}

const fn least(a: i64, b: i64) -> i64 {
    if a < b { a } else { b }
}

const fn most(a: i64, b: i64) -> i64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_stands_in_the_list_once_and_its_usage_has_its_operands() {
        for (at, function) in Function::ALL.into_iter().enumerate() {
            assert_eq!(function as usize, at);
            assert_eq!(Function::find(function.word()), Some(function));
            let usage = function.usage();
            let operands = match function.form() {
                Form::Between(_) => usage.split_whitespace().count() - 1,
                Form::Named => usage.split(',').count(),
            };
            assert_eq!(operands, function.arity(), "{usage}");
        }
    }

    #[test]
    fn numbers_wrap_around_and_a_division_by_zero_gives_zero() {
        let of = |function: Function, a, b, c| function.of([a, b, c]);
        assert_eq!(of(Function::Add, i64::MAX, 1, 0), i64::MIN);
        assert_eq!(of(Function::Divide, 7, 0, 0), 0);
        assert_eq!(of(Function::Remainder, 7, 0, 0), 7);
        assert_eq!(of(Function::Divide, i64::MIN, -1, 0), i64::MIN);
        assert_eq!((of(Function::Divide, -7, 2, 0), of(Function::Remainder, -7, 2, 0)), (-3, -1));
        assert_eq!(of(Function::Abs, i64::MIN, 0, 0), i64::MIN);
        assert_eq!(
            [-5, 0, 1, 2, 3, 4, i64::MAX].map(|a| of(Function::Log2, a, 0, 0)),
            [0, 0, 0, 1, 1, 2, 62]
        );
        assert_eq!([1, 5, 9].map(|a| of(Function::Clamp, a, 3, 7)), [3, 5, 7]);
        assert_eq!(of(Function::Clamp, 5, 7, 3), 7);
        assert_eq!((of(Function::If, 2, 3, 4), of(Function::If, 0, 3, 4)), (3, 4));
    }
}
