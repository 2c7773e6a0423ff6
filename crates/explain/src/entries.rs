//! Pages of kernels, runtimes and workloads.

use notation::parameter::Parameter;
use workloads::WORKLOADS;
use workloads::runtimes::{self, RUNTIMES};

use crate::catalogue::parameter;
use crate::example::scenario;
use crate::page::{Block, Kind, Page};

const SOLVER: &str = "solver: { workload: { spmd: { work: 1s, intervals: 50, spread: 15% } }";

pub(super) fn kernels() -> Vec<Page> {
    kernels::KERNELS.entries.iter().map(kernel).collect()
}

fn kernel(e: &kernels::Entry) -> Page {
    let own = e.own.policy;
    let machines = machines::entries().iter().filter(|m| m.kernel.as_deref() == Some(e.name));
    let unnamed = (e.name == kernels::DEFAULT_KERNEL).then(|| "machines that name none".to_owned());
    let machines: Vec<String> = machines.map(|m| format!("`{}`", m.name)).chain(unnamed).collect();
    let machines = if machines.is_empty() {
        String::new()
    } else {
        format!(" It is the default kernel of {}.", machines.join(", "))
    };
    let apps = format!("{SOLVER}, threads_per_core: 2 }}");
    let base = e.own.base.and_then(|base| kernels::KERNELS.find(base));
    let differs = |p: &&'static Parameter| base.is_none_or(|base| !base.parameters.contains(p));
    let own_parameters = e.parameters.iter().filter(differs).map(parameter).collect();
    let like = base.map_or_else(String::new, |base| {
        format!(" Its parameters are those of `{}`; the table lists those with other values.", base.name)
    });
    Page::new(Kind::Kernel, e.name, e.summary)
        .text("", &kernels::KERNELS.about(e))
        .text("", &format!("The policy `{own}` is its own placement and balancing.{machines}{like}"))
        .with("Parameters", vec![Block::Parameters(own_parameters)])
        .with("Example", vec![Block::Yaml(scenario("core:4", e.example, &apps, &format!("{own}, PIN")))])
        .text("Not modelled", &missing(e))
        .text("Source", e.source)
}

/// What the kernel does and its row does not, with the side on which results err: a paragraph each.
fn missing(e: &kernels::Entry) -> String {
    let line = |rule: &kernels::Missing| format!("{} ({}): {}", rule.rule, rule.error.word(), rule.about);
    kernels::missing(e).into_iter().map(line).collect::<Vec<_>>().join("\n\n")
}

pub(super) fn runtimes() -> Vec<Page> {
    RUNTIMES.entries.iter().map(runtime).collect()
}

fn runtime(e: &runtimes::Entry) -> Page {
    let model = match e.own {
        "mpi" => "MPI",
        "openmp" => "OpenMP",
        _ => "UPC",
    };
    let apps = format!("{SOLVER}, runtime: {}, threads_per_core: 2 }}", e.example);
    Page::new(Kind::Runtime, e.name, e.summary)
        .text("", &RUNTIMES.about(e))
        .text(
            "",
            &format!(
                "With this runtime the codes of `npb` have the synchronisation of their {model} versions."
            ),
        )
        .with("Parameters", vec![Block::Parameters(e.parameters.iter().map(parameter).collect())])
        .with("Example", vec![Block::Yaml(scenario("core:4", "", &apps, "LOAD, PIN"))])
        .text("Source", e.source)
}

pub(super) fn workloads() -> Vec<Page> {
    WORKLOADS.entries.iter().map(workload).collect()
}

fn workload(e: &workloads::Entry) -> Page {
    let machine = if e.name == "parbench" { "e25k" } else { "barcelona" };
    // The programs of a suite, `cg` or `swim`: the words of the first parameter.
    let programs = match e.parameters.first().map(|parameter| parameter.kind) {
        Some(notation::parameter::Kind::Choice(words)) => words,
        _ => &[],
    };
    let mut page = Page::new(Kind::Workload, e.name, e.summary);
    page.aliases.extend(programs.iter().map(|name| (*name).to_owned()));
    page.text("", &WORKLOADS.about(e))
        .with("Parameters", vec![Block::Parameters(e.parameters.iter().map(parameter).collect())])
        .with("Example", vec![Block::Yaml(scenario(machine, "", e.example, "LOAD, PIN"))])
        .text("Source", e.source)
}
