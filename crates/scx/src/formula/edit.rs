//! Changes of an order that a search draws: each is a number, so that settings of a search hold them beside
//! parameters. A candidate is the order that a person wrote with a short list of changes (genetic improvement
//! by lists of edits; Petke and others, IEEE Transactions on Evolutionary Computation 22(3), 2018): it stays
//! as readable as the changes are few.

use sim_core::rng::next;

use super::expression::Expression;
use super::function::Function;
use super::order::{Formula, Queue};
use super::variable::Variable;

/// Nodes of a formula that a change may lead to: what one still reads in a line or two.
const MOST_NODES: usize = 48;
/// The least lead with which a task preempts where a change adds a rule: about a switch and its refill, as
/// `sysctl_sched_wakeup_granularity` of Linux (1 ms on one cpu, kernel/sched/fair.c up to 6.5).
const LEAD: i64 = 1_000_000;

/// What a change does to a part of a formula.
const KINDS: [Kind; 11] = [
    Kind::Around(Function::Multiply, Operand::Two),
    Kind::Around(Function::Divide, Operand::Two),
    Kind::Around(Function::Add, Operand::Variable),
    Kind::Around(Function::Subtract, Operand::Variable),
    Kind::Around(Function::Min, Operand::Variable),
    Kind::Around(Function::Max, Operand::Variable),
    Kind::Replaced,
    Kind::Inside,
    Kind::Other,
    Kind::Queue,
    Kind::Preempts,
];

#[derive(Clone, Copy)]
enum Kind {
    /// It becomes an operand of a function.
    Around(Function, Operand),
    /// A variable takes its place.
    Replaced,
    /// One of its own operands takes its place.
    Inside,
    /// It becomes another function of the same operands.
    Other,
    /// Other cpus share a queue.
    Queue,
    /// A rule of preemption comes, or goes.
    Preempts,
}

#[derive(Clone, Copy)]
enum Operand {
    Two,
    Variable,
}

/// The order with these changes, one after the other; 0 is none. A change after which the order would not
/// fit together, or would be too long to be read, is left out.
///
/// ```
/// use scx::formula::{Formula, changed};
///
/// let order = Formula::parse("mine.order", "key: vtime\nslice: 20ms\n").unwrap();
/// assert_eq!(changed(&order, &[0, 0]), order);
/// let other = changed(&order, &[7, 11]);
/// assert_eq!(Formula::parse("mine.order", &other.to_string()).unwrap(), other);
/// ```
#[must_use]
pub fn changed(order: &Formula, changes: &[u64]) -> Formula {
    let mut order = order.clone();
    for change in changes.iter().filter(|change| **change != 0) {
        let mut draw = Draw(*change);
        let mut candidate = order.clone();
        one(&mut candidate, &mut draw);
        let short = candidate.parts().iter().all(|(_, part)| part.is_none_or(|p| p.nodes() <= MOST_NODES));
        if short && candidate.check().is_ok() {
            order = candidate;
        }
    }
    order
}

/// Numbers that follow from a change.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        (u64::from(next(&mut self.0)) as usize) % bound.max(1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).copied()
    }
}

fn one(order: &mut Formula, draw: &mut Draw) {
    let kind = draw.of(&KINDS).unwrap_or(Kind::Inside);
    match kind {
        Kind::Queue => order.queue = draw.of(&Queue::ALL).unwrap_or(order.queue),
        Kind::Preempts => order.preempts = if order.preempts.is_some() { None } else { Some(lead()) },
        _ => {
            let compares = |preempts: bool| move |one: &Variable| preempts || !one.compares();
            let parts = 1 + usize::from(order.key.is_some()) + usize::from(order.preempts.is_some());
            let at = draw.below(parts);
            let preempts = at == 2 || (at == 1 && order.key.is_none());
            let variables: Vec<Variable> = Variable::ALL.into_iter().filter(compares(preempts)).collect();
            let part = match (at, order.key.as_mut(), order.preempts.as_mut()) {
                (0, ..) | (_, None, None) => &mut order.slice,
                (1, Some(key), _) => key,
                (_, _, Some(preempts)) => preempts,
                (_, Some(key), None) => key,
            };
            let node = draw.below(part.nodes());
            let variable = draw.of(&variables).unwrap_or(Variable::Now);
            part_of(part, &mut { node }, &mut |one| within(one, kind, variable, draw));
        }
    }
}

