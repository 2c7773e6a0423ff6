//! What the resources carry: exact sums of demands, the stretches that follow, and which classes each
//! resource concerns.

use super::class::{BUS, Class, FAR, GROUP, NO_CLASS, SLOT, SPREAD};
use std::sync::Arc;

use super::law::{ONE, stretch, stretch_table};
use super::overlap::BusUsers;
use crate::machine::Machine;

/// A list of classes: its kind, and which one of the kind.
pub(super) type List = (usize, u32);

/// Loads are sums of bytes per second with 32 fraction bits: of demand x growth x share, without rounding.
type Load = u128;

/// The stretch of at most 2^22 cpus of 2^44 bytes per second may exceed 32 bits: it counts as infinite then.
const MOST: u64 = 1 << 40;

/// What changed on a node: the load of its controller, that of its port.
const CONTROLLER: u8 = 1;
const PORT: u8 = 2;

/// The resources of the machine.
pub(super) struct Loads {
    table: Arc<[u32]>,
    node_bandwidth: u64,
    link_bandwidth: u64,
    bus_bandwidth: u64,
    /// What a core can draw, where cores wait for each load; else none.
    blocking: Option<u64>,
    crossbar_bandwidth: u64,
    transfer_bandwidth: u64,
    nodes: Vec<NodeLoad>,
    /// Traffic of tasks on each node's cpus to pages spread over all nodes; empty when there are none such.
    spread: Vec<Load>,
    spread_sum: Load,
    /// The cost of an access to another node than one's own, summed over all nodes (32 fraction bits); kept
    /// where there are spread accesses, one factor of distance for all of them, and no buses.
    remote: Option<Remote>,
    /// Traffic between nodes; kept where there is a crossbar.
    far_sum: Load,
    crossbar: u64,
    buses: Vec<BusLoad>,
    /// What each package serves of all-to-all transfers; empty where it has no limit.
    servers: Vec<BusLoad>,
    groups: Vec<Group>,
    pub(super) dirty_nodes: Vec<u32>,
    dirty_buses: Vec<u32>,
    dirty_servers: Vec<u32>,
    pub(super) dirty_groups: Vec<u32>,
    spread_is_dirty: bool,
    far_is_dirty: bool,
    /// First class with spread accesses, first of the others that cross nodes. A class that has lost its last
    /// member stays in its lists until they are next gone through.
    spread_head: u32,
    far_head: u32,
    /// Lists whose resource has a new stretch.
    pub(super) changed: Vec<List>,
    pub(super) moved: Vec<u32>,
    /// Something has changed since the last refresh.
    pub(super) touched: bool,
    /// The speed of a class depends on its page node only: no accesses are spread, there are no buses, no
    /// crossbar, no caches that count.
    pub(super) plain: bool,
}

/// What one node carries. One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct NodeLoad {
    /// Traffic of tasks whose pages are there.
    home: Load,
    /// Of that, from other nodes.
    far: Load,
    /// Stretch of its controller, and of its port for accesses from other nodes.
    controller: u64,
    port: u64,
    /// First class of those whose pages are there.
    head: u32,
    dirty: u8,
}

/// A sum over all nodes of the stretch on the way there from another node, times the factor of distance,
/// 1/65,536.
#[derive(Clone, Copy)]
struct Remote {
    factor: u32,
    sum: u128,
}

/// What a bus carries or a package serves, and its stretch; where cores wait for each load, who uses it,
/// now and as of the last refresh.
#[derive(Clone, Copy)]
struct BusLoad {
    load: Load,
    stretch: u64,
    askers: BusUsers,
    settled: BusUsers,
    /// Its first class.
    head: u32,
    dirty: bool,
}

impl BusLoad {
    fn idle() -> Self {
        let unused = BusUsers::default();
        Self { load: 0, stretch: ONE, askers: unused, settled: unused, head: NO_CLASS, dirty: false }
    }

