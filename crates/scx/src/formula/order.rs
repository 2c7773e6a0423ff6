//! An order by formula: its parts, what holds of them, and its text.

use std::fmt::{self, Display, Formatter};

use super::expression::Expression;
use super::function::Function;
use super::variable::Variable;

/// Most parameters of an order: what one can set by hand.
pub const MOST_PARAMETERS: usize = 32;

/// Longest name of a parameter, in letters.
const LONGEST_NAME: usize = 32;

/// The least slice, ns: with 0 the kernel lets a task keep what it has left.
pub const LEAST_SLICE: i64 = 1;

/// The largest slice, ns: 30 s, for which a runnable task may wait before the kernel's watchdog ends the
/// scheduler (`SCX_WATCHDOG_MAX_TIMEOUT`).
pub const MOST_SLICE: i64 = 30_000_000_000;

/// Keys lie between this number and its opposite: two of them then differ by less than 2^63, so that the
/// comparison of the kernel (`time_before64`) orders them as numbers.
pub const MOST_KEY: i64 = (1 << 62) - 1;

/// Words of C, types of the kernel, and names that the exported program has itself: no parameter has them.
const TAKEN: &[&str] = &[
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "true",
    "typedef",
    "typeof",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "null",
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "uint",
    "ulong",
    "size_t",
    "ssize_t",
    "pid_t",
    "uid_t",
    "gid_t",
    "barrier",
    "likely",
    "unlikely",
    "private",
    "memset",
    "memcpy",
    "memmove",
    "memcmp",
    "offsetof",
    "container_of",
    "current",
    "runqueues",
    "can_loop",
    "linux",
    "unix",
    "p",
    "t",
    "c",
    "a",
    "b",
    "queue",
    "cpu",
    "uei",
];

/// What the names of the exported program begin with.
const PREFIXES: [&str; 5] = ["order_", "nr_", "scx_", "bpf_", "_"];

/// A number that a scenario can set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name: small letters, digits and `_`.
    pub name: String,
    /// Its value where nothing is set.
    pub default: i64,
    /// The least value.
    pub least: i64,
    /// The largest value.
    pub most: i64,
    /// Whether it is a time in ns, which scenarios write with a unit (`20ms`).
    pub time: bool,
    /// What it means; may be empty.
    pub about: String,
}

/// Which cpus share a dispatch queue. A cpu whose queue is empty takes from the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// All cpus of the machine.
    Machine,
    /// Those of a NUMA node.
    Node,
    /// Those of a last-level cache.
    Cache,
    /// Each cpu has its own.
    Cpu,
}

impl Queue {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Machine, Self::Node, Self::Cache, Self::Cpu];

    /// Its word in an order.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Node => "node",
            Self::Cache => "cache",
            Self::Cpu => "cpu",
        }
    }

    /// The one of a word.
    #[must_use]
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|queue| queue.word() == word)
    }
}

/// An order by formula: which task of a queue runs next, for how long, and whether one that wakes takes the
/// cpu from another. Its parts are free to be changed; [`Formula::check`] says whether they fit together.
///
/// ```
/// use scx::formula::{Expression, Formula, Function, Variable};
///
/// let text = "parameters:\n  part: { default: 20ms, range: 100us..1s }\n\
///             key: vtime\nslice: part / max(1, queued)\n";
/// let mut formula = Formula::parse("mine.order", text).unwrap();
/// assert_eq!((formula.name.as_str(), formula.parameters[0].default), ("mine", 20_000_000));
///
/// // A search changes a part and tries it; what is printed is read as the same order.
/// let average = Expression::Variable(Variable::AverageBurst);
/// let key = formula.key.take().unwrap();
/// formula.key = Some(Expression::apply(Function::Add, [key, average]));
/// assert_eq!(formula.check(), Ok(()));
/// assert!(formula.to_string().contains("\nkey: vtime + average_burst\n"));
/// assert_eq!(Formula::parse("mine.order", &formula.to_string()).unwrap(), formula);
///
/// // An entry of the registry of policies, with the parameters and their ranges, to be run without a file.
/// let entry = formula.entry().unwrap();
/// assert_eq!((entry.name, entry.parameters[0].name), ("mine", "part"));
/// let policies = policies::PolicyRegistry::with(&[entry]).unwrap();
/// assert!(policies.find("mine").is_some());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    /// Its name in results, and that of the exported scheduler.
    pub name: String,
    /// What it is for, in a line; may be empty.
    pub about: String,
    /// What scenarios can set.
    pub parameters: Vec<Parameter>,
    /// Which cpus share a queue.
    pub queue: Queue,
    /// The task with the least key runs next; none: first come, first served.
    pub key: Option<Expression>,
    /// How long a task may run, ns; at least [`LEAST_SLICE`], at most [`MOST_SLICE`].
    pub slice: Expression,
    /// Whether a task that wakes while all its cpus are busy takes the cpu of the task with the largest key.
    pub preempts: Option<Expression>,
}

