//! How much a node gets done that always runs so many jobs of a mix.
//!
//! A Markov chain: a state is which programs run, each program that runs ends at the rate 1 / (time alone x
//! slowdown in this state), and the next job is drawn from the mix. This supposes that the lengths of the
//! jobs of one program vary as those of an exponential distribution; the mean is the program's own.

use std::collections::BTreeMap;

/// Most states: a chain of so many takes about a second.
pub(super) const MOST_STATES: usize = 1_000;

/// The work per time of `factor` jobs at a time, relative to one at a time: the mean over time of the sum of
/// 1 / slowdown. `times`: run times alone; `mix`: shares of the jobs, which sum up to 1; `slowdowns` of the
/// programs of a state, which is in order. None if one is missing.
pub(super) fn throughput(
    times: &[f64],
    mix: &[f64],
    factor: usize,
    slowdowns: &dyn Fn(&[usize]) -> Option<Vec<f64>>,
) -> Option<f64> {
    let drawn: Vec<usize> = (0..mix.len()).filter(|program| mix[*program] > 0.0).collect();
    let states = states(&drawn, factor);
    let number: BTreeMap<&[usize], usize> =
        states.iter().enumerate().map(|(at, state)| (&state[..], at)).collect();
    let mut rates = vec![vec![0.0; states.len()]; states.len()];
    let mut work = Vec::with_capacity(states.len());
    for (at, state) in states.iter().enumerate() {
        let slow = slowdowns(state)?;
        work.push(slow.iter().map(|slowdown| 1.0 / slowdown).sum::<f64>());
        for (place, (program, slowdown)) in state.iter().zip(&slow).enumerate() {
            let rate = 1.0 / (times.get(*program)? * slowdown);
            for next in &drawn {
                let mut after = state.clone();
                after[place] = *next;
                after.sort_unstable();
                let to = *number.get(&after[..])?;
                if to != at {
                    rates[at][to] += rate * mix[*next];
                }
            }
        }
    }
    let shares = stationary(rates);
    Some(work.iter().zip(&shares).map(|(work, share)| work * share).sum())
}

/// All groups of this many programs, in order.
fn states(programs: &[usize], count: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let more = |state: &Vec<usize>| {
            let from = state.last().copied().unwrap_or(0);
            let state = state.clone();
            let next = programs.iter().filter(move |program| **program >= from);
            next.map(move |program| [&state[..], &[*program]].concat())
        };
        all = all.iter().flat_map(more).collect();
    }
    all
}

/// The shares of time of the states of a chain by its rates (Grassmann, Taksar, Heyman: Regenerative Analysis
/// and Steady State Distributions for Markov Chains, Operations Research 33(5), 1985): elimination without
/// subtractions. Rates from a state to itself do not matter; every state must lead to every other.
fn stationary(mut rates: Vec<Vec<f64>>) -> Vec<f64> {
    let count = rates.len();
    for last in (1..count).rev() {
        let (before, rest) = rates.split_at_mut(last);
        let Some(row) = rest.first() else { continue };
        let out: f64 = row[..last].iter().sum();
        for other in before.iter_mut() {
            let part = other[last] / out;
            other[last] = part;
            if part > 0.0 {
                other[..last].iter_mut().zip(row).for_each(|(rate, way)| *rate += part * way);
            }
        }
    }
    let mut shares = vec![1.0; count.min(1)];
    while shares.len() < count {
        let state = shares.len();
        let share = shares.iter().zip(&rates).map(|(share, row)| share * row[state]).sum();
        shares.push(share);
    }
    let whole: f64 = shares.iter().sum();
    shares.iter().map(|share| share / whole).collect()
}

/// How probable a group is when each of its jobs is drawn from the mix.
pub(super) fn share(members: &[usize], mix: &[f64]) -> f64 {
    let mut orders = 1.0;
    let mut same = 0.0;
    for (at, program) in members.iter().enumerate() {
        same = if at > 0 && members[at - 1] == *program { same + 1.0 } else { 1.0 };
        orders *= (at + 1) as f64 / same;
    }
    orders * members.iter().map(|program| mix[*program]).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_do_not_meet_double_the_work_and_jobs_that_take_turns_do_not() {
        let (times, mix) = ([1.0, 7.0, 3.0], [0.5, 0.2, 0.3]);
        let free = throughput(&times, &mix, 2, &|state| Some(vec![1.0; state.len()])).unwrap();
        assert!((free - 2.0).abs() < 1e-12);
        let turns =
            throughput(&times, &mix, 3, &|state| Some(vec![state.len() as f64; state.len()])).unwrap();
        assert!((turns - 1.0).abs() < 1e-12);
        assert_eq!(throughput(&times, &mix, 2, &|_| None), None);
    }

    /// Two programs of equal length lose only beside their own kind, which slows both down twice.
    #[test]
    fn slow_groups_last_longer() {
        let slow = |state: &[usize]| Some(vec![if state[0] == state[1] { 2.0 } else { 1.0 }; 2]);
        let found = throughput(&[1.0, 1.0], &[0.5, 0.5], 2, &slow).unwrap();
        // Different ones leave their state at rate 1 (two jobs end at rate 1, half of the next ones are of
        // the other kind), equal ones at rate 1/2: shares 1/3 and 2/3, work 2 and 1.
        assert!((found - 4.0 / 3.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn groups_that_a_mix_draws_are_all_of_them() {
        let mix = [0.5, 0.2, 0.3];
        for factor in 1..5 {
            let all: f64 = states(&[0, 1, 2], factor).iter().map(|state| share(state, &mix)).sum();
            assert!((all - 1.0).abs() < 1e-12);
        }
        assert!((share(&[0, 1], &mix) - 0.2).abs() < 1e-12);
        assert!((share(&[1, 1, 2], &mix) - 3.0 * 0.012).abs() < 1e-12);
    }
}