    /// Adds a load or takes it off; true when nothing had changed since the last refresh.
    #[inline]
    fn shift(&mut self, by: Load, add: bool) -> bool {
        change(&mut self.load, by, add);
        !std::mem::replace(&mut self.dirty, true)
    }

    /// Brings the stretch up to date, that of its load where cores do not wait for each one; true when
    /// it, or who uses it, is not what it was.
    fn settle(&mut self, table: &[u32], bandwidth: u64, blocking: bool) -> bool {
        self.dirty = false;
        let load = if blocking { 0 } else { (self.load >> 32) as u64 };
        let new = stretch(table, load, bandwidth);
        let others = std::mem::replace(&mut self.settled, self.askers) != self.askers;
        std::mem::replace(&mut self.stretch, new) != new || others
    }
}

/// Working sets of the tasks that compute in a cache group, now and as of the last refresh.
#[derive(Clone, Copy)]
struct Group {
    sets: u128,
    settled: u128,
    /// Its first class.
    head: u32,
    dirty: bool,
}

/// A load divided evenly among nodes.
#[inline]
fn part(load: Load, nodes: usize) -> Load {
    if load == 0 {
        0
    } else if nodes.is_power_of_two() {
        load >> nodes.ilog2()
    } else {
        load / nodes as u128
    }
}

#[inline]
fn change(load: &mut Load, by: Load, add: bool) {
    *load = if add { *load + by } else { *load - by };
}

impl Loads {
    /// The resources of a machine with so many buses, cache groups (none: shared caches do not count) and
    /// packages with a limit for transfers, for so many classes; `spread`: some accesses are spread over all
    /// nodes; `remote`: the factor of distance, where there is one for all.
    pub(super) fn new(
        machine: &Machine,
        parts: [u32; 3],
        classes: usize,
        spread: bool,
        remote: Option<u32>,
    ) -> Self {
        let memory = &machine.memory;
        let nodes = machine.nodes() as usize;
        let [buses, groups, servers] = parts.map(|number| number as usize);
        let lists = nodes + 2 + buses + groups + servers;
        let idle = NodeLoad { home: 0, far: 0, controller: ONE, port: ONE, head: NO_CLASS, dirty: 0 };
        let one_factor =
            |factor| Remote { factor, sum: nodes as u128 * u128::from(ONE) * u128::from(factor) };
        Self {
            table: stretch_table(memory.stretch_exponent),
            node_bandwidth: memory.node_bandwidth,
            link_bandwidth: memory.link_bandwidth,
            bus_bandwidth: memory.bus_bandwidth,
            blocking: memory.blocking_loads.then_some(memory.core_bandwidth),
            crossbar_bandwidth: memory.crossbar_bandwidth,
            transfer_bandwidth: memory.transfer_bandwidth,
            nodes: vec![idle; nodes],
            spread: vec![0; if spread { nodes } else { 0 }],
            spread_sum: 0,
            remote: remote.filter(|_| spread && memory.bus_bandwidth == 0).map(one_factor),
            far_sum: 0,
            crossbar: ONE,
            buses: vec![BusLoad::idle(); buses],
            servers: vec![BusLoad::idle(); servers],
            groups: vec![Group { sets: 0, settled: 0, head: NO_CLASS, dirty: false }; groups],
            dirty_nodes: Vec::with_capacity(nodes),
            dirty_buses: Vec::with_capacity(buses),
            dirty_servers: Vec::with_capacity(servers),
            dirty_groups: Vec::with_capacity(groups),
            spread_is_dirty: false,
            far_is_dirty: false,
            spread_head: NO_CLASS,
            far_head: NO_CLASS,
            changed: Vec::with_capacity(lists),
            moved: Vec::with_capacity(classes),
            touched: false,
            plain: !(spread
                || groups > 0
                || servers > 0
                || memory.bus_bandwidth > 0
                || memory.crossbar_bandwidth > 0),
        }
    }

    /// Makes room for this many classes that move at one instant.
    pub(super) fn reserve(&mut self, classes: usize) {
        self.moved.reserve(classes - self.moved.len());
    }

