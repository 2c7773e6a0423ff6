//! The pages of every kind, and the search for a page by its name.

use std::collections::BTreeSet;

use notation::suggest::hint;
use policies::PolicyRegistry;
use scenario::built_in;

use crate::page::{Kind, Page};
use crate::{entries, key, machine, metric, parameter, policy, reference_value, term, waiting};

/// Most pages that an error names.
const MENTIONED: usize = 8;

/// The pages of a kind, in its order.
#[must_use]
pub fn pages(kind: Kind) -> Vec<Page> {
    pages_with(&PolicyRegistry::default(), kind)
}

/// As [`pages`], with these policies.
#[must_use]
pub fn pages_with(policies: &PolicyRegistry, kind: Kind) -> Vec<Page> {
    match kind {
        Kind::Policy => policy::pages(policies),
        Kind::Kernel => entries::kernels(),
        Kind::Runtime => entries::runtimes(),
        Kind::Workload => entries::workloads(),
        Kind::Machine => machine::pages(),
        Kind::Metric => metric::pages(),
        Kind::Reference => reference_value::pages(),
        Kind::Wait => waiting::waits(),
        Kind::Barrier => waiting::barriers(),
        Kind::Lock => waiting::locks(),
        Kind::Key => key::pages(),
        Kind::Term => term::pages(),
        Kind::Parameter => parameter::pages(policies),
    }
}

/// The pages of this name, upper or lower case: more than one if it has several meanings. Entries of
/// registries come first, then a term, then, if no entry has this name, the parameters. `policy:SPEED`
/// searches only the policies, `SPEED.interval` finds a parameter of one entry, and a description such as
/// `core:8` a machine.
///
/// # Errors
/// A sentence with the nearest name.
pub fn find(name: &str) -> Result<Vec<Page>, String> {
    find_with(&PolicyRegistry::default(), name)
}

/// As [`find`], with these policies.
///
/// # Errors
/// As [`find`].
pub fn find_with(policies: &PolicyRegistry, name: &str) -> Result<Vec<Page>, String> {
    let name = name.trim();
    let of = |kind: Kind, name: &str| -> Vec<Page> {
        if kind == Kind::Parameter {
            return parameter::find(policies, name);
        }
        pages_with(policies, kind).into_iter().filter(|page| page.is_called(name)).collect()
    };
    let chosen = name.split_once(':').and_then(|(kind, rest)| {
        Kind::ALL
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(kind))
            .map(|kind| (kind, rest.trim()))
    });
    let found = match chosen {
        Some((kind, rest)) => of(kind, rest),
        None => {
            let entries: Vec<Page> = Kind::listed().flat_map(|kind| of(kind, name)).collect();
            let parameters = if entries.is_empty() { of(Kind::Parameter, name) } else { Vec::new() };
            entries.into_iter().chain(of(Kind::Term, name)).chain(parameters).collect()
        }
    };
    if !found.is_empty() {
        return Ok(found);
    }
    if chosen.is_none() && name.contains(':') {
        return machine::described(name).map(|page| vec![page]);
    }
    Err(unknown(policies, name))
}

