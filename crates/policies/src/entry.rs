//! What a policy says of itself: its entry in the registry, and the scenarios that show what it is good and
//! bad at.

use std::fmt::{self, Debug, Formatter};

use notation::parameter::{Parameter, Values};
use notation::prose::section;
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::policy::Policy;
use sim_core::program::AppSpec;

/// Where a policy lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// It is the kernel's placement and balancing.
    InKernel,
    /// A user-level daemon or runtime on top of the kernel's own policy ([`crate::kernel_policy`]).
    UserLevel,
}

impl Level {
    /// The word used in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InKernel => "kernel",
            Self::UserLevel => "user",
        }
    }
}

/// What a policy makes of task groups (`session`, `cgroup`) and of `scheduling: batch` and `idle`, which are
/// rules of the run queues of Linux. A scenario with them refuses the policies that do not work with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskGroups {
    /// The queues of the operating system follow them: the policy leaves their order to it
    /// ([`Policy::order`]), sets no priority levels ([`sim_core::policy::System::set_priority`]) and lets no
    /// task yield to another one.
    Kept,
    /// The policy orders the queues and is told of the groups and their weights
    /// ([`sim_core::policy::View::groups`]). Limits of their cpu time are refused, and so are classes.
    Told,
    /// It knows nothing of them.
    Refused,
}

/// What a policy may know of the run when it is built: the machine, its kernel and the programs as submitted.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The entry that is built: one function can build the policies of several entries.
    pub entry: &'static Entry,
    /// The machine.
    pub machine: &'a Machine,
    /// Its kernel.
    pub kernel: &'a OsModel,
    /// The applications of the run, in the order of their ids.
    pub apps: &'a [AppSpec],
}

/// A scenario that shows what a policy is good or bad at; a test runs it and compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Showcase {
    /// The file `scenarios/policies/NAME.yaml`, without folder and ending.
    pub scenario: &'static str,
    /// Label of this policy there.
    pub label: &'static str,
    /// Label of the policy it is compared with.
    pub against: &'static str,
    /// The application whose run time is compared; `all`: the makespan.
    pub app: &'static str,
    /// Point of the sweep; empty without one.
    pub point: &'static str,
}

impl Showcase {
    /// None: for policies outside this crate, which no test here runs.
    pub const NONE: Self = Self { scenario: "", label: "", against: "", app: "", point: "" };
}

/// What builds a policy from the values of its parameters; it may carry what it builds from.
pub type Build = dyn Fn(&Values, &Setting<'_>) -> Box<dyn Policy> + Sync;

/// A policy in the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name in scenarios and reports.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where the algorithm comes from.
    pub source: &'static str,
    /// Kernel or user level.
    pub level: Level,
    /// What it makes of task groups.
    pub task_groups: TaskGroups,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its long texts: a Markdown file with the sections that the methods below name.
    pub text: &'static str,
    /// Where it is faster than another policy.
    pub wins: Showcase,
    /// Where it is slower than another policy.
    pub loses: Showcase,
    /// Builds the bare policy; [`crate::Choice::build`] also puts user-level ones on top of the kernel's own.
    pub build: &'static Build,
}

impl Debug for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, source, .. } = self;
        f.debug_struct("Entry").field("name", name).field("source", source).finish_non_exhaustive()
    }
}

impl Entry {
    /// Idea, rules and when to use it, in paragraphs.
    #[must_use]
    pub fn about(&self) -> String {
        section(self.text, "How it works")
    }

    /// What the real one can observe, and where it reads it.
    #[must_use]
    pub fn observes(&self) -> String {
        section(self.text, "What the real policy observes")
    }

    /// What its decisions cost, and what pays.
    #[must_use]
    pub fn costs(&self) -> String {
        section(self.text, "What it costs")
    }

    /// The rules on a small case, computed step by step.
    #[must_use]
    pub fn example(&self) -> String {
        section(self.text, "Worked example")
    }

    /// What happens in [`Self::wins`] and why, in a sentence or two.
    #[must_use]
    pub fn wins_because(&self) -> String {
        section(self.text, "Where it wins")
    }

    /// What happens in [`Self::loses`] and why, in a sentence or two.
    #[must_use]
    pub fn loses_because(&self) -> String {
        section(self.text, "Where it loses")
    }
}
