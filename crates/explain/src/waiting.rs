//! Pages of the ways to wait, of the barriers, and of the kinds of locks.

use crate::example::scenario;
use crate::page::{Block, Kind, Page};

/// Name, summary and explanation.
type Text = (&'static str, &'static str, &'static str);

const WAITS: &[Text] = &[
    (
        "spin",
        "polls a flag and keeps the cpu",
        "The task polls every `poll` (0.1 us on Barcelona). It observes the signal at once, and no wake-up \
            is needed. With a cpu for each thread no other way to wait is faster. If the awaited thread is \
        queued on the same cpu, the waiting task first uses its whole time slice. With two threads per \
        core and slices of 50 ms, a barrier after every 5 ms of work takes 50 ms instead of 10 ms.",
    ),
    (
        "yield",
        "polls once and then calls sched_yield, until the condition holds",
        "The task yields after every poll without success, and polls again when it next runs. The effect of \
            a yield depends on the kernel. Next to a computing task the waiting task keeps its fair share \
        (`yield: default` of Linux 2.6.28), polls once per slice of the other task (`yield: posix`), polls \
        once per 100 ms (2.6.18) or costs the other task 0.1 % (6.18). Between waiting tasks of the same \
        program each yield costs a poll, a system call and a switch: 1.3 us on Barcelona.",
    ),
    (
        "block",
        "polls once and then sleeps until it is woken",
        "This is a futex. The waiting task pays `sleep`, the signalling task pays `wake`, and the woken cpu \
            pays an interrupt and the exit from the idle state: 5.5 us in total on Barcelona. In the \
        meantime the cpu is free for other tasks, and load balancers find an empty queue. It pays off if \
        waits are longer than that and other tasks have work.",
    ),
    (
        "spin-then-block",
        "polls for `block_time` and then sleeps until it is woken",
        "Short waits cost as much as polling, and long waits end in sleep. If the limit equals the cost of \
            sleep and wake-up, the task never pays more than twice the cost of the better alternative. \
        Intel OpenMP polls for 200 ms and yields between polls. GNU OpenMP polls for 6 ms without \
        yielding. The parameter `yielding` defines whether the task yields while it polls.",
    ),
    (
        "yield-to",
        "as `yield`, but yields to a task of the same application that can continue",
        "The successor is a task of the same application on the same cpu that does not itself wait without \
            success. If there is none, the waiting task polls again. Example: four threads of a program \
        share a core and one is late. The three waiting threads then need one call each, while undirected \
        yields alternate among the waiting threads and tasks of other programs.",
    ),
];

const BARRIERS: &[Text] = &[
    (
        "central",
        "all ranks add to one counter and poll one flag",
        "The cache line of the counter moves from arrival to arrival, and the last rank sets the flag. From \
            the last arrival to the last departure it takes about n line latencies if all ranks arrive \
        together, and one latency if they arrive one after another. 16 ranks with 0.2 us per latency: up \
        to 3.2 us. Each rank has to run only twice, to arrive and to observe the flag. This suits \
        oversubscription.",
    ),
    (
        "tree",
        "children signal their parent, and the root releases all ranks",
        "The ranks form a tree with `arity` children per inner rank (4 by default), and the root sets one \
            flag. 16 ranks: two levels up and one flag down, 3 x 0.2 us. With several threads per core an \
        inner rank has to run after its children before its parent can continue.",
    ),
    (
        "dissemination",
        "in round r a rank signals rank + 2^r and waits for rank - 2^r",
        "It needs ceil(log2 n) rounds and no shared cache line: 4 x 0.2 us for 16 ranks, 10 rounds for \
            1,024 ranks. With k threads per core each round may need a time slice of every thread of the \
        core. The cost therefore grows with k x log2 n switches (Hensgen, Finkel, Manber 1988).",
    ),
];

pub(super) fn waits() -> Vec<Page> {
    let shown = |(name, ..): &Text| format!("{{ openmp: {{ wait: {name} }} }}");
    pages(Kind::Wait, WAITS, shown, "The parameter `wait` of a runtime chooses it.")
}

pub(super) fn barriers() -> Vec<Page> {
    let shown = |(name, ..): &Text| format!("{{ yield: {{ barrier: {name} }} }}");
    pages(Kind::Barrier, BARRIERS, shown, "The parameter `barrier` of a runtime chooses it.")
}

pub(super) fn locks() -> Vec<Page> {
    let page = |kind: &workloads::LockKind| {
        let work = format!("{{ critical-section: {{ count: 200, lock: {} }} }}", kind.name);
        let apps = format!("code: {{ workload: {work}, threads_per_core: 2 }}");
        Page::new(Kind::Lock, kind.name, kind.summary)
            .text("", kind.text)
            .text("", "The parameter `lock` of the workload `critical-section` chooses it.")
            .text("Source", kind.source)
            .with("Example", vec![Block::Yaml(scenario("core:2", "", &apps, "LOAD"))])
    };
    workloads::LOCK_KINDS.iter().map(page).collect()
}

fn pages(kind: Kind, texts: &[Text], runtime: impl Fn(&Text) -> String, chosen: &str) -> Vec<Page> {
    let page = |text: &Text| {
        let (name, summary, about) = text;
        let apps = format!(
            "code: {{ workload: {{ spmd: {{ work: 1s, intervals: 50, spread: 15% }} }}, \
             runtime: {}, threads_per_core: 2 }}",
            runtime(text)
        );
        Page::new(kind, name, summary)
            .text("", about)
            .text("", chosen)
            .with("Example", vec![Block::Yaml(scenario("core:4", "", &apps, "PIN, LOAD"))])
    };
    texts.iter().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::parameter::Kind;

    #[test]
    fn every_word_of_the_runtimes_has_a_page() {
        let table = workloads::runtimes::RUNTIMES.resolve("openmp").unwrap().parameters;
        for (parameter, texts) in [("wait", WAITS), ("barrier", BARRIERS)] {
            let kind = table.iter().find(|p| p.name == parameter).unwrap().kind;
            let names: Vec<&str> = texts.iter().map(|text| text.0).collect();
            let Kind::Choice(words) = kind else { panic!("{parameter} is not a choice") };
            let mut words = words.to_vec();
            words.sort_unstable_by_key(|word| names.iter().position(|name| name == word));
            assert_eq!(words, names);
        }
    }
}
