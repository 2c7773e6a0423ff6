//! The rules of kernels that leave a cpu idle while a task that may run there waits, each with its source.

use sim_core::time::Span;

use super::looks::Idle;
use super::{Kernel, Report};

/// A rule that accounts for a stretch.
pub struct Rule {
    /// The rule in a few words.
    pub name: &'static str,
    /// File and function.
    pub source: &'static str,
    /// The kernels that have it.
    of: fn(&Kernel) -> bool,
    /// True where what was observed shows the rule at work.
    holds: fn(Kernel, &Report) -> bool,
}

/// All of them; the first that holds is the name of a stretch.
pub const RULES: [Rule; 19] = [
    Rule {
        name: "no state of the queues lasts two intervals",
        source: "2.6 kernel/sched.c rebalance_domains; 6.18 kernel/sched/fair.c sched_balance_domains",
        of: is_linux,
        holds: |kernel, report| {
            report.stretch.still <= report.patience && (is_old(&kernel) || report.ripe <= attempts(report, 1))
        },
    },
    Rule {
        name: "one cpu balances for its group, and the masks or loads keep it from helping",
        source: "2.6.20 on kernel/sched.c find_busiest_group (*balance = 0)",
        of: is_old,
        holds: |kernel, report| shows(kernel, report, Idle::NotDesignated),
    },
    Rule {
        name: "a group with no more tasks than cpus is not overloaded",
        source: "2.6 kernel/sched.c find_busiest_group: sum_nr_running > group_capacity, group_imb; 6.18 \
            fair.c sched_balance_find_src_group, calculate_imbalance, adjust_numa_imbalance",
        of: is_linux,
        holds: |kernel, report| shows(kernel, report, Idle::NotOverloaded),
    },
    Rule {
        name: "loads of groups are within imbalance_pct, or the own one is above the average",
        source: "2.6 kernel/sched.c find_busiest_group: out_balanced; 6.18 fair.c \
            sched_balance_find_src_group, calculate_imbalance",
        of: is_linux,
        holds: |kernel, report| shows(kernel, report, Idle::Loads),
    },
    Rule {
        name: "only the busiest queue is looked at, and masks keep its tasks there",
        source: "2.6 kernel/sched.c find_busiest_queue, can_migrate_task: no other cpu of the group is tried",
        of: is_old,
        holds: |kernel, report| shows(kernel, report, Idle::AnotherQueue),
    },
    Rule {
        name: "the queue with the most load has one task, which is pushed only for numbers of tasks",
        source: "6.18 fair.c sched_balance_find_src_rq (migrate_load), imbalanced_active_balance",
        of: |kernel| kernel.name == "linux-6.18",
        holds: |kernel, report| shows(kernel, report, Idle::Lone),
    },
    Rule {
        name: "a task of more than twice the amount to move stays",
        source: "2.6 kernel/sched.c balance_tasks: skip_for_load",
        of: is_old,
        holds: |kernel, report| shows(kernel, report, Idle::TooHeavy),
    },
    Rule {
        name: "the only task with the best priority of its queue stays while another one runs",
        source: "2.6.18 kernel/sched.c move_tasks: busiest_best_prio_seen; task_timeslice: at most 800 ms",
        of: |kernel| kernel.name == "linux-2.6.18",
        holds: |kernel, report| {
            let slice = Span::from_ms(800) + attempts(report, 1);
            shows(kernel, report, Idle::OnlyBest) && report.stretch.still <= slice
        },
    },
    Rule {
        name: "hot tasks: up to cache_nice_tries + 3 failed attempts before the running task is pushed",
        source: "2.6 kernel/sched.c can_migrate_task, load_balance; 6.18 fair.c need_active_balance",
        of: is_linux,
        holds: |_, report| report.stretch.still <= attempts(report, 1),
    },
    Rule {
        name: "a cpu that goes idle keeps the time of its next attempt, set while it was busy",
        source: "2.6.27 to 2.6.30 kernel/sched.c idle_balance: next_balance moves only after a pull",
        of: |kernel| is_linux(kernel) && !matches!(kernel.name, "linux-2.6.18" | "linux-6.18"),
        holds: |_, report| was_busy(report) && report.stretch.still <= attempts(report, busy_factor(report)),
    },
    Rule {
        name: "an idle thread beside a busy one of its core balances as a busy cpu",
        source: "2.6 kernel/sched.c load_balance: returns -1 under SD_SHARE_CPUPOWER (sd_idle)",
        of: is_old,
        holds: |_, report| {
            // Masks may have doubled its interval in an earlier state of the queues.
            let masked = report.masks.iter().any(|mask| *mask != report.masks[0]);
            let doubled = Span::from_ms(MAX_INTERVAL_MS + 2 * MAX_PINNED_MS);
            let most = if masked { doubled } else { attempts(report, busy_factor(report)) };
            smt_sibling_busy(report) && report.stretch.still <= most
        },
    },
    Rule {
        name: "tasks that may all not come: the interval doubles to MAX_PINNED_INTERVAL",
        source: "2.6 kernel/sched.c load_balance; 6.18 fair.c sched_balance_rq: 512 ms",
        of: is_linux,
        holds: |kernel, report| report.masks_matter() && report.stretch.still <= pinned(kernel, report),
    },
    Rule {
        name: "a task too heavy for the amount counts as pinned: the interval doubles",
        source: "2.6 kernel/sched.c balance_tasks (2.6.18 move_tasks): skip_for_load is tested before \
            can_migrate_task clears all_pinned; rebalance_domains: next_balance",
        of: is_old,
        holds: |kernel, report| report.ripe <= doubled(kernel, report),
    },
    Rule {
        name: "masks: the level above helps only while the mark stands, which balanced passes clear",
        source: "6.18 fair.c sched_balance_rq: sgc->imbalance, out_balanced",
        of: |kernel| kernel.name == "linux-6.18",
        holds: |kernel, report| {
            let shown = report.masks_matter() && report.reasons(kernel).is_some();
            shown && (is_cleared(report) || report.stretch.still <= helped(report))
        },
    },
    Rule {
        name: "idle cpus steal only from long queues, and the long-term balancer moves one thread a pass",
        source: "FreeBSD sched_ule.c tdq_idled (steal_thresh), sched_balance_pair, sched_balance_group",
        of: |kernel| kernel.policy == "ULE",
        holds: |kernel, report| report.stretch.still <= kernel.interval + Span::from_ms(TICK_MS),
    },
    Rule {
        name: "the long-term balancer pairs the longest and the shortest queue, whatever the masks",
        source: "FreeBSD sched_ule.c sched_balance, sched_highest, sched_lowest",
        of: |kernel| kernel.policy == "ULE",
        holds: |kernel, report| report.masks_matter() && !report.every_pass_moves(kernel),
    },
    Rule {
        name: "no state of the queues lasts two clock ticks",
        source: "Solaris disp.c disp_anywork: an idle cpu looks when a thread is queued",
        of: |kernel| kernel.policy == "LGROUP",
        holds: |_, report| report.stretch.still <= report.patience,
    },
    Rule {
        name: "threads that wait behind a better one are offered to idle cpus when they are queued again",
        source: "Solaris disp.c setbackdq, disp_getbest; ts.c ts_update queues waiting threads each second",
        of: |kernel| kernel.policy == "LGROUP",
        holds: |_, report| {
            report.masks_matter() && report.stretch.still <= Span::from_ms(1_000) + report.patience
        },
    },
    Rule {
        name: "ties at random: an idle cpu looks as it goes idle; who ends a quantum is not offered to it",
        source: "policies lgroup, parameter ties: the requeueing of setbackdq belongs to `last`",
        of: |kernel| kernel.policy == "LGROUP" && kernel.setting.is_some(),
        holds: |_, report| report.masks_matter(),
    },
];

