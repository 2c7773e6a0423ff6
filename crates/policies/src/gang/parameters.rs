//! The parameters of `gang`, with the source of each, or that it is a choice made here.

use notation::parameter::{Kind, Parameter};

/// The shortest slot, ns.
pub(super) const SHORTEST: u64 = 100_000;

const fn flag(name: &'static str, default: u64, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Flag, default, min: 0, max: 1, about }
}

/// The parameters of `gang`.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "quantum",
        kind: Kind::Duration,
        default: 100_000_000,
        min: SHORTEST,
        max: 1_000_000_000_000,
        about: "Length of a slot (at least 100 ms on production systems such as the CM-5).",
    },
    Parameter {
        name: "quantum_by",
        kind: Kind::Choice(&["equal", "threads"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Equal slots, or each as long as its tasks are many: `quantum` is then for a task per cpu, and a slot lasts \
100 us at least. A task then gets the same time in a large gang as in a small one (a choice made here).",
    },
    Parameter {
        name: "packing",
        kind: Kind::Choice(&["first-fit", "buddy"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Columns of a new gang: the first free ones of the first slot that has enough, or a whole block of a power of \
two, the one with the fewest tasks (distributed hierarchical control, Feitelson and Rudolph, IEEE Computer 1990).",
    },
    Parameter {
        name: "alternates",
        kind: Kind::Choice(&["jobs-first", "any", "none"]),
        default: 0,
        min: 0,
        max: 2,
        about: "Who fills idle cells first: applications that fit as a whole, or any task alike; or nobody (strict gangs).",
    },
    flag(
        "unification",
        1,
        "Unite slots with disjoint columns when an application ends (Feitelson, JSSPP 1996).",
    ),
    flag(
        "migration",
        0,
        "When an application ends, move gangs to free columns of other slots where that saves a slot (Zhang and others, \
TPDS 2003; moving only then is a choice made here).",
    ),
    flag(
        "pairing",
        0,
        "Slots that leave their cpus idle take turns together with busy ones (Wiseman and Feitelson, TPDS 2003).",
    ),
    Parameter {
        name: "pair_limit",
        kind: Kind::Percent,
        default: 15_000,
        min: 0,
        max: 20_000,
        about: "Two slots are paired when they use a cpu no more than this together, measured in turns of their own. At 150% one \
that always computes keeps half of the cpu beside the other, as much as when they take turns. Uncertain: the paper's own \
limit could not be checked.",
    },
    Parameter {
        name: "pair_cycles",
        kind: Kind::Count,
        default: 8,
        min: 1,
        max: 1_000_000,
        about: "Rounds of all slots that pairs last before every slot is measured apart for one (a choice made here).",
    },
    Parameter {
        name: "switch_cost",
        kind: Kind::Factor,
        default: 1_000,
        min: 0,
        max: 1_000_000,
        about: "Scales the cost of a slot change, t_ipi * ceil(log2 cpus) + one context switch on every cpu.",
    },
];
