//! The job that benchmarks run, at any size: tasks compute for a grain, meet at a global barrier, and begin
//! again.

use std::sync::Arc;

use sim_core::engine::Simulation;
use sim_core::ids::ProfileId;
use sim_core::machine::{Costs, Level, Machine, Memory, Topology};
use sim_core::os::{Balancer, CfsParams, Discipline, OsModel, YieldMode};
use sim_core::outcome::Options;
use sim_core::program::{AppSpec, MemoryProfile, Op, Pages, Program, Runtime, Spread, StartUp};
use sim_core::time::{Span, Time, Work};
use sim_core::wait::{BarrierKind, Polling, WaitMode};

/// A scenario of two programs that share a machine, for what observing and tracing cost: 64 tasks, 500
/// barriers each.
pub const OBSERVED: &str = "\
name: observed
machine: barcelona
kernel: { linux-2.6.28: { yield: posix } }
apps:
  a: { workload: { spmd: { work: 2s, intervals: 500, spread: 15% } }, runtime: upc, threads_per_core: 2 }
  b: { workload: { spmd: { work: 2s, intervals: 500, spread: 15% } }, runtime: upc, threads_per_core: 2 }
policies: [PIN]
baseline: none
";

/// One size and form of the job. A *task-step* is one task's compute, arrival, wait, release and resumption.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Cpus, a multiple of `domain`.
    pub cpus: u32,
    /// Cpus that share one memory controller, one package each.
    pub domain: u32,
    /// Tasks per cpu, at least 1.
    pub tasks_per_cpu: u32,
    /// Barriers that each task meets.
    pub intervals: u32,
    /// Nominal compute time between two barriers.
    pub grain: Span,
    /// Its variation, uniform.
    pub spread: Spread,
    /// How the barrier is made.
    pub barrier: BarrierKind,
    /// What waiting tasks do.
    pub wait: WaitMode,
    /// What the kernel's `sched_yield` means.
    pub yields: YieldMode,
    /// Whether tasks demand memory bandwidth (1 GB/s each of the controller's) or only compute.
    pub contention: bool,
    /// The run ends here at the latest.
    pub horizon: Time,
}

impl Job {
    /// The main form: 4 tasks per cpu, 1 ms +-10 %, a central barrier, waiting by POSIX yields, memory
    /// contention on nodes of 4 cpus.
    #[must_use]
    pub const fn central(cpus: u32, intervals: u32) -> Self {
        Self {
            cpus,
            domain: 4,
            tasks_per_cpu: 4,
            intervals,
            grain: Span::from_ms(1),
            spread: Spread(6_554),
            barrier: BarrierKind::Central,
            wait: WaitMode::Yield,
            yields: YieldMode::Posix,
            contention: true,
            horizon: Time::from_ns(u64::MAX / 8),
        }
    }

    /// 16 cpus and a dissemination barrier: as many rounds as the number of tasks has binary digits.
    #[must_use]
    pub const fn dissemination(tasks_per_cpu: u32, yields: YieldMode) -> Self {
        let main = Self::central(16, 4_000 / tasks_per_cpu);
        Self { tasks_per_cpu, barrier: BarrierKind::Dissemination, yields, ..main }
    }

    /// Tasks that only compute, for `seconds` of cpu time each, and never wait.
    #[must_use]
    pub const fn hogs(cpus: u32, tasks_per_cpu: u32, seconds: u64) -> Self {
        let main = Self::central(cpus, 1);
        Self {
            tasks_per_cpu,
            grain: Span::from_ms(1_000 * seconds),
            spread: Spread(0),
            contention: false,
            ..main
        }
    }

    /// Task-steps of the whole run.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.cpus as u64 * self.tasks_per_cpu as u64 * self.intervals as u64
    }

    /// The machine: packages of `domain` cores with the costs and the memory of `base`. Creating tasks is
    /// free, it is not what is measured.
    ///
    /// # Errors
    /// Why there is no such machine.
    pub fn machine(&self, base: &Machine) -> Result<Machine, String> {
        let levels =
            [(Level::Package, self.cpus / self.domain), (Level::Node, 1), (Level::Core, self.domain)];
        let scale = u64::from(self.domain.max(4)) / 4;
        let node_bandwidth = base.memory.node_bandwidth * scale;
        Ok(Machine {
            topology: Topology::new(&levels)?,
            costs: Costs { fork: Span::ZERO, ..base.costs.clone() },
            memory: Memory { node_bandwidth, ..base.memory.clone() },
            core_speed: Vec::new(),
            work_unit: sim_core::time::Speed::NOMINAL,
            ..base.clone()
        })
    }

    /// The kernel: CFS of Linux 2.6.28 with a tick of 1 ms.
    #[must_use]
    pub fn kernel(&self) -> OsModel {
        let mut params = CfsParams::scaled(self.cpus);
        params.yield_mode = self.yields;
        OsModel {
            name: "linux-2.6.28".into(),
            tick: Span::from_ms(1),
            tick_skew: true,
            discipline: Discipline::Cfs(params),
            balancer: Balancer { policy: "LOAD", rules: Vec::new() },
            groups: Vec::new(),
            autogroup: false,
            numa_balancing: None,
            real_time: None,
        }
    }

    /// The application.
    ///
    /// # Errors
    /// Why there is no such program.
    pub fn app(&self) -> Result<AppSpec, String> {
        let profile = MemoryProfile {
            demand: if self.contention { 1_000_000_000 } else { 0 },
            bound: None,
            working_set: if self.contention { 1 << 20 } else { 0 },
            pages: Pages::FirstTouch,
            shared: 0,
        };
        let work = Work::from_span(self.grain);
        let compute = Op::Compute { work, spread: self.spread, profile: ProfileId(0) };
        let ops = vec![Op::Repeat(self.intervals), compute, Op::Barrier, Op::End];
        let program = Arc::new(Program::new(ops, vec![profile])?);
        let runtime = Runtime {
            name: "spmd".into(),
            barrier: self.barrier,
            wait: self.wait,
            polling: Polling::PLAIN,
            processes: false,
            startup: StartUp::PLAIN,
        };
        Ok(AppSpec::new("spmd", self.cpus * self.tasks_per_cpu, program, runtime))
    }

    /// The run, ready to go.
    ///
    /// # Errors
    /// Why it cannot be simulated.
    pub fn simulation(&self, base: &Machine) -> Result<Simulation, String> {
        let (machine, kernel) = (Arc::new(self.machine(base)?), Arc::new(self.kernel()));
        let options = Options { horizon: self.horizon, ..Options::default() };
        Simulation::new(machine, kernel, vec![self.app()?], options)
    }
}
