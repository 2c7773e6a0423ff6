//! Periodic tasks of a scenario: what theory says of their deadlines, and what simulation finds.

mod search;
mod tasks;
pub mod text;
pub mod theory;

use scenario::plan::{Experiment, NO_POLICY, RunPlan};
use serde::Serialize;

pub use search::{Witness, worst};
pub use tasks::{LeftOut, Order, Task};

use crate::run::{RunError, refused};
use crate::simulate::simulate_one;
use theory::Periodic;

/// What is known of one policy of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// Label of the policy.
    pub policy: String,
    /// What orders the tasks.
    pub order: Order,
    /// The tasks by the cpu that they share.
    pub groups: Vec<Group>,
    /// Applications about which theory says nothing here, and why.
    pub left_out: Vec<LeftOut>,
    /// Why theory says nothing about the response times of the others, sentences without a full stop.
    pub silent: Vec<String>,
}

/// Tasks that share one cpu, or all cpus of the machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Group {
    /// How many cpus they share.
    pub cpus: u32,
    /// The cpu, if it is one.
    pub cpu: Option<u32>,
    /// Share of a cpu that they use, 0 and more.
    pub utilisation: f64,
    /// Whether theory promises that no deadline is missed: yes, no (one is missed by some arrival), or
    /// nothing.
    pub meets_all: Option<bool>,
    /// The tasks in the order of the scenario.
    pub rows: Vec<Row>,
}

/// A task with its times in ns.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The application.
    pub app: String,
    /// How many such tasks it has.
    pub tasks: u32,
    /// Work of a job at most.
    pub work_ns: u64,
    /// Its period.
    pub period_ns: u64,
    /// Its deadline, from the release.
    pub deadline_ns: u64,
    /// The longest response by theory; none without a bound.
    pub bound_ns: Option<u64>,
    /// The longest response in the runs of the scenario.
    pub seen_ns: Option<u64>,
    /// Jobs that ended after their deadline in these runs, and jobs that ended.
    pub late: u64,
    /// Jobs that ended.
    pub jobs: u64,
}

/// Analyses every policy of a scenario at its first configuration and runs its replicates.
///
/// # Errors
/// A run is refused.
pub fn analyse(experiment: &Experiment) -> Result<Vec<Analysis>, RunError> {
    let of = |policy: usize| {
        let mine = |run: &&RunPlan| run.policy == policy && run.configuration == 0 && policy != NO_POLICY;
        let plans: Vec<&RunPlan> = experiment.runs.iter().filter(mine).collect();
        let mut analysis = analysis(experiment.policies[policy].clone(), plans.first().copied());
        for plan in plans {
            let report = simulate_one(plan, &mut ()).map_err(|why| refused(experiment, plan, why))?;
            for row in analysis.groups.iter_mut().flat_map(|group| &mut group.rows) {
                let apps = report.apps.iter().filter(|app| app.name == row.app);
                for app in apps {
                    let seen = app.responses.as_ref().and_then(|times| times.quantiles());
                    row.seen_ns = row.seen_ns.max(seen.map(|times| times.max.ns()));
                    row.late += app.counters.late_responses;
                    row.jobs += app.counters.responses;
                }
            }
        }
        Ok(analysis)
    };
    (0..experiment.policies.len()).map(of).collect()
}

fn analysis(policy: String, plan: Option<&RunPlan>) -> Analysis {
    let Some(plan) = plan else {
        let (groups, left_out, silent) = (Vec::new(), Vec::new(), Vec::new());
        return Analysis { policy, order: Order::Unknown, groups, left_out, silent };
    };
    let (order, tasks, left_out) = tasks::of(plan);
    let silent = tasks::silent(plan, order, &tasks, &left_out);
    // What theory would say does not hold then.
    let theory = if silent.is_empty() { order } else { Order::Unknown };
    let mut groups: Vec<(Option<u32>, Vec<Task>)> = Vec::new();
    let single = plan.machine.cpus() == 1 || tasks.iter().all(|task| task.cpu.is_some());
    for task in tasks {
        let cpu = if single { task.cpu.or(Some(0)) } else { None };
        match groups.iter_mut().find(|(known, _)| *known == cpu) {
            Some((_, members)) => members.push(task),
            None => groups.push((cpu, vec![task])),
        }
    }
    let cpus = plan.machine.cpus();
    let groups = groups.into_iter().map(|(cpu, tasks)| group(theory, cpu, cpus, &tasks)).collect();
    Analysis { policy, order, groups, left_out, silent }
}

fn group(order: Order, cpu: Option<u32>, cpus: u32, tasks: &[Task]) -> Group {
    // The tasks of an application are released together and alike: the last of them ends when all their work
    // is done.
    let together =
        |task: &Task| Periodic { work: task.times.work.saturating_mul(task.tasks.into()), ..task.times };
    let all: Vec<Periodic> = tasks.iter().map(together).collect();
    let bounds = match (order, cpu) {
        (Order::Fixed, Some(_)) => theory::fixed_responses(&all),
        (Order::Deadline, Some(_)) => theory::edf_responses(&all),
        _ => vec![None; all.len()],
    };
    let utilisation = theory::utilisation(&all);
    let meets_all = match (order, cpu) {
        (Order::Deadline, Some(_)) => theory::edf_meets_all(&all),
        (Order::Fixed, Some(_)) => theory::fixed_meets_all(&all),
        _ if utilisation > f64::from(cpus) => Some(false),
        _ => None,
    };
    let rows = tasks.iter().zip(bounds).map(|(task, bound_ns)| Row {
        app: task.app.clone(),
        tasks: task.tasks,
        work_ns: task.times.work,
        period_ns: task.times.period,
        deadline_ns: task.times.deadline,
        bound_ns,
        seen_ns: None,
        late: 0,
        jobs: 0,
    });
    let rows = rows.collect();
    Group { cpus: if cpu.is_some() { 1 } else { cpus }, cpu, utilisation, meets_all, rows }
}
