//! Makes the description of a policy file from the debug information: maps, settable variables, operations.

use std::collections::{BTreeMap, BTreeSet};

use super::debug::{Kind, Member, Place, Variable};
use super::module::Module;
use super::signatures::{self, OPERATIONS};
use crate::policy_file::{Global, Map, Ops};

/// Types of maps that the runtime has (`enum bpf_map_type`), with those whose messages are dropped.
const MAP_KINDS: &[(u64, &str)] = &[
    (1, "HASH"),
    (2, "ARRAY"),
    (4, "PERF_EVENT_ARRAY"),
    (5, "PERCPU_HASH"),
    (6, "PERCPU_ARRAY"),
    (9, "LRU_HASH"),
    (10, "LRU_PERCPU_HASH"),
    (12, "ARRAY_OF_MAPS"),
    (13, "HASH_OF_MAPS"),
    (22, "QUEUE"),
    (23, "STACK"),
    (27, "RINGBUF"),
    (29, "TASK_STORAGE"),
    (31, "USER_RINGBUF"),
    (32, "CGRP_STORAGE"),
    (33, "ARENA"),
];

/// The name of a type of map, without `BPF_MAP_TYPE_`.
pub(super) fn map_kind(kind: u32) -> &'static str {
    MAP_KINDS.iter().find(|(number, _)| *number == u64::from(kind)).map_or("unknown", |(_, name)| name)
}

/// The references that one value of a map can hold; the runtime has room for as many.
const REFERENCES: usize = 16;

/// The maps that one array of maps can hold from the start.
const MOST_INNER: u64 = 1 << 12;

/// The variable of the operations.
///
/// # Errors
///
/// A sentence, if there is none, or several and none is named.
pub(super) fn operations<'v>(variables: &'v [Variable], named: Option<&str>) -> Result<&'v Variable, String> {
    let mut found: Vec<&Variable> = Vec::new();
    for variable in variables {
        let is_ops = matches!(&variable.kind, Kind::Structure { name, .. } if name == "sched_ext_ops");
        if is_ops && variable.external && !found.iter().any(|other| other.name == variable.name) {
            found.push(variable);
        }
    }
    let names = || found.iter().map(|ops| ops.name.as_str()).collect::<Vec<_>>().join(", ");
    match (named, found.as_slice()) {
        (None, [ops]) => Ok(ops),
        (None, []) => {
            Err("no scheduler: the sources define no `struct sched_ext_ops` (SCX_OPS_DEFINE)".to_owned())
        }
        (None, _) => Err(format!("several schedulers: name one of {} with --ops", names())),
        (Some(wanted), _) => found.iter().find(|ops| ops.name == wanted).copied().ok_or_else(|| {
            let known =
                if found.is_empty() { "there is none".to_owned() } else { format!("there is {}", names()) };
            format!("no `struct sched_ext_ops` has the name {wanted:?}: {known}")
        }),
    }
}

/// Reads the table of operations: its address, the operations that it gives, and its name.
///
/// # Errors
///
/// Sentences on operations whose parameters do not fit.
pub(super) fn ops(module: &Module, variable: &Variable) -> Result<(Ops, String), Vec<String>> {
    let address = variable.address.unwrap_or(0);
    let mut ops = Ops { symbol: variable.name.clone(), address, given: Vec::new() };
    let mut name = String::new();
    let mut refused = Vec::new();
    let Kind::Structure { members, .. } = &variable.kind else { return Ok((ops, name)) };
    for member in members {
        let at = address.saturating_add(member.offset);
        if member.name == "name" {
            let text = module.memory(at, 128);
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            name = String::from_utf8_lossy(text).into_owned();
        }
        let index = module.integer(at, 8);
        if !matches!(member.kind, Kind::Pointer { .. }) || index == 0 || member.name == "priv" {
            continue;
        }
        ops.given.push(member.name.clone());
        let expected = OPERATIONS.iter().find(|(name, ..)| *name == member.name);
        let Some((_, parameters, result)) = expected else {
            refused.push(format!("{}: oversim has no operation of this name", member.name));
            continue;
        };
        let function = module.at(index);
        let Some(signature) = function.and_then(|function| module.signature(function)) else {
            refused.push(format!("{}: not the address of a function", member.name));
            continue;
        };
        if let Err(why) = signatures::fits(signature, parameters, *result) {
            let function = function.map_or("a function", |function| module.name(function));
            refused.push(format!("{} ({function}): {why}", member.name));
        }
    }
    if refused.is_empty() { Ok((ops, name)) } else { Err(refused) }
}

