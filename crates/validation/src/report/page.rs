//! The page `docs/validation.md` and its pictures.

use std::fmt::Write;

use experiment::export::{Exporter, View};
use experiment::number::plural;
use notation::neutral;

use super::numbers::{short, simulated};
use super::{csv, markdown};
use crate::claims::Claim;
use crate::notes::{self, Analysis};
use crate::plot::{self, Dot};
use crate::reproduce::Reproduction;
use crate::score::Group;
use crate::verdict::{Finding, Verdict};

/// Where the page is, from the root of the sources.
pub const PATH: &str = "docs/validation.md";
/// Where its pictures are.
pub const PICTURES: &str = "docs/validation";
/// Markers of the table of sensitivities, which a command of its own writes.
pub const SENSITIVITY: (&str, &str) = ("<!-- sensitivity -->\n", "<!-- /sensitivity -->\n");
/// Shown where nobody has looked at a miss yet.
pub const NOT_ANALYSED: &str = "not analysed yet";
/// The shortest beginning of an analysis that says anything, bytes.
const SHORTEST: usize = 40;

const HEAD: &str = "\
# Validation

This page compares the published outcomes in oversim's list of claims with the simulated ones. It is made
by

```text
oversim reproduce --write .      in the root of the sources
```

`oversim reproduce` shows every claim at the terminal, with `--quick` a first result in about a minute.
The claims are data (`claims.yaml` and `modern.yaml` in `crates/validation/data`): each names the cells of
a *study* that it is compared with ([claims.md](claims.md)), its source, and a tolerance that was set
before anything was simulated, but for the factors of `modern-nested`: some of its cells had been seen
before ([validation-advice.md](validation-advice.md)). The studies are the scenario files in
`scenarios/studies`. All of them share one set of parameters per machine, kernel, runtime and program
([model.md](model.md), [calibration.md](calibration.md)), which is not fitted to outcomes. The single
constant that was chosen on a published outcome is the 15 % variation of work.

[validation/claims.csv](validation/claims.csv) has every claim with its published and its simulated value,
tolerance, margin and verdict. The appendix has the pictures and the full reasons of the misses.

";

const WORDS: &str = "\
A claim is **reproduced** if the simulated value is within the tolerance; of several cells the worst one
decides. *Uncertain* claims have a damaged source, sources in conflict, or conditions that are not stated,
and are counted separately. Errors are in units of the tolerance, so 1 is the limit. A third of the claims
is *held out*: those whose id has an FNV-1a-64 hash that is a multiple of three. Work on the model does
not use them one by one, but their neighbours, of the same tables and figures, were in view when studies
and mechanisms were made. So they are no test of what nobody has seen. That test was made apart, with
claims of the first sources that no one who works on the model has been shown: 52 % of the certain ones
came out. The others are *visible*.

";

/// The page and its pictures as (path, text).
///
/// # Errors
/// A picture cannot be drawn, or the notes built in are wrong.
pub fn files(reproduction: &Reproduction, sensitivity: &str) -> Result<Vec<(String, String)>, String> {
    let analyses = notes::analyses()?;
    let about = notes::groups()?;
    let mut pictures = Vec::new();
    let mut page = HEAD.to_owned();
    let mut summary = Vec::new();
    markdown::summary(reproduction, &mut summary).map_err(|e| e.to_string())?;
    let _ = writeln!(page, "## What is reproduced\n\n{}\n{WORDS}", String::from_utf8_lossy(&summary));
    reasons(&mut page, reproduction, &analyses);
    let _ = writeln!(page, "## Appendix\n");
    for group in &reproduction.groups {
        let about = about.get(&group.group).map_or("", String::as_str);
        if group.is_modern() && !page.contains(MODERN) {
            sources(&mut page)?;
        }
        let counted =
            format!("{} of {} reproduced", group.passed + group.uncertain_passed, group.n + group.uncertain);
        let _ = writeln!(page, "{}{about}\n", folded(&format!("{}: {counted}", group.group)));
        for (metric, unit, dots) in panels(reproduction, group) {
            let title = format!("{}: {metric}", group.group);
            let name = format!("{}-{metric}.svg", group.group);
            pictures.push((format!("{PICTURES}/{name}"), plot::svg(&title, &unit, &dots)?));
            let _ = writeln!(page, "![{title}](validation/{name})");
        }
        misses(&mut page, reproduction, group, &analyses);
        page.push_str(END);
    }
    let sensitivity = format!("{}{sensitivity}{}", SENSITIVITY.0, SENSITIVITY.1);
    let _ = write!(page, "{}{TAIL}{sensitivity}{END}", folded("Sensitivity of the conclusions"));
    let mut table = Vec::new();
    csv::Csv.write(reproduction, &mut table, &View::FILE).map_err(|e| e.to_string())?;
    pictures.insert(0, (format!("{PICTURES}/claims.csv"), String::from_utf8_lossy(&table).into_owned()));
    pictures.insert(0, (PATH.to_owned(), page));
    Ok(pictures)
}

/// The beginning of a folded part of the page.
fn folded(title: &str) -> String {
    format!("<details>\n<summary>{}</summary>\n\n", neutral::markdown(title))
}

/// Its end.
const END: &str = "\n</details>\n\n";

/// The first sentence of a text; with the next one if it is as short as "There are two causes."
fn beginning(text: &str) -> &str {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let end = ends.into_iter().find(|end| *end >= SHORTEST).unwrap_or(text.len());
    text[..end].trim()
}

