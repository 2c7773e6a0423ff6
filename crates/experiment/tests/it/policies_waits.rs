//! Policies that know who waits: by how much directed yields and lent cpus help, or harm, where it can be
//! derived.

use crate::support;

use experiment::result::Results;

use crate::support::mean;

fn results(scenario: &str) -> Results {
    support::results(&format!("policies/{scenario}"), &[], &[], Some(3))
}

/// 800 ms of work on eight cores take 100 ms at least. Loops of 5 ms +- 60 % leave a fifth of the machine
/// idle under PIN; lent, less than half of that is left, and a process that keeps a core lends less.
#[test]
fn lent_cores_close_more_than_half_of_the_gap() {
    let results = results("lewi");
    let time = |policy| mean(&results, "", policy, "code", "run_time");
    let gap = |policy| time(policy) - 0.100;
    assert!(gap("LEWI") > 0.0 && gap("LEWI") < gap("PIN") / 2.0, "{} {}", time("LEWI"), time("PIN"));
    let idle = |policy| mean(&results, "", policy, "all", "breakdown_idle");
    assert!(idle("PIN") > 0.18 && idle("LEWI") < 0.55 * idle("PIN"), "{} {}", idle("PIN"), idle("LEWI"));
    assert!(time("keep") > time("LEWI") && time("keep") < time("PIN"));
}

/// A grain longer than the usual wait keeps cores from being lent for nothing: most of what lending loses is
/// saved.
#[test]
fn a_grain_saves_fine_programs_from_being_lent_for_nothing() {
    let results = results("lewi_fine_grain");
    let loss = |policy| {
        let time = |policy| mean(&results, "", policy, "code", "run_time");
        time(policy) / time("PIN") - 1.0
    };
    assert!(loss("LEWI") > 0.5 && loss("grain") < loss("LEWI") / 3.0, "{} {}", loss("LEWI"), loss("grain"));
}

/// Without directed yields a spinning pair changes places once a slice, 0.7 ms x (1 + log2 4) = 2.1 ms on
/// four cpus of linux-6.18 and up to the tick after it: 400 barriers take more than 0.84 s. With them the
/// program takes less than half of that, beside another.
#[test]
fn spinning_programs_go_at_the_pace_of_their_work() {
    let results = results("yield_to");
    let time = |policy, app| mean(&results, "apps.fine.runtime=spin", policy, app, "run_time");
    assert!(time("LOAD", "fine") > 0.84, "{}", time("LOAD", "fine"));
    assert!(time("YIELD_TO", "fine") < 0.84 / 2.0, "{}", time("YIELD_TO", "fine"));
    // The other program is done sooner, too: the cores it shares are not spun on.
    assert!(time("YIELD_TO", "other") < time("LOAD", "other"));
}