/// `key + 1ms < running_key`.
fn lead() -> Expression {
    let key = Expression::Variable(Variable::Key);
    let ahead = Expression::apply(Function::Add, [key, Expression::Number(LEAD)]);
    Expression::apply(Function::Less, [ahead, Expression::Variable(Variable::RunningKey)])
}

/// Calls a function with the part of this number, counted as [`Expression::each`] does.
fn part_of(of: &mut Expression, number: &mut usize, call: &mut impl FnMut(&mut Expression)) -> bool {
    if *number == 0 {
        call(of);
        return true;
    }
    *number -= 1;
    match of {
        Expression::Apply(_, operands) => operands.iter_mut().any(|one| part_of(one, number, call)),
        _ => false,
    }
}

fn within(part: &mut Expression, kind: Kind, variable: Variable, draw: &mut Draw) {
    let old = std::mem::replace(part, Expression::Number(0));
    *part = match (kind, old) {
        (Kind::Around(function, operand), old) => {
            let other = match operand {
                Operand::Two => Expression::Number(2),
                Operand::Variable => Expression::Variable(variable),
            };
            match (function, old) {
                // Numbers stay numbers.
                (Function::Multiply, Expression::Number(number)) => {
                    Expression::Number(number.saturating_mul(2))
                }
                (Function::Divide, Expression::Number(number)) => Expression::Number(number / 2),
                (function, old) => Expression::apply(function, [old, other]),
            }
        }
        (Kind::Replaced, _) => Expression::Variable(variable),
        (Kind::Inside, Expression::Apply(_, mut operands)) if !operands.is_empty() => {
            operands.swap_remove(draw.below(operands.len()))
        }
        (Kind::Other, Expression::Apply(function, operands)) => {
            let alike = |one: &Function| one.arity() == function.arity();
            let alike: Vec<Function> = Function::ALL.into_iter().filter(alike).collect();
            Expression::Apply(draw.of(&alike).unwrap_or(function), operands)
        }
        (_, old) => old,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "parameters:\n  part: { default: 20ms, range: 1ms..1s }\n\
        key: vtime - average_sleep / 2\nslice: part / max(1, queued)\n";

    #[test]
    fn every_change_leads_to_an_order_that_is_read_again() {
        let order = Formula::parse("mine.order", ORDER).unwrap();
        let mut different = std::collections::BTreeSet::new();
        for change in 1..=2_000 {
            let other = changed(&order, &[change, change * 7_919, change << 20]);
            assert_eq!(other.check(), Ok(()), "{change}: {other}");
            let again = Formula::parse("mine.order", &other.to_string()).unwrap();
            assert_eq!(again, other, "{change}");
            different.insert(other.to_string());
        }
        assert!(different.len() > 1_500, "{}", different.len());
        // Without a key there is no rule of preemption.
        let order = Formula::parse("mine.order", "slice: 20ms\n").unwrap();
        assert!((1..=500).all(|change| changed(&order, &[change]).check().is_ok()));
    }

    #[test]
    fn each_kind_of_change_is_drawn_and_none_leaves_the_order_alone() {
        let order = Formula::parse("mine.order", ORDER).unwrap();
        assert_eq!(changed(&order, &[0, 0, 0]), order);
        let all: Vec<Formula> = (1..=500).map(|change| changed(&order, &[change])).collect();
        assert!(all.iter().any(|one| one.queue != order.queue));
        assert!(all.iter().any(|one| one.preempts.is_some()));
        assert!(all.iter().any(|one| one.key != order.key && one.slice == order.slice));
        assert!(all.iter().any(|one| one.slice != order.slice && one.key == order.key));
        let shorter = |one: &Formula| one.slice.nodes() < order.slice.nodes();
        assert!(all.iter().any(shorter));
    }
}
