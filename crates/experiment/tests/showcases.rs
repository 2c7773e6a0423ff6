//! Where each policy wins and where it loses: every showcase of the registry is run and compared, and the
//! page of measured ratios is current. OVERSIM_UPDATE=1 rewrites docs/reference/showcases.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use experiment::metrics::ALL_APPS;
use experiment::result::Results;
use policies::{Entry, Showcase};
use scenario::{Overrides, load};

/// A clear win is at least 5 % faster, a clear loss is the other way round.
const WINS: f64 = 1.05;
const LOSES: f64 = 0.95;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A policy, whether it should win, and where.
type Case = (&'static Entry, bool, &'static Showcase);

fn cases() -> impl Iterator<Item = Case> {
    let both = policies::ALL.iter().flat_map(|e| [(e, true, &e.wins), (e, false, &e.loses)]);
    both.filter(|(_, _, case)| !case.scenario.is_empty())
}

/// The result of a file of `scenarios/policies` with the replicates it asks for.
fn run(scenario: &str) -> Result<Results, String> {
    let path = root().join(format!("scenarios/policies/{scenario}.yaml"));
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let experiment = load(scenario, &text, &Overrides::default())?;
    experiment::run::run(&experiment, 0, &|_, _| ()).map_err(|e| e.to_string())
}

/// Mean run time of the policy compared with over that of the policy: above 1, the policy is faster.
fn ratio(results: &Results, case: &Showcase) -> Result<f64, String> {
    if !results.all_completed() {
        return Err(format!("a run of {} did not complete", case.scenario));
    }
    let metric = if case.app == ALL_APPS { "makespan" } else { "run_time" };
    let mean = |policy: &str| {
        let cell = results.get(case.point, policy, case.app, metric);
        cell.map(|summary| summary.mean).ok_or_else(|| {
            let p = &results.provenance;
            format!(
                "{}: no {metric} of `{}` under `{policy}` at `{}`; policies {:?}, apps {:?}, configurations \
                    {:?}",
                case.scenario, case.app, case.point, p.policies, p.apps, p.configurations
            )
        })
    };
    Ok(mean(case.against)? / mean(case.label)?)
}

#[test]
fn every_policy_has_a_place_where_it_wins_and_one_where_it_loses() {
    for entry in policies::ALL {
        let sides =
            [("wins", &entry.wins, entry.wins_because()), ("loses", &entry.loses, entry.loses_because())];
        for (side, case, because) in sides {
            assert!(!case.scenario.is_empty(), "{}: no scenario where it {side}", entry.name);
            let said = because.len() > 60 && !case.against.is_empty() && case.label != case.against;
            assert!(said, "{}: say against whom it {side}, and why", entry.name);
        }
    }
}

#[test]
fn showcases_have_the_stated_winners() {
    let mut results: BTreeMap<&str, Result<Results, String>> = BTreeMap::new();
    let (mut broken, mut rows) = (Vec::new(), Vec::new());
    for (entry, wins, case) in cases() {
        let result = results.entry(case.scenario).or_insert_with(|| run(case.scenario)).as_ref();
        match result.map_err(Clone::clone).and_then(|result| ratio(result, case)) {
            Ok(ratio) => {
                if if wins { ratio < WINS } else { ratio > LOSES } {
                    broken.push(format!(
                        "{} should {} `{}` in {} (app {}, configuration `{}`), but is {ratio:.3} times as \
                            fast",
                        entry.name,
                        if wins { "beat" } else { "lose against" },
                        case.against,
                        case.scenario,
                        case.app,
                        case.point
                    ));
                }
                rows.push(row(entry, case, ratio));
            }
            Err(said) => broken.push(format!("{}: {said}", entry.name)),
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    compare(&page(&rows));
}

fn row(entry: &Entry, case: &Showcase, ratio: f64) -> String {
    let Showcase { scenario, app, point: configuration, against, .. } = case;
    format!(
        "| [{name}](policies/{name}.md) | [{scenario}](../../scenarios/policies/{scenario}.yaml) | {app} | \
            {configuration} | {against} | {ratio:.2} |\n",
        name = entry.name
    )
}

fn page(rows: &[String]) -> String {
    let mut page = String::from(
        "# Where each policy wins and loses, measured\n\n\
<!-- written by OVERSIM_UPDATE=1 cargo test -p oversim-experiment --test showcases -->\n\n\
For every built-in policy this table lists a scenario in which it is clearly faster than another policy, \
and one in which\n\
it is clearly slower. `times as fast` is the mean run time of the application (`all`: the mean makespan) \
under the other\n\
policy divided by that under the policy, over the replicates of the scenario. A test runs all scenarios.\n\n\
| policy | scenario | application | configuration | against | times as fast |\n|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let _ = write!(page, "{row}");
    }
    page
}

fn compare(page: &str) {
    let path = root().join("docs/reference/showcases.md");
    if std::env::var_os("OVERSIM_UPDATE").is_some() {
        fs::write(&path, page).expect("the page can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/reference/showcases.md has drifted: OVERSIM_UPDATE=1 cargo test -p oversim-experiment --test \
            showcases\n{page}"
    );
}
