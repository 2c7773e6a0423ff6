//! The statements of programs: their words and forms, for errors, and for the page about programs.

/// A statement of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatementForm {
    /// Its first word.
    pub word: &'static str,
    /// How it is written.
    pub form: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
}

const fn row(word: &'static str, form: &'static str, about: &'static str) -> StatementForm {
    StatementForm { word, form, about }
}

/// All of them, in the order of lists.
pub const STATEMENTS: &[StatementForm] = &[
    row("run", "run SPAN [VARIATION] [with PROFILE]", "Computes for this long at nominal speed."),
    row("sleep", "sleep SPAN [VARIATION]", "Sleeps (a timer)."),
    row(
        "until",
        "until PERIOD [from SPAN] [clock NAME] [skip]",
        "Sleeps until the next instant of a clock. The first instant is the start of the application, or of \
            a task that was forked, or so much later; each other one follows after the period. An instant \
            that has passed ends no sleep; with `skip` it is left out and counted.",
    ),
    row("lock", "lock L", "Takes a lock, and waits for it as its kind does."),
    row("unlock", "unlock L", "Gives a lock back."),
    row(
        "wait",
        "wait C with L",
        "Gives the lock back, waits for a signal of the condition, and takes the lock again.",
    ),
    row("signal", "signal C [N]", "Lets go one task (or N) that waits for a condition; else it is lost."),
    row("broadcast", "broadcast C", "Lets go all tasks that wait for a condition."),
    row("acquire", "acquire S [N]", "Takes a unit (or N) of a semaphore, or waits for it in order."),
    row("release", "release S [N]", "Gives a unit (or N) to a semaphore."),
    row("send", "send Q", "Puts an item into a queue; waits while a bounded queue is full."),
    row("receive", "receive Q", "Takes an item out of a queue; waits while it is empty."),
    row(
        "barrier",
        "barrier [NAME]",
        "Meets all tasks of the kind; with a name, all tasks of the kinds that use the name; in a parallel \
            region, the threads of the team.",
    ),
    row(
        "exchange",
        "exchange SHIFT [SIZE] [with PROFILE]",
        "Sends to the rank so much further on, and receives from the one as much before.",
    ),
    row("bcast", "bcast [SIZE] [with PROFILE]", "All ranks of the kind receive from rank 0."),
    row("reduce", "reduce [SIZE] [with PROFILE]", "Rank 0 receives from all what is combined on the way."),
    row("allreduce", "allreduce [SIZE] [with PROFILE]", "All receive what is combined of all."),
    row("scatter", "scatter [SIZE] [with PROFILE]", "Each rank receives a block of its own from rank 0."),
    row("gather", "gather [SIZE] [with PROFILE]", "Rank 0 receives a block of each rank."),
    row("allgather", "allgather [SIZE] [with PROFILE]", "Each rank receives a block of each."),
    row("alltoall", "alltoall [SIZE] [with PROFILE]", "Each rank receives a block of its own from each."),
    row("fork", "fork KIND [N]", "Starts a task (or N) of a kind."),
    row("join", "join KIND [N]", "Waits for the end of a task (or N) of a kind."),
    row("work", "work GRAPH", "Does jobs of a graph, with all others that do, until all its jobs are done."),
    row("yield", "yield", "Calls sched_yield."),
    row("io", "io DEVICE SPAN [VARIATION]", "Gives a device so much work and sleeps until it is done."),
    row("repeat", "repeat N { ... }", "Does the block so many times."),
    row("forever", "forever { ... }", "Does the block without end."),
    row("share", "share N { ... }", "All tasks of the kind together do the block so many times."),
    row(
        "choose",
        "choose { P% { ... } ... }",
        "Does one of the blocks, drawn with these probabilities; below 100 % together, perhaps none.",
    ),
    row(
        "parallel",
        "parallel { ... }",
        "A parallel region: all threads of the team do the block. They meet before it, where the others wait \
            for the first one, and after it, where it waits for them.",
    ),
    row("call", "call SECTION", "Does a section of the program."),
    row("nice", "nice N", "Changes the nice value of the task."),
    row("cpus", "cpus LIST", "Changes the cpus that the task may use (sched_setaffinity)."),
    row(
        "scheduling",
        "scheduling CLASS [PRIORITY]",
        "Changes the scheduling policy of the task: other, batch, idle, fifo N or rr N (sched_setscheduler).",
    ),
    row("done", "done", "Ends the response to the present request before the next one is asked for."),
    row("start", "start clock", "The run time of the application counts from here."),
];

/// What can follow a statement that waits.
pub const BY: StatementForm = row(
    "by",
    "STATEMENT by RUNTIME",
    "Waits there as this runtime does: one of `runtimes`, or of the list of runtimes.",
);

/// What can follow a length.
pub const VARIATIONS: &[StatementForm] = &[
    row("uniform", "SPAN uniform P%", "Evenly between SPAN - P% and SPAN + P%."),
    row("exponential", "SPAN exponential", "Exponentially with the mean SPAN."),
    row(
        "lognormal",
        "SPAN lognormal P%",
        "Log-normally with the mean SPAN and a standard deviation of P% of it.",
    ),
    row("table", "table NAME", "In place of SPAN: a length of one of the `tables`."),
];
