//! The mechanisms that can be moved on a side, each with the settings that move it.

use notation::parameter::{Kind as Form, Parameter};
use scenario::plan::{Experiment, RunPlan};
use scenario::settable;
use sim_core::machine::Level;

use super::answer::Kind;
use crate::trial::{Setting, Subject};

/// A mechanism on one side.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Move {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) about: String,
    /// Alternatives have the same one.
    pub(super) group: String,
    pub(super) setting: Setting,
}

/// Where a mechanism of a machine can act.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Everywhere,
    /// Machines with several hardware threads in a core.
    Threads,
    /// Machines with several NUMA nodes.
    Nodes,
}

/// The mechanisms of machines: name, what the move does, the parameters, where they act. Costs become zero,
/// latencies the shortest that there are, bandwidths unlimited (0 in most, the largest value for that of a
/// core), factors 1.
const MACHINE: &[(&str, &str, &[&str], Where)] = &[
    ("switch_thread=0s", "switches between threads take no time", &["switch_thread=0s"], Where::Everywhere),
    (
        "switch_process=0s",
        "switches between processes take no time",
        &["switch_process=0s"],
        Where::Everywhere,
    ),
    ("poll=1ns", "a poll takes the shortest time", &["poll=1ns"], Where::Everywhere),
    ("yield_call=0s", "calls of sched_yield take no time", &["yield_call=0s"], Where::Everywhere),
    ("wake=0s", "waking a task takes no time", &["wake=0s"], Where::Everywhere),
    (
        "wake_remote=0s",
        "waking a task on another idle cpu takes no time",
        &["wake_remote=0s", "deep_idle=false"],
        Where::Everywhere,
    ),
    ("sleep=0s", "going to sleep takes no time", &["sleep=0s"], Where::Everywhere),
    ("ipi=0s", "interrupts between cpus take no time", &["ipi=0s"], Where::Everywhere),
    (
        "idle_exit=0s",
        "leaving the idle state takes no time",
        &["idle_exit=0s", "deep_idle=false"],
        Where::Everywhere,
    ),
    ("migration=0s", "moving a task to another queue takes no time", &["migration=0s"], Where::Everywhere),
    ("tick=0s", "timer ticks take no time", &["tick=0s"], Where::Everywhere),
    ("fork=0s", "creating tasks takes no time", &["fork=0s"], Where::Everywhere),
    ("fork_spread=0%", "each task takes equally long to create", &["fork_spread=0%"], Where::Everywhere),
    ("page_fault=0s", "page faults take no time", &["page_fault=0s"], Where::Everywhere),
    ("fault_lock=0s", "page faults take no lock", &["fault_lock=0s"], Where::Everywhere),
    (
        "line_*=1ns",
        "stores are visible to all cpus at once",
        &["line_same=1ns", "line_core=1ns", "line_cache=1ns", "line_near=1ns", "line_far=1ns"],
        Where::Everywhere,
    ),
    ("node_bandwidth=0", "memory controllers have no limit", &["node_bandwidth=0B/s"], Where::Everywhere),
    ("bus_bandwidth=0", "front-side buses have no limit", &["bus_bandwidth=0B/s"], Where::Everywhere),
    ("link_bandwidth=0", "links between nodes have no limit", &["link_bandwidth=0B/s"], Where::Nodes),
    ("crossbar_bandwidth=0", "the crossbar has no limit", &["crossbar_bandwidth=0B/s"], Where::Nodes),
    (
        "transfer_bandwidth=0",
        "transfers have no limit of their own",
        &["transfer_bandwidth=0B/s"],
        Where::Everywhere,
    ),
    (
        "core_bandwidth=1000GB/s",
        "a core has no limit of bandwidth, so that caches refill at once",
        &["core_bandwidth=1000GB/s"],
        Where::Everywhere,
    ),
    (
        "remote_factor=1",
        "remote memory is as near as local memory",
        &["remote_factor=1", "distances=false"],
        Where::Nodes,
    ),
    (
        "caches=0",
        "caches hold nothing, so that none is refilled or shared",
        &["private_cache=0B", "shared_cache=0B", "cache_exponent=0"],
        Where::Everywhere,
    ),
    (
        "cache_exponent=0",
        "working sets that share a cache do not add demand",
        &["cache_exponent=0"],
        Where::Everywhere,
    ),
    (
        "smt_compute=1",
        "a sibling that computes does not slow a hardware thread",
        &["smt_compute=1"],
        Where::Threads,
    ),
    (
        "smt_memory=1",
        "a sibling that waits for memory does not slow a hardware thread",
        &["smt_memory=1"],
        Where::Threads,
    ),
    ("smt_poll=1", "a sibling that polls does not slow a hardware thread", &["smt_poll=1"], Where::Threads),
    (
        "blocking_loads=false",
        "cores go on while loads are on their way",
        &["blocking_loads=false"],
        Where::Everywhere,
    ),
    (
        "turbo=false",
        "the clock does not depend on the number of busy cores",
        &["turbo=false"],
        Where::Everywhere,
    ),
    ("governor=performance", "clocks stay at the highest one", &["governor=performance"], Where::Everywhere),
    ("slow_cores=0", "no core is slow", &["slow_cores=0"], Where::Everywhere),
];