fn is_linux(kernel: &Kernel) -> bool {
    kernel.policy == "LOAD"
}

fn is_old(kernel: &Kernel) -> bool {
    is_linux(kernel) && kernel.name != "linux-6.18"
}

/// The longest factor of a busy cpu on intervals up to the level.
fn busy_factor(report: &Report) -> u64 {
    report.levels.iter().map(|level| level.busy_factor).max().unwrap_or(1)
}

/// A first interval and `cache_nice_tries` + 3 more of the shortest, at a level with tries of at most 2.
fn attempts(report: &Report, factor: u64) -> Span {
    let level = report.levels.last();
    let (least, most) = level.map_or((0, 0), |level| (level.min_interval_ms, level.max_interval_ms));
    report.patience + Span::from_ms(factor * (most + 5 * least.max(TICK_MS)))
}

/// `MAX_PINNED_INTERVAL`, milliseconds: intervals below it still double.
const MAX_PINNED_MS: u64 = 512;

/// The longest interval of 2.6 built for 64 cpus (`HZ * NR_CPUS / 10`), milliseconds.
const MAX_INTERVAL_MS: u64 = 6_400;

/// The longest tick of the kernels, milliseconds.
const TICK_MS: u64 = 4;

/// The longest interval of an idle cpu at a level whose tasks are all pinned.
fn longest_pinned(report: &Report) -> Span {
    let doubled = |least: u64| {
        std::iter::successors(Some(least.max(1)), |ms| Some(2 * ms)).find(|ms| *ms >= MAX_PINNED_MS)
    };
    let longest = report.levels.iter().filter_map(|level| doubled(level.min_interval_ms)).max();
    Span::from_ms(longest.unwrap_or(MAX_PINNED_MS))
}

