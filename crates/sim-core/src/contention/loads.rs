//! What the resources carry: exact sums of demands, stretches, and which occupied classes each resource concerns.

use super::law::{ONE, stretch, stretch_table};
use super::{Class, Contention, NO_CPU};
use crate::machine::Machine;
use crate::time::Time;

/// Position of the kinds of lists in `Class::positions`.
const SLOT: usize = 0;
const SPREAD: usize = 1;
const FAR: usize = 2;
const BUS: usize = 3;
const GROUP: usize = 4;

/// Loads are sums of bytes per second with 32 fraction bits: of demand x growth x share, without rounding.
type Load = u128;

/// The resources of the machine.
pub(super) struct Loads {
    table: Vec<u32>,
    node_bandwidth: u64,
    link_bandwidth: u64,
    bus_bandwidth: u64,
    crossbar_bandwidth: u64,
    nodes: Vec<NodeLoad>,
    /// Traffic between nodes, and to pages spread over all nodes.
    far_sum: Load,
    spread_sum: Load,
    bus: Vec<Load>,
    /// By cache group: working sets of the tasks that compute, now and as of the last refresh.
    sets: Vec<(u128, u128)>,
    bus_stretch: Vec<u64>,
    crossbar: u64,
    dirty_nodes: Vec<u32>,
    dirty_buses: Vec<u32>,
    dirty_groups: Vec<u32>,
    bus_is_dirty: Vec<bool>,
    group_is_dirty: Vec<bool>,
    spread_is_dirty: bool,
    far_is_dirty: bool,
    /// Lists of occupied classes: by page node, all with spread accesses, all that cross nodes, by bus, by cache group.
    lists: Vec<Vec<u32>>,
    stale: Vec<u32>,
    moved: Vec<u32>,
    /// Something has changed since the last refresh.
    touched: bool,
}

/// What one node carries.
#[derive(Clone, Copy)]
struct NodeLoad {
    /// Traffic of tasks whose pages are there.
    home: Load,
    /// Of that, from other nodes.
    far: Load,
    /// Traffic of tasks on its cpus to pages spread over all nodes.
    spread: Load,
    /// Stretch of its controller, and of its port for accesses from other nodes.
    controller: u64,
    link: u64,
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
fn mark(at: u32, flags: &mut [bool], list: &mut Vec<u32>) {
    if !std::mem::replace(&mut flags[at as usize], true) {
        list.push(at);
    }
}

impl Loads {
    pub(super) fn new(machine: &Machine, buses: u32, groups: u32) -> Self {
        let memory = &machine.memory;
        let (nodes, buses, groups) = (machine.nodes() as usize, buses as usize, groups as usize);
        Self {
            table: stretch_table(memory.stretch_exponent),
            node_bandwidth: memory.node_bandwidth,
            link_bandwidth: memory.link_bandwidth,
            bus_bandwidth: memory.bus_bandwidth,
            crossbar_bandwidth: memory.crossbar_bandwidth,
            nodes: vec![
                NodeLoad { home: 0, far: 0, spread: 0, controller: ONE, link: ONE, dirty: false };
                nodes
            ],
            far_sum: 0,
            spread_sum: 0,
            bus: vec![0; buses],
            sets: vec![(0, 0); groups],
            bus_stretch: vec![ONE; buses],
            crossbar: ONE,
            dirty_nodes: Vec::with_capacity(nodes),
            dirty_buses: Vec::with_capacity(buses),
            dirty_groups: Vec::with_capacity(groups),
            bus_is_dirty: vec![false; buses],
            group_is_dirty: vec![false; groups],
            spread_is_dirty: false,
            far_is_dirty: false,
            lists: vec![Vec::new(); nodes + 2 + buses + groups],
            stale: Vec::new(),
            moved: Vec::new(),
            touched: false,
        }
    }

