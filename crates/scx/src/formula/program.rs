//! A formula as a list of steps over a few values: fast, and without memory of its own.

use super::expression::{Expression, MOST_WAITING};
use super::function::Function;
use super::variable::Variable;

/// One step.
#[derive(Clone, Copy, Debug)]
enum Step {
    Number(i64),
    Variable(Variable),
    /// Takes its operands and puts what it gives in their place.
    Apply(Function),
}

/// A formula in which the parameters have their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    steps: Vec<Step>,
}

impl Program {
    /// The steps of a formula that fits ([`Expression::fits`]).
    pub(crate) fn new(expression: &Expression, parameter: &impl Fn(&str) -> i64) -> Self {
        let mut program = Self::default();
        program.add(expression, parameter);
        program
    }

    fn add(&mut self, expression: &Expression, parameter: &impl Fn(&str) -> i64) {
        match expression {
            Expression::Number(number) => self.steps.push(Step::Number(*number)),
            Expression::Variable(variable) => self.steps.push(Step::Variable(*variable)),
            Expression::Parameter(name) => self.steps.push(Step::Number(parameter(name))),
            Expression::Apply(function, operands) => {
                let before = self.steps.len();
                operands.iter().for_each(|operand| self.add(operand, parameter));
                // What has only numbers in it is worked out here.
                let numbers = self.steps[before..].iter().map(|step| match step {
                    Step::Number(number) => Some(*number),
                    _ => None,
                });
                let numbers: Option<Vec<i64>> = numbers.collect();
                match numbers {
                    Some(numbers) if numbers.len() == function.arity() => {
                        self.steps.truncate(before);
                        self.steps.push(Step::Number(function.of(three(&numbers))));
                    }
                    _ => self.steps.push(Step::Apply(*function)),
                }
            }
        }
    }

    /// The value, with what `read` gives for variables.
    pub(crate) fn value(&self, mut read: impl FnMut(Variable) -> i64) -> i64 {
        let mut values = [0; MOST_WAITING];
        let mut held = 0_usize;
        for step in &self.steps {
            let (value, from) = match step {
                Step::Number(number) => (*number, held),
                Step::Variable(variable) => (read(*variable), held),
                Step::Apply(function) => {
                    let from = held.saturating_sub(function.arity());
                    (function.of(three(values.get(from..held).unwrap_or_default())), from)
                }
            };
            if let Some(place) = values.get_mut(from) {
                *place = value;
            }
            held = from + 1;
        }
        values[0]
    }
}

/// Operands as a function takes them.
fn three(values: &[i64]) -> [i64; 3] {
    let at = |at: usize| values.get(at).copied().unwrap_or(0);
    [at(0), at(1), at(2)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::parse::{Scope, parse};

    #[test]
    fn a_formula_has_the_value_that_its_operators_say() {
        let parameters = ["five".to_owned()];
        for (text, value, steps) in [
            ("1 + 2 * 3", 7, 1),
            ("10 - 3 - 2", 5, 1),
            ("if(vtime > five, min(vtime, 9), five - 20)", 7, 8),
            ("if(vtime < five, min(vtime, 9), five - 20)", -15, 8),
            ("clamp(vtime * 100, 3, 40) % 0 / (five - 5)", 0, 10),
            ("(vtime - 8) / 2 + log2(vtime * 1000)", 12, 10),
        ] {
            let tree = parse(text, Scope { parameters: &parameters, compares: false });
            let tree = tree.unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            let program = Program::new(&tree, &|_| 5);
            assert_eq!(program.value(|_| 7), value, "{text}");
            assert_eq!(program.steps.len(), steps, "{text}: {:?}", program.steps);
        }
    }
}
