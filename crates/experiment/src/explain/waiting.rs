//! Pages of the ways to wait and of the barriers.

use super::example::scenario;
use super::{Block, Page, Shelf};

/// Name, summary and explanation.
type Text = (&'static str, &'static str, &'static str);

const WAITS: &[Text] = &[
    (
        "spin",
        "polls a flag and never gives its cpu away",
        "Looks every `poll` (0.1 us on Barcelona). The signal is seen at once and nothing has to be woken, so with a cpu for each thread nothing is faster. When the thread it waits for stands in the queue of the same cpu, it burns the whole of its slice first: at two threads per core and slices of 50 ms, a barrier every 5 ms of work takes 50 ms instead of 10.",
    ),
    (
        "yield",
        "polls once, then calls sched_yield, for ever",
        "Gives way after every failed look; when it is picked again it looks again. What a yield does is the kernel's choice: beside a computing task the waiter keeps its fair share (`yield: default` of Linux 2.6.28), looks once per slice of the other (`posix`), once per 100 ms (2.6.18) or costs 0.1 % (6.18). Among waiters of the same program each turn costs a look, a call and a switch, 1.3 us on Barcelona.",
    ),
    (
        "block",
        "polls once, then sleeps until it is woken",
        "A futex: the waiter pays `sleep`, the signaller `wake`, the woken cpu an interrupt and the way out of idle: 5.5 us in all on Barcelona. The cpu is free meanwhile, for others and for balancers, which see an empty queue. Pays off when waits are longer than that and somebody else has work.",
    ),
    (
        "spin-then-block",
        "polls for `block_time`, then sleeps until it is woken",
        "Short waits cost what polling costs, long ones end in sleep: never more than twice the better of the two when the limit equals the cost of sleep and wake-up. Intel OpenMP polls for 200 ms and yields meanwhile, GNU OpenMP for 3 ms without yielding. `yielding` says whether it yields while it polls.",
    ),
    (
        "yield-to",
        "as `yield`, but hands the cpu to a task of its own application that can go on",
        "The successor is a task of the same application on the same cpu that is not itself waiting in vain; without one it looks on. With four threads of a program on a core and one late, the three waiters need one call each, where undirected yields go round among the waiters and to strangers.",
    ),
];

const BARRIERS: &[Text] = &[
    (
        "central",
        "a counter all ranks add to, a flag all watch",
        "The line of the counter goes from arrival to arrival; the last one sets the flag. Last arrival to last departure: about n line latencies when all come together, one when they come one by one. 16 ranks at 0.2 us: up to 3.2 us. Each rank has to run twice only, to arrive and to see the flag, which oversubscription likes.",
    ),
    (
        "tree",
        "children tell their parent, the root releases all",
        "Ranks gather in a tree of `arity` children, 4 unless the runtime says otherwise; the root sets one flag. 16 ranks: two levels up, one flag down, 3 x 0.2 us. With several threads per core an inner rank must run after its children before its own parent can go on.",
    ),
    (
        "dissemination",
        "in round r a rank signals rank + 2^r and waits for rank - 2^r",
        "ceil(log2 n) rounds, no shared line: 16 ranks need 4 x 0.2 us, 1,024 ranks 10 rounds. With k threads per core every round may need a turn of each thread of the core, so its cost grows with k x log2 n switches (Hensgen, Finkel, Manber 1988).",
    ),
];

pub(super) fn waits() -> Vec<Page> {
    let shown = |(name, ..): &Text| format!("{{ openmp: {{ wait: {name} }} }}");
    pages(Shelf::Wait, WAITS, shown, "the parameter `wait` of a runtime")
}

pub(super) fn barriers() -> Vec<Page> {
    let shown = |(name, ..): &Text| format!("{{ yield: {{ barrier: {name} }} }}");
    pages(Shelf::Barrier, BARRIERS, shown, "the parameter `barrier` of a runtime")
}

fn pages(shelf: Shelf, texts: &[Text], runtime: impl Fn(&Text) -> String, chosen: &str) -> Vec<Page> {
    let page = |text: &Text| {
        let (name, summary, about) = text;
        let apps = format!(
            "code: {{ workload: {{ spmd: {{ work: 1s, intervals: 50, spread: 15% }} }}, runtime: {}, threads_per_core: 2 }}",
            runtime(text)
        );
        Page::new(shelf, name, summary)
            .text("", about)
            .text("", &format!("Chosen by {chosen}."))
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
        let table = workloads::runtimes::resolve("openmp").unwrap().parameters;
        for (parameter, texts) in [("wait", WAITS), ("barrier", BARRIERS)] {
            let kind = table.iter().find(|p| p.name == parameter).unwrap().kind;
            let names: Vec<&str> = texts.iter().map(|text| text.0).collect();
            let Kind::Choice(words) = kind else { panic!("{parameter} is no choice") };
            let mut words = words.to_vec();
            words.sort_unstable_by_key(|word| names.iter().position(|name| name == word));
            assert_eq!(words, names);
        }
    }
}
