//! `oversim tune`: the parameters of a policy, or the formulas of an order, searched over a suite.

#[cfg(feature = "scx")]
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use decide::suite;
use decide::suite::bench::read_files;
use decide::tune::{self, Formulas, Request, Subject};
use experiment::PolicyRegistry;
use experiment::export::View;
#[cfg(feature = "scx")]
use scx::formula::{Formula, changed};
#[cfg(feature = "scx")]
use tempfile::TempDir;

use super::matrix::{failure, measured};
use crate::args::Tune;
use crate::failure::Failure;
use crate::output::{Target, to_stdout};
#[cfg(not(feature = "scx"))]
use crate::parts::SCX;
use crate::say;

/// Searches and prints.
pub(crate) fn tune(args: &Tune, policies: &PolicyRegistry) -> Result<ExitCode, Failure> {
    let target = |path: &Path| Target::check(path, args.force);
    let file = args.output.as_deref().map(target).transpose()?;
    let (policy, names) = tune::parts(&args.policy);
    let (policies, _) = read_files(policies, std::slice::from_ref(&policy)).map_err(Failure::Input)?;
    let formulas = if args.expressions { Some(formulas(&policy, args)?) } else { None };
    let subject = Subject::of(&policies, &policy, &names, formulas).map_err(Failure::Input)?;
    let cells = suite::load(&args.scenarios).map_err(failure)?;
    let request = Request {
        suite: args.scenarios.clone(),
        objective: args.objective.clone(),
        budget: args.budget,
        replicates: args.repeat,
        seed: args.seed,
        longest_wait: args.longest_wait(),
    };
    let jobs = args.jobs.map_or(0, NonZeroUsize::get);
    let found = measured(jobs, |means| tune::tune(&cells, &policies, (&subject, &request), means))?;
    match &file {
        Some(file) if found.order.is_some() && !found.gains => {
            let name = file.named().display();
            say::remark(format_args!("{name} is not written: the answer is the order as it is"));
        }
        Some(file) => {
            file.write(&|out| out.write_all(tune::snippet(&found).as_bytes()))?;
            say::remark(format_args!("{} written", file.named().display()));
        }
        None => {}
    }
    to_stdout(|out| args.format.write(&found, out, &View::FILE))?;
    Ok(ExitCode::SUCCESS)
}

/// The formulas of an order.
#[cfg(feature = "scx")]
fn formulas(policy: &str, args: &Tune) -> Result<Arc<dyn Formulas>, Failure> {
    Ok(Arc::new(Order::read(policy, args)?))
}

/// A program without orders.
#[cfg(not(feature = "scx"))]
fn formulas(_: &str, _: &Tune) -> Result<Arc<dyn Formulas>, Failure> {
    Err(Failure::Input(SCX.sentence("--expressions")))
}

/// An order and the folder in which its changed forms are, as long as the search goes on.
#[cfg(feature = "scx")]
struct Order {
    formula: Formula,
    folder: TempDir,
    /// The name of the file for the answer.
    shown: String,
}

#[cfg(feature = "scx")]
impl Order {
    fn read(policy: &str, args: &Tune) -> Result<Self, Failure> {
        if !policy.ends_with(".order") {
            return Err(Failure::Input(format!(
                "{policy} has no formulas: --expressions is for an order, a file that ends in .order"
            )));
        }
        let output = args.output.as_deref();
        if let Some(path) = output.filter(|path| path.extension().is_none_or(|end| end != "order")) {
            let path = path.display();
            return Err(Failure::Input(format!("{path}: a file with an order ends in .order")));
        }
        let wrong = |error: std::io::Error| Failure::Input(format!("cannot read {policy}: {error}"));
        let text = fs::read_to_string(policy).map_err(wrong)?;
        let formula = Formula::parse(policy, &text).map_err(|why| Failure::Rendered(why.to_string()))?;
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|error| Failure::Output(format!("no folder for orders: {error}")))?;
        let shown = output.map_or_else(|| "./tuned.order".to_owned(), |path| path.display().to_string());
        Ok(Self { formula, folder, shown })
    }
}

#[cfg(feature = "scx")]
impl Formulas for Order {
    fn name(&self, changes: &[u64], shown: bool) -> String {
        if shown {
            return self.shown.clone();
        }
        let numbers: Vec<String> = changes.iter().map(u64::to_string).collect();
        let path = self.folder.path().join(format!("{}-{}.order", self.formula.name, numbers.join("-")));
        if !path.exists() {
            // What is not written is refused as a policy that cannot be read.
            let _ = fs::write(&path, self.text(changes));
        }
        path.display().to_string()
    }

    fn text(&self, changes: &[u64]) -> String {
        changed(&self.formula, changes).to_string()
    }
}
