//! Operations of programs.

use crate::ids::{DeviceId, EventId, LockId, NodeId, PoolId, ProfileId};
use crate::machine::Memory;
use crate::program::Partners;
use crate::spread::Spread;
use crate::time::{Span, Work};

/// Where the pages lie that an operation works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// On the node where the task first touched its data (its home node).
    FirstTouch,
    /// As `FirstTouch`, but the pages follow a task that computes on another node (next touch): they are
    /// copied once.
    NextTouch,
    /// On the home node of the first rank of the task's process ([`super::AppSpec::process`]), which
    /// initialised the data of all its tasks. Processes share no memory.
    Master,
    /// On the home nodes of all tasks of the process, as many as have their home there: each task first
    /// touched a part of data that all then use at random.
    Team,
    /// Spread over all nodes.
    Interleaved,
    /// On one node; nodes the machine lacks count as node 0.
    Node(NodeId),
}

/// What a compute operation demands of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryProfile {
    /// Bytes per second when alone at nominal speed.
    pub demand: u64,
    /// Memory-bound share of the time, in 1/65,536; `None` derives it from the demand:
    /// min(1, demand / (bound_demand x controller bandwidth)).
    pub bound: Option<u32>,
    /// Bytes the task works on (bounds the refill after a migration).
    pub working_set: u64,
    /// Where its pages lie.
    pub pages: Pages,
    /// Share of the accesses, in 1/65,536, that go to data shared by all tasks and spread over all nodes
    /// instead.
    pub shared: u32,
}

impl MemoryProfile {
    /// Works in its registers: no memory traffic.
    pub const NONE: Self =
        Self { demand: 0, bound: Some(0), working_set: 0, pages: Pages::FirstTouch, shared: 0 };

    /// Its memory-bound share on this memory, in 1/65,536: the one it states, else the one that its demand
    /// means there.
    #[must_use]
    pub fn bound_on(&self, memory: &Memory) -> u32 {
        const ONE: u32 = 1 << 16;
        if let Some(share) = self.bound {
            return share.min(ONE);
        }
        let full = u128::from(memory.node_bandwidth) * u128::from(memory.bound_demand) / 1_000;
        let demand = u128::from(self.demand);
        match full {
            0 if demand > 0 && memory.node_bandwidth > 0 => ONE,
            0 => 0,
            full => ((demand << 16) / full).min(u128::from(ONE)) as u32,
        }
    }

    /// True when automatic NUMA balancing finds its pages in use. Pages whose place a memory policy states
    /// (`mbind`: on one node, interleaved, next touch) are out of its reach (`vma_policy_mof`).
    #[must_use]
    pub const fn is_scanned(&self) -> bool {
        let by_touch = matches!(self.pages, Pages::FirstTouch | Pages::Master | Pages::Team);
        by_touch && self.demand > 0 && self.working_set > 0
    }
}

/// The order in which the ranks of a bulk exchange read each other's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransferOrder {
    /// Every rank starts at source 0, 1, 2, ...: ranks in lock step crowd one source.
    Sequential,
    /// Rank r starts at source r + 1: no crowding.
    Rotated,
}

