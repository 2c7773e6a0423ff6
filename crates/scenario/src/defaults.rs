//! What scenarios have that name no kernel and no runtime.

use notation::yaml::{Content, Entry, Node};

use crate::plan::Experiment;

/// The kernel of scenarios that name none, on machines that name none either.
pub const DEFAULT_KERNEL: &str = "linux-2.6.28";
/// The name of the kernel until the machine is known.
pub(crate) const MACHINE_KERNEL: &str = "default";
/// The runtime of applications that name none.
pub(crate) const DEFAULT_RUNTIME: &str = "upc";

/// The kernel of a scenario that names none, on a machine whose own kernel is `own`: that one if it is
/// built in.
#[must_use]
pub fn default_kernel(own: Option<&str>) -> &'static str {
    machines::os::KERNELS.names().find(|name| Some(*name) == own).unwrap_or(DEFAULT_KERNEL)
}

/// Sentences about defaults that change what a scenario asks, and that its text does not show: a program of
/// users has one for each core.
pub(crate) fn silent(root: &Node, experiment: &Experiment) -> Vec<String> {
    let Some(first) = experiment.runs.iter().find(|run| run.alone.is_none()) else { return Vec::new() };
    let apps = root.get("apps").map_or(&[][..], |apps| apps.value.entries());
    let said = |app: &&Entry| {
        let workload = app.value.get("workload").map(|entry| &entry.value)?;
        let users = match &workload.content {
            Content::Scalar(name) => name == "interactive",
            _ => workload.get("interactive").is_some(),
        };
        let stated = ["tasks", "threads_per_core"].iter().any(|key| app.value.get(key).is_some())
            || experiment.axes.iter().any(|axis| axis.path.ends_with("threads_per_core"));
        let tasks = first.apps.iter().find(|spec| spec.name == app.key)?.tasks;
        (users && !stated && tasks > 1).then(|| {
            format!("`{}` has {tasks} users, one for each core, because `tasks` is not given", app.key)
        })
    };
    apps.iter().filter_map(|app| said(&app)).collect()
}
