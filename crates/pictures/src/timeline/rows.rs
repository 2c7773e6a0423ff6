//! Which rows a picture has: a cpu each while they can be told apart, else several cpus of a node together.

use sim_core::ids::CpuId;
use sim_core::machine::Machine;

use crate::timeline::record::RowSpec;

/// The rows for these cpus (rising, at least one), at most `most` of them: one for each cpu; if those are too
/// many one for each node; if those are too many as well, for as few neighbouring nodes as will do.
#[must_use]
pub(super) fn rows(machine: &Machine, cpus: &[u32], most: usize) -> Vec<RowSpec> {
    let node = |cpu: u32| machine.node_of(CpuId(cpu)).0;
    let mut nodes: Vec<RowSpec> = Vec::new();
    for cpu in cpus {
        match nodes.last_mut() {
            Some(last) if last.group == node(*cpu) => last.cpus.push(*cpu),
            _ => {
                let (name, group, cpus) = (String::new(), node(*cpu), vec![*cpu]);
                nodes.push(RowSpec { name, group, cpus, thread: None });
            }
        }
    }
    if cpus.len() <= most {
        let row = |cpu: &u32| {
            let (name, group, cpus) = (cpu.to_string(), node(*cpu), vec![*cpu]);
            RowSpec { name, group, cpus, thread: None }
        };
        return cpus.iter().map(row).collect();
    }
    // A machine of one node has nothing to go by but the number of cpus.
    if nodes.len() == 1 {
        return parts(cpus, most);
    }
    let together = nodes.len().div_ceil(most.max(1));
    let joined = |group: &[RowSpec]| {
        let (first, last) = (group[0].group, group[group.len() - 1].group);
        let name = if first == last { format!("node {first}") } else { format!("nodes {first}-{last}") };
        let cpus = group.iter().flat_map(|row| row.cpus.iter().copied()).collect();
        RowSpec { name, group: first, cpus, thread: None }
    };
    nodes.chunks(together).map(joined).collect()
}

/// The cpus in order, in equal parts.
fn parts(cpus: &[u32], most: usize) -> Vec<RowSpec> {
    let size = cpus.len().div_ceil(most.max(1)).next_power_of_two();
    let row = |part: &[u32]| RowSpec {
        name: format!("{}-{}", part[0], part[part.len() - 1]),
        group: 0,
        cpus: part.to_vec(),
        thread: None,
    };
    cpus.chunks(size).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(machine: &str, most: usize) -> Vec<(String, usize)> {
        let machine = machines::resolve(machine).unwrap().machine();
        let cpus: Vec<u32> = (0..machine.cpus()).collect();
        rows(&machine, &cpus, most).into_iter().map(|row| (row.name, row.cpus.len())).collect()
    }

    #[test]
    fn a_row_is_a_cpu_a_node_or_several_nodes() {
        assert_eq!(named("barcelona", 16).len(), 16);
        assert_eq!(named("barcelona", 8), (0..4).map(|n| (format!("node {n}"), 4)).collect::<Vec<_>>());
        assert_eq!(named("barcelona", 2), [("nodes 0-1".to_owned(), 8), ("nodes 2-3".to_owned(), 8)]);
        let all: usize = named("synthetic-1024", 32).iter().map(|row| row.1).sum();
        assert_eq!(all, 1024);
        assert!(named("synthetic-1024", 32).len() <= 32);
    }
}
