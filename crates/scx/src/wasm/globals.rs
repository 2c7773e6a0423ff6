//! The variables of a scheduler: what a scenario sets of them, and what the results show.

use notation::parameter::{Kind, Parameter, Values};
use policies::Setting;
use sim_core::machine::Level;

use crate::policy_file::{Global, PolicyFile};

use super::memory::Bytes;

/// Most variables that are shown in the results.
const MOST_COUNTERS: usize = 64;

/// Most elements of an array that a scenario can set.
const MOST_ELEMENTS: u32 = 4_096;

/// The variables that a scenario can set, in the order of the table.
fn settable(about: &PolicyFile) -> impl Iterator<Item = &Global> {
    about.globals.iter().filter(|global| {
        let legible = notation::neutral::first_invisible(&global.name).is_none();
        let fits =
            matches!(global.size, 1 | 2 | 4 | 8) && global.count.is_none_or(|count| count <= MOST_ELEMENTS);
        legible && fits && !global.name.is_empty() && !global.name.starts_with("__")
    })
}

/// The largest value of a variable, or of one of its elements.
fn largest(global: &Global) -> u64 {
    let bits = 8 * global.size - u32::from(global.signed);
    if global.boolean { 1 } else { u64::MAX >> (64 - bits) }
}

/// The variables that a scenario can set, as parameters.
pub(super) fn parameters(about: &PolicyFile) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = Vec::new();
    for global in settable(about) {
        let kind = match (global.boolean, global.count) {
            (_, Some(_)) => Kind::Counts,
            (true, None) => Kind::Flag,
            (false, None) if global.signed => Kind::Signed,
            (false, None) => Kind::Count,
        };
        let (min, max, default) = match kind {
            Kind::Signed => {
                let most = largest(global).cast_signed();
                let value = i64::try_from(global.value).unwrap_or(0).clamp(-most - 1, most);
                (Kind::signed(-most - 1), Kind::signed(most), Kind::signed(value))
            }
            _ => (0, largest(global), u64::try_from(global.value).unwrap_or(0).min(largest(global))),
        };
        if all.iter().any(|other| other.name == global.name) {
            continue;
        }
        let what = if global.constant { "A constant" } else { "A variable" };
        let elements = global.count.map_or_else(String::new, |count| format!(", {count} elements"));
        let about = format!("{what} of the scheduler ({} bits{elements}).", 8 * global.size);
        let (name, about) = (String::leak(global.name.clone()), String::leak(about));
        all.push(Parameter { name, kind, default, min, max, about });
    }
    all
}

/// Writes what a scenario sets, and what the user-space part of a scheduler would fill in of the machine.
///
/// # Errors
/// A half-sentence: a variable is not in the memory, or a list is too long.
pub(super) fn write(
    bytes: &mut Bytes<'_>,
    about: &PolicyFile,
    values: &Values,
    setting: &Setting<'_>,
) -> Result<(), String> {
    let changed = values.changed();
    for global in &about.globals {
        if changed.iter().any(|(name, _)| *name == global.name) {
            let row = values.table().iter().zip(values.rows()).find(|(p, _)| p.name == global.name);
            let Some((parameter, row)) = row else { continue };
            let room = global.count.unwrap_or(1);
            if row.all.len() > room as usize {
                return Err(format!("`{}` has {room} elements, and {} are set", global.name, row.all.len()));
            }
            for (at, value) in row.all.iter().enumerate() {
                let value = if parameter.kind == Kind::Signed {
                    Kind::of_signed(*value).cast_unsigned()
                } else {
                    *value
                };
                put(bytes, global, at as u64, value)?;
            }
        } else if let Some(value) = of_machine(&global.name, setting)
            && global.count.is_none()
        {
            put(bytes, global, 0, value)?;
        }
    }
    Ok(())
}

fn put(bytes: &mut Bytes<'_>, global: &Global, at: u64, value: u64) -> Result<(), String> {
    let address = global.address.checked_add(at * u64::from(global.size));
    let done = address.and_then(|address| bytes.put(address, global.size, value));
    done.ok_or_else(|| {
        format!("its variable `{}` is not in its memory", notation::neutral::line(&global.name))
    })
}

/// What the user-space parts of the schedulers of the scx repository fill in before they load the programs.
fn of_machine(name: &str, setting: &Setting<'_>) -> Option<u64> {
    let machine = setting.machine;
    Some(match name {
        "nr_cpu_ids" | "nr_cpus" | "nr_cpus_possible" | "nr_online_cpus" | "nr_cpus_onln"
        | "num_possible_cpus" => u64::from(machine.cpus()),
        "nr_node_ids" | "nr_nodes" | "numa_nodes" | "nr_numa_nodes" => u64::from(machine.nodes()),
        "smt_enabled" => u64::from(machine.topology.span(Level::Core) > 1),
        "numa_enabled" => u64::from(machine.nodes() > 1),
        _ => return None,
    })
}

/// The plain variables that the scheduler can change: what they are at the end. One below zero counts
/// nothing and is left out.
pub(super) fn counters(memory: &[u8], about: &PolicyFile) -> Vec<(String, u64)> {
    let word = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let plain =
        settable(about).filter(|global| !global.constant && global.count.is_none() && word(&global.name));
    let value = |global: &Global| {
        let start = usize::try_from(global.address).ok()?;
        let bytes = memory.get(start..start.checked_add(global.size as usize)?)?;
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        (value <= largest(global)).then_some(value)
    };
    plain.filter_map(|global| Some((global.name.clone(), value(global)?))).take(MOST_COUNTERS).collect()
}
