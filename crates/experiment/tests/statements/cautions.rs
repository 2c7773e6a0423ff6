//! Holds what doubts say about inputs and about kinds of answers.

use experiment::setups::Setup;
use experiment::statements::Extremes;
use experiment::statements::cautions::MEMORY_BOUND_ERROR;

use crate::oracle::{Oracle, Verdict, ensure, number};

/// Parts of the breakdown in which no work is done.
const WAITING: [&str; 3] = ["spin", "yield", "idle"];

/// The share of the time without waiting that some parts have under the best policy, in per cent.
fn busy(oracle: &Oracle<'_>, extremes: &Extremes<'_>, parts: &[&str]) -> f64 {
    let of = |part: &str| {
        let (at, policy) = (extremes.best.configuration, extremes.best.policy);
        oracle.get(at, policy, "all", &format!("breakdown_{part}")).map_or(0.0, |share| share.mean)
    };
    let sum = |parts: &[&str]| parts.iter().map(|part| of(part)).sum::<f64>();
    sum(parts) / (1.0 - sum(&WAITING)) * 100.0
}

/// `switch_thread (400ns to 1.1us) can move LOAD with a=1 by up to about 12 % (context switches: 30 % of the
/// busy cpu time): ...`
pub(crate) fn input(oracle: &Oracle<'_>, extremes: &Extremes<'_>, text: &str) -> Verdict {
    let p = &oracle.results.provenance;
    ensure(oracle.results.uncertainty.is_none(), || "inputs were drawn".into())?;
    let (name, rest) = text.split_once(" (").ok_or("no range")?;
    let mut inputs = p.machines[0].inputs.iter().chain(&p.uncertain);
    let input = inputs.find(|input| input.name == name).ok_or("no such input")?;
    let name = name.strip_prefix("machine.").unwrap_or(name);
    let setups = || p.setups.iter().filter(|s| s.configurations.contains(&extremes.best.configuration));
    let bound = |at: usize| setups().filter_map(move |setup| Some(setup.bound?[at]));
    let acts = match name {
        "smt_memory" => bound(1).max() != Some(0),
        "smt_compute" => bound(0).min() != Some(1_000),
        "smt_poll" => setups().any(|setup| setup.polls_first || setup.bound.is_none()),
        _ => true,
    };
    ensure(acts, || format!("{name} acts on nothing"))?;
    let (range, rest) = rest.split_once(") can move ").ok_or("no range")?;
    ensure(range == format!("{} to {}", input.low, input.high), || "another range".into())?;
    let times = rest.strip_prefix("the run times of ");
    let of_programs = ["run_time", "makespan", "time_per_work"].contains(&extremes.goal.metric);
    ensure(times.is_none() == of_programs, || "another quantity".into())?;
    let (case, rest) = oracle.case(times.unwrap_or(rest)).ok_or("no case")?;
    let best = (extremes.best.policy.to_owned(), extremes.best.configuration);
    ensure(case == best, || format!("{best:?} is the best"))?;
    let rest = rest.strip_prefix(" by ").ok_or("no effect")?;
    let stated = rest.strip_prefix("up to about ").and_then(number).map_or(100.0, |stated| stated.0);
    let interval = extremes.best.value.half_width().map_or(0.0, |half| half / extremes.best.value.mean);
    ensure(stated >= 1.0 && stated + 0.5 >= (interval * 100.0).min(100.0), || "chance is larger".into())?;
    let Some((_, through)) = rest.split_once(" (") else {
        return ensure(["line_far", "idle_exit", "tick"].contains(&name), || {
            "it is a part of the breakdown".into()
        });
    };
    let (part, share) = through.split_once(": ").ok_or("no share")?;
    let parts: &[&str] = match part {
        "context switches" => &["switch"],
        "memory stalls" => &["memory_stall"],
        "remote memory" => &["remote"],
        "shared cores (SMT)" => &["smt"],
        other => return Err(format!("no part {other}")),
    };
    let (share, tolerance, _) = number(share).ok_or("no share")?;
    let own = busy(oracle, extremes, parts);
    ensure((own - share).abs() <= tolerance + 1e-9, || format!("it is {own} % of the busy time"))?;
    // Of a cost that is between half and one and a half of its value.
    let effect = if ["switch_thread", "switch_process"].contains(&name) { Some(own * 0.5) } else { None };
    ensure(effect.is_none_or(|effect| (effect - stated).abs() < 0.51), || format!("{effect:?}"))
}