/// Words of choices that stand for a rule that is switched off.
const OFF: [&str; 4] = ["none", "off", "never", "disabled"];

/// Properties of work and the value without them.
const WORK: &[(&str, &[&str], &str)] = &[
    ("spread", &["spread=0%", "variation=uniform"], "its pieces of work are equal"),
    ("imbalance", &["imbalance=0%"], "its ranks have equal work"),
    ("serial", &["serial=0%", "serial_per_task=0s"], "no rank works alone"),
    ("long_every", &["long_every=0"], "all intervals are equally long"),
    ("demand", &["demand=0B/s", "bound=0%"], "it draws nothing from memory"),
    ("working_set", &["working_set=0B"], "its caches need no refill"),
    ("shared", &["shared=0%"], "its accesses go to data of its own"),
    ("exchanges", &["exchanges=0"], "it exchanges nothing between barriers"),
    ("transfer", &["transfer=0B"], "it has no all-to-all transfers"),
    ("steal", &["steal=0s"], "taking a chunk takes no time"),
];

/// All mechanisms of a side. `judged`: the application by which it is judged, or `all`.
pub(super) fn moves(
    subject: &Subject<'_>,
    own: &Setting,
    experiment: &Experiment,
    plan: &RunPlan,
    judged: &str,
) -> Vec<Move> {
    let mut all = machine(plan);
    all.extend(kernel(plan));
    all.extend(policy(subject, own, experiment));
    all.extend(apps(subject));
    all.push(one(
        "start_jitter=0s",
        Kind::Start,
        "applications start without random delays",
        &["start_jitter=0s"],
    ));
    // It would arrive as the longest run ends: it has no part in any.
    let never = plan.options.horizon.ns().saturating_sub(1);
    for (app, background) in experiment.apps.iter().zip(&experiment.background) {
        if *background && app != judged {
            let name = format!("{app} left out");
            let about = format!("`{app}` is not there");
            all.push(one(&name, Kind::Neighbour, &about, &[&format!("apps.{app}.start={never}ns")]));
        }
    }
    all
}

fn one(name: &str, kind: Kind, about: &str, set: &[&str]) -> Move {
    let setting = Setting { set: set.iter().map(|pair| (*pair).to_owned()).collect(), policy: None };
    let group = format!("{kind:?} {name}");
    Move { name: name.to_owned(), kind, about: about.to_owned(), group, setting }
}

fn machine(plan: &RunPlan) -> Vec<Move> {
    let shape = &plan.machine.topology;
    let acts = |at: Where| match at {
        Where::Everywhere => true,
        Where::Threads => shape.span(Level::Core) > 1,
        Where::Nodes => shape.count(Level::Node) > 1,
    };
    let rows = MACHINE.iter().filter(|(.., at)| acts(*at));
    rows.map(|(name, about, values, _)| {
        let set: Vec<String> = values.iter().map(|value| format!("machine.{value}")).collect();
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        one(&format!("machine.{name}"), Kind::Machine, about, &set)
    })
    .collect()
}

