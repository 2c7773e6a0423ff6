//! Programs as trees of statements, with the places where they are written.

use std::fmt;

use notation::diagnostics::Place;
use notation::parameter::Kind;
use sim_core::machine::CpuSet;
use sim_core::time::Span;

/// A name with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it is written.
    pub place: Place,
}

/// How a length varies from one execution to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vary {
    /// Not at all.
    Fixed,
    /// Uniformly about the mean, with this half-width in hundredths of a per cent.
    Uniform(u64),
    /// Exponentially.
    Exponential,
    /// Log-normally, with this standard deviation in hundredths of a per cent of the mean.
    Lognormal(u64),
}

/// A length of work, sleep or service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Length {
    /// A mean and its variation.
    Mean(Span, Vary),
    /// One of a table of the program.
    Table(Name),
}

/// Statements in their order.
pub type Block = Vec<Statement>;

/// A statement with the place of its first word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it does.
    pub action: Action,
    /// Where it is written.
    pub place: Place,
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Computes, with a memory profile if it names one.
    Run(Length, Option<Name>),
    /// Sleeps (a timer).
    Sleep(Length),
    /// Sleeps until the next instant of a clock.
    Until {
        /// From one instant to the next.
        period: Span,
        /// The first instant, after the start of the application.
        first: Span,
        /// Which clock; without a name, that of all such statements.
        clock: Option<Name>,
        /// Instants that have passed are left out.
        skips: bool,
    },
    /// Takes a lock.
    Lock(Name),
    /// Gives it back.
    Unlock(Name),
    /// Waits for a condition: gives the lock back meanwhile.
    Wait(Name, Name),
    /// Lets go so many who wait for a condition.
    Signal(Name, u32),
    /// Lets go all who wait for it.
    Broadcast(Name),
    /// Takes units of a semaphore.
    Acquire(Name, u32),
    /// Gives units to it.
    Release(Name, u32),
    /// Puts an item into a queue.
    Send(Name),
    /// Takes an item out of it.
    Receive(Name),
    /// Meets the other tasks of the kind, or at a named barrier.
    Barrier(Option<Name>),
    /// Exchanges messages with the ranks at this distance.
    Exchange(u32),
    /// Starts tasks of a kind.
    Fork(Name, u32),
    /// Waits for the ends of so many.
    Join(Name, u32),
    /// Calls `sched_yield`.
    Yield,
    /// Gives work to a device and sleeps until it is done.
    Io(Name, Length),
    /// A block so many times.
    Repeat(u32, Block),
    /// A block without end.
    Forever(Block),
    /// A block so many times by all tasks of the kind together.
    Share(u32, Block),
    /// One of these blocks, each with its probability in hundredths of a per cent; else none.
    Choose(Vec<(u64, Block)>),
    /// A section.
    Call(Name),
    /// Another nice value for the task itself.
    Nice(i8),
    /// Other cpus for it.
    Cpus(CpuSet),
    /// The present request is answered.
    Done,
    /// The clock of the program starts.
    StartClock,
}

impl Action {
    /// The blocks inside it.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (one, several): (Option<&Block>, &[(u64, Block)]) = match self {
            Self::Repeat(_, block) | Self::Forever(block) | Self::Share(_, block) => (Some(block), &[]),
            Self::Choose(cases) => (None, cases),
            _ => (None, &[]),
        };
        one.into_iter().chain(several.iter().map(|(_, block)| block))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(name) => write!(f, "table {}", name.text),
            Self::Mean(span, vary) => {
                f.write_str(&span_text(*span))?;
                match vary {
                    Vary::Fixed => Ok(()),
                    Vary::Uniform(width) => write!(f, " uniform {}", Kind::Percent.show(*width)),
                    Vary::Exponential => f.write_str(" exponential"),
                    Vary::Lognormal(sd) => write!(f, " lognormal {}", Kind::Percent.show(*sd)),
                }
            }
        }
    }
}

fn span_text(span: Span) -> String {
    Kind::Duration.show(span.ns())
}

/// A program as text, as the parser reads it.
#[must_use]
pub fn text_of(block: &[Statement]) -> String {
    let mut text = String::new();
    write_block(&mut text, block, 0);
    text
}

fn write_block(text: &mut String, block: &[Statement], depth: usize) {
    let indent = "  ".repeat(depth);
    for statement in block {
        let action = &statement.action;
        text.push_str(&indent);
        text.push_str(&head(action));
        if let Action::Choose(cases) = action {
            text.push_str(" {\n");
            for (share, inner) in cases {
                text.push_str(&format!("{indent}  {} {{\n", Kind::Percent.show(*share)));
                write_block(text, inner, depth + 2);
                text.push_str(&format!("{indent}  }}\n"));
            }
            text.push_str(&format!("{indent}}}"));
        } else if let Some(inner) = action.blocks().next() {
            text.push_str(" {\n");
            write_block(text, inner, depth + 1);
            text.push_str(&format!("{indent}}}"));
        }
        text.push('\n');
    }
}

/// A statement without its blocks.
fn head(action: &Action) -> String {
    let counted = |word: &str, name: &Name, count: u32| match count {
        1 => format!("{word} {}", name.text),
        _ => format!("{word} {} {count}", name.text),
    };
    match action {
        Action::Run(length, None) => format!("run {length}"),
        Action::Run(length, Some(profile)) => format!("run {length} with {}", profile.text),
        Action::Sleep(length) => format!("sleep {length}"),
        Action::Until { period, first, clock, skips } => {
            let mut text = format!("until {}", span_text(*period));
            if *first > Span::ZERO {
                text.push_str(&format!(" from {}", span_text(*first)));
            }
            if let Some(clock) = clock {
                text.push_str(&format!(" clock {}", clock.text));
            }
            if *skips {
                text.push_str(" skip");
            }
            text
        }
        Action::Lock(name) => format!("lock {}", name.text),
        Action::Unlock(name) => format!("unlock {}", name.text),
        Action::Wait(condition, lock) => format!("wait {} with {}", condition.text, lock.text),
        Action::Signal(name, count) => counted("signal", name, *count),
        Action::Broadcast(name) => format!("broadcast {}", name.text),
        Action::Acquire(name, count) => counted("acquire", name, *count),
        Action::Release(name, count) => counted("release", name, *count),
        Action::Send(name) => format!("send {}", name.text),
        Action::Receive(name) => format!("receive {}", name.text),
        Action::Barrier(None) => "barrier".into(),
        Action::Barrier(Some(name)) => format!("barrier {}", name.text),
        Action::Exchange(shift) => format!("exchange {shift}"),
        Action::Fork(name, count) => counted("fork", name, *count),
        Action::Join(name, count) => counted("join", name, *count),
        Action::Yield => "yield".into(),
        Action::Io(device, length) => format!("io {} {length}", device.text),
        Action::Repeat(count, _) => format!("repeat {count}"),
        Action::Forever(_) => "forever".into(),
        Action::Share(count, _) => format!("share {count}"),
        Action::Choose(_) => "choose".into(),
        Action::Call(name) => format!("call {}", name.text),
        Action::Nice(nice) => format!("nice {nice}"),
        Action::Cpus(set) => {
            let cpus: Vec<String> = set.iter().map(|cpu| cpu.0.to_string()).collect();
            format!("cpus {}", cpus.join(","))
        }
        Action::Done => "done".into(),
        Action::StartClock => "start clock".into(),
    }
}