    /// A working set comes into a cache group or leaves it.
    pub(super) fn occupy(&mut self, group: u32, set: u64, enters: bool) {
        self.touched = true;
        let record = &mut self.groups[group as usize];
        change(&mut record.sets, u128::from(set), enters);
        if !std::mem::replace(&mut record.dirty, true) {
            self.dirty_groups.push(group);
        }
    }

    /// The next completion in a class may have moved.
    #[inline]
    pub(super) fn note_move(&mut self, class: u32, record: &mut Class) {
        self.touched = true;
        if !std::mem::replace(&mut record.moved, true) {
            self.moved.push(class);
        }
    }

    /// A member of a class that demands `bytes` per second begins to use its bus or stops, where cores wait
    /// for each load.
    #[inline]
    pub(super) fn meet(&mut self, class: &Class, bytes: u64, begins: bool) {
        let Some(core) = self.blocking.filter(|_| self.bus_bandwidth > 0) else { return };
        self.buses[class.bus as usize].askers.change(class.waits(), bytes, core, begins);
    }

    /// Adds what members of a class demand (bytes per second before growth) to the resources it uses, or
    /// takes it off.
    #[inline]
    pub(super) fn shift(&mut self, class: &Class, team: Option<&[u64]>, bytes: u64, add: bool) {
        if self.plain {
            // Nothing grows and nothing is spread.
            self.shift_home(class, u128::from(bytes) << 32, add);
        } else {
            self.shift_any(class, team, bytes, add);
        }
    }

    #[inline(never)]
    fn shift_any(&mut self, class: &Class, team: Option<&[u64]>, bytes: u64, add: bool) {
        // Growth has 41 bits at most, so its product with a share fits.
        let (bytes, share) = (u128::from(bytes), u64::from(class.spread));
        if let Some(shares) = team {
            for (node, part) in (0..).zip(shares).filter(|(_, part)| **part > 0) {
                let part = ((ONE - share) * part) >> 16;
                self.shift_page(node, node != class.node, bytes * u128::from(class.growth * part), add);
            }
        } else if share < ONE {
            self.shift_home(class, bytes * u128::from(class.growth * (ONE - share)), add);
        }
        if share > 0 {
            let by = bytes * u128::from(class.growth * share);
            self.spread_is_dirty = true;
            change(&mut self.spread[class.node as usize], by, add);
            change(&mut self.spread_sum, by, add);
        }
        let whole = bytes * u128::from(class.growth << 16);
        if self.bus_bandwidth > 0 && self.buses[class.bus as usize].shift(whole, add) {
            self.dirty_buses.push(class.bus);
        }
        if let Some(server) = class.key.server.checked_sub(1)
            && self.servers[server as usize].shift(whole, add)
        {
            self.dirty_servers.push(server);
        }
    }

    /// The same for what goes to the page node of a class.
    #[inline]
    fn shift_home(&mut self, class: &Class, own: Load, add: bool) {
        self.shift_page(class.key.slot, class.is_far, own, add);
    }

    /// The same for pages on a node; `far`: the tasks are on another one.
    #[inline]
    fn shift_page(&mut self, node: u32, far: bool, own: Load, add: bool) {
        let pages = &mut self.nodes[node as usize];
        if pages.dirty == 0 {
            self.dirty_nodes.push(node);
        }
        pages.dirty |= CONTROLLER;
        change(&mut pages.home, own, add);
        if far {
            pages.dirty |= PORT;
            change(&mut pages.far, own, add);
            if self.crossbar_bandwidth > 0 {
                change(&mut self.far_sum, own, add);
                self.far_is_dirty = true;
            }
        }
    }

    /// Kinds of lists that classes belong in whose accesses go to several nodes or do not, and that this
    /// server serves, a bit each; [`FAR`] if they cross nodes.
    pub(super) fn kinds(&self, spread: bool, server: u32) -> u8 {
        debug_assert!(!spread || server == 0, "transfers read pages of one node");
        u8::from(!spread) << SLOT
            | u8::from(spread || server > 0) << SPREAD
            | u8::from(!spread && self.crossbar_bandwidth > 0) << FAR
            | u8::from(self.bus_bandwidth > 0) << BUS
            | u8::from(!self.groups.is_empty()) << GROUP
    }

