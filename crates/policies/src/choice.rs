//! The choice of a policy: its parameters, what stands beneath it, and what disturbs it.

use notation::parameter::Values;
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::policy::Policy;
use sim_core::program::AppSpec;
use sim_core::wrap::Stacked;

use crate::entry::{Entry, Level, Setting};
use crate::registry::kernel_policy;
use crate::wrap::Perturbed;

/// A policy with the values of its parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The policy.
    pub entry: &'static Entry,
    /// The values; the table is the entry's.
    pub values: Values,
    /// The kernel-level policy beneath a user-level one; none: the kernel's own ([`kernel_policy`]) with its
    /// defaults.
    pub over: Option<Box<Self>>,
    /// How its decisions are disturbed: values of [`crate::Perturbation`]. What stands beneath has its own.
    pub perturb: Option<Values>,
}

impl Choice {
    /// A policy with its default values.
    #[must_use]
    pub fn new(entry: &'static Entry) -> Self {
        Self::with(entry, Values::defaults(entry.parameters))
    }

    /// A policy with these values, on the kernel's own if it is a user-level one, undisturbed.
    #[must_use]
    pub const fn with(entry: &'static Entry, values: Values) -> Self {
        Self { entry, values, over: None, perturb: None }
    }

    /// Whether another choice is the same policy with the same values, on the same one.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        let over = match (&self.over, &other.over) {
            (Some(a), Some(b)) => a.same(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        // Files of one name may have different contents, which their source states.
        over && self.entry.name == other.entry.name
            && self.entry.source == other.entry.source
            && self.values == other.values
            && self.perturb == other.perturb
    }

    /// The kernel-level policy of a run on this kernel when that is another one than the chosen policy: what
    /// stands beneath.
    #[must_use]
    pub fn beneath(&self, kernel: &OsModel) -> Option<Self> {
        match (self.entry.level, &self.over) {
            (Level::InKernel, _) => None,
            (Level::UserLevel, Some(over)) => Some((**over).clone()),
            (Level::UserLevel, None) => Some(Self::new(kernel_policy(kernel.balancer.policy))),
        }
    }

    /// What it is on this kernel, for the record: `SPEED over DWRR, perturbed`.
    #[must_use]
    pub fn stack(&self, kernel: &OsModel) -> String {
        let named = |choice: &Self| {
            let perturbed = if choice.perturb.is_some() { " (perturbed)" } else { "" };
            format!("{}{perturbed}", choice.entry.name)
        };
        match self.beneath(kernel) {
            Some(beneath) => format!("{} over {}", named(self), named(&beneath)),
            None => named(self),
        }
    }

    /// The policy for a run of `apps`; user-level policies come on top of a kernel-level one.
    #[must_use]
    pub fn build(&self, machine: &Machine, kernel: &OsModel, apps: &[AppSpec]) -> Box<dyn Policy> {
        let setting = |choice: &Self| Setting { entry: choice.entry, machine, kernel, apps };
        let bare = |choice: &Self, position| choice.bare(&setting(choice), position);
        match self.beneath(kernel) {
            Some(beneath) => Box::new(Stacked::new(bare(self, 0), bare(&beneath, 1))),
            None => bare(self, 0),
        }
    }

    fn bare(&self, setting: &Setting<'_>, position: u64) -> Box<dyn Policy> {
        let policy = (self.entry.build)(&self.values, setting);
        match &self.perturb {
            Some(values) => Box::new(Perturbed::new(policy, values, position)),
            None => policy,
        }
    }
}

/// The policy of an operating system right after it has booted, without costs and kernel threads of its own,
/// where it distinguishes that. `rebuilt`: its scheduling domains were built at the beginning of the run, so
/// that nothing is known of how busy they are.
#[must_use]
pub fn just_booted(machine: &Machine, kernel: &OsModel, apps: &[AppSpec], rebuilt: bool) -> Box<dyn Policy> {
    let entry = kernel_policy(kernel.balancer.policy);
    let setting = Setting { entry, machine, kernel, apps };
    if entry.name == "LOAD" {
        return crate::load::just_booted(&setting, rebuilt);
    }
    Choice::new(entry).build(machine, kernel, apps)
}
