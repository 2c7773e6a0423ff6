//! Writes an order as a scheduler in BPF C, for Linux and for `oversim scx build`.
//!
//! The program is [`super::scheduler`] in C. Its text is a template whose lines stand for certain parts of an
//! order: a scheduler keeps of its tasks only what its formulas read.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::expression::Expression;
use super::function::Function;
use super::order::{Formula, Parameter, Queue, time};
use super::scheduler::ops_name;
use super::variable::{Piece, Variable};

/// The program. A line `//[tag]` says for which orders the lines behind it are: `a|b` for those with one of
/// two tags, `a&b` for those with both, `!a` for those without it, and nothing for all.
const TEMPLATE: &str = include_str!("template.c");

impl Formula {
    /// The order as a scheduler in BPF C, for sched_ext of Linux 6.12 and later.
    ///
    /// # Errors
    /// A sentence: its parts do not fit together ([`Formula::check`]).
    pub fn c(&self) -> Result<String, String> {
        self.check()?;
        let tags = tags(self);
        let mut text = self.head();
        let mut wanted = true;
        for line in TEMPLATE.lines() {
            if let Some(condition) = line.strip_prefix("//[") {
                wanted = holds(condition.trim_end_matches(']'), &tags);
            } else if wanted {
                let filled = self.filled(line, &tags);
                // A line that is a place for something this order does not have.
                if filled.is_empty() && line.starts_with('@') {
                    continue;
                }
                text.push_str(&filled);
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// The comment at the beginning.
    fn head(&self) -> String {
        let name = ops_name(&self.name);
        let mut text =
            format!("/*\n * {name}: a scheduler for sched_ext, written by `oversim scx export`.\n *\n");
        if !self.about.is_empty() {
            for line in notation::text::wrapped(&comment(&self.about), 100) {
                let _ = writeln!(text, " * {line}");
            }
            text.push_str(" *\n");
        }
        text.push_str(" * The order:\n");
        let _ = writeln!(text, " *   queue: {}", self.queue.word());
        for (key, part) in self.parts() {
            if let Some(part) = part {
                let _ = writeln!(text, " *   {key}: {part}");
            }
        }
        let _ = write!(
            text,
            " *\n * Build for Linux 6.12 or later, in the scx repository with libbpf, and load:\n\
             \x20*   clang -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_x86 \\\n\
             \x20*         -I scheds/include -I scheds/include/bpf-compat -I scheds/vmlinux \\\n\
             \x20*         -I scheds/vmlinux/arch/x86 -c {name}.bpf.c -o {name}.bpf.o\n\
             \x20*   bpftool struct_ops register {name}.bpf.o\n\
             \x20* Build for oversim:\n *   oversim scx build {name}.bpf.c\n */\n"
        );
        text
    }

    /// A line of the template with the parts of this order.
    fn filled(&self, line: &str, tags: &BTreeSet<&str>) -> String {
        if !line.contains('@') {
            return line.to_owned();
        }
        let state = tags.contains("state");
        let given = |text: &'static str| if state { text } else { "" };
        let mut line = line.replace("@NAME@", &ops_name(&self.name));
        for (place, text) in [
            ("@STATE@", given("struct task_state *t, ")),
            ("@T@", given("t, ")),
            ("@AND_T@", given(" && t")),
            ("@AND_KEY@", if self.key.is_some() { ", and its key" } else { "" }),
            (
                "@OR_OTHERS@",
                if self.queue == Queue::Machine { "" } else { ", or of the next one that has any" },
            ),
        ] {
            line = line.replace(place, text);
        }
        for (key, part) in self.parts() {
            let Some(part) = part else { continue };
            let key = key.to_uppercase();
            line = line.replace(&format!("@{key}@"), &part.to_string());
            line = line.replace(&format!("@{key}_VARIABLES@"), &locals(part));
            let value = if key == "PREEMPTS" { self.condition(part) } else { self.value(part) };
            line = line.replace(&format!("@{key}_C@"), &value);
        }
        line = line.replace("@PARAMETERS@", &self.parameters.iter().map(declared).collect::<String>());
        line.replace("@FUNCTIONS@", &self.functions())
    }

    /// The functions of C that the formulas call.
    fn functions(&self) -> String {
        let used = HELPERS.iter().filter(|(function, _)| self.applies(*function));
        used.map(|(_, text)| *text).collect::<Vec<_>>().join("\n")
    }

    /// A formula in C, as an expression of u64: unsigned numbers wrap around.
    fn value(&self, part: &Expression) -> String {
        match part {
            Expression::Number(number) => format!("{number}ULL"),
            Expression::Variable(variable) => variable.name().to_owned(),
            Expression::Parameter(name) => {
                let signed = self.parameters.iter().any(|one| one.name == *name && one.least < 0);
                if signed { format!("(u64){name}") } else { name.clone() }
            }
            Expression::Apply(function, operands) => self.applied(*function, operands),
        }
    }

    fn applied(&self, function: Function, operands: &[Expression]) -> String {
        if function.is_condition() {
            return format!("(u64)({})", self.compared(function, operands));
        }
        let values: Vec<String> = operands.iter().map(|operand| self.value(operand)).collect();
        let level = |part: &Expression| match part {
            // What becomes a call or is in parentheses binds most tightly.
            Expression::Apply(Function::Add | Function::Subtract | Function::Multiply, _) => part.level(),
            _ => u8::MAX,
        };
        match (function, operands, values.as_slice()) {
            (Function::Add | Function::Subtract | Function::Multiply, [left, right], [a, b]) => {
                let own = Expression::Apply(function, Vec::new()).level();
                let a = if level(left) < own { format!("({a})") } else { a.clone() };
                let b = if level(right) <= own { format!("({b})") } else { b.clone() };
                format!("{a} {} {b}", function.word())
            }
            (Function::If, [condition, ..], [_, a, b]) => {
                format!("({} ? {a} : {b})", self.condition(condition))
            }
            _ => {
                let name = match function {
                    Function::Divide => "divide",
                    Function::Remainder => "remainder",
                    function => function.word(),
                };
                format!("order_{name}({})", values.join(", "))
            }
        }
    }

    /// A formula in C where only its being 0 counts.
    fn condition(&self, part: &Expression) -> String {
        match part {
            Expression::Apply(function, operands) if function.is_condition() => {
                self.compared(*function, operands)
            }
            part => format!("{} != 0", self.operand(part)),
        }
    }

    /// A value as an operand of a comparison.
    fn operand(&self, part: &Expression) -> String {
        let value = self.value(part);
        match part {
            Expression::Apply(Function::Add | Function::Subtract | Function::Multiply, _) => {
                format!("({value})")
            }
            _ => value,
        }
    }

    /// A comparison, or two conditions; u64 are compared as the signed numbers that they stand for.
    fn compared(&self, function: Function, operands: &[Expression]) -> String {
        let [left, right] = operands else { return String::new() };
        let word = function.word();
        match function {
            Function::And | Function::Or => {
                format!("({}) {word} ({})", self.condition(left), self.condition(right))
            }
            Function::Equal | Function::Unequal => {
                format!("{} {word} {}", self.operand(left), self.operand(right))
            }
            _ => format!("(s64){} {word} (s64){}", self.operand(left), self.operand(right)),
        }
    }
}

/// A text inside of a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

/// The declaration of a parameter.
fn declared(parameter: &Parameter) -> String {
    let Parameter { name, default, least, most, .. } = parameter;
    let kind = if *least < 0 { "s64" } else { "u64" };
    let [low, high] =
        [least, most].map(|number| if parameter.time { time(*number) } else { number.to_string() });
    let unit = if parameter.time { ", in ns" } else { "" };
    let about = comment(&parameter.about);
    let about =
        if about.is_empty() { "A parameter".to_owned() } else { about.trim_end_matches('.').to_owned() };
    let suffix = if *least < 0 { "LL" } else { "ULL" };
    // The smallest number has no literal of its own.
    let value = match *default {
        i64::MIN => format!("-{}LL - 1", i64::MAX),
        default => format!("{default}{suffix}"),
    };
    format!("/* {about}: {low} to {high}{unit}. */\nconst volatile {kind} {name} = {value};\n")
}

/// The variables that a formula reads, as variables of its function in C.
fn locals(part: &Expression) -> String {
    let read = Variable::ALL.into_iter().filter(|variable| part.reads(*variable));
    let own = read.map(Variable::row).filter(|row| row.name != row.c);
    let lines: String = own.map(|row| format!("\tu64 {} = {};\n", row.name, row.c)).collect();
    if lines.is_empty() { lines } else { format!("{lines}\n") }
}

/// What an order has, as the template names it.
fn tags(formula: &Formula) -> BTreeSet<&'static str> {
    let mut tags = BTreeSet::new();
    let preempts = formula.preempts.is_some();
    let variables = Variable::ALL.into_iter().filter(|variable| formula.reads(*variable));
    // `preempts` is asked for a task that has woken up.
    let woken = preempts.then_some(Variable::Woken);
    for piece in variables.chain(woken).flat_map(|variable| variable.row().needs) {
        tags.insert(match piece {
            Piece::Vtime => "vtime",
            Piece::Wake => "wake",
            Piece::Sleep => "sleep",
            Piece::Burst => "burst",
            Piece::Ran => "ran",
            Piece::Wait => "wait",
            Piece::Created => "created",
            Piece::QueueCpus => "queue_cpus",
        });
    }
    let mut also = |tag: &'static str, holds: bool| {
        if holds {
            tags.insert(tag);
        }
    };
    also("parameters", !formula.parameters.is_empty());
    also("preempts", preempts);
    also(if formula.key.is_some() { "keyed" } else { "fifo" }, true);
    also(formula.queue.word(), true);
    also("many", formula.queue != Queue::Machine);
    also("table", matches!(formula.queue, Queue::Node | Queue::Cache));
    also("granted", formula.reads(Variable::Granted));
    // What follows from others.
    for (tag, from) in [
        ("granted", &["vtime"][..]),
        ("asleep", &["wake", "sleep", "burst", "wait"]),
        ("timed", &["wake", "sleep", "wait"]),
        ("averages", &["sleep", "burst", "wait"]),
        ("entered", &["asleep", "vtime"]),
        ("running", &["vtime", "wait", "ran", "wake", "preempts"]),
        ("stopping", &["vtime", "wait", "ran", "preempts"]),
        ("state", &["keyed", "granted", "asleep", "ran", "created"]),
    ] {
        if from.iter().any(|from| tags.contains(from)) {
            tags.insert(tag);
        }
    }
    tags
}

/// Whether a condition of the template holds.
fn holds(condition: &str, tags: &BTreeSet<&str>) -> bool {
    let one = |tag: &str| match tag.strip_prefix('!') {
        Some(tag) => !tags.contains(tag),
        None => tags.contains(tag),
    };
    condition.is_empty() || condition.split('|').any(|all| all.split('&').all(one))
}

/// Functions of formulas that are calls in C.
const HELPERS: &[(Function, &str)] = &[
    (Function::Min, "static u64 order_min(u64 a, u64 b)\n{\n\treturn (s64)a < (s64)b ? a : b;\n}\n"),
    (Function::Max, "static u64 order_max(u64 a, u64 b)\n{\n\treturn (s64)a > (s64)b ? a : b;\n}\n"),
    (
        Function::Clamp,
        "static u64 order_clamp(u64 a, u64 least, u64 most)\n{\n\
         \tif ((s64)a > (s64)most)\n\t\ta = most;\n\treturn (s64)a > (s64)least ? a : least;\n}\n",
    ),
    (Function::Abs, "static u64 order_abs(u64 a)\n{\n\treturn (s64)a < 0 ? -a : a;\n}\n"),
    (
        Function::Log2,
        "/* The position of the highest bit; 0 for what is less than 2. */\n\
         static u64 order_log2(u64 a)\n{\n\tu64 log = 0;\n\n\tif ((s64)a < 2)\n\t\treturn 0;\n\
         \tif (a >> 32) {\n\t\tlog += 32;\n\t\ta >>= 32;\n\t}\n\
         \tif (a >> 16) {\n\t\tlog += 16;\n\t\ta >>= 16;\n\t}\n\
         \tif (a >> 8) {\n\t\tlog += 8;\n\t\ta >>= 8;\n\t}\n\
         \tif (a >> 4) {\n\t\tlog += 4;\n\t\ta >>= 4;\n\t}\n\
         \tif (a >> 2) {\n\t\tlog += 2;\n\t\ta >>= 2;\n\t}\n\
         \treturn log + (a >> 1);\n}\n",
    ),
    (
        Function::Divide,
        "/* Of signed numbers, which BPF has only lately: towards 0, and 0 for a division by 0. */\n\
         static u64 order_divide(u64 a, u64 b)\n{\n\
         \tu64 x = (s64)a < 0 ? -a : a, y = (s64)b < 0 ? -b : b;\n\n\
         \tif (!y)\n\t\treturn 0;\n\treturn (s64)(a ^ b) < 0 ? -(x / y) : x / y;\n}\n",
    ),
    (
        Function::Remainder,
        "/* It has the sign of the dividend; by 0 it is the dividend. */\n\
         static u64 order_remainder(u64 a, u64 b)\n{\n\
         \tu64 x = (s64)a < 0 ? -a : a, y = (s64)b < 0 ? -b : b;\n\n\
         \tif (!y)\n\t\treturn a;\n\treturn (s64)a < 0 ? -(x % y) : x % y;\n}\n",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(text: &str) -> String {
        let formula = Formula::parse("my order.order", text).map_err(|problems| problems.to_string());
        formula.and_then(|formula| formula.c()).expect("an order")
    }

    #[test]
    fn a_program_keeps_what_its_formulas_read_and_nothing_else() {
        let fifo = exported("slice: 5ms\n");
        for absent in ["task_state", "running", "quiescent", "preempt", "//[", "@", "\n\n\n"] {
            assert!(!fifo.contains(absent), "{absent}: {fifo}");
        }
        assert!(fifo.contains(".name = \"my_order\""));
        let text = "key: vtime\nslice: 5ms\npreempts: key < running_key\nqueue: cache\n";
        let all = exported(text);
        for present in ["u64 vtime = t->vtime;", "preempt(p, t, queue)", "cpu_llc_id", "t->woken = true"] {
            assert!(all.contains(present), "{present}: {all}");
        }
        assert!(!all.contains("average") && !all.contains("slept_from") && !all.contains("//["));
    }

    #[test]
    fn formulas_become_expressions_of_u64() {
        let parameters =
            "parameters:\n  part: { default: 1, range: 0..9 }\n  shift: { default: -1, range: -5..5 }\n";
        for (key, c) in [
            ("vtime + 2 * (part - -3) - (now - woke)", "vtime + 2ULL * (part - -3ULL) - (now - woke)"),
            (
                "if(woken && part < shift, 1, vtime / 7)",
                "((woken != 0) && ((s64)part < (s64)(u64)shift) ? 1ULL : order_divide(vtime, 7ULL))",
            ),
            ("(vtime == 1) * 3", "(u64)(vtime == 1ULL) * 3ULL"),
            ("(1 + vtime < now) + 2", "(u64)((s64)(1ULL + vtime) < (s64)now) + 2ULL"),
            ("vtime * (now % 3)", "vtime * order_remainder(now, 3ULL)"),
        ] {
            let text = exported(&format!("{parameters}key: {key}\nslice: 1\n"));
            assert!(text.contains(&format!("\treturn {c};\n")), "{key}: {text}");
        }
    }

    #[test]
    fn what_an_order_says_of_itself_stays_in_the_comment() {
        let text = exported(
            "about: a */ b\nparameters:\n  part: { default: 1s, range: 0..9s, about: x */ y }\nslice: part\n",
        );
        assert!(text.contains(" * a * / b\n"));
        assert!(
            text.contains("/* x * / y: 0ns to 9s, in ns. */\nconst volatile u64 part = 1000000000ULL;\n")
        );
        assert_eq!(text.matches("*/").count(), text.matches("/*").count());
    }
}
