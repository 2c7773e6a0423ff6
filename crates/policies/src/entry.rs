//! What a policy says of itself: its entry on the shelf, and the scenarios that show what it is good and bad at.

use notation::parameter::{Parameter, Values};
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

/// What a policy may know of the run when it is built: the machine, its kernel and the programs as submitted.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
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
    /// What happens there and why, in a sentence or two.
    pub about: &'static str,
}

impl Showcase {
    /// None: for policies outside this crate, which no test here runs.
    pub const NONE: Self = Self { scenario: "", label: "", against: "", app: "", point: "", about: "" };
}

/// A policy on the shelf.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in scenarios and reports.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where the algorithm comes from.
    pub source: &'static str,
    /// Kernel or user level.
    pub level: Level,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Idea, rules and when to use it, in paragraphs.
    pub about: &'static str,
    /// What the real one can see, and where it reads it.
    pub sees: &'static str,
    /// What its decisions cost, and who pays.
    pub costs: &'static str,
    /// Where it is faster than another policy.
    pub wins: Showcase,
    /// Where it is slower than another policy.
    pub loses: Showcase,
    /// Builds the bare policy; [`crate::Choice::build`] also puts user-level ones on top of the kernel's own.
    pub build: fn(&Values, &Setting<'_>) -> Box<dyn Policy>,
    /// The rules on a small case, worked out by hand.
    pub example: &'static str,
}
