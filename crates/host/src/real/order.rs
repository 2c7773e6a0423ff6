//! The order that a program under a real runtime reads.

use std::fmt::Write as _;

use sim_core::time::WORK_FRACTION_BITS;

use crate::facts;
use crate::job::{Job, Library};
use crate::plan::{Program, Thread};

/// In an order: the nice value stays.
const OWN_NICE: i32 = 100;

/// The variables that bind each thread, if each has one cpu.
pub(super) fn bind(job: &mut Job, threads: &[Thread]) {
    let cpus: Option<Vec<String>> = threads
        .iter()
        .map(|thread| if let [cpu] = thread.cpus[..] { Some(cpu.to_string()) } else { None })
        .collect();
    let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) else { return };
    let (name, value) = match job.library {
        Library::Libgomp => ("GOMP_CPU_AFFINITY", cpus.join(" ")),
        Library::Libomp => {
            ("KMP_AFFINITY", format!("granularity=fine,explicit,proclist=[{}]", cpus.join(",")))
        }
        // Its ranks bind themselves.
        Library::OpenMpi => return,
    };
    job.variables.push((name.into(), value));
}

/// The order for the process of a program, one line; `parent` is the process that gives it.
#[must_use]
pub fn order(job: &Job, program: &Program, parent: i32) -> String {
    let flag = |flag| i32::from(flag);
    let mut text = format!(
        "order {parent} {} {} {} {}",
        flag(program.session),
        flag(job.regions),
        job.bytes,
        job.steps.len()
    );
    for [code, a, b] in &job.steps {
        let _ = write!(text, " {code} {a} {b}");
    }
    let _ = write!(text, " {}", program.threads.len());
    let unit = program.rate / program.speed / (1_u64 << WORK_FRACTION_BITS) as f64;
    for thread in &program.threads {
        let nice = if thread.nice == 0 { OWN_NICE } else { facts::nice() + thread.nice };
        let slept = thread.slept.map_or(-1, i64::from);
        let factor = unit * f64::from(thread.scale) / 1_000.0;
        let _ = write!(text, " {nice} {slept} {} {factor:e} {}", thread.noise, thread.cpus.len());
        for cpu in &thread.cpus {
            let _ = write!(text, " {cpu}");
        }
    }
    text
}
