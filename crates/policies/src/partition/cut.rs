//! Dividing units among applications and cpus among tasks, so that as few as possible change hands.

use sim_core::ids::CpuId;
use sim_core::machine::{Level, Topology};

/// Whole shares of `units` in proportion to the weights by the method of largest remainders (Hamilton), at
/// least one each (there must be as many units as weights). Equal remainders go to who holds more, then to
/// the first.
pub(super) fn portions(units: u32, weights: &[u64], held: &[u32]) -> Vec<u32> {
    let total: u128 = weights.iter().map(|w| u128::from(*w)).sum::<u128>().max(1);
    let exact: Vec<u128> = weights.iter().map(|w| u128::from(*w) * u128::from(units)).collect();
    let mut shares: Vec<u32> = exact.iter().map(|e| (e / total) as u32).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse((exact[*i] % total, held.get(*i).copied().unwrap_or(0))));
    let rest = units.saturating_sub(shares.iter().sum());
    for i in order.into_iter().take(rest as usize) {
        shares[i] += 1;
    }
    while let Some(poor) = shares.iter().position(|share| *share == 0) {
        let Some(rich) = (0..shares.len()).max_by_key(|i| shares[*i]).filter(|i| shares[*i] > 1) else {
            break;
        };
        shares[rich] -= 1;
        shares[poor] = 1;
    }
    shares
}

/// Which party gets each unit: `shares[p]` of them for party p. Units are `width` consecutive cores; a party
/// keeps those of which it holds most cores (`owner`, by core), the others are dealt in order.
pub(super) fn deal(shares: &[u32], width: u32, owner: &[Option<usize>]) -> Vec<Option<usize>> {
    let width = width.max(1) as usize;
    let units = owner.len() / width;
    // Cores held, party, unit.
    let mut claims: Vec<(usize, usize, usize)> = Vec::new();
    for unit in 0..units {
        let mut holders: Vec<usize> =
            owner[unit * width..(unit + 1) * width].iter().copied().flatten().collect();
        holders.sort_unstable();
        claims.extend(holders.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0], unit)));
    }
    // Most cores first; among equals the lower party and unit.
    claims.sort_by_key(|(held, party, unit)| (std::cmp::Reverse(*held), *party, *unit));
    let mut left = shares.to_vec();
    let mut dealt = vec![None; units];
    for (_, party, unit) in claims {
        if left[party] > 0 && dealt[unit].is_none() {
            dealt[unit] = Some(party);
            left[party] -= 1;
        }
    }
    let mut lacking = (0..shares.len()).flat_map(|party| std::iter::repeat_n(party, left[party] as usize));
    for unit in dealt.iter_mut().filter(|unit| unit.is_none()) {
        *unit = lacking.next();
    }
    dealt
}

/// The cpu of each task: even over the cores of the set, then over the threads of each core, and as many
/// tasks as possible keep their old one. Without old ones they go round the cores in order. The set must not
/// be empty.
pub(super) fn seats(topology: &Topology, set: &[CpuId], old: &[Option<CpuId>]) -> Vec<CpuId> {
    let mut cores: Vec<Vec<CpuId>> = Vec::new();
    for cpu in set {
        let core = topology.group(Level::Core, *cpu);
        match cores.last_mut().filter(|last| topology.group(Level::Core, last[0]) == core) {
            Some(last) => last.push(*cpu),
            None => cores.push(vec![*cpu]),
        }
    }
    let core_of = |cpu: CpuId| {
        let core = topology.group(Level::Core, cpu);
        cores.binary_search_by_key(&core, |cpus| topology.group(Level::Core, cpus[0])).ok()
    };
    let old_core: Vec<Option<usize>> = old.iter().map(|cpu| core_of((*cpu)?)).collect();
    let core = level_out(cores.len(), &old_core);
    let mut seats = vec![set[0]; old.len()];
    let mut tasks: Vec<Vec<usize>> = vec![Vec::new(); cores.len()];
    for (task, core) in core.iter().enumerate() {
        tasks[*core].push(task);
    }
    for (cpus, tasks) in cores.iter().zip(&tasks) {
        let old_cpu = |task: &usize| old[*task].and_then(|cpu| cpus.iter().position(|other| *other == cpu));
        let places = level_out(cpus.len(), &tasks.iter().map(old_cpu).collect::<Vec<_>>());
        for (task, place) in tasks.iter().zip(places) {
            seats[*task] = cpus[place];
        }
    }
    seats
}

/// Spreads tasks over groups so that their numbers differ by at most one and as many as possible stay where
/// they were.
fn level_out(groups: usize, old: &[Option<usize>]) -> Vec<usize> {
    let groups = groups.max(1);
    let (base, extra) = (old.len() / groups, old.len() % groups);
    let mut count = vec![0usize; groups];
    for group in old.iter().flatten() {
        count[*group] += 1;
    }
    let mut fullest: Vec<usize> = (0..groups).collect();
    fullest.sort_by_key(|group| std::cmp::Reverse(count[*group]));
    let mut room = vec![base; groups];
    for group in fullest.into_iter().take(extra) {
        room[group] += 1;
    }
    let mut new = vec![None; old.len()];
    for (new, group) in new.iter_mut().zip(old) {
        if let Some(group) = group.filter(|group| room[*group] > 0) {
            room[group] -= 1;
            *new = Some(group);
        }
    }
    let mut next = 0;
    let mut turn = || {
        // There is as much room as there are tasks.
        while room[next % groups] == 0 {
            next += 1;
        }
        room[next % groups] -= 1;
        next += 1;
        (next - 1) % groups
    };
    new.into_iter().map(|group| group.unwrap_or_else(&mut turn)).collect()
}
