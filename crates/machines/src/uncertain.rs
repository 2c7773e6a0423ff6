//! The uncertain values of a machine: which of them can act, the ranges they lie in, and values drawn from
//! these.

use notation::hash;
use notation::parameter::{Kind, Parameter};
use sim_core::machine::Level;
use sim_core::rng::{self, Purpose};

use crate::entry::Entry;

/// Half of the range of an uncertain value whose source states none: a fifth of the value, as in `oversim
/// reproduce --sensitivity`. This is a convention, not a measurement.
const FRACTION: u64 = 5;

/// One of a number of draws of all uncertain values. In each range, the draws are spread evenly (a Latin
/// hypercube): of `of` equal parts of the range each holds one draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draw {
    /// Which one, from 0.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Draw {
    /// The value between two others, both included, that this draw has for a parameter. A parameter has the
    /// same place in its range on every machine.
    #[must_use]
    pub fn value(self, parameter: &str, low: u64, high: u64) -> u64 {
        // By name, so that the place does not change when parameters are added.
        let key = rng::key(u64::from(self.of), Purpose::Input, hash::text(parameter));
        let order = |number: u32| (rng::draw(key, u64::from(number)), number);
        let part = (0..self.of).filter(|other| order(*other) < order(self.number)).count() as u128;
        let within = u128::from(rng::draw(key, u64::from(self.of) + u64::from(self.number)));
        let values = u128::from(high - low) + 1;
        low + ((((part << 32) + within) * values / u128::from(self.of.max(1))) >> 32) as u64
    }
}

/// An uncertain value of a machine that a scenario has not set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The parameter.
    pub parameter: &'static str,
    /// How its numbers are written.
    pub kind: Kind,
    /// The value without draws.
    pub value: u64,
    /// The smallest value of its range.
    pub low: u64,
    /// The largest one.
    pub high: u64,
}

impl Entry {
    /// The uncertain values that can act on this machine, except those of the names in `set`, which a
    /// scenario states itself, in the order of their table. Lists, and values of which no other is known
    /// (0 without a stated range, switches), are not among them.
    #[must_use]
    pub fn inputs(&self, set: &[&str]) -> Vec<Input> {
        let input = |parameter: &Parameter| {
            let note = self.notes.iter().find(|note| note.parameter == parameter.name)?;
            let varies = !matches!(parameter.kind, Kind::Flag | Kind::Choice(_));
            if !note.uncertain || !varies || set.contains(&parameter.name) || !self.acts(parameter.name) {
                return None;
            }
            let value = self.values.number(parameter.name)?;
            let part = value / FRACTION;
            let (low, high) = note.range.unwrap_or((value - part, value.saturating_add(part)));
            let (low, high) = (low.max(parameter.min), high.min(parameter.max));
            let (parameter, kind) = (parameter.name, parameter.kind);
            (low < high).then_some(Input { parameter, kind, value, low, high })
        };
        self.values.table().iter().filter_map(input).collect()
    }

    /// Replaces the uncertain values by those of a draw, except those of the names in `set`.
    ///
    /// # Errors
    /// A sentence: a value is out of the range of its parameter.
    pub fn set_drawn(&mut self, draw: Draw, set: &[&str]) -> Result<(), String> {
        for input in self.inputs(set) {
            let value = draw.value(input.parameter, input.low, input.high);
            self.values.set(input.parameter, value)?;
        }
        Ok(())
    }

    /// Whether a value is used at all on a machine of this shape.
    fn acts(&self, parameter: &str) -> bool {
        let shape = &self.topology;
        let threads = shape.span(Level::Core);
        let group = shape.span(Level::Cache).max(threads);
        let near = shape.span(Level::Package).max(shape.span(Level::Node));
        let flag = |name| self.values.number(name) == Some(1);
        match parameter {
            "smt_compute" | "smt_memory" | "smt_poll" | "line_core" => threads > 1,
            "line_cache" => shape.levels().iter().any(|(level, _)| *level == Level::Cache) && group > threads,
            "line_near" => near > group,
            "line_far" => shape.cpus() > near,
            "link_bandwidth" | "crossbar_bandwidth" => shape.count(Level::Node) > 1,
            "remote_factor" => {
                shape.count(Level::Node) > 1 && (self.lists.distances.is_empty() || !flag("distances"))
            }
            "slow_speed" => self.values.number("slow_cores").is_some_and(|cores| cores > 0),
            "lowest_clock" | "clock_rate_limit" => flag("governor"),
            "idle_exit" => self.lists.idle_exit.is_empty() || !flag("deep_idle"),
            "wake_remote" => self.lists.wake_remote.is_empty() || !flag("deep_idle"),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read_file, resolve};

    fn names(entry: &Entry) -> Vec<&'static str> {
        entry.inputs(&[]).iter().map(|input| input.parameter).collect()
    }

    #[test]
    fn draws_cover_the_range_evenly() {
        // Ten draws of 0..=99: one in each ten, and each parameter in an order of its own.
        let of = |name: &str| -> Vec<u64> {
            (0..10).map(|number| Draw { number, of: 10 }.value(name, 0, 99)).collect()
        };
        let (one, other) = (of("poll"), of("wake"));
        for values in [&one, &other] {
            let mut tens: Vec<u64> = values.iter().map(|value| value / 10).collect();
            tens.sort_unstable();
            assert_eq!(tens, (0..10).collect::<Vec<_>>());
        }
        assert_ne!(one, other);
        assert_eq!(Draw { number: 0, of: 1 }.value("poll", 7, 7), 7);
        assert!(Draw { number: 3, of: 4 }.value("poll", 0, u64::MAX) > 0);
    }

    #[test]
    fn only_what_is_uncertain_and_acts_is_drawn() {
        let text = "name: m
summary: s
topology: { value: 'package:1 core:2', source: x }
values:
  poll: { value: 100ns, source: x, uncertain: true, range: [50ns, 300ns] }
  wake: { value: 1us, source: x, uncertain: true }
  sleep: { value: 1us, source: x }
";
        let mut entry = read_file(0, text).unwrap();
        let inputs = entry.inputs(&[]);
        let range = |name: &str| inputs.iter().find(|i| i.parameter == name).map(|i| (i.low, i.high));
        assert_eq!(range("poll"), Some((50, 300)));
        assert_eq!(range("wake"), Some((800, 1_200)));
        // Measured; one thread per core; one socket; one node.
        for absent in ["sleep", "smt_compute", "line_core", "line_far", "link_bandwidth", "remote_factor"] {
            assert_eq!(range(absent), None, "{absent}");
        }
        let wake = Draw { number: 1, of: 5 }.value("wake", 800, 1_200);
        entry.set_drawn(Draw { number: 1, of: 5 }, &["poll"]).unwrap();
        assert_eq!((entry.values.number("poll"), entry.values.number("wake")), (Some(100), Some(wake)));
    }

    #[test]
    fn every_built_in_machine_has_legal_draws() {
        for name in crate::names().chain(["package:2 numa:1 core:4 pu:2"]) {
            for number in 0..8 {
                let mut entry = resolve(name).unwrap();
                entry.set_drawn(Draw { number, of: 8 }, &[]).unwrap();
                entry.check().unwrap();
            }
            assert!(!names(&resolve(name).unwrap()).is_empty(), "{name}");
        }
    }
}