fn unknown(policies: &PolicyRegistry, name: &str) -> String {
    if let Some(scenario) = built_in::find(name) {
        let name = scenario.name;
        return format!("`{name}` is a built-in scenario: `oversim list scenarios {name}` describes it");
    }
    let word = name.rsplit(':').next().unwrap_or(name).trim();
    let pages: Vec<Page> = Kind::ALL.into_iter().flat_map(|kind| pages_with(policies, kind)).collect();
    let names = || pages.iter().flat_map(|page| page.aliases.iter().chain([&page.name])).map(String::as_str);
    let mut text = format!("there is no page `{name}`{}", hint(word, names()));
    let lower = word.to_lowercase();
    let mut seen = BTreeSet::new();
    let mentions = pages.iter().filter(|page| lower.len() > 2 && page.mentions(&lower));
    let mentions = mentions.map(|page| page.name.as_str()).filter(|name| seen.insert(*name));
    let mentions: Vec<&str> = mentions.take(MENTIONED).collect();
    if !mentions.is_empty() {
        if !text.ends_with(['?', '.']) {
            text.push('.');
        }
        text.push_str(&format!(" These pages mention it: {}.", mentions.join(", ")));
    }
    let stop = if text.ends_with(['?', '.']) { "" } else { "." };
    format!("{text}{stop} `oversim explain` lists all pages")
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::metrics::METRICS;
    use experiment::statements::Statement;
    use experiment::statements::causes::PARTS;

    fn kinds(name: &str) -> Vec<Kind> {
        find(name).unwrap_or_else(|why| panic!("{why}")).iter().map(|page| page.kind).collect()
    }

    #[test]
    fn a_name_finds_all_its_meanings_in_any_case() {
        assert_eq!(kinds("speed"), [Kind::Policy]);
        assert_eq!(kinds("yield"), [Kind::Runtime, Kind::Metric, Kind::Wait]);
        assert_eq!(kinds("wait:yield"), [Kind::Wait]);
        assert_eq!(kinds("compute"), [Kind::Metric]);
        assert_eq!(kinds("core:2 pu:2"), [Kind::Machine]);
        assert_eq!(kinds("node_bandwidth"), [Kind::Parameter]);
        assert_eq!(kinds("tasks"), [Kind::Key]);
        assert_eq!(kinds("kernel"), [Kind::Metric, Kind::Key], "not the parameters of this name");
        assert_eq!(kinds("speed.interval"), [Kind::Parameter]);
        assert_eq!(kinds("parameter:SPEED.interval"), [Kind::Parameter]);
        assert_eq!(find("migrations").unwrap().len(), 2, "of each application and of the run");
    }

    #[test]
    fn pages_come_before_terms_and_marks_between_words_do_not_matter() {
        assert_eq!(kinds("fair share"), [Kind::Reference, Kind::Term]);
        assert_eq!(kinds("gang"), [Kind::Policy, Kind::Term]);
        assert_eq!(kinds("barrier"), [Kind::Term, Kind::Parameter]);
        assert_eq!(kinds("term:gang"), [Kind::Term]);
        assert_eq!((kinds("run time"), kinds("OMP-wait-policy")), (vec![Kind::Metric], vec![Kind::Term]));
    }

    /// The words by which users have searched.
    const WORDS: &str = "oversubscription OMP_WAIT_POLICY KMP_BLOCKTIME GOMP_SPINCOUNT OMP_NUM_THREADS \
        OMP_PROC_BIND OMP_PLACES \
taskset numactl cpuset cgroup hyperthreading SMT noise nice sched_yield CFS EEVDF O(1)_scheduler barrier \
spin NUMA \
first_touch context_switch run_queue load_balancing gang_scheduling fair_share makespan slowdown throughput \
confidence_interval inter-barrier_interval SPMD UPC configuration replicate seed dedicated_run lower_bound \
perturb digest \
pinning affinity polling busy_waiting preemption priority quantum time_slice work_stealing container turbo \
Perfetto \
GOMAXPROCS OPENBLAS_NUM_THREADS MKL MKL_NUM_THREADS I_MPI_WAIT_MODE mpi_yield_when_idle \
OMPI_MCA_mpi_yield_when_idle cpu.max sched_ext slurm OverSubscribe nohz_full starvation convoy \
Gantt utilization vruntime preempt \
SJF Amdahl false_sharing work_conserving scalability waiting_time srun --cpu-bind p99 \
perf_sched libomp CG FT EP cpu.weight priority_inversion load_average \
KMP_AFFINITY GOMP_CPU_AFFINITY KMP_LIBRARY p-value futex SCHED_FIFO MPI OpenMP NPB imbalance granularity";

    #[test]
    fn the_words_of_users_are_found() {
        for word in WORDS.split_whitespace() {
            // The list is separated by blanks.
            let variable = word.starts_with("OMP") || word.starts_with("--") || word.contains("_NUM_");
            let word = if variable { word.to_owned() } else { word.replace('_', " ") };
            assert!(find(&word).is_ok(), "{word}: {:?}", find(&word));
        }
    }

    #[test]
    fn an_unknown_name_gets_advice() {
        assert!(find("SPED").unwrap_err().contains("did you mean `SPEED`?"));
        assert!(find("policy:laod").unwrap_err().contains("did you mean `LOAD`?"));
        assert!(find("Opteron").unwrap_err().contains("barcelona"));
        assert!(find("odd_thread").unwrap_err().contains("`oversim list scenarios odd_thread`"));
        assert!(find("core:0").is_err() && find("").is_err());
    }

    #[test]
    fn policies_from_outside_are_explained_too() {
        let mine = policies::Entry { name: "MINE", ..*policies::find("PIN").unwrap() };
        let policies = PolicyRegistry::with(&[Box::leak(Box::new(mine))]).unwrap();
        assert_eq!(find_with(&policies, "mine").unwrap()[0].name, "MINE");
        assert_eq!(find_with(&policies, "MINE.layout").unwrap()[0].kind, Kind::Parameter);
        assert!(find("MINE").is_err());
    }

    #[test]
    fn every_page_has_a_summary_and_every_entry_an_example() {
        for page in Kind::ALL.into_iter().flat_map(pages) {
            let at = format!("{}:{}", page.kind.name(), page.name);
            assert!(!page.summary.is_empty() && !page.summary.contains('\n'), "{at}");
            assert!(!page.sections.is_empty(), "{at}");
            if !matches!(page.kind, Kind::Parameter | Kind::Term) {
                let shown = page.sections.iter().any(|s| ["Example", "Worked example"].contains(&s.title));
                assert!(shown, "{at} has no example");
            }
        }
    }

    #[test]
    fn every_word_that_an_answer_prints_has_a_page() {
        // The lines of the answer besides its statements, and those of `oversim advise`.
        let lines = "Answer Why Doubts Next Counters Replay Advice Reaches Habit Else Others Type Assumed \
                     Sure Changes Measured Searched Try";
        let references =
            ["As it is", "fair share, ideal", "best partition", "level", "undecided", "95 % interval"];
        let mut words: Vec<String> =
            lines.split_whitespace().chain(Statement::LABELS).map(String::from).collect();
        words.extend(references.map(String::from));
        for part in PARTS {
            words.extend([part.name.to_owned(), part.head.join(" ").trim().to_owned()]);
        }
        words.extend(METRICS.iter().map(|metric| metric.name.to_owned()));
        words.extend(workloads::spec_omp::PROGRAMS.iter().map(|name| (*name).to_owned()));
        words.extend(["cg", "ft", "EP", "lu"].map(String::from));
        words.extend(machines::entries().iter().map(|machine| machine.name.to_owned()));
        words.extend(kernels::KERNELS.entries.iter().map(|kernel| kernel.name.to_owned()));
        words.extend(PolicyRegistry::default().entries().map(|policy| policy.name.to_owned()));
        for word in words {
            assert!(find(&word).is_ok_and(|pages| !pages.is_empty()), "{word} has no page");
        }
    }
}
