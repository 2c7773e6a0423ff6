//! Queues of the eleven programs: two at a time in a given order, and random arrivals with at most three at
//! once.

use notation::declare::Choice;
use sim_core::rng;

use super::super::general::Run;
use super::programs::{exclusive, full, mean_of_pairs};
use crate::answer::{Answer, Point, Series, Trouble};
use crate::claims::{Claim, Form, PROGRAMS, Policy, Program};
use crate::lab::{Cell, Lab};

/// The published orders of the queue of eleven; two of the ten are lost.
const ORDERS: [[u32; 11]; 8] = [
    [332, 316, 326, 314, 328, 320, 330, 324, 310, 318, 312],
    [328, 330, 326, 312, 320, 316, 332, 324, 318, 310, 314],
    [312, 314, 328, 318, 310, 330, 320, 316, 326, 332, 324],
    [326, 332, 330, 320, 314, 312, 310, 318, 324, 316, 328],
    [330, 332, 318, 324, 310, 312, 320, 316, 314, 326, 328],
    [312, 314, 330, 310, 324, 328, 316, 332, 320, 326, 318],
    [316, 312, 320, 332, 326, 324, 310, 318, 330, 328, 314],
    [326, 316, 320, 310, 314, 332, 318, 324, 328, 330, 312],
];

/// The programs of an order.
fn programs(order: &[u32]) -> Vec<Program> {
    order.iter().filter_map(|number| PROGRAMS.iter().find(|p| p.number == *number).copied()).collect()
}

/// The cell of a queue, two at a time.
fn cell(order: &[Program], policy: &str) -> Cell {
    let each = order.iter().enumerate();
    each.fold(Cell::new("swomps_queue11", policy), |cell, (i, program)| {
        cell.set(&format!("apps.q{}.workload.program", i + 1), program.name)
    })
}

/// The orders a claim is about.
fn orders(claim: &Claim) -> Result<Vec<Vec<Program>>, Trouble> {
    let order = claim.at.workload.programs.clone();
    match order.len() {
        11 => Ok(vec![order]),
        // One or two programs: what becomes of them in all orders.
        0..=2 => Ok(ORDERS.iter().map(|order| programs(order)).collect()),
        n => Err(Trouble::uncovered(format!("a queue of {n} programs, not of eleven"))),
    }
}

/// The times alone one after the other over the makespan; shortened runs and makespan are made full by one
/// factor, that of the whole queue's run times.
fn of_order(lab: &mut Lab, order: &[Program], policy: &str) -> Result<Series, Trouble> {
    let cell = cell(order, policy);
    let mut alone = 0.0;
    let (mut whole, mut cut) = (Vec::new(), Vec::new());
    for (i, program) in order.iter().enumerate() {
        alone += exclusive(lab, *program)?.mean();
        let name = format!("q{}", i + 1);
        whole.push(lab.of_app(&cell, &name, |app| full(*program, app))?);
        cut.push(lab.of_app(&cell, &name, |app| app.run_time)?);
    }
    let makespan = lab.of_run(&cell, |run| run.makespan)?;
    let factor = Series::mean_of(&whole).over(&Series::mean_of(&cut));
    Ok(makespan.with(&factor, |makespan, factor| alone / (makespan * factor)))
}

/// Throughput of a queue against one program at a time.
pub(super) fn throughput(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut all = Vec::new();
    for order in orders(claim)? {
        all.push(of_order(lab, &order, claim.at.policy.of_programs())?);
    }
    let label =
        if all.len() == 1 { "this order".to_owned() } else { format!("mean of {} orders", all.len()) };
    Ok(Answer::one(label, &Series::mean_of(&all)))
}

/// How much longer each named program takes in the queue than alone, per cent, in the order that suits it
/// best: below 0 it was once faster than alone. (The paper's figure has the least and the mean; by its own
/// pairs the mean cannot be below 0.)
pub(super) fn reduction(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let mut points = Vec::new();
    let named = &claim.at.workload.programs;
    for program in if named.is_empty() { &PROGRAMS[..] } else { named } {
        let alone = exclusive(lab, *program)?.mean();
        let mut all = Vec::new();
        for order in orders(claim)? {
            let Some(at) = order.iter().position(|p| p == program) else {
                continue;
            };
            let name = format!("q{}", at + 1);
            let times =
                lab.of_app(&cell(&order, claim.at.policy.of_programs()), &name, |app| full(*program, app))?;
            all.push(times.map(|t| (1.0 - alone / t) * 100.0));
        }
        let least = all.into_iter().min_by(|a, b| a.mean().total_cmp(&b.mean())).unwrap_or_default();
        points.push(Point::new(program.label(), &least));
    }
    Ok(Answer(points))
}

/// Throughput of the queues less the mean of all pairs, or the other way round where the claim says so.
pub(super) fn more_than_pairs(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let policy = claim.at.policy.of_programs();
    let mut queues = Vec::new();
    for order in ORDERS {
        queues.push(of_order(lab, &programs(&order), policy)?);
    }
    let (queues, pairs) = (Series::mean_of(&queues), mean_of_pairs(lab, policy)?.mean());
    let sign = if claim.at.statement.first_has_more("queue", "pairs", false) { 1.0 } else { -1.0 };
    Ok(Answer::one("queues less pairs", &queues.map(|x| sign * (x - pairs))))
}