/// How a rule is written when it is switched off; none if it has no such value.
fn off(rule: &Parameter) -> Option<&'static str> {
    match rule.kind {
        Form::Flag => Some("false"),
        Form::Choice(words) => words.iter().copied().find(|word| OFF.contains(word)),
        _ => None,
    }
}

fn kernel(plan: &RunPlan) -> Vec<Move> {
    let rules = kernels::KERNELS.find(&plan.kernel.name).map_or(&[][..], |entry| entry.parameters);
    let switched = rules.iter().filter_map(|rule| Some((rule, off(rule)?)));
    switched
        .map(|(rule, off)| {
            let set = format!("kernel.{}={off}", rule.name);
            one(&set, Kind::Kernel, &format!("the kernel's rule `{}` is off", rule.name), &[&set])
        })
        .collect()
}

/// The rules of the policy, where it stands for itself in the registry.
fn policy(subject: &Subject<'_>, own: &Setting, experiment: &Experiment) -> Vec<Move> {
    let Some(label) = experiment.policies.first() else { return Vec::new() };
    let listed = settable(subject.policies, Some(subject.text), false);
    let prefix = format!("policies.{label}.");
    let in_file = listed.iter().any(|known| known.path.starts_with(&prefix));
    let Some(entry) = subject.policies.find(label) else { return Vec::new() };
    let switched = entry.parameters.iter().filter_map(|rule| Some((rule, off(rule)?)));
    let moved = switched.filter_map(|(rule, off)| {
        let name = format!("{prefix}{}={off}", rule.name);
        let about = format!("the rule `{}` of {label} is off", rule.name);
        if in_file {
            return Some(one(&name, Kind::Policy, &about, &[&name]));
        }
        let plain = own.policy.as_ref().is_some_and(|policy| policy.eq_ignore_ascii_case(label));
        let policy = format!("{{ {label}: {{ {}: {off} }} }}", rule.name);
        let mut moved = one(&name, Kind::Policy, &about, &[]);
        moved.setting.policy = Some(policy);
        plain.then_some(moved)
    });
    moved.collect()
}

/// How tasks wait, and properties of the work of each application.
fn apps(subject: &Subject<'_>) -> Vec<Move> {
    let known = settable(subject.policies, Some(subject.text), false);
    let mut all = Vec::new();
    for path in known.iter().map(|known| known.path.as_str()).filter(|path| path.starts_with("apps.")) {
        if path.contains(".runtime") && path.ends_with(".wait") {
            for (mode, about) in [("block", "sleep at once"), ("spin", "poll without a pause")] {
                let set = format!("{path}={mode}");
                let mut moved = one(&set, Kind::Waiting, &format!("waiting tasks {about}"), &[&set]);
                path.clone_into(&mut moved.group);
                all.push(moved);
            }
        }
        let Some((of, name)) = path.rsplit_once('.').filter(|(of, _)| of.ends_with(".workload")) else {
            continue;
        };
        let Some((_, values, about)) = WORK.iter().find(|(known, ..)| *known == name) else { continue };
        // Those that this workload has.
        let has = |value: &str| {
            let name = value.split('=').next().unwrap_or_default();
            known.iter().any(|other| other.path.strip_prefix(of) == Some(&format!(".{name}")))
        };
        let set: Vec<String> =
            values.iter().filter(|value| has(value)).map(|value| format!("{of}.{value}")).collect();
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let app = of.trim_start_matches("apps.").trim_end_matches(".workload");
        let title = format!("{path}={}", values[0].split('=').next_back().unwrap_or_default());
        all.push(one(&title, Kind::Work, &format!("of `{app}`: {about}"), &set));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::Parameters;

    #[test]
    fn every_mechanism_of_a_machine_names_parameters_of_it() {
        for (name, about, values, _) in MACHINE {
            assert!(!about.is_empty() && !values.is_empty(), "{name}");
            for value in *values {
                let (parameter, text) = value.split_once('=').unwrap();
                let known = Parameters::TABLE.iter().find(|known| known.name == parameter).unwrap();
                let number = notation::units::parse(known.kind, text).unwrap();
                assert!((known.min..=known.max).contains(&number), "{value}");
            }
        }
    }
}