impl Formula {
    /// Its formulas by the keys that an order gives them.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, Option<&Expression>); 3] {
        [("key", self.key.as_ref()), ("slice", Some(&self.slice)), ("preempts", self.preempts.as_ref())]
    }

    /// Whether one of its formulas reads a variable.
    #[must_use]
    pub fn reads(&self, variable: Variable) -> bool {
        self.parts().into_iter().any(|(_, part)| part.is_some_and(|part| part.reads(variable)))
    }

    /// Whether one of its formulas has a function in it.
    pub(crate) fn applies(&self, function: Function) -> bool {
        let mut found = false;
        for part in self.parts().into_iter().filter_map(|(_, part)| part) {
            part.each(&mut |part| found |= matches!(part, Expression::Apply(one, _) if *one == function));
        }
        found
    }

    /// Whether its parts fit together: what an order that is read from a file always does.
    ///
    /// # Errors
    /// A sentence about the first part that does not fit.
    pub fn check(&self) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("an order has a name".to_owned());
        }
        if self.parameters.len() > MOST_PARAMETERS {
            let given = self.parameters.len();
            return Err(format!("there are {given} parameters; an order has at most {MOST_PARAMETERS}"));
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            parameter.check()?;
            if self.parameters[..at].iter().any(|other| other.name == parameter.name) {
                return Err(format!("two parameters have the name `{}`", parameter.name));
            }
        }
        if self.preempts.is_some() && self.key.is_none() {
            return Err(PREEMPTS_WITHOUT_KEY.to_owned());
        }
        let texts = std::iter::once(&self.about).chain(self.parameters.iter().map(|one| &one.about));
        for text in texts {
            if notation::neutral::first_invisible(text).is_some() {
                return Err("a text has an invisible character in it".to_owned());
            }
        }
        for (name, part) in self.parts() {
            let Some(part) = part else { continue };
            part.fits().map_err(|why| format!("`{name}`: {why}"))?;
            let mut wrong = None;
            part.each(&mut |one| match one {
                Expression::Variable(variable) if variable.compares() && name != "preempts" => {
                    wrong.get_or_insert(format!("`{name}` reads `{}`", variable.name()));
                }
                Expression::Parameter(unknown) if !self.has(unknown) => {
                    wrong
                        .get_or_insert(format!("`{name}` reads `{unknown}`, and there is no such parameter"));
                }
                _ => {}
            });
            wrong.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|one| one.name == parameter)
    }
}

/// Why a formula without a key cannot preempt.
pub(crate) const PREEMPTS_WITHOUT_KEY: &str = "`preempts` compares keys, and there is no `key`";

impl Parameter {
    /// Whether its name can be one, and whether its range holds its default.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        named(&self.name)?;
        let Self { name, default, least, most, .. } = self;
        if self.time && *least < 0 {
            return Err(format!("`{name}` is a time, and its range begins below 0"));
        }
        if least > most {
            return Err(format!("the range of `{name}` ends before it begins"));
        }
        if !(least..=most).contains(&default) {
            return Err(format!("the default of `{name}` lies outside of its range"));
        }
        Ok(())
    }
}

/// Whether a word can be the name of a parameter.
///
/// # Errors
/// A sentence.
pub(crate) fn named(name: &str) -> Result<(), String> {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty()
        || name.len() > LONGEST_NAME
        || !name.chars().all(letters)
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(format!(
            "`{name}` is no name of a parameter: it has 1 to {LONGEST_NAME} small letters, digits and `_`"
        ));
    }
    if let Some(prefix) = PREFIXES.iter().find(|prefix| name.starts_with(**prefix)) {
        return Err(format!("`{name}`: names with `{prefix}` are those of the exported program"));
    }
    let variable = Variable::find(name).map(|_| "variable");
    let function = Function::find(name).map(|_| "function");
    let taken = TAKEN.contains(&name).then_some("word of C or of the exported program");
    match variable.or(function).or(taken) {
        Some(what) => Err(format!("`{name}` is a {what}: a parameter has another name")),
        None => Ok(()),
    }
}

