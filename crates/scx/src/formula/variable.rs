//! What formulas can read: each variable with its unit, one sentence, and its expression in C.

/// What the state of a task has to be kept for: a program in C keeps only what its formulas read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// Virtual time.
    Vtime,
    /// When it woke, and that it has not run since.
    Wake,
    /// How long it slept.
    Sleep,
    /// Cpu time between two sleeps.
    Burst,
    /// How long it had a cpu.
    Ran,
    /// How long it waited for a cpu.
    Wait,
    /// When it was created.
    Created,
    /// How many cpus each queue serves.
    QueueCpus,
}

/// What a formula can read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "each is the row of its name in the table below")]
pub enum Variable {
    Vtime,
    VtimeNow,
    Weight,
    Used,
    Granted,
    Ran,
    Burst,
    LastBurst,
    AverageBurst,
    Slept,
    AverageSleep,
    Waited,
    AverageWait,
    Wakeups,
    Woken,
    Woke,
    Created,
    Now,
    Queued,
    QueueCpus,
    Cpus,
    Allowed,
    Key,
    RunningKey,
    RunningFor,
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// `ns`, or what is counted.
    pub(crate) unit: &'static str,
    /// What it is, as a sentence without its subject.
    pub(crate) about: &'static str,
    /// The expression in C; `p` is the task, `t` its state, `queue` its queue.
    pub(crate) c: &'static str,
    /// What has to be kept for it.
    pub(crate) needs: &'static [Piece],
}

/// A row that needs nothing to be kept.
const fn row(name: &'static str, unit: &'static str, c: &'static str, about: &'static str) -> Row {
    Row { name, unit, about, c, needs: &[] }
}

impl Row {
    /// The same with what has to be kept.
    const fn needs(self, needs: &'static [Piece]) -> Self {
        Self { needs, ..self }
    }
}

/// The rows, in the order of [`Variable::ALL`].
const ROWS: [Row; 25] = [
    row(
        "vtime",
        "ns",
        "t->vtime",
        "Cpu time so far by weight (times 100 / `weight`); a task that begins or slept has at least \
                 `vtime_now` less 20 ms, and one that yields to others has used all of its slice.",
    )
    .needs(&[Piece::Vtime]),
    row("vtime_now", "ns", "vtime_now", "The largest `vtime` with which any task has begun to run.")
        .needs(&[Piece::Vtime]),
    row(
        "weight",
        "1 to 10,000",
        "p->scx.weight",
        "Its share by nice: 100 for nice 0, 305 for nice -5, 33 for nice 5.",
    ),
    row("used", "ns", "p->se.sum_exec_runtime", "Cpu time so far."),
    row("granted", "ns", "t->granted", "The slice that it was given last; 0 before the first."),
    row("ran", "ns", "t->ran", "Cpu time of its last stay on a cpu.").needs(&[Piece::Ran]),
    row("burst", "ns", "p->se.sum_exec_runtime - t->burst_from", "Cpu time since it woke up last.")
        .needs(&[Piece::Burst]),
    row(
        "last_burst",
        "ns",
        "t->last_burst",
        "Cpu time between its last two sleeps; 0 before the first sleep.",
    )
    .needs(&[Piece::Burst]),
    row(
        "average_burst",
        "ns",
        "t->average_burst",
        "Average of `last_burst`: a quarter of the new one and three of the old average.",
    )
    .needs(&[Piece::Burst]),
    row("slept", "ns", "t->slept", "How long it slept before it woke up last.").needs(&[Piece::Sleep]),
    row("average_sleep", "ns", "t->average_sleep", "Average of `slept`, by quarters.").needs(&[Piece::Sleep]),
    row("waited", "ns", "t->waited", "How long it waited for a cpu before it began to run last.")
        .needs(&[Piece::Wait]),
    row("average_wait", "ns", "t->average_wait", "Average of `waited`, by quarters.").needs(&[Piece::Wait]),
    row("wakeups", "count", "t->wakeups", "How often it woke up, its creation included.")
        .needs(&[Piece::Wake]),
    row(
        "woken",
        "0 or 1",
        "t->woken",
        "1 from a wake-up until it runs; 0 for a task that used its slice, yields or was preempted.",
    )
    .needs(&[Piece::Wake]),
    row("woke", "ns", "t->woke", "When it woke up last, as `now`.").needs(&[Piece::Wake]),
    row("created", "ns", "t->created", "When it was created, as `now`.").needs(&[Piece::Created]),
    row("now", "ns", "scx_bpf_now()", "The time; only differences have a meaning."),
    row("queued", "count", "scx_bpf_dsq_nr_queued(queue)", "Tasks that wait in its queue, without it."),
    row("queue_cpus", "count", "cpus_of(queue)", "Cpus that its queue belongs to.")
        .needs(&[Piece::QueueCpus]),
    row("cpus", "count", "scx_bpf_nr_cpu_ids()", "Cpus of the machine."),
    row("allowed", "count", "p->nr_cpus_allowed", "Cpus that it may use."),
    row("key", "", "t->key", "Its key (in `preempts` only)."),
    row(
        "running_key",
        "",
        "running_key",
        "The largest key among the tasks that run on cpus of its queue that it may use (in `preempts` \
                 only).",
    ),
    row("running_for", "ns", "running_for", "How long that task has been running (in `preempts` only)."),
];

impl Variable {
    /// All variables, in the order of tables.
    pub const ALL: [Self; 25] = {
        use Variable as V;
        [
            V::Vtime,
            V::VtimeNow,
            V::Weight,
            V::Used,
            V::Granted,
            V::Ran,
            V::Burst,
            V::LastBurst,
            V::AverageBurst,
            V::Slept,
            V::AverageSleep,
            V::Waited,
            V::AverageWait,
            V::Wakeups,
            V::Woken,
            V::Woke,
            V::Created,
            V::Now,
            V::Queued,
            V::QueueCpus,
            V::Cpus,
            V::Allowed,
            V::Key,
            V::RunningKey,
            V::RunningFor,
        ]
    };

    /// What is known of it.
    pub(crate) const fn row(self) -> Row {
        ROWS[self as usize]
    }

    /// Its name in formulas.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What its values are: `ns`, or what is counted; empty for keys.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        self.row().unit
    }

    /// What it is.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// Whether only `preempts` can read it: it compares the task with one that runs.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Key | Self::RunningKey | Self::RunningFor)
    }

    /// The variable of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variable| variable.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_stands_in_the_list_once_and_is_found_by_its_name() {
        for (at, variable) in Variable::ALL.into_iter().enumerate() {
            assert_eq!(variable as usize, at, "{variable:?}");
            assert_eq!(variable.name().replace('_', ""), format!("{variable:?}").to_lowercase());
            assert_eq!(Variable::find(variable.name()), Some(variable));
            assert!(variable.about().ends_with('.'));
        }
        assert_eq!(Variable::find("vtimes"), None);
    }
}