    /// A working set comes into a cache group or leaves it.
    pub(super) fn occupy(&mut self, group: u32, set: u64, enters: bool) {
        self.touched = true;
        let sum = &mut self.sets[group as usize].0;
        *sum = if enters { *sum + u128::from(set) } else { *sum - u128::from(set) };
        mark(group, &mut self.group_is_dirty, &mut self.dirty_groups);
    }

    /// The next completion in a class may have moved.
    #[inline]
    pub(super) fn note_move(&mut self, class: u32, record: &mut Class) {
        self.touched = true;
        if !std::mem::replace(&mut record.moved, true) {
            self.moved.push(class);
        }
    }

    /// Bytes per second on a controller and, of those, through its port.
    #[inline]
    fn node_loads(&self, node: usize) -> (u64, u64) {
        let (nodes, node) = (self.nodes.len(), &self.nodes[node]);
        let all = node.home + part(self.spread_sum, nodes);
        let far = node.far + part(self.spread_sum - node.spread, nodes);
        ((all >> 32) as u64, (far >> 32) as u64)
    }
}

impl Contention {
    /// Adds the demand of a member to the resources its class uses, or takes it off.
    #[inline]
    pub(super) fn load(&mut self, class: u32, bytes: u64, add: bool) {
        let growth = self.classes[class as usize].growth;
        let record = &mut self.classes[class as usize];
        record.bytes = if add { record.bytes + bytes } else { record.bytes - bytes };
        self.shift_load(class, u128::from(bytes) * u128::from(growth), add);
    }

    /// Moves the load of a class by an amount (1/65,536 bytes per second).
    #[inline]
    fn shift_load(&mut self, class: u32, amount: u128, add: bool) {
        let record = &self.classes[class as usize];
        let (slot, node, bus) = (record.key.slot, record.node, record.bus);
        let share = self.demands[record.key.profile as usize].spread;
        let loads = &mut self.loads;
        let change = |load: &mut Load, by: Load| *load = if add { *load + by } else { *load - by };
        if share < ONE {
            let own = amount * u128::from(ONE - share);
            let pages = &mut loads.nodes[slot as usize];
            change(&mut pages.home, own);
            if !std::mem::replace(&mut pages.dirty, true) {
                loads.dirty_nodes.push(slot);
            }
            if slot != node {
                change(&mut pages.far, own);
                change(&mut loads.far_sum, own);
                loads.far_is_dirty = true;
            }
        }
        if share > 0 {
            let spread = amount * u128::from(share);
            change(&mut loads.nodes[node as usize].spread, spread);
            change(&mut loads.spread_sum, spread);
            loads.spread_is_dirty = true;
        }
        if loads.bus_bandwidth > 0 {
            change(&mut loads.bus[bus as usize], amount << 16);
            mark(bus, &mut loads.bus_is_dirty, &mut loads.dirty_buses);
        }
    }

    /// A class gets its first member: its clocks are set to now, its growth and rate to the present ones.
    pub(super) fn open(&mut self, class: u32, now: Time) {
        let record = &self.classes[class as usize];
        let own = self.demands[record.key.profile as usize].working_set;
        let sum = self.loads.sets.get(record.group as usize).map_or(0, |set| set.1);
        let growth = self.cache.growth(sum, own);
        self.classes[class as usize].retime(now);
        self.classes[class as usize].growth = growth;
        self.classes[class as usize].rate = self.rate(&self.classes[class as usize]);
        for kind in 0..super::LISTS {
            let Some(list) = self.list(class, kind) else { continue };
            self.classes[class as usize].positions[kind] = self.loads.lists[list].len() as u32;
            self.loads.lists[list].push(class);
        }
    }

    /// A class has lost its last member.
    pub(super) fn unlist(&mut self, class: u32) {
        for kind in 0..super::LISTS {
            let Some(list) = self.list(class, kind) else { continue };
            let at = self.classes[class as usize].positions[kind];
            let list = &mut self.loads.lists[list];
            list.swap_remove(at as usize);
            if let Some(moved) = list.get(at as usize) {
                self.classes[*moved as usize].positions[kind] = at;
            }
        }
    }

