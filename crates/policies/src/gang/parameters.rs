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
        about: "`equal`: all slots are equally long. `threads`: the length of a slot is proportional to its number of tasks; \
`quantum` is then the length for one task per cpu, and a slot lasts at least 100 us. A task then gets the same time in a \
large gang as in a small one (a choice made here).",
    },
    Parameter {
        name: "packing",
        kind: Kind::Choice(&["first-fit", "buddy"]),
        default: 0,
        min: 0,
        max: 1,
        about: "Columns of a new gang. `first-fit`: the first free ones of the first slot that has enough. `buddy`: a whole \
block whose size is a power of two, the one with the fewest tasks (distributed hierarchical control, Feitelson and Rudolph, \
IEEE Computer 1990).",
    },
    Parameter {
        name: "alternates",
        kind: Kind::Choice(&["jobs-first", "any", "none"]),
        default: 0,
        min: 0,
        max: 2,
        about: "Which tasks fill idle cells. `jobs-first`: applications that fit as a whole come first. `any`: all tasks are \
equal. `none`: no tasks (strict gangs).",
    },
    flag(
        "unification",
        1,
        "Merge slots with disjoint columns when an application ends (Feitelson, JSSPP 1996).",
    ),
    flag(
        "migration",
        0,
        "When an application ends, move gangs to free columns of other slots if that saves a slot (Zhang and others, TPDS \
2003; moving only then is a choice made here).",
    ),
    flag(
        "pairing",
        0,
        "A slot that leaves its cpus idle runs together with a busy one (Wiseman and Feitelson, TPDS 2003).",
    ),
    Parameter {
        name: "pair_limit",
        kind: Kind::Percent,
        default: 15_000,
        min: 0,
        max: 20_000,
        about: "Two slots are paired if together they use at most this share of a cpu, each measured while it runs unpaired. \
At 150% a slot that always computes keeps half of the cpu next to its partner, as much as with alternating slots. Uncertain: \
the paper's own limit could not be checked.",
    },
    Parameter {
        name: "pair_cycles",
        kind: Kind::Count,
        default: 8,
        min: 1,
        max: 1_000_000,
        about: "Cycles of all slots for which pairs last, before every slot is measured unpaired for one cycle (a choice \
made here).",
    },
    Parameter {
        name: "switch_cost",
        kind: Kind::Factor,
        default: 1_000,
        min: 0,
        max: 1_000_000,
        about: "Scales the cost of a slot change: t_ipi (one interrupt) * ceil(log2 cpus) + one context switch on every cpu.",
    },
];
