//! Runs of scenarios beside orders and policy files in a folder, and the builds of their programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use experiment::run::simulate_one;
use policies::PolicyRegistry;
use scenario::{Overrides, load_with};
use scx::build::{Built, Failed, Request, build};
use scx::formula::Formula;
use sim_core::outcome::RunReport;

/// The runs of a scenario beside the files in a folder; else what is wrong with it.
pub(crate) fn runs(folder: &Path, text: &str) -> Result<Vec<RunReport>, String> {
    let name = folder.join("try.yaml").display().to_string();
    let policies = PolicyRegistry::default().reading_files(Arc::new(scx::read));
    let experiment = load_with(&policies, &name, text, &Overrides::default())?;
    Ok(experiment.runs.iter().map(|run| simulate_one(run, &mut ()).unwrap()).collect())
}

/// A scenario with these policies.
pub(crate) fn scenario(policies: &str, case: &str) -> String {
    format!("name: try\nkernel: linux-6.18\nbaseline: none\npolicies: {policies}\n{case}\n")
}

/// Where the examples are.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scx")
}

/// The example of a name.
pub(crate) fn example(name: &str) -> Formula {
    let text = fs::read_to_string(examples().join(format!("{name}.order"))).unwrap();
    Formula::parse(&format!("{name}.order"), &text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The policy file of an order's program in C; none where there is no clang.
pub(crate) fn built(formula: &Formula) -> Option<Built> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("order.bpf.c");
    fs::write(&source, formula.c().unwrap()).unwrap();
    match build(&Request { sources: vec![source], ..Request::default() }) {
        Ok(built) => Some(built),
        Err(Failed::Tools(why)) if why.contains("not found") || why.contains("wasm64") => {
            eprintln!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}\n{}", formula.c().unwrap()),
    }
}