    /// The first class of a list.
    #[inline(always)]
    pub(super) fn head(&mut self, (kind, at): List) -> &mut u32 {
        match kind {
            SLOT => &mut self.nodes[at as usize].head,
            SPREAD if at > 0 => &mut self.servers[at as usize - 1].head,
            SPREAD => &mut self.spread_head,
            FAR => &mut self.far_head,
            BUS => &mut self.buses[at as usize].head,
            _ => &mut self.groups[at as usize].head,
        }
    }

    /// Puts a class in the lists it belongs in.
    pub(super) fn enlist(&mut self, class: u32, record: &mut Class) {
        let lists = [record.key.slot, record.key.server, 0, record.bus, record.group];
        for (kind, at) in lists.into_iter().enumerate() {
            if (record.kinds & !record.listed) >> kind & 1 == 1 {
                record.next[kind] = std::mem::replace(self.head((kind, at)), class);
            }
        }
        record.listed = record.kinds;
    }

    /// Working sets in a cache group as of the last refresh.
    pub(super) fn settled(&self, group: u32) -> u128 {
        self.groups.get(group as usize).map_or(0, |group| group.settled)
    }

    /// Settles a cache group: its working sets, unless they are what they were.
    pub(super) fn settle_group(&mut self, group: u32) -> Option<u128> {
        let record = &mut self.groups[group as usize];
        record.dirty = false;
        let sets = record.sets;
        (std::mem::replace(&mut record.settled, sets) != sets).then_some(sets)
    }

    /// Brings all stretches up to date and notes the lists of classes that they concern.
    #[inline]
    pub(super) fn settle(&mut self) {
        if std::mem::replace(&mut self.spread_is_dirty, false) {
            self.spread_to_all();
        }
        let mut any = false;
        while let Some(node) = self.dirty_nodes.pop() {
            if self.settle_node(node as usize) {
                self.changed.push((SLOT, node));
                any = true;
            }
        }
        while let Some(bus) = self.dirty_buses.pop() {
            if self.buses[bus as usize].settle(&self.table, self.bus_bandwidth, self.blocking.is_some()) {
                self.changed.push((BUS, bus));
            }
        }
        while let Some(server) = self.dirty_servers.pop() {
            if self.servers[server as usize].settle(&self.table, self.transfer_bandwidth, false) {
                self.changed.push((SPREAD, server + 1));
            }
        }
        if std::mem::replace(&mut self.far_is_dirty, false) {
            any |= self.settle_crossbar();
        }
        if any && (!self.spread.is_empty() || self.spread_head != NO_CLASS) {
            self.settle_afar();
            self.changed.push((SPREAD, 0));
        }
    }

    /// Spread traffic has changed: that concerns all nodes.
    fn spread_to_all(&mut self) {
        self.far_is_dirty = true;
        for (node, record) in self.nodes.iter_mut().enumerate() {
            if std::mem::replace(&mut record.dirty, CONTROLLER | PORT) == 0 {
                self.dirty_nodes.push(node as u32);
            }
        }
    }

    /// The controller of a node and its port; true when a stretch is not what it was.
    #[inline(always)]
    pub(super) fn settle_node(&mut self, node: usize) -> bool {
        let nodes = self.nodes.len();
        let record = &mut self.nodes[node];
        let dirty = std::mem::replace(&mut record.dirty, 0);
        let (mut all, mut far) = (record.home, record.far);
        if self.spread_sum > 0 {
            all += part(self.spread_sum, nodes);
            far += part(self.spread_sum - self.spread[node], nodes);
        }
        let new = stretch(&self.table, (all >> 32) as u64, self.node_bandwidth);
        let mut changed = std::mem::replace(&mut record.controller, new) != new;
        if dirty & PORT != 0 {
            let new = stretch(&self.table, (far >> 32) as u64, self.link_bandwidth);
            changed |= std::mem::replace(&mut record.port, new) != new;
        }
        changed
    }

