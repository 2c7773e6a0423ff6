//! Policies in files: orders by formula, WebAssembly, and what a build reads of a compiled module.

use std::path::Path;
use std::sync::Arc;

use policies::{PolicyFile, PolicyRegistry};
use scenario::{Overrides, load_with};
use scx::build::{Parts, Request, finish};
use scx::formula::{self, Formula};

use crate::promise;

/// A scenario of two cpus with more tasks, which wait for one another and for locks, and a policy file.
fn scenario(file: &str) -> String {
    format!(
        "name: try\nmachine: core:2\nkernel: linux-6.18\nbaseline: none\nhorizon: 20ms\npolicies: [./{file}]\n\
         apps:\n  a: {{ tasks: 4, runtime: block, workload: {{ spmd: {{ work: 4ms, grain: 1ms }} }} }}\n  \
         b: {{ tasks: 2, nice: 5, workload: {{ hog: {{ work: 3ms }} }} }}\n"
    )
}

/// What a reader of policy files says.
type Read = Result<PolicyFile, (String, String)>;

/// Runs the scenario with a policy file that is read so.
fn run(file: &str, read: impl Fn() -> Read + Send + Sync + 'static) {
    let policies = PolicyRegistry::default().reading_files(Arc::new(move |_: &Path| read()));
    match load_with(&policies, "try.yaml", &scenario(file), &Overrides::default()) {
        Ok(experiment) => match experiment::run::run(&experiment, 1, &|_, _| ()) {
            Ok(results) => crate::output::results(&results),
            Err(error) => promise::refusal(&error.to_string()),
        },
        Err(why) => promise::refusal(&why),
    }
}

/// An order: what is read is written, read again, changed, exported and run.
pub(crate) fn order(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let formula = match Formula::parse("p.order", text) {
        Ok(formula) => formula,
        Err(problems) => return promise::refusal(&problems.to_string()),
    };
    let shown = formula.to_string();
    promise::visible(&shown);
    let again = Formula::parse("p.order", &shown);
    assert_eq!(again.as_ref().ok(), Some(&formula), "written as {shown}");
    match formula.c() {
        Ok(program) => promise::visible(&program.replace('\t', " ")),
        Err(why) => promise::refusal(&why),
    }
    let changed = formula::changed(&formula, &[bytes.len() as u64, bytes[0].into(), 7]);
    if let Err(why) = changed.check() {
        panic!("a changed order is none: {why}\n{changed}");
    }
    run("p.order", move || {
        let entry = formula.entry().map_err(|why| (why, String::new()))?;
        Ok(PolicyFile { entry, sha256: "0".repeat(64) })
    });
}

/// A policy file in WebAssembly: what can be run is run.
pub(crate) fn webassembly(bytes: &[u8]) {
    let _ = scx::build::is_policy_file(bytes);
    match scx::wasm::check(bytes) {
        Err((why, hint)) => {
            promise::refusal(&why);
            promise::visible(&hint);
        }
        Ok(()) => {
            let held = bytes.to_vec();
            run("p.wasm", move || scx::wasm::entry_of("p.wasm", &held));
        }
    }
}

/// What the compiler and the linker made of the sources of a scheduler.
pub(crate) fn compiled(bytes: &[u8]) {
    let request = Request { sources: vec!["p.bpf.c".into()], ..Request::default() };
    let objects = [bytes.to_vec()];
    let parts = Parts {
        linked: bytes,
        objects: &objects,
        runtime: Path::new("runtime.c"),
        include: Path::new("include"),
    };
    match finish(&request, &parts, "clang", "0") {
        Ok(built) => promise::visible(&built.warnings),
        Err(why) => promise::refusal(&why.to_string()),
    }
}