/// The maps among the variables.
///
/// # Errors
///
/// A sentence with its place for each map that the runtime does not have.
pub(super) fn maps(
    module: &Module,
    sizes: &BTreeMap<String, u64>,
    variables: &[Variable],
) -> Result<Vec<Map>, Vec<(Place, String)>> {
    let mut maps = Vec::new();
    let mut refused = Vec::new();
    let mut seen = BTreeSet::new();
    for variable in variables {
        let Some(address) = variable.address else { continue };
        if variable.section.as_deref() != Some(".maps") || !seen.insert(address) {
            continue;
        }
        match map(module, sizes, variable, address) {
            Ok(map) => maps.push(map),
            Err(why) => refused.push((variable.place.clone(), why)),
        }
    }
    if refused.is_empty() { Ok(maps) } else { Err(refused) }
}

fn map(
    module: &Module,
    sizes: &BTreeMap<String, u64>,
    variable: &Variable,
    address: u64,
) -> Result<Map, String> {
    let Kind::Structure { members, .. } = &variable.kind else {
        return Err(format!("the map {} is no structure", variable.name));
    };
    let member = |name: &str| members.iter().find(|member| member.name == name);
    // `__uint(max_entries, 4096)` is a pointer to an array of so many integers.
    let count = |name: &str| match member(name).map(|member| &member.kind) {
        Some(Kind::Pointer { to: Some(to), .. }) => match to.as_ref() {
            Kind::Array { count, .. } => *count,
            _ => 0,
        },
        _ => 0,
    };
    // `__type(value, struct task_ctx)` is a pointer to one.
    let target = |name: &str| match member(name).map(|member| &member.kind) {
        Some(Kind::Pointer { to: Some(to), .. }) => Some(to.as_ref()),
        _ => None,
    };
    let size = |sized: &str, typed: &str| target(typed).map_or_else(|| count(sized), Kind::size);
    let kind = count("type");
    if !MAP_KINDS.iter().any(|(known, _)| *known == kind) {
        return Err(format!("the map {} has the type {kind}, which oversim does not have", variable.name));
    }
    let narrow = |what: &str, value: u64| {
        let limit = 1_u64 << 31;
        u32::try_from(value).ok().filter(|value| u64::from(*value) < limit).ok_or_else(|| {
            format!("the {what} of the map {} is {value}; the largest is {limit}", variable.name)
        })
    };
    let mut references = Vec::new();
    if let Some(value) = target("value") {
        find_references(value, 0, &mut references);
    }
    references.truncate(REFERENCES);
    Ok(Map {
        symbol: variable.name.clone(),
        address,
        kind: u32::try_from(kind).unwrap_or(0),
        key_size: narrow("size of a key", size("key_size", "key"))?,
        value_size: narrow("size of a value", size("value_size", "value"))?,
        max_entries: narrow("number of entries", count("max_entries"))?,
        flags: u32::try_from(count("map_flags")).unwrap_or(u32::MAX),
        references,
        inner: inner(module, sizes, variable, address, member("values")),
    })
}