/// The whole runs of the programs in the queues: of those that the claim names, all of them without names.
pub(super) fn runs(claim: &Claim, lab: &mut Lab) -> Result<Vec<Run>, Trouble> {
    let policy = claim.at.policy.of_programs();
    let named = &claim.at.workload.programs;
    let mut all = Vec::new();
    for (number, order) in orders(claim)?.iter().enumerate() {
        for (at, program) in order.iter().enumerate() {
            if named.is_empty() || named.contains(program) {
                let name = format!("q{}", at + 1);
                let times = lab.of_app(&cell(order, policy), &name, |app| full(*program, app))?;
                let at = format!("in queue {}", number + 1);
                all.push(Run { key: program.label(), program: program.label(), at, times });
            }
        }
    }
    Ok(all)
}

/// Random queues with at most three at once: as many as the paper has.
const TESTS: u64 = 10;
/// Those of a quick look.
const QUICK_TESTS: u64 = 4;
/// Mean gap between two arrivals of the paper, seconds, and the share of the runs that is simulated.
const GAP: f64 = 360.0;
const SHARE: f64 = 0.05;
/// Numbers of threads drawn from.
const THREADS: [u32; 3] = [6, 8, 10];
/// Purpose of the draws: arrivals. Any key will do; this one is the test's number.
const KEY: u64 = 0x5350_4543_4f4d_5033;

/// One random queue: order, threads and arrivals drawn from its number.
fn random(test: u64, policy: &str) -> (Cell, Vec<Program>) {
    let key = KEY ^ (test << 32);
    let mut order = PROGRAMS.to_vec();
    for i in (1..order.len()).rev() {
        order.swap(i, rng::below(i as u64 + 1, rng::draw(key, i as u64)) as usize);
    }
    let mut cell = Cell::new("swomps_queue3", policy);
    let mut start = 0;
    for (i, program) in order.iter().enumerate() {
        let threads = THREADS[rng::below(3, rng::draw(key, 100 + i as u64)) as usize];
        let app = format!("apps.q{}", i + 1);
        cell = cell
            .set(&format!("{app}.workload.program"), program.name)
            .set(&format!("{app}.tasks"), threads)
            .set(&format!("{app}.start"), format!("{start}ms"));
        start += rng::exponential((GAP * SHARE * 1_000.0) as u64, rng::draw(key, 200 + i as u64)).max(2);
    }
    (cell, order)
}

/// By how many per cent the sum of the eleven run times is less than under LOAD, in one random queue.
fn of_test(lab: &mut Lab, test: u64, policy: &str) -> Result<Series, Trouble> {
    let mut sums = Vec::new();
    for policy in [policy, "LOAD"] {
        let (cell, order) = random(test, policy);
        let mut all = Vec::new();
        for (i, program) in order.iter().enumerate() {
            all.push(lab.of_app(&cell, &format!("q{}", i + 1), |app| full(*program, app))?);
        }
        sums.push(Series::mean_of(&all));
    }
    Ok(sums[0].with(&sums[1], |with, without| (1.0 - with / without) * 100.0))
}

/// How the paper calls a policy.
fn name_of(policy: &str) -> &str {
    if policy == "ALONE" { "Non SysWide" } else { policy }
}

/// Run times in random queues against no scheduling.
pub(super) fn time_reduction(claim: &Claim, lab: &mut Lab) -> Result<Answer, Trouble> {
    let count = if lab.is_quick() { QUICK_TESTS } else { TESTS };
    let mut by_policy = Vec::new();
    for policy in claim.at.policy.list.iter().filter(|policy| **policy != Policy::Load) {
        let policy = policy.word();
        let mut tests = Vec::new();
        for test in 0..count {
            tests.push(of_test(lab, test, policy)?);
        }
        by_policy.push((policy, tests));
    }
    if by_policy.is_empty() {
        return Err(Trouble::uncovered(format!("`{}` is the baseline itself", claim.texts.policy)));
    }
    if claim.form == Form::Ordering {
        let [(_, first), (_, second)] = &by_policy[..] else {
            return Err(Trouble::uncovered("an order of fewer than two policies"));
        };
        let (one, other) = (by_policy[0].0, by_policy[1].0);
        let sign =
            if claim.at.statement.first_has_more(name_of(one), name_of(other), false) { 1.0 } else { -1.0 };
        let gap = Series::mean_of(first).with(&Series::mean_of(second), |a, b| sign * (a - b));
        return Ok(Answer::one(format!("{one} and {other}"), &gap));
    }
    let mut points = Vec::new();
    for (policy, tests) in &by_policy {
        if claim.form == Form::Average {
            points.push(Point::new(format!("{policy}, mean of {count}"), &Series::mean_of(tests)));
            continue;
        }
        let each = tests.iter().enumerate();
        points.extend(each.map(|(i, test)| Point::new(format!("{policy}, queue {}", i + 1), test)));
    }
    Ok(Answer(points))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_hold_each_program_once() {
        for order in ORDERS {
            let mut sorted = order.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().eq(PROGRAMS.iter().map(|p| &p.number)));
        }
    }

    #[test]
    fn random_queues_differ_and_repeat() {
        let (first, order) = random(0, "LOAD");
        assert_eq!(first, random(0, "LOAD").0);
        assert_ne!(first, random(1, "LOAD").0);
        let mut names: Vec<&str> = order.iter().map(|p| p.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 11);
    }
}
