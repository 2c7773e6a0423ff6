//! Looks names up in the registries and reads their parameters.

use std::sync::Arc;

use machines::os;
use notation::parameter::Values;
use policies::Choice;
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::program::Runtime;
use workloads::runtimes;

use crate::defaults::{MACHINE_KERNEL, default_kernel};
use crate::plan::MachineOrigin;
use crate::reader::{Chosen, Reader};

/// A machine as chosen.
pub(crate) struct ChosenMachine {
    pub(crate) machine: Arc<Machine>,
    /// The name of its own kernel.
    pub(crate) kernel: Option<String>,
    pub(crate) origin: MachineOrigin,
}

/// The machine of a name, file or synthetic description, with its parameters.
pub(crate) fn machine(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<ChosenMachine> {
    let mut entry = match reader.machines.get(chosen.name) {
        Some(read) => read.clone()?,
        None => named(reader, chosen)?,
    };
    reader.parameters(&format!("machine `{}`", entry.name), &mut entry.values, chosen.parameters);
    if let Err(message) = entry.check() {
        reader.wrong(chosen.place, message);
        return None;
    }
    let origin = MachineOrigin {
        name: entry.name.clone(),
        cpus: Some(entry.topology.cpus()),
        topology: Some(entry.topology_text.clone()),
        values: Some(entry.notes.len()),
        uncertain: Some(entry.notes.iter().filter(|note| note.uncertain).count()),
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

/// The kernel of a name with its parameters, booted on `cpus` cpus; `own` is the kernel of the machine.
pub(crate) fn kernel(
    reader: &mut Reader,
    chosen: &Chosen<'_>,
    own: Option<&str>,
    cpus: u32,
) -> Option<Arc<OsModel>> {
    let name = if chosen.name == MACHINE_KERNEL { default_kernel(own) } else { chosen.name };
    let Ok(entry) = os::resolve(name) else {
        reader.unknown_entry(chosen.place, "kernel", name, &os::names().collect::<Vec<_>>());
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("kernel `{}`", entry.name), &mut values, chosen.parameters);
    Some(Arc::new(os::build(entry, &values, cpus)))
}

/// The policy of a name with its parameters.
pub(crate) fn policy(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<Choice> {
    let Some(entry) = reader.policies.find(chosen.name) else {
        let known: Vec<&str> = reader.policies.entries().map(|entry| entry.name).collect();
        reader.unknown_entry(chosen.place, "policy", chosen.name, &known);
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("policy `{}`", entry.name), &mut values, chosen.parameters);
    Some(Choice::with(entry, values))
}

/// A runtime with its parameters; what it becomes depends on the number of tasks, too.
pub(crate) struct ChosenRuntime {
    pub(crate) entry: &'static runtimes::Entry,
    values: Values,
}

impl ChosenRuntime {
    /// The runtime of an application; `oversubscribed` when it has more tasks than cpus it may use.
    pub(crate) fn build(&self, oversubscribed: bool) -> Runtime {
        runtimes::build_for(self.entry, &self.values, oversubscribed)
    }
}

/// The runtime of a name with its parameters.
pub(crate) fn runtime(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<ChosenRuntime> {
    let Ok(entry) = runtimes::resolve(chosen.name) else {
        reader.unknown_entry(chosen.place, "runtime", chosen.name, &runtimes::names().collect::<Vec<_>>());
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("runtime `{}`", entry.name), &mut values, chosen.parameters);
    Some(ChosenRuntime { entry, values })
}

/// A kind of workload with its parameters.
pub(crate) struct Workload {
    pub(crate) entry: &'static workloads::Entry,
    pub(crate) values: Values,
}

/// The kind of workload of a name with its parameters.
pub(crate) fn workload(reader: &mut Reader, chosen: &Chosen<'_>) -> Option<Workload> {
    let Ok(entry) = workloads::resolve(chosen.name) else {
        reader.unknown_entry(chosen.place, "workload", chosen.name, &workloads::names().collect::<Vec<_>>());
        return None;
    };
    let mut values = Values::defaults(entry.parameters);
    reader.parameters(&format!("workload `{}`", entry.name), &mut values, chosen.parameters);
    Some(Workload { entry, values })
}
