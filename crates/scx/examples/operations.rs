//! What a policy file costs beside the same scheduler in Rust. The command is
//! `cargo run --release -p oversim-scx --example operations vtime.wasm`, on an idle machine; the file is that
//! which `oversim scx build examples/scx/vtime.bpf.c` makes.
#![expect(clippy::print_stdout, reason = "a program for developers prints its results")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use experiment::run::simulate_one;
use policies::{Entry, Level, PolicyRegistry, Setting, Showcase, TaskGroups};
use scenario::{Overrides, load_with};
use scx::ext::{ExitInfo, Ext, Given, Kernel, Scheduler};
use scx::native::Simple;
use sim_core::ids::{CpuId, TaskId};
use sim_core::policy::Policy;

/// Tasks that wake, wait in the queue and are preempted.
const SCENARIO: &str = "name: cost\nmachine: package:2 numa:1 core:32\nkernel: linux-6.18\nbaseline: none\n\
    policies: [NATIVE, FILE]\napps: { job: { tasks: 160, runtime: block, \
    workload: { spmd: { work: 400ms, grain: 1ms, spread: 20% } } } }\n";

/// Times that each is measured, in turn. The shortest one counts: other work on the machine only adds time.
const TIMES: usize = 7;

/// The operations of the queue by virtual time, counted.
struct Counted(Simple, u64);

macro_rules! counted {
    ($($name:ident($($parameter:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        fn $name(&mut self, kernel: &mut Kernel<'_>, $($parameter: $type),*) $(-> $result)? {
            self.1 += 1;
            self.0.$name(kernel, $($parameter),*)
        }
    )*};
}

impl Scheduler for Counted {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn given(&self) -> Given {
        self.0.given()
    }
    fn flags(&self) -> u64 {
        self.0.flags()
    }
    counted! {
        init() -> i32;
        exit(info: &ExitInfo);
        enable(task: TaskId);
        select_cpu(task: TaskId, prev: i32, wake_flags: u64) -> i32;
        enqueue(task: TaskId, enq_flags: u64);
        dispatch(cpu: CpuId, prev: Option<TaskId>);
        running(task: TaskId);
        stopping(task: TaskId, runnable: bool);
    }
    fn counters(&self) -> Vec<(String, u64)> {
        vec![("operations".to_owned(), self.1)]
    }
}

fn native() -> &'static Entry {
    Box::leak(Box::new(Entry {
        name: "NATIVE",
        summary: "",
        source: "",
        level: Level::InKernel,
        task_groups: TaskGroups::Refused,
        parameters: &[],
        text: "",
        wins: Showcase::NONE,
        loses: Showcase::NONE,
        build: &|_, setting: &Setting<'_>| -> Box<dyn Policy> {
            match Ext::new(Counted(Simple::new(false), 0), setting.machine) {
                Ok(policy) => Box::new(policy),
                Err(message) => {
                    println!("{message}");
                    std::process::exit(2)
                }
            }
        },
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("the command needs a policy file")?;
    let path = Path::new(&file).canonicalize()?;
    let policies = PolicyRegistry::with(&[native()])?.reading_files(Arc::new(scx::wasm::read));
    let text = SCENARIO.replace("FILE", &format!("{{ policy: '{}', label: file }}", path.display()));
    let experiment = load_with(&policies, "cost.yaml", &text, &Overrides::default())?;
    let (mut shortest, mut reports) = ([f64::INFINITY; 2], Vec::new());
    for _ in 0..TIMES {
        reports.clear();
        for (least, run) in shortest.iter_mut().zip(&experiment.runs) {
            let began = Instant::now();
            reports.push(simulate_one(run, &mut ())?);
            *least = least.min(began.elapsed().as_secs_f64());
        }
    }
    let [native, file] = shortest;
    let counted = reports
        .first()
        .and_then(|report| report.policy_counters.iter().find(|(name, _)| name == "operations"));
    let operations = counted.map_or(1, |(_, count)| *count);
    println!(
        "in Rust: {:.1} ms, from the file: {:.1} ms, {:.2} times",
        native * 1e3,
        file * 1e3,
        file / native
    );
    println!("{operations} operations: {:.0} ns more for each", (file - native) / operations as f64 * 1e9);
    let same =
        reports.iter().all(|report| reports.first().is_some_and(|first| first.digest == report.digest));
    println!("the decisions are {}", if same { "the same" } else { "different" });
    Ok(())
}
