//! A trace of any length is made in the same memory: a test binary of its own, with a counting allocator.

use std::alloc::System;
use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;

use sim_core::account::Account;
use sim_core::ids::CpuId;
use sim_core::observe::{Observation, Observer};
use sim_core::policy::Decision;
use sim_core::time::Time;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use testkit::job::Job;
use testkit::policies::Fixed;
use trace::{About, Form, Tracer, write};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that are asked for and not given back.
fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// The most that is held at any observation and at any write.
#[derive(Clone, Default)]
struct Peak(Rc<Cell<usize>>);

impl Peak {
    fn look(&self) {
        self.0.set(self.0.get().max(held()));
    }
}

/// A tracer under the eyes of the peak.
struct Watched(Tracer, Peak);

impl Observer for Watched {
    fn observe(&mut self, at: Time, what: &Observation) {
        self.0.observe(at, what);
        self.1.look();
    }
    fn decided(&mut self, at: Time, decision: &Decision) {
        self.0.decided(at, decision);
    }
    fn wants_cpu_time(&self) -> bool {
        self.0.wants_cpu_time()
    }
    fn accounted(&mut self, cpu: CpuId, account: &Account) {
        self.0.accounted(cpu, account);
    }
}

/// Counts bytes and throws them away.
struct Sink(usize, Peak);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        self.1.look();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The memory that a trace takes with so many records in memory, and its length, both in bytes.
fn traced(intervals: u32, records: usize, form: Form) -> (usize, usize) {
    let base = machines::resolve("barcelona").expect("a machine of the shelf").machine();
    let job = Job::central(16, intervals);
    let (machine, apps) = (job.machine(&base).expect("legal"), vec![job.app().expect("legal")]);
    let simulation = job.simulation(&base).expect("a legal run");
    let (peak, before) = (Peak::default(), held());
    let mut watched = Watched(Tracer::with_memory(&machine, &apps, records), peak.clone());
    simulation.run(&mut Fixed, &mut watched);
    let mut sink = Sink(0, peak.clone());
    write(watched.0, &About::default(), form, &mut sink).expect("nothing refuses to be written");
    (peak.0.get() - before, sink.0)
}

// One test only: others would ask for memory at the same time.
#[test]
fn long_traces_take_no_more_memory_than_short_ones() {
    const RECORDS: usize = 4_096;
    for form in [Form::Perfetto, Form::Ftrace] {
        let (short, few) = traced(50, RECORDS, form);
        let (long, many) = traced(800, RECORDS, form);
        assert!(many > 14 * few, "{many} bytes after {few}: the long trace is no longer than the short one");
        // 40 bytes per record and its place in the order, less than as much for blocks, and what tasks, cpus
        // and buffers take.
        assert!(long < 80 * RECORDS + 100_000, "{form:?}: {long} bytes for {many} bytes of trace");
        assert!(long < short + short / 10, "{form:?}: {long} bytes for {many} of trace, {short} for {few}");
    }
}