/// The addresses of the maps in an array of maps, as the source fills it in: the array stands at the end of
/// the definition, and the symbol of the map says how long it is.
fn inner(
    module: &Module,
    sizes: &BTreeMap<String, u64>,
    variable: &Variable,
    address: u64,
    values: Option<&Member>,
) -> Vec<u64> {
    let (Some(values), Some(size)) = (values, sizes.get(&variable.name)) else { return Vec::new() };
    let count = (size.saturating_sub(values.offset) / 8).min(MOST_INNER);
    let at = |index: u64| address.saturating_add(values.offset).saturating_add(index.saturating_mul(8));
    (0..count).map(|index| module.integer(at(index), 8)).collect()
}

/// Where references lie in a value.
fn find_references(kind: &Kind, offset: u64, found: &mut Vec<u32>) {
    match kind {
        Kind::Pointer { reference: true, .. } => found.extend(u32::try_from(offset)),
        Kind::Structure { members, .. } => {
            for member in members {
                find_references(&member.kind, offset.saturating_add(member.offset), found);
            }
        }
        Kind::Array { of, count } => {
            for index in 0..(*count).min(REFERENCES as u64) {
                let before = found.len();
                find_references(of, offset.saturating_add(index.saturating_mul(of.size())), found);
                // All elements are alike: the others have none either, or there are enough.
                if found.len() == before || found.len() >= REFERENCES {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// The variables that a scenario can set: those that other files see, with integers in them.
pub(super) fn globals(module: &Module, variables: &[Variable], runtime: &str) -> Vec<Global> {
    let mut globals: Vec<Global> = Vec::new();
    for variable in variables {
        let own = variable.unit != runtime || variable.name == "CONFIG_HZ";
        let section = variable.section.as_deref().unwrap_or_default();
        let Some(address) = variable.address.filter(|_| own && variable.external) else { continue };
        if matches!(section, ".maps" | "license" | "private")
            || matches!(&variable.kind, Kind::Structure { name, .. } if name == "user_exit_info")
            || globals.iter().any(|known| known.address == address)
        {
            continue;
        }
        flatten(module, variable, &variable.name, address, &variable.kind, &mut globals);
    }
    globals.sort_by(|a, b| a.name.cmp(&b.name));
    globals
}

fn flatten(
    module: &Module,
    variable: &Variable,
    name: &str,
    address: u64,
    kind: &Kind,
    globals: &mut Vec<Global>,
) {
    let mut add = |size: u64, signed: bool, boolean: bool, count: Option<u64>| {
        let Some(size) = u32::try_from(size).ok().filter(|size| matches!(size, 1 | 2 | 4 | 8)) else {
            return;
        };
        let raw = module.integer(address, size);
        // The sign is the highest bit of the value.
        let unused = 64 - 8 * size;
        let value =
            if signed { i128::from((raw << unused).cast_signed() >> unused) } else { i128::from(raw) };
        globals.push(Global {
            name: name.to_owned(),
            address,
            size,
            signed,
            boolean,
            constant: variable.constant,
            count: count.and_then(|count| u32::try_from(count).ok()),
            value,
        });
    };
    match kind {
        Kind::Integer { size, signed, boolean } => add(*size, *signed, *boolean, None),
        Kind::Array { of, count } => {
            // An array of characters is a text.
            if let Kind::Integer { size, signed, boolean } = **of
                && (size > 1 || boolean || !signed)
            {
                add(size, signed, boolean, Some(*count));
            }
        }
        Kind::Structure { name: structure, members, .. } => {
            // Of the operations these are what the user's side of a scheduler sets.
            let ops = structure == "sched_ext_ops";
            let set = |name: &str| matches!(name, "flags" | "timeout_ms" | "dispatch_max_batch");
            let shown = |member: &&Member| !member.name.is_empty() && (!ops || set(&member.name));
            for member in members.iter().filter(shown) {
                let name = format!("{name}.{}", member.name);
                flatten(
                    module,
                    variable,
                    &name,
                    address.saturating_add(member.offset),
                    &member.kind,
                    globals,
                );
            }
        }
        Kind::Pointer { .. } | Kind::Other { .. } => {}
    }
}
