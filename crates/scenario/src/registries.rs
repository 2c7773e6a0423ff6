//! Looks names up in the registries and reads their parameters.

use std::sync::Arc;

use notation::parameter::Values;
use notation::reader::Chosen;
use notation::registry::{Entry, Registry};
use policies::Choice;
use sim_core::machine::Machine;
use sim_core::os::OsModel;

use crate::Reader;
use crate::defaults::{MACHINE_KERNEL, default_kernel};
use crate::plan::{Input, MachineOrigin};

/// A machine as chosen.
pub(crate) struct ChosenMachine {
    pub(crate) machine: Arc<Machine>,
    /// The name of its own kernel.
    pub(crate) kernel: Option<String>,
    pub(crate) origin: MachineOrigin,
}

/// The machine of a name, file or synthetic description, with its parameters.
pub(crate) fn machine(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<ChosenMachine> {
    let mut entry = match reader.context.machines.get(chosen.name) {
        Some(read) => read.clone()?,
        None => named(reader, chosen)?,
    };
    reader.parameters(&format!("machine `{}`", entry.name), &mut entry.values, chosen.parameters);
    if let Err(message) = entry.check() {
        reader.wrong(chosen.place, message);
        return None;
    }
    let stated = Arc::clone(&reader.context.stated);
    let mut set: Vec<&str> = chosen.parameters.iter().map(|entry| entry.key.as_str()).collect();
    set.extend(stated.iter().map(String::as_str));
    let disturbed = entry.notes.iter().filter(|note| note.disturbed()).count();
    if disturbed > 0 {
        reader.remark(format!(
            "{disturbed} values of the machine {} were measured while other programs used the host \
             (calibrate host \
             --force): measure again when it is quiet",
            entry.name
        ));
    }
    let inputs = entry.inputs(&set);
    if let Some(draw) = reader.context.draw
        && let Err(message) = entry.set_drawn(draw, &set).and_then(|()| entry.check())
    {
        reader.wrong(chosen.place, message);
        return None;
    }
    let in_order = (0..).eq(entry.lists.cpu_numbers.iter().copied());
    let origin = MachineOrigin {
        name: entry.name.clone(),
        cpus: Some(entry.topology.cpus()),
        topology: Some(entry.topology_text.clone()),
        values: Some(entry.notes.len()),
        uncertain: Some(entry.notes.iter().filter(|note| note.uncertain).count()),
        inputs: inputs.iter().map(Input::of).collect(),
        cpu_numbers: if in_order { Vec::new() } else { entry.lists.cpu_numbers.clone() },
    };
    Some(ChosenMachine { machine: Arc::new(entry.machine()), kernel: entry.kernel, origin })
}

fn named(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<machines::Entry> {
    match machines::resolve(chosen.name) {
        Ok(entry) => return Some(entry),
        Err(message) if chosen.name.contains(':') => reader.wrong(chosen.place, message),
        Err(_) => {
            let known: Vec<&str> = machines::names().collect();
            reader.unknown_entry(chosen.place, "machine", chosen.name, &known);
        }
    }
    None
}

/// An entry of a registry with the values of its parameters.
pub(crate) struct Selected<T: 'static> {
    pub(crate) entry: &'static Entry<T>,
    pub(crate) values: Values,
}

/// The entry of a name with its parameters.
pub(crate) fn entry<T>(
    reader: &mut Reader,
    registry: &Registry<T>,
    chosen: &Chosen<'_>,
) -> Option<Selected<T>> {
    let Some(entry) = registry.find(chosen.name) else {
        let known: Vec<&str> = registry.names().collect();
        reader.unknown_entry(chosen.place, registry.noun, chosen.name, &known);
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("{} `{}`", registry.noun, entry.name), &mut values, chosen.parameters);
    Some(Selected { entry, values })
}

/// The kernel of a name with its parameters, booted on `cpus` cpus; `own` is the kernel of the machine.
pub(crate) fn kernel(
    reader: &mut Reader,
    chosen: &Chosen<'_>,
    own: Option<&str>,
    cpus: u32,
) -> Option<Arc<OsModel>> {
    let name = if chosen.name == MACHINE_KERNEL { default_kernel(own) } else { chosen.name };
    let kernel = entry(reader, &kernels::KERNELS, &Chosen { name, ..*chosen })?;
    Some(Arc::new(kernels::build(kernel.entry, &kernel.values, cpus)))
}

/// What comes nearest to a policy of the textbooks that has another name here, or is missing.
fn meant(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_uppercase().as_str() {
        "RR" | "ROUND-ROBIN" | "ROUND_ROBIN" => {
            "`FIFO` with a short `slice` is round robin, and so is `kernel: round-robin`"
        }
        "FCFS" => "`FIFO` with a long `slice` is first come, first served",
        "STCF" | "SRPT" => "`SRTF` is shortest time-to-completion first",
        "CFS" | "EEVDF" => "this is a kernel: `kernel: linux-2.6.28` or `linux-6.18` with the policy `LOAD`",
        "RM" | "RATE-MONOTONIC" | "DM" | "PRIORITY" | "RT" => {
            "`FP` has fixed priorities: by rate, by deadline, or as given; `EDF` orders by deadlines"
        }
        "LINUX" | "DEFAULT" | "NONE" => "`LOAD` is the load balancer of Linux",
        "TASKSET" | "AFFINITY" | "BIND" | "PINNED" => "`PIN` binds tasks; the key `cpus` restricts a program",
        _ => return None,
    })
}

/// The policy of a name with its parameters.
pub(crate) fn policy(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<Choice> {
    let Some(entry) = reader.context.policies.find(chosen.name) else {
        // What is wrong with a file has been said.
        if reader.context.policies.has_file(chosen.name) {
            return None;
        }
        let known: Vec<&str> = reader.context.policies.entries().map(|entry| entry.name).collect();
        match meant(chosen.name) {
            Some(hint) if !known.iter().any(|name| name.eq_ignore_ascii_case(chosen.name)) => {
                reader.wrong_with_hint(chosen.place, format!("unknown policy `{}`", chosen.name), hint);
            }
            _ => reader.unknown_entry(chosen.place, "policy", chosen.name, &known),
        }
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("policy `{}`", entry.name), &mut values, chosen.parameters);
    Some(Choice::with(entry, values))
}