/// A number of ns in the largest unit in which it is whole.
pub(crate) fn time(ns: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.into_iter().find(|(size, _)| ns != 0 && ns % size == 0);
    unit.map_or_else(|| format!("{ns}ns"), |(size, unit)| format!("{}{unit}", ns / size))
}

/// A text in the quotation marks of YAML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text of the order, which is read as the same one.
impl Display for Formula {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.about.is_empty() {
            writeln!(f, "about: {}", quoted(&self.about))?;
        }
        if !self.parameters.is_empty() {
            f.write_str("parameters:\n")?;
        }
        for parameter in &self.parameters {
            let [default, least, most] = [parameter.default, parameter.least, parameter.most]
                .map(|number| if parameter.time { time(number) } else { number.to_string() });
            write!(f, "  {}: {{ default: {default}, range: {least}..{most}", parameter.name)?;
            if !parameter.about.is_empty() {
                write!(f, ", about: {}", quoted(&parameter.about))?;
            }
            f.write_str(" }\n")?;
        }
        writeln!(f, "queue: {}", self.queue.word())?;
        for (name, part) in self.parts() {
            if let Some(part) = part {
                writeln!(f, "{name}: {part}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Formula {
        let number = Expression::Number;
        Formula {
            name: "try".into(),
            about: "a \"b\" \\ c".into(),
            parameters: vec![Parameter {
                name: "part".into(),
                default: 20_000_000,
                least: 0,
                most: 1_500_000_000,
                time: true,
                about: "x: y".into(),
            }],
            queue: Queue::Cache,
            key: Some(Expression::apply(Function::Add, [number(-1), Expression::Parameter("part".into())])),
            slice: number(5),
            preempts: None,
        }
    }

    #[test]
    fn an_order_is_written_as_it_is_read() {
        let order = order();
        assert_eq!(order.check(), Ok(()));
        let text = order.to_string();
        let expected = "about: \"a \\\"b\\\" \\\\ c\"\nparameters:\n  \
                        part: { default: 20ms, range: 0ns..1500ms, \
                        about: \"x: y\" }\nqueue: cache\nkey: -1 + part\nslice: 5\n";
        assert_eq!(text, expected);
        assert_eq!(Formula::parse("a/try.order", &text).map_err(|problems| problems.to_string()), Ok(order));
    }

    #[test]
    fn parts_that_do_not_fit_together_are_named() {
        let wrong = |change: &dyn Fn(&mut Formula)| {
            let mut order = order();
            change(&mut order);
            order.check().expect_err("it does not fit")
        };
        let variable = Expression::Variable;
        assert_eq!(
            wrong(&|order| order.parameters.clear()),
            "`key` reads `part`, and there is no such parameter"
        );
        assert_eq!(wrong(&|order| order.slice = variable(Variable::Key)), "`slice` reads `key`");
        let preempts = |order: &mut Formula| {
            (order.key, order.preempts) = (None, Some(variable(Variable::Key)));
        };
        assert_eq!(wrong(&preempts), "`preempts` compares keys, and there is no `key`");
        assert_eq!(
            wrong(&|order| order.parameters[0].most = -1),
            "the range of `part` ends before it begins"
        );
        let outside = "the default of `part` lies outside of its range";
        assert_eq!(wrong(&|order| order.parameters[0].default = -1), outside);
        assert!(
            wrong(&|order| order.parameters.push(order.parameters[0].clone())).contains("two parameters")
        );
        let depth = |order: &mut Formula| {
            for _ in 0..20 {
                let inner = order.slice.clone();
                order.slice = Expression::apply(Function::Add, [Expression::Number(1), inner]);
            }
        };
        assert!(wrong(&depth).starts_with("`slice`: it is nested too deeply"));
        for name in ["", "Big", "2a", "a-b", "int", "queue", "vtime", "min", "nr_local", "order_key", "null"]
        {
            assert!(
                wrong(&|order| order.parameters[0].name = name.into()).contains(&format!("`{name}`")),
                "{name}"
            );
        }
    }
}
