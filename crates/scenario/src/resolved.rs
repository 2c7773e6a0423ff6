//! A configuration of a sweep, resolved: what each of its runs has in common.

use std::sync::Arc;

use policies::Choice;
use sim_core::admission::Admission;
use sim_core::machine::Machine;
use sim_core::os::OsModel;
use sim_core::time::{Span, Time};

use workloads::program::Linked;

use crate::apps::App;
use crate::plan::MachineOrigin;

impl Resolved {
    /// Whether its applications can have dedicated runs: those of the foreground are workloads. A program
    /// that the scenario writes may need what others do.
    pub(crate) fn has_dedicated(&self) -> bool {
        self.apps.iter().all(|app| app.spec.background || app.kind.is_none())
    }
}

/// One configuration, resolved.
pub(crate) struct Resolved {
    pub(crate) machine: Arc<Machine>,
    pub(crate) origin: MachineOrigin,
    pub(crate) kernel: Arc<OsModel>,
    pub(crate) apps: Vec<App>,
    /// The programs that the scenario writes itself.
    pub(crate) programs: Arc<Linked>,
    pub(crate) policies: Vec<(String, Choice)>,
    pub(crate) horizon: Time,
    /// Where the window begins that ends at the horizon.
    pub(crate) window: Option<Time>,
    pub(crate) admission: Admission,
    pub(crate) start_jitter: Span,
    pub(crate) sampled: bool,
}
