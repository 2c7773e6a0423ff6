//! Programs as trees of statements, with the places where they are written.

use notation::diagnostics::Place;
use sim_core::machine::CpuSet;
use sim_core::program::Scheduling;
use sim_core::time::Span;

use super::collectives::Collective;

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

/// Work with its memory profile, if it names one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// How long it takes.
    pub length: Length,
    /// Its memory profile.
    pub profile: Option<Name>,
    /// Where it is written.
    pub place: Place,
}

/// What a message carries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Bytes; 0 for a signal alone.
    pub bytes: u64,
    /// The memory profile of copying them, if it names one.
    pub profile: Option<Name>,
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
    /// The runtime under which it waits, if it names one.
    pub by: Option<Name>,
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
    /// Sends to the rank at this distance, and receives from the one that has this one at it.
    Exchange(u32, Data),
    /// A collective of all tasks of the kind.
    Collective(Collective, Data),
    /// Starts tasks of a kind.
    Fork(Name, u32),
    /// Waits for the ends of so many.
    Join(Name, u32),
    /// Works in a graph of jobs until a pass is over.
    Work(Name),
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
    /// A parallel region: a block by all threads of the team, which meet before and after it.
    Parallel(Block),
    /// A section.
    Call(Name),
    /// Another nice value for the task itself.
    Nice(i8),
    /// Other cpus for it.
    Cpus(CpuSet),
    /// Another scheduling class for it.
    Scheduling(Scheduling),
    /// The present request is answered.
    Done,
    /// The clock of the program starts.
    StartClock,
}

impl Action {
    /// The blocks inside it.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (one, several): (Option<&Block>, &[(u64, Block)]) = match self {
            Self::Repeat(_, block) | Self::Forever(block) | Self::Share(_, block) | Self::Parallel(block) => {
                (Some(block), &[])
            }
            Self::Choose(cases) => (None, cases),
            _ => (None, &[]),
        };
        one.into_iter().chain(several.iter().map(|(_, block)| block))
    }
}