    /// The list of a kind that a class belongs in, if it is concerned by what the list is for.
    #[inline]
    fn list(&self, class: u32, kind: usize) -> Option<usize> {
        let record = &self.classes[class as usize];
        let spread = self.demands[record.key.profile as usize].spread;
        let nodes = self.nodes as usize;
        let buses = nodes + 2;
        match kind {
            SLOT => (record.key.slot < self.nodes).then_some(record.key.slot as usize),
            SPREAD => (spread > 0).then_some(nodes),
            FAR => {
                let far = spread > 0 || record.key.slot != record.node;
                (self.loads.crossbar_bandwidth > 0 && far).then_some(nodes + 1)
            }
            BUS => (self.loads.bus_bandwidth > 0).then_some(buses + record.bus as usize),
            GROUP => (self.cache.span > 0).then_some(buses + self.loads.bus.len() + record.group as usize),
            _ => None,
        }
    }

    /// Cost of an access of a class to a node: the greatest stretch on the way times the distance (32 fraction bits).
    #[inline]
    fn cost(&self, class: &Class, page: u32) -> u64 {
        let loads = &self.loads;
        let pages = &loads.nodes[page as usize];
        let mut stretch = pages.controller.max(loads.bus_stretch[class.bus as usize]);
        if page != class.node {
            stretch = stretch.max(pages.link).max(loads.crossbar);
        }
        // The stretch of at most 2^22 cpus of 2^44 bytes per second may exceed 32 bits: it counts as infinite then.
        stretch.min(1 << 40) * self.distances.between(class.node, page).min(1 << 23)
    }

    /// Speed of a class's clock under the present stretches.
    fn rate(&self, class: &Class) -> u64 {
        let demand = &self.demands[class.key.profile as usize];
        let slow = if demand.spread == 0 {
            self.cost(class, class.key.slot) >> 16
        } else {
            self.spread_cost(class, demand.spread)
        };
        let slow = (u128::from(demand.bound) * u128::from(slow.min(1 << 60))) >> 16;
        let memory = if class.growth == ONE { slow } else { (slow * u128::from(class.growth)) >> 16 };
        let denominator = (u128::from(ONE - demand.bound) + memory).max(1);
        u64::try_from(denominator).map_or(1, |denominator| ((1 << 36) / denominator).max(1))
    }

    /// Mean cost of the accesses of a class of which a share is spread over all nodes, 1/65,536.
    fn spread_cost(&self, class: &Class, share: u64) -> u64 {
        let mut slow = 0;
        if share < ONE {
            slow += u128::from(ONE - share) * u128::from(self.cost(class, class.key.slot));
        }
        let sum: u128 = (0..self.nodes).map(|page| u128::from(self.cost(class, page))).sum();
        slow += u128::from(share) * part(sum, self.nodes as usize);
        // Back from 48 fraction bits to 16.
        (slow >> 32).min(1 << 60) as u64
    }

    /// Brings growth, stretches and rates up to date; tells `changed` the next completion of each class where it may have moved.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, changed: impl FnMut(u32, Time)) {
        if std::mem::replace(&mut self.loads.touched, false) {
            self.refresh_touched(now, changed);
        }
    }

    fn refresh_touched(&mut self, now: Time, mut changed: impl FnMut(u32, Time)) {
        if !self.loads.dirty_groups.is_empty() {
            self.refresh_groups(now);
        }
        self.refresh_nodes();
        if !self.loads.dirty_buses.is_empty() {
            self.refresh_buses();
        }
        if self.loads.far_is_dirty {
            self.refresh_crossbar();
        }
        while let Some(class) = self.loads.stale.pop() {
            let record = &self.classes[class as usize];
            // Emptied meanwhile: it is brought up to date when a member enters.
            let rate = (record.root != NO_CPU).then(|| self.rate(record));
            let record = &mut self.classes[class as usize];
            record.stale = false;
            let Some(rate) = rate else { continue };
            record.retime(now);
            record.rate = rate;
            self.loads.note_move(class, record);
        }
        while let Some(class) = self.loads.moved.pop() {
            self.classes[class as usize].moved = false;
            changed(class, self.next(class));
        }
    }