    /// The mean over all nodes of what spread accesses meet.
    fn settle_afar(&mut self) {
        let Some(Remote { factor, .. }) = self.remote else { return };
        let far = |node: &NodeLoad| node.controller.max(node.port).max(self.crossbar).min(MOST);
        let sum = self.nodes.iter().map(|node| u128::from(far(node) * u64::from(factor))).sum();
        self.remote = Some(Remote { factor, sum });
    }

    /// The crossbar; true when its stretch is not what it was.
    fn settle_crossbar(&mut self) -> bool {
        let nodes = self.nodes.len();
        let load = self.far_sum + part(self.spread_sum, nodes) * (nodes as u128 - 1);
        let new = stretch(&self.table, (load >> 32) as u64, self.crossbar_bandwidth);
        let changed = std::mem::replace(&mut self.crossbar, new) != new;
        if changed {
            self.changed.push((FAR, 0));
        }
        changed
    }

    /// The greatest stretch on the way of a class to a node; `far`: it is another one than its own.
    #[inline]
    pub(super) fn way(&self, class: &Class, page: u32, far: bool) -> u64 {
        let pages = &self.nodes[page as usize];
        let mut stretch = pages.controller;
        if far {
            stretch = stretch.max(pages.port).max(self.crossbar);
        }
        if self.bus_bandwidth > 0 {
            let bus = &self.buses[class.bus as usize];
            stretch = stretch.max(match self.blocking {
                Some(_) => bus.settled.stretch(&self.table, self.bus_bandwidth, class.waits()),
                None => bus.stretch,
            });
        }
        if let Some(server) = class.key.server.checked_sub(1) {
            stretch = stretch.max(self.servers[server as usize].stretch);
        }
        stretch.min(MOST)
    }

    /// The same over the nodes that hold pages of a team, in these shares.
    pub(super) fn team_cost(&self, class: &Class, shares: &[u64], distance: impl Fn(u32) -> u32) -> u128 {
        let cost = |page| self.way(class, page, page != class.node) * u64::from(distance(page));
        let each = (0..).zip(shares).filter(|(_, share)| **share > 0);
        each.map(|(page, share)| u128::from(cost(page)) * u128::from(*share)).sum::<u128>() >> 16
    }

    /// Mean over all nodes of the stretch on the way times the distance (32 fraction bits).
    pub(super) fn mean_cost(&self, class: &Class, distance: impl Fn(u32) -> u32) -> u128 {
        let nodes = self.nodes.len();
        if let Some(Remote { factor, sum }) = self.remote {
            let own = |far| self.way(class, class.node, far);
            let (near, far) = (own(false) * ONE, own(true) * u64::from(factor));
            return part(sum - u128::from(far) + u128::from(near), nodes);
        }
        let cost = |page| self.way(class, page, page != class.node) * u64::from(distance(page));
        part((0..nodes as u32).map(|page| u128::from(cost(page))).sum(), nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Level, Topology};

    #[test]
    fn spread_accesses_from_a_node_do_not_use_its_port() {
        let mut machine = crate::engine::test_machine(2);
        machine.topology = Topology::new(&[(Level::Node, 2), (Level::Core, 1)]).unwrap();
        machine.memory.link_bandwidth = 1_000_000_000;
        let mut loads = Loads::new(&machine, [0, 0, 0], 1, true, None);
        // A task on node 0 draws 2 GB/s from both nodes: the port of node 1 carries half, its capacity.
        let drawn: Load = 2_000_000_000 << 32;
        (loads.spread[0], loads.spread_sum) = (drawn, drawn);
        loads.spread_to_all();
        assert!(loads.settle_node(0) && loads.settle_node(1));
        assert_eq!([loads.nodes[0].port, loads.nodes[1].port], [ONE, 77_936]);
    }
}
