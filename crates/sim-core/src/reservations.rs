//! Which tasks of `SCHED_DEADLINE` Linux admits (`__sched_setscheduler`, kernel/sched/syscalls.c).
//!
//! Each set of cpus that such tasks may use is a root domain, which an exclusive cpuset makes: no other
//! application may use a part of it and cpus outside. Within it, bandwidths must not exceed the limit. The
//! reservations of all applications of a run count, also of those that start when others have ended.

use crate::command::Act;
use crate::ids::CpuId;
use crate::os::DeadlineRules;
use crate::program::{AppSpec, Change, bandwidth};

/// Why an application is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Its number among those that were checked.
    pub app: usize,
    /// A sentence, without a full stop.
    pub message: String,
    /// What would be right; empty where the sentence says it.
    pub hint: String,
}

/// The cpus of a machine with so many that an application may use.
fn cpus_of(app: &AppSpec, cpus: u32) -> Vec<u32> {
    let may = |cpu: &u32| app.allowed.as_ref().is_none_or(|set| set.contains(CpuId(*cpu)));
    (0..cpus).filter(may).collect()
}

/// A share of a cpu in units of 2^-20, in per cent.
fn percent(bandwidth: u128) -> String {
    // Linux rounds each share down.
    let hundredths = (bandwidth * 10_000).div_ceil(1 << 20);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// The first application that Linux does not admit, on a machine with so many cpus. `copies`: how many there
/// are of each; one where the list ends.
#[must_use]
pub fn refused(cpus: u32, rules: &DeadlineRules, apps: &[&AppSpec], copies: &[u32]) -> Option<Refused> {
    let limit = rules.limit?;
    let all: Vec<Vec<u32>> = apps.iter().map(|app| cpus_of(app, cpus)).collect();
    let reserves = |app: &usize| apps[*app].reserved() > 0;
    for app in (0..apps.len()).filter(reserves) {
        let spec = apps[app];
        let moves = spec.program.changes().iter().any(|change| matches!(change, Change::Cpus(_)));
        let bound = spec.commands.iter().any(|command| matches!(command.act, Act::Bind(_)));
        if moves || bound || !spec.rebinds.is_empty() {
            let message = format!("`{}`: tasks of SCHED_DEADLINE keep their cpus (EBUSY)", spec.name);
            return Some(Refused { app, message, hint: "remove what changes them".into() });
        }
        let own = &all[app];
        let inside = |other: &usize| all[*other].iter().filter(|cpu| own.contains(*cpu)).count();
        // Others are inside or outside; those with reservations have the same cpus or none of them.
        let fits = |other: &usize| match inside(other) {
            0 => true,
            shared => shared == all[*other].len() && (!reserves(other) || shared == own.len()),
        };
        if let Some(other) = (0..apps.len()).find(|other| !fits(other)) {
            let (name, beside) = (&spec.name, &apps[other].name);
            return Some(Refused {
                app,
                message: format!(
                    "the cpus of `{name}` are no root domain: those of `{beside}` are partly among them \
                     (EPERM)"
                ),
                hint: format!(
                    "tasks of SCHED_DEADLINE may use all cpus or those of an exclusive cpuset: give `{name}` \
                     and `{beside}` the same cpus or separate ones, or switch the test off with \
                     `deadline_limit: 0s` of the kernel"
                ),
            });
        }
        let count = |other: usize| u128::from(copies.get(other).copied().unwrap_or(1));
        let same = (0..apps.len()).filter(|other| all[*other] == *own);
        let sum: u128 = same.map(|other| apps[other].reserved() * count(other)).sum();
        if !rules.admit(sum, own.len() as u32) {
            let most = u128::from(bandwidth(limit, rules.period)) * own.len() as u128;
            return Some(Refused {
                app,
                message: format!(
                    "tasks of SCHED_DEADLINE reserve {} of {} {}, and {} can be reserved (EBUSY)",
                    percent(sum),
                    own.len(),
                    if own.len() == 1 { "cpu" } else { "cpus" },
                    percent(most),
                ),
                hint: "shorten a `runtime` or lengthen a `period`; `deadline_limit` of the kernel over \
                       `rt_period` is the limit per cpu"
                    .into(),
            });
        }
    }
    None
}