    /// Growth of demand where working sets have come or gone.
    fn refresh_groups(&mut self, now: Time) {
        while let Some(group) = self.loads.dirty_groups.pop() {
            self.loads.group_is_dirty[group as usize] = false;
            let (sum, settled) = self.loads.sets[group as usize];
            if sum == settled {
                continue;
            }
            self.loads.sets[group as usize].1 = sum;
            let list = self.nodes as usize + 2 + self.loads.bus.len() + group as usize;
            for at in 0..self.loads.lists[list].len() {
                let class = self.loads.lists[list][at];
                let record = &self.classes[class as usize];
                let own = self.demands[record.key.profile as usize].working_set;
                let (before, growth) = (record.growth, self.cache.growth(sum, own));
                if before == growth {
                    continue;
                }
                let bytes = u128::from(record.bytes);
                self.classes[class as usize].retime(now);
                self.shift_load(class, bytes * u128::from(before), false);
                self.shift_load(class, bytes * u128::from(growth), true);
                self.classes[class as usize].growth = growth;
                self.make_stale(class);
            }
        }
    }

    #[inline]
    fn make_stale(&mut self, class: u32) {
        let record = &mut self.classes[class as usize];
        if !std::mem::replace(&mut record.stale, true) {
            self.loads.stale.push(class);
        }
    }

    #[inline]
    fn make_list_stale(&mut self, list: usize) {
        let Loads { lists, stale, .. } = &mut self.loads;
        for class in &lists[list] {
            if !std::mem::replace(&mut self.classes[*class as usize].stale, true) {
                stale.push(*class);
            }
        }
    }

    /// Controllers and their ports.
    fn refresh_nodes(&mut self) {
        if std::mem::replace(&mut self.loads.spread_is_dirty, false) {
            self.loads.far_is_dirty = true;
            let Loads { nodes, dirty_nodes, .. } = &mut self.loads;
            for (node, record) in nodes.iter_mut().enumerate() {
                if !std::mem::replace(&mut record.dirty, true) {
                    dirty_nodes.push(node as u32);
                }
            }
        }
        let mut any = false;
        while let Some(node) = self.loads.dirty_nodes.pop() {
            let loads = &mut self.loads;
            let at = node as usize;
            loads.nodes[at].dirty = false;
            let (all, far) = loads.node_loads(at);
            let controller = stretch(&loads.table, all, loads.node_bandwidth);
            let link = stretch(&loads.table, far, loads.link_bandwidth);
            let record = &mut loads.nodes[at];
            if (controller, link) == (record.controller, record.link) {
                continue;
            }
            (record.controller, record.link) = (controller, link);
            any = true;
            self.make_list_stale(at);
        }
        if any {
            self.make_list_stale(self.nodes as usize);
        }
    }

    fn refresh_buses(&mut self) {
        let buses = self.nodes as usize + 2;
        while let Some(bus) = self.loads.dirty_buses.pop() {
            let loads = &mut self.loads;
            loads.bus_is_dirty[bus as usize] = false;
            let load = (loads.bus[bus as usize] >> 32) as u64;
            let new = stretch(&loads.table, load, loads.bus_bandwidth);
            if std::mem::replace(&mut loads.bus_stretch[bus as usize], new) != new {
                self.make_list_stale(buses + bus as usize);
            }
        }
    }

    fn refresh_crossbar(&mut self) {
        let loads = &mut self.loads;
        loads.far_is_dirty = false;
        let nodes = loads.nodes.len();
        let load = loads.far_sum + part(loads.spread_sum, nodes) * (nodes as u128 - 1);
        let new = stretch(&loads.table, (load >> 32) as u64, loads.crossbar_bandwidth);
        if std::mem::replace(&mut loads.crossbar, new) != new {
            self.make_list_stale(self.nodes as usize + 1);
        }
    }
}
