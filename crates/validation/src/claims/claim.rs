//! A published outcome: its texts, and the conditions they state.

use super::asked::Asked;
use super::baseline::{Baseline, Order};
use super::environment::Environment;
use super::form::{Allowed, Form, Tolerance, Value};
use super::machines::{Classes, Machines, Models};
use super::metric::{Family, Metric};
use super::policy::Policies;
use super::statement::Statement;
use super::text::named;
use super::threads::Threads;
use super::waiting::{self, Wait, Yield};
use super::workload::Workload;

/// The texts of a claim as its file has them: what reports show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Texts {
    /// Machines, separated by commas (or `vs`); `none` when the source names none.
    pub machine: String,
    /// Programs, pairs, mixes of jobs.
    pub workload: String,
    /// Problem classes.
    pub class: String,
    /// Programming models.
    pub model: String,
    /// How many threads, per core, per job or in all.
    pub threads: String,
    /// The policy measured.
    pub policy: String,
    /// What it is compared with.
    pub baseline: String,
    /// Yield semantics of the kernel: `posix`, `cfs`, both, or not stated.
    pub yields: String,
    /// How threads wait.
    pub wait: String,
    /// Alone, shared, beside what.
    pub environment: String,
    /// What was measured, by the names of the file's `metrics`.
    pub metric: String,
    /// Unit of the value.
    pub unit: String,
}

/// What a claim says of the conditions in [`Texts`]; made once, when it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// The experiments that may answer it; `None` for a group that is not known.
    pub family: Option<Family>,
    /// Machines.
    pub machines: Machines,
    /// Programs.
    pub workload: Workload,
    /// Problem classes.
    pub classes: Classes,
    /// Programming models.
    pub models: Models,
    /// Numbers of threads.
    pub threads: Threads,
    /// The policy measured.
    pub policy: Policies,
    /// What it is compared with.
    pub baseline: Baseline,
    /// What `sched_yield` does, where it is stated.
    pub yields: Vec<Yield>,
    /// How threads wait.
    pub wait: Wait,
    /// What else is on the machine.
    pub environment: Environment,
    /// What was measured; `None` for a metric that is not known.
    pub metric: Option<Metric>,
    /// What a statement in words puts in order.
    pub order: Option<Order>,
    /// The statement.
    pub statement: Statement,
}

impl Conditions {
    pub(super) fn read(group: &str, texts: &Texts, value: &Value) -> Self {
        Self {
            family: Family::of(group),
            machines: Machines::read(&texts.machine),
            workload: Workload::read(&texts.workload),
            classes: Classes::read(&texts.class),
            models: Models::read(&texts.model),
            threads: Threads::read(&texts.threads),
            policy: Policies::read(&texts.policy),
            baseline: Baseline::read(&texts.baseline),
            yields: waiting::yields(&texts.yields),
            wait: Wait::read(&texts.wait),
            environment: Environment::read(
                &texts.environment,
                &texts.workload,
                &texts.threads,
                &texts.baseline,
            ),
            metric: named(&texts.metric),
            order: Order::read(&value.shown(), &texts.baseline),
            statement: Statement::read(&value.shown()),
        }
    }

    /// The yields to run with: the POSIX one where none is stated.
    #[must_use]
    pub fn yields(&self) -> Vec<Yield> {
        if self.yields.is_empty() { vec![Yield::Posix] } else { self.yields.clone() }
    }
}

/// A published outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// Unique name. Nothing is ever decided by it.
    pub id: String,
    /// Which experiment it belongs to, such as `yield` or `swomps-t4-pairs`.
    pub group: String,
    /// Document and place in it.
    pub source: String,
    /// The conditions as the file has them.
    pub texts: Texts,
    /// The conditions it was measured at.
    pub at: Conditions,
    /// The cells that it names itself; `None` for a claim that is resolved by its conditions.
    pub asked: Option<Asked>,
    /// What kind of statement it is.
    pub form: Form,
    /// The published value.
    pub value: Value,
    /// How far off still counts as reproduced.
    pub tolerance: Tolerance,
    /// Why it is uncertain (a damaged source, sources in conflict, conditions not stated); `None` when it is
    /// not.
    pub uncertain: Option<String>,
}

impl Claim {
    /// The published value on one line.
    #[must_use]
    pub fn published(&self) -> String {
        self.value.shown()
    }

    /// What is near enough to a number of it.
    #[must_use]
    pub fn around(&self, published: f64) -> Allowed {
        self.tolerance.around(published, self.at.metric.map_or(0.0, Metric::neutral))
    }

    /// The same claim at other conditions.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&mut Texts)) -> Self {
        let mut texts = self.texts.clone();
        change(&mut texts);
        Self { at: Conditions::read(&self.group, &texts, &self.value), texts, ..self.clone() }
    }
}
