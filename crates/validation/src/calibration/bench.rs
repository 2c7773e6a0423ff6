//! The test bench: one program alone on a machine, one thread bound to each of some cores.

use std::sync::Arc;

use notation::parameter::Values;
use policies::Choice;
use sim_core::engine::Simulation;
use sim_core::ids::CpuId;
use sim_core::machine::{CpuSet, Machine};
use sim_core::os::OsModel;
use sim_core::outcome::{Options, Outcome};
use sim_core::program::{AppSpec, Program};
use sim_core::time::Time;
use workloads::runtimes;

/// The kernel all are run under; a thread that has its core to itself meets little of it.
const KERNEL: &str = "linux-2.6.28";
/// No run of the measurements takes longer than a day.
const HORIZON: Time = Time::from_ns(86_400_000_000_000);

/// A machine to run on.
#[derive(Clone)]
pub struct Bench {
    machine: Arc<Machine>,
    kernel: Arc<OsModel>,
}

impl Bench {
    /// The machine of this name.
    ///
    /// # Errors
    /// A sentence: no such machine or kernel.
    pub fn new(machine: &str) -> Result<Self, String> {
        Self::with(&machines::resolve(machine)?)
    }

    /// A machine as data.
    ///
    /// # Errors
    /// A sentence: no such kernel.
    pub fn with(machine: &machines::Entry) -> Result<Self, String> {
        let machine = machine.machine();
        let entry = kernels::KERNELS.resolve(KERNEL)?;
        let kernel = kernels::build(entry, &Values::defaults(entry.parameters), machine.cpus());
        Ok(Self { machine: Arc::new(machine), kernel: Arc::new(kernel) })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Seconds from the start-up barrier on (as programs time themselves) that `program` takes with one
    /// thread on each of these cpus, bound, under this runtime.
    ///
    /// # Errors
    /// A sentence when it cannot be run or does not complete.
    pub fn seconds(&self, program: Program, runtime: &str, cpus: &[u32]) -> Result<f64, String> {
        let entry = runtimes::RUNTIMES.resolve(runtime)?;
        let mut values = Values::defaults(entry.parameters);
        // The measured programs ran under runtimes of 2008, as in the studies: threads sleep until all have
        // started. A runtime without this parameter starts in its only way.
        values.set("start_sleep", 1).ok();
        let runtime = runtimes::build(entry, &values);
        let mut app = AppSpec::new("program", cpus.len() as u32, Arc::new(program), runtime);
        app.allowed = Some(CpuSet::of(cpus.iter().copied().map(CpuId)));
        let apps = vec![app];
        let pin = policies::find("PIN").ok_or("there is no policy PIN")?;
        let mut policy = Choice::new(pin).build(&self.machine, &self.kernel, &apps);
        let options = Options { seed: 1, horizon: HORIZON, ..Options::default() };
        let simulation = Simulation::new(self.machine.clone(), self.kernel.clone(), apps, options)?;
        let report = simulation.run(&mut *policy, &mut ());
        match (report.outcome, report.apps.first().and_then(sim_core::outcome::AppReport::timed_run_time)) {
            (Outcome::Completed, Some(time)) => Ok(time.ns() as f64 / 1e9),
            (outcome, _) => Err(format!("a calibration run did not complete: {outcome:?}")),
        }
    }
}

/// The first `count` cpus.
#[must_use]
pub fn first(count: u32) -> Vec<u32> {
    (0..count).collect()
}

/// The first `each` cpus of each of `groups` groups of `size`.
#[must_use]
pub fn spread(groups: u32, size: u32, each: u32) -> Vec<u32> {
    (0..groups).flat_map(|group| (0..each).map(move |cpu| group * size + cpu)).collect()
}