/// What is not reproduced, by mechanism: how each analysis begins, and which claims miss by it.
fn reasons(page: &mut String, reproduction: &Reproduction, analyses: &[Analysis]) {
    let all = reproduction.claims.iter().zip(&reproduction.findings);
    let missed: Vec<&Claim> =
        all.filter(|(_, finding)| finding.verdict != Verdict::Pass).map(|(claim, _)| claim).collect();
    let _ = writeln!(page, "## What is not reproduced, and why\n");
    let mut told = 0;
    for analysis in analyses {
        let claims: Vec<&&Claim> =
            missed.iter().filter(|claim| analysis.claims.contains(&claim.id)).collect();
        if claims.is_empty() {
            continue;
        }
        told += claims.len();
        let mut groups: Vec<&str> = Vec::new();
        for claim in &claims {
            if !groups.contains(&claim.group.as_str()) {
                groups.push(&claim.group);
            }
        }
        let first = beginning(&analysis.mechanism);
        let _ =
            writeln!(page, "- {first} ({}; {})", plural(claims.len(), "claim", "claims"), groups.join(", "));
    }
    let rest = missed.len().saturating_sub(told);
    let _ = writeln!(page, "\n{} {NOT_ANALYSED}.\n", plural(rest, "claim is", "claims are"));
}

const MODERN: &str = "\
### The modern chapter

The groups from here on compare outcomes of 2015 to 2026 whose conditions are stated \
(`crates/validation/data/modern.yaml`).
The score above counts them apart. Many sources state neither the kernel nor the length of the intervals, \
so their claims are \
uncertain.

";

/// The head of the modern chapter and its sources.
fn sources(page: &mut String) -> Result<(), String> {
    let sources = notes::modern()?;
    page.push_str(MODERN);
    page.push_str(&folded("Its sources"));
    let mut documents: Vec<_> = sources.documents.iter().collect();
    documents.sort_by_key(|(name, _)| (name.len(), name.as_str()));
    for (name, text) in documents {
        let _ = writeln!(page, "- {name}: {}", neutral::markdown(text));
    }
    let _ = writeln!(page, "\nSources that were read and could not be used:\n");
    for unused in &sources.unused {
        let _ = writeln!(page, "- {}: {}", neutral::markdown(&unused.source), neutral::markdown(&unused.why));
    }
    page.push_str(END);
    Ok(())
}

const TAIL: &str = "\
The table shows how headline claims change when one uncertain parameter of the machines or workloads is 20 \
% smaller or
larger and everything else stays the same (quick settings; `oversim reproduce --sensitivity`). It lists \
the parameters
that move a headline by at least a tenth of its tolerance. The others move it less.

";

/// What stands between the markers of sensitivities on a page; empty without.
#[must_use]
pub fn sensitivity_of(page: &str) -> &str {
    page.split_once(SENSITIVITY.0)
        .and_then(|(_, rest)| rest.split_once(SENSITIVITY.1))
        .map_or("", |(text, _)| text)
}

/// The numbers of a group by metric: name, unit and dots.
fn panels(reproduction: &Reproduction, group: &Group) -> Vec<(String, String, Vec<Dot>)> {
    let mut panels: Vec<(String, String, Vec<Dot>)> = Vec::new();
    for (claim, finding) in of_group(reproduction, group) {
        let dots = finding.pairs.iter().map(|(published, simulated)| Dot {
            published: *published,
            simulated: *simulated,
            tolerance: claim.tolerance.beyond(*published),
            pass: claim.around(*published).has(*simulated),
        });
        match panels.iter_mut().find(|(metric, ..)| *metric == claim.texts.metric) {
            Some((.., all)) => all.extend(dots),
            None => panels.push((claim.texts.metric.clone(), claim.texts.unit.clone(), dots.collect())),
        }
    }
    panels.retain(|(.., dots)| !dots.is_empty());
    panels
}

fn of_group<'a>(
    reproduction: &'a Reproduction,
    group: &'a Group,
) -> impl Iterator<Item = (&'a Claim, &'a Finding)> {
    let all = reproduction.claims.iter().zip(&reproduction.findings);
    all.filter(|(claim, _)| claim.group == group.group)
}

/// Why the misses of a group miss: each analysis once, with its claims.
fn misses(page: &mut String, reproduction: &Reproduction, group: &Group, analyses: &[Analysis]) {
    let missed: Vec<(&Claim, &Finding)> =
        of_group(reproduction, group).filter(|(_, finding)| finding.verdict != Verdict::Pass).collect();
    if missed.is_empty() {
        return;
    }
    let _ = writeln!(page, "\n**Misses**\n");
    let mut told: Vec<&str> = Vec::new();
    for (claim, _) in &missed {
        if told.contains(&claim.id.as_str()) {
            continue;
        }
        let analysis = analyses.iter().find(|analysis| analysis.claims.contains(&claim.id));
        let same =
            |id: &str| analysis.is_some_and(|analysis| analysis.claims.iter().any(|other| other == id));
        let together: Vec<&(&Claim, &Finding)> =
            missed.iter().filter(|(other, _)| other.id == claim.id || same(&other.id)).collect();
        let names: Vec<String> = together.iter().map(|(claim, finding)| named(claim, finding)).collect();
        told.extend(together.iter().map(|(claim, _)| claim.id.as_str()));
        let text = match analysis {
            Some(analysis) => {
                format!("{} *What would settle it:* {}", analysis.mechanism.trim(), analysis.settle.trim())
            }
            None => NOT_ANALYSED.to_owned(),
        };
        let _ = writeln!(page, "- {}: {text}", names.join(", "));
    }
    page.push('\n');
}

fn named(claim: &Claim, finding: &Finding) -> String {
    let off = finding.margin.map_or(String::new(), |margin| format!(", {} from passing", short(-margin)));
    let said = simulated(finding);
    let said = if said.is_empty() { finding.reason.clone() } else { said };
    format!("`{}` (simulated: {}{off})", neutral::markdown(&claim.id), neutral::markdown(&said))
}