/// `a, b and c are known only within ranges`: as many as there are, each of them or the first ones.
pub(crate) fn stated(oracle: &Oracle<'_>, text: &str) -> Verdict {
    let p = &oracle.results.provenance;
    ensure(oracle.results.uncertainty.is_none(), || "inputs were drawn".into())?;
    let named = p.uncertain.iter().filter(|input| text.contains(&input.name)).count();
    if let [only] = p.uncertain.as_slice() {
        let said = format!(" is known only within {} to {}, ", only.low, only.high);
        return ensure(named == 1 && text.contains(&said) && text.contains(" for 2: "), || only.name.clone());
    }
    let all = p.uncertain.len();
    ensure(text.starts_with(&format!("{all} values are ")), || format!("there are {all}"))?;
    ensure(named == if all > 4 { 3 } else { all }, || format!("{named} are named"))?;
    ensure(text.contains("such as") == (all > 4), || "all or some".into())
}

/// A doubt that belongs to a kind of answer; none for other texts.
pub(crate) fn caution(oracle: &Oracle<'_>, extremes: Option<&Extremes<'_>>, text: &str) -> Option<Verdict> {
    let p = &oracle.results.provenance;
    let best = &extremes?.best;
    let here = |setup: &&Setup| setup.configurations.contains(&best.configuration);
    let setups: Vec<&Setup> = p.setups.iter().filter(here).collect();
    if let Some((app, rest)) = text.split_once(" polls with ") {
        return Some(polls(oracle, extremes?, app, rest));
    }
    if text.contains(" had no work while ") {
        let (policy, _) = oracle.policy(text.strip_prefix("Under ")?)?;
        let all = p.unused.iter();
        let mut own = all.filter(|u| u.policy == policy && u.configuration == best.configuration);
        let holds = own.any(|u| {
            let cpus = if u.cpus == 1 { "1 cpu had".into() } else { format!("{} cpus had", u.cpus) };
            text.contains(&cpus) && text.contains(&format!("while {} tasks", u.tasks))
        });
        return Some(ensure(holds, || format!("{:?}", p.unused)));
    }
    if text.starts_with("Two hardware threads do 1.24 times") {
        let share = busy(oracle, extremes?, &["smt"]);
        return Some(ensure(share >= 1.0, || share.to_string()));
    }
    if let Some(rest) = text.strip_prefix("Memory stalls are ") {
        let (stated, tolerance, rest) = number(rest)?;
        let own = busy(oracle, extremes?, &["memory_stall", "remote"]);
        let holds = own >= 20.0 && (own - stated).abs() <= tolerance + 1e-9;
        let error = rest.contains(&format!("off by {MEMORY_BOUND_ERROR} %"));
        return Some(ensure(holds && error, || format!("they are {own} %")));
    }
    text.starts_with("Control groups without `cpus`: ").then(|| {
        let tasks: u32 = setups.iter().map(|setup| setup.tasks).sum();
        let weighted = setups.iter().find(|setup| setup.weighted);
        ensure(weighted.is_some_and(|setup| tasks > setup.cpus), || format!("{setups:?}"))
    })
}

/// `a polls with 8 tasks on 8 cpus beside b with x=1: ...`
fn polls(oracle: &Oracle<'_>, extremes: &Extremes<'_>, app: &str, rest: &str) -> Verdict {
    ensure(oracle.apps().iter().any(|known| known == app), || format!("{app} is in the background"))?;
    let crowded = rest.contains("while these run");
    let worst = extremes.worst.map(|worst| worst.configuration);
    let place = worst.filter(|at| crowded && rest.contains(&format!("{}: ", oracle.with(*at))));
    let at = place.filter(|at| !oracle.with(*at).is_empty()).unwrap_or(extremes.best.configuration);
    let all = oracle.results.provenance.setups.iter();
    let holds = all.filter(|s| s.app == app && s.configurations.contains(&at)).any(|setup| {
        let together = setup.tasks + setup.beside_tasks;
        let physical = match crowded {
            true => setup.tasks <= setup.cpus && together > setup.cpus && !setup.beside.is_empty(),
            false => together == setup.cpus,
        };
        let stated = format!("{} tasks on {} cpus", setup.tasks, setup.cpus);
        setup.polls && setup.tasks > 1 && physical && rest.starts_with(&stated)
    });
    ensure(holds, || format!("{:?}", oracle.results.provenance.setups))
}
