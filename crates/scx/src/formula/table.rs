//! The tables of variables and functions, from what the parser itself reads.

use std::fmt::Write;

use super::function::{Form, Function};
use super::variable::Variable;

/// What a function gives.
const fn gives(function: Function) -> &'static str {
    match function {
        Function::Or => "1 if one of them holds",
        Function::And => "1 if both hold",
        Function::Less
        | Function::AtMost
        | Function::Greater
        | Function::AtLeast
        | Function::Equal
        | Function::Unequal => "1 or 0",
        Function::Add | Function::Subtract | Function::Multiply => "wraps around at 64 bits",
        Function::Divide => "towards 0; 0 if `b` is 0",
        Function::Remainder => "has the sign of `a`; `a` if `b` is 0",
        Function::Min => "the smaller one; of more than two the smallest",
        Function::Max => "the larger one; of more than two the largest",
        Function::Clamp => "`a`, at most `most`, but at least `least`",
        Function::Abs => "without its sign",
        Function::Log2 => "the position of the highest bit; 0 below 2",
        Function::If => "`a` if the condition is not 0, else `b`",
    }
}

/// The variables as a table in Markdown: name, unit, meaning, and the expression in the exported program.
#[must_use]
pub fn variables() -> String {
    let mut text =
        "| variable | unit | of the task that needs a place | in C |\n|---|---|---|---|\n".to_owned();
    for variable in Variable::ALL {
        let row = variable.row();
        let _ = writeln!(text, "| `{}` | {} | {} | `{}` |", row.name, row.unit, row.about, row.c);
    }
    text
}

/// Operators and functions as a table in Markdown, those that bind most tightly last.
#[must_use]
pub fn functions() -> String {
    let mut text = "| written | gives |\n|---|---|\n".to_owned();
    let mut row = |usages: &[String], gives: &str| {
        let _ = writeln!(text, "| {} | {gives} |", usages.join(", "));
    };
    let mut pending: Vec<String> = Vec::new();
    for (at, function) in Function::ALL.into_iter().enumerate() {
        // A bar would end the cell.
        let usage = function.usage().replace('|', "\\|");
        pending.push(format!("`{usage}`"));
        let next = Function::ALL.get(at + 1);
        let same =
            next.is_some_and(|next| gives(*next) == gives(function) && !matches!(next.form(), Form::Named));
        if !same {
            row(&pending, gives(function));
            pending.clear();
        }
    }
    text
}