/// One operation of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Work at nominal speed, its variation per task and execution, and its memory profile.
    Compute {
        /// Mean work of one execution.
        work: Work,
        /// Variation of it.
        spread: Spread,
        /// Memory profile.
        profile: ProfileId,
    },
    /// As `Compute`, by rank 0 alone (a serial section); the others pass over it and meet it at the next
    /// barrier.
    Serial {
        /// Mean work of one execution.
        work: Work,
        /// Variation of it.
        spread: Spread,
        /// Memory profile.
        profile: ProfileId,
    },
    /// Meet all tasks of the application.
    Barrier,
    /// Meet the tasks of the same team ([`super::AppSpec::team`]).
    TeamBarrier,
    /// The end of a parallel region of a team ([`Scope::Join`](crate::wait::Scope::Join)).
    Join,
    /// The first task of each team meets those of the other teams; all others pass at once.
    LeadersBarrier,
    /// Signal rank + shift, then wait for the signal of rank - shift (modulo the number of ranks).
    Exchange {
        /// Distance in ranks; taken modulo their number.
        shift: u32,
    },
    /// A step of a collective: signal a rank, then wait for one, where the step has them for this rank. The
    /// ranks are those of the first tasks of teams; others pass over it.
    Message(Partners),
    /// A rank that such a step lets signal nobody (`tells`), or wait for nobody, goes on at another operation
    /// behind this one, in the same loop body; so does a task that is not the first of its team.
    Apart {
        /// The step.
        with: Partners,
        /// Whether it is about whom the rank signals, or for whom it waits.
        tells: bool,
        /// Where the rank goes on.
        to: u16,
    },
    /// All-to-all: read one block from every other rank, each from the reader's source's home node.
    Transfer {
        /// Bytes of one block.
        block: u64,
        /// Order of the sources.
        order: TransferOrder,
    },
    /// Take a lock of the application ([`super::AppSpec::lock`]).
    Lock(LockId),
    /// Give it back.
    Unlock(LockId),
    /// Sleep for a span (timer).
    Sleep {
        /// Mean length.
        span: Span,
        /// Variation of it.
        spread: Spread,
    },
    /// Call `sched_yield` once.
    Yield,
    /// The task's process ends and a new one takes its rank and continues with the program: it is placed anew
    /// as a fork from the cpu it was on, without cached data or a home, and costs a fork. Its clocks begin
    /// at that instant, and what the one before had changed of itself ([`Op::Set`]) is again as it was.
    Respawn,
    /// The program starts its own clock: what it reports as its run time counts from when the first task gets
    /// here.
    StartClock,
    /// Start of a loop body executed `0` (forever) or this many times.
    Repeat(u32),
    /// Start of a loop body executed this many times (at least once) by all ranks together: each takes the
    /// next pass until none is left, then continues behind the loop. Re-entering restarts the loop. Its body
    /// has no barrier.
    RepeatShared(u32),
    /// End of the innermost loop body.
    End,
    /// Adds to a counted event of the run, then lets go those who wait for it: first come, first served, none
    /// overtakes. Takes no time of its own; who wakes a sleeper pays for that.
    Post {
        /// The event.
        event: EventId,
        /// Units.
        count: u32,
        /// What nobody waits for stays (a semaphore, a queue) or is lost (a condition).
        kept: bool,
    },
    /// Takes units of a counted event, or waits, as for a message, until they are there. Who comes while
    /// others wait, waits behind them.
    Take {
        /// The event.
        event: EventId,
        /// Units, at least 1.
        count: u32,
    },
    /// Begins to wait for one unit of an event, and goes on: [`Op::Unlock`], then [`Op::Take`] of one unit of
    /// the same event follow, as in `pthread_cond_wait`.
    Arm(EventId),
    /// Waits until this many tasks have come to this event here; the last one lets the others go and goes on.
    Meet {
        /// The event, used for nothing else.
        event: EventId,
        /// Tasks that meet, at least 1.
        parties: u32,
    },
    /// Sleeps until the next instant of a clock of the task (`clock_nanosleep` with `TIMER_ABSTIME`). The
    /// first one is `first` after the start of the application, or after the last [`Op::Respawn`] of its
    /// rank; the next ones follow each `period` after the one before. An instant that has passed ends no
    /// sleep: the task goes on at once.
    Until {
        /// Which of the task's clocks, from 0.
        clock: u8,
        /// The first instant.
        first: Span,
        /// From one instant to the next; above 0.
        period: Span,
        /// Instants that have passed are left out (and counted) instead of caught up with.
        skips: bool,
    },
    /// Gives a device work and sleeps until it is done.
    Io {
        /// The device.
        device: DeviceId,
        /// Mean length of its work, above 0.
        span: Span,
        /// Variation of it.
        spread: Spread,
    },
    /// Goes on at another operation behind this one, in the same loop body, with a probability.
    Branch {
        /// The probability, in 1/2^32.
        share: u32,
        /// Where it goes on then.
        to: u16,
    },
    /// Goes on at another operation behind this one, in the same loop body.
    Jump(u16),
    /// The task changes how it is scheduled: a number of [`super::Program::changes`].
    Set(u16),
    /// A task that is not the first of its team goes on at another operation behind this one, in the same
    /// loop body ([`super::AppSpec::team`]).
    Lead(u16),
    /// The work of the present request is done.
    Done,
    /// Takes jobs of a pool and computes them until a pass is over that is not behind the task yet. Where no
    /// job is ready, the task waits for one as for a message.
    Work(PoolId),
}

impl Op {
    /// True where a task waits for others as its runtime says.
    #[must_use]
    pub const fn waits(&self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::TeamBarrier
                | Self::Join
                | Self::LeadersBarrier
                | Self::Exchange { .. }
                | Self::Message(_)
                | Self::Take { .. }
                | Self::Meet { .. }
                | Self::Work(_)
        )
    }
}