/// Intervals of domains whose tasks are pinned, twice.
fn pinned(kernel: Kernel, report: &Report) -> Span {
    if kernel.name == "linux-6.18" {
        return longest_pinned(report) * 2 + report.patience;
    }
    let keeps = was_busy(report) && kernel.name != "linux-2.6.18";
    let factor = if keeps { busy_factor(report) } else { 2 };
    Span::from_ms((2 * MAX_PINNED_MS * factor).min(MAX_INTERVAL_MS + 2 * MAX_PINNED_MS)) + report.patience
}

/// The longest time to the next look of a cpu whose interval has doubled because tasks were too heavy in an
/// earlier state of the queues. After 2.6.18 a cpu that was busy keeps the time of its next look.
fn doubled(kernel: Kernel, report: &Report) -> Span {
    let keeps = was_busy(report) && kernel.name != "linux-2.6.18";
    let busy = Span::from_ms((MAX_PINNED_MS * busy_factor(report)).min(MAX_INTERVAL_MS));
    attempts(report, 1) + if keeps { busy } else { longest_pinned(report) }
}

fn was_busy(report: &Report) -> bool {
    report.stretch.from.ns() > 0
}

fn smt_sibling_busy(report: &Report) -> bool {
    let smt = report.levels.iter().position(|level| level.name == "SMT");
    smt.is_some_and(|level| report.count(report.domain(level, report.stretch.cpu)) > 0)
}

fn shows(kernel: Kernel, report: &Report, reason: Idle) -> bool {
    report.reasons(kernel).is_some_and(|reasons| reasons.last() == Some(&reason))
}

/// A cpu that leaves the balancing of its core to the other thread, or finds nothing beside it, clears the
/// mark of its group: then help comes when the phases of three cpus allow it, otherwise when the mark is
/// set.
fn is_cleared(report: &Report) -> bool {
    report.level > 0 && report.levels[report.level - 1].group_cpus > 1
}

/// When a mark has brought help for sure. It is set at intervals of pinned tasks and stands until a
/// balanced pass of a busy cpu of the group: two marks of three may be cleared before the level above
/// looks.
fn helped(report: &Report) -> Span {
    longest_pinned(report) * 6 + attempts(report, 1)
}

/// PollsPerYield that would have found a task, or marks that would have brought one, came for longer than the
/// intervals of pinned tasks, whatever moved on other cpus meanwhile.
fn is_late(kernel: Kernel, report: &Report) -> bool {
    if kernel.name != "linux-6.18" || is_cleared(report) {
        return false;
    }
    let most = pinned(kernel, report) + attempts(report, 1);
    report.ripe > most || report.helped > helped(report)
}

/// The first rule of the kernel that accounts for the stretch.
#[must_use]
pub fn name(kernel: Kernel, report: &Report) -> Option<&'static str> {
    if report.overdue || is_late(kernel, report) {
        return None;
    }
    RULES.iter().find(|rule| (rule.of)(&kernel) && (rule.holds)(kernel, report)).map(|rule| rule.name)
}
