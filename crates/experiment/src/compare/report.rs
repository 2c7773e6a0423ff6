//! Comparisons in words: a sentence for each, and the output formats.

use std::io::{self, Write};
use std::path::Path;

use notation::neutral::{self, markdown};

use super::Verdict;
use super::contrast::{Contrast, Contrasts};
use crate::export::{Exported, Exporter, Form, View};
use crate::metrics::{ALL_APPS, Better, METRICS};
use crate::number;

/// All forms.
pub const FORMS: &[Exported<Contrasts>] = &[&Text, &Json, &Csv, &Markdown];

/// The names of the sides in a sentence: their policies where these differ, else their files.
struct Names {
    a: String,
    b: String,
}

impl Names {
    fn of(all: &Contrasts, one: &Contrast) -> Self {
        if one.policy_a != one.policy_b {
            return Self { a: one.policy_a.clone(), b: one.policy_b.clone() };
        }
        let stem = |file: &str| {
            Path::new(file)
                .file_stem()
                .map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
        };
        let (a, b) = (stem(&all.a.file), stem(&all.b.file));
        if a == b { Self { a: all.a.file.clone(), b: all.b.file.clone() } } else { Self { a, b } }
    }
}

/// A comparison in words, without the place: `SPEED is 1.34 (1.29 to 1.39) times as fast as LOAD:
/// 1.340 s -> 1.000 s (p < 0.001, 10 pairs)`.
#[must_use]
pub fn sentence(all: &Contrasts, one: &Contrast) -> String {
    let Names { a, b } = Names::of(all, one);
    let show = |value: f64| if one.unit == "s" { number::seconds(value) } else { number::plain(value) };
    let (mean_a, mean_b) = (show(one.mean_a), show(one.mean_b));
    let metric = &one.metric;
    let words = match (one.verdict, one.speedup) {
        (Verdict::Faster, Some(ratio)) => format!("{b} is {} times as fast as {a}", ratio.written()),
        (Verdict::Slower, Some(ratio)) => {
            format!("{b} takes {} times as long as {a}", ratio.inverse().written())
        }
        (Verdict::Faster | Verdict::Slower, None) => format!("{b} is {} than {a}", one.verdict.word()),
        (Verdict::Higher | Verdict::Lower, Some(ratio)) => {
            format!("{metric} of {b} is {} times that of {a}", ratio.inverse().written())
        }
        (Verdict::Higher | Verdict::Lower, None) => {
            format!("{metric} is {} for {b} than for {a}", one.verdict.word())
        }
        (Verdict::NoDifference, _) if one.difference_ci95 == Some([0.0, 0.0]) => {
            format!("{b} and {a} have exactly the same values")
        }
        (Verdict::NoDifference, Some(ratio)) => {
            format!("no significant difference, {b} / {a} is {}", ratio.inverse().written())
        }
        (Verdict::NoDifference, None) => format!("no significant difference between {b} and {a}"),
        (Verdict::Undecided, Some(ratio)) if ratio.ci95.is_some() => {
            format!("undecided, {b} / {a} is {}", ratio.inverse().written())
        }
        (Verdict::Undecided, Some(ratio)) => {
            format!("{b} / {a} is {}, without an interval", ratio.inverse().written())
        }
        (Verdict::Undecided, None) if one.difference_ci95.is_some() => {
            format!("undecided between {b} and {a}")
        }
        (Verdict::Undecided, None) => format!("{b} and {a}, without an interval"),
    };
    let pairs = if one.pairs == 1 { "1 pair".to_owned() } else { format!("{} pairs", one.pairs) };
    // Where all pairs are alike, the seeds do not differ, and there is no probability.
    let alike =
        one.pairs > 1 && one.difference_ci95.is_some_and(|[low, high]| high - low <= 0.0 && low.abs() > 0.0);
    let pairs = if alike { format!("{pairs}, all alike") } else { pairs };
    let p = one.p.filter(|_| !alike).map_or_else(String::new, |p| format!("{}, ", probability(p)));
    let needed = one.pairs_needed.filter(|needed| *needed as usize > one.pairs);
    let needed = needed.map_or_else(String::new, |needed| format!(", about {needed} needed"));
    let opposed = if opposed(one) { "; the means differ the other way" } else { "" };
    format!("{words}: {mean_a} -> {mean_b} ({p}{pairs}{needed}{opposed})")
}

/// `worse: LOAD takes 2.83 (2.80 to 2.86) times as long as EDF: ...`: which of the two is better, or that the
/// pairs show no difference, before the sentence.
fn judged(all: &Contrasts, one: &Contrast) -> String {
    let sentence = sentence(all, one);
    let word = match (one.verdict, better(&one.metric)) {
        (Verdict::Faster, _) | (Verdict::Higher, Some(Better::Higher)) => "better",
        (Verdict::Lower, Some(Better::Lower)) => "better",
        (Verdict::Slower, _) | (Verdict::Higher, Some(Better::Lower)) => "worse",
        (Verdict::Lower, Some(Better::Higher)) => "worse",
        (Verdict::Higher | Verdict::Lower, None) => "differs",
        (Verdict::NoDifference, _) => "no difference",
        (Verdict::Undecided, _) => "undecided",
    };
    // Some sentences say it themselves.
    let said = ["no significant difference", "undecided"].iter().any(|word| sentence.starts_with(word))
        || one.difference_ci95 == Some([0.0, 0.0]);
    if said { sentence } else { format!("{word}: {sentence}") }
}

/// Which values of a metric are better.
fn better(metric: &str) -> Option<Better> {
    METRICS.iter().find(|known| known.name == metric).and_then(|known| known.better)
}

/// Whether the mean ratio and the ratio of the means are on different sides of 1: one replicate is much
/// longer than the others.
fn opposed(one: &Contrast) -> bool {
    let differs = one.verdict.is_difference();
    let of_means = one.mean_a.total_cmp(&one.mean_b);
    differs && one.speedup.is_some_and(|ratio| ratio.mean.total_cmp(&1.0) != of_means)
}

/// `p < 0.001`, `p = 0.023`, `p = 0.41`.
fn probability(p: f64) -> String {
    let shown = number::probability(p);
    if shown.starts_with('<') { format!("p {shown}") } else { format!("p = {shown}") }
}

/// The beginning of a line within its configuration: policy where both sides have the same, application,
/// metric.
fn place(one: &Contrast) -> String {
    let policy = if one.policy_a == one.policy_b { one.policy_a.as_str() } else { "" };
    let app = if one.app == ALL_APPS { "all programs" } else { &one.app };
    let metric = if ["run_time", "makespan"].contains(&one.metric.as_str()) { "" } else { &one.metric };
    [policy, app, metric].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `cg_ft_share: new.json compared with old.json`, `cg_ft_share: policies of a.yaml compared`.
fn title(all: &Contrasts) -> String {
    if all.a.file == all.b.file {
        format!("{}: policies of {} compared", all.a.scenario, all.a.file)
    } else {
        format!("{}: {} compared with {}", all.b.scenario, all.b.file, all.a.file)
    }
}

/// The summary, in sentences.
fn conclusion(all: &Contrasts) -> String {
    let count = |verdict: Verdict| all.contrasts.iter().filter(|one| one.verdict == verdict).count();
    let total = all.contrasts.len();
    let (slower, undecided) = (count(Verdict::Slower), count(Verdict::Undecided));
    let single = all.contrasts.iter().all(|one| one.pairs < 2);
    let comparisons = if total == 1 { "1 comparison".to_owned() } else { format!("{total} comparisons") };
    let parts = [
        (count(Verdict::Faster), "faster".to_owned()),
        (
            slower,
            match all.too_slow {
                _ if all.threshold <= 0.0 => "slower (marked with !)".to_owned(),
                0 => format!("slower, none of them by more than {} %", all.threshold),
                some if some == slower => format!("slower by more than {} % (marked with !)", all.threshold),
                some => format!("slower, {some} of them by more than {} % (marked with !)", all.threshold),
            },
        ),
        (count(Verdict::Higher), "higher".to_owned()),
        (count(Verdict::Lower), "lower".to_owned()),
        (count(Verdict::NoDifference), "without significant difference".to_owned()),
        (
            undecided,
            if single { "undecided with one pair (`--repeat 5` gives five)" } else { "undecided" }.into(),
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let mut text = format!("{comparisons} at 95 % confidence: {}.", parts.join("; "));
    let shown = |one: &Contrast| {
        one.difference_ci95 != Some([0.0, 0.0]) && one.speedup.is_some_and(|ratio| ratio.ci95.is_some())
    };
    if all.contrasts.iter().any(shown) {
        text += " The interval is in brackets.";
    }
    text += &corrected(all);
    if all.contrasts.iter().any(|one| one.verdict == Verdict::Undecided && one.pairs > 1) {
        text += " Undecided: the interval contains 1 and reaches farther than 10 % from it.";
    }
    let needed =
        all.contrasts.iter().filter_map(|one| one.pairs_needed.filter(|needed| *needed as usize > one.pairs));
    if let Some(most) = needed.max() {
        text += &format!(
            "\n`needed`: with this number of pairs a difference of the observed size is significant with a \
                probability of 80 %; \
`--repeat {most}` is enough for all."
        );
    }
    text
}

/// How many differences there are if all of them together are to be right; empty with a single test, and
/// without a difference.
fn corrected(all: &Contrasts) -> String {
    let tests = all.contrasts.iter().filter(|one| one.p.is_some()).count();
    let differ = |one: &&Contrast| one.p.is_some() && one.verdict.is_difference();
    let differences = all.contrasts.iter().filter(differ).count();
    let left = all.contrasts.iter().filter(differ).filter(|one| one.p_holm.is_some_and(|p| p < 0.05)).count();
    if tests < 2 || differences == 0 {
        return String::new();
    }
    let (they, remain) = if left == 1 { ("difference", "remains") } else { ("differences", "remain") };
    let left = if left == 0 { "no".to_owned() } else { left.to_string() };
    format!(" Corrected for {tests} comparisons (Holm), {left} {they} {remain}.")
}

/// The configurations in order, each with its comparisons.
fn by_configuration(all: &Contrasts) -> Vec<(&str, Vec<&Contrast>)> {
    let mut configurations: Vec<(&str, Vec<&Contrast>)> = Vec::new();
    for one in &all.contrasts {
        match configurations.last_mut() {
            Some((configuration, here)) if *configuration == one.configuration => here.push(one),
            _ => configurations.push((&one.configuration, vec![one])),
        }
    }
    configurations
}

#[derive(Debug)]
struct Text;

impl Exporter<Contrasts> for Text {
    fn form(&self) -> Form {
        Form { name: "text", file: None, about: "Sentences and tables" }
    }

    fn write(&self, all: &Contrasts, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let mut text = Vec::new();
        plain(all, &mut text)?;
        // The names come from files.
        out.write_all(neutral::lines(&String::from_utf8_lossy(&text)).as_bytes())
    }
}

/// The text as the names have it.
fn plain(all: &Contrasts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", title(all))?;
    let width = all.contrasts.iter().map(|one| place(one).chars().count()).max().unwrap_or(0);
    for (configuration, here) in by_configuration(all) {
        writeln!(out)?;
        if !configuration.is_empty() {
            writeln!(out, "{configuration}")?;
        }
        for one in here {
            let mark = if one.too_slow { "!" } else { " " };
            writeln!(out, "{mark} {:width$}  {}", place(one), judged(all, one))?;
        }
    }
    writeln!(out, "\n{}", conclusion(all))?;
    all.remarks.iter().try_for_each(|remark| writeln!(out, "{remark}"))
}

#[derive(Debug)]
struct Json;

impl Exporter<Contrasts> for Json {
    fn form(&self) -> Form {
        Form { name: "json", file: None, about: "One JSON object with all details" }
    }

    fn write(&self, all: &Contrasts, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, all)?;
        out.write_all(b"\n")
    }
}

/// The columns of the CSV form, in order.
const COLUMNS: [&str; 20] = [
    "configuration",
    "app",
    "metric",
    "unit",
    "policy_a",
    "policy_b",
    "mean_a",
    "mean_b",
    "difference",
    "difference_lo",
    "difference_hi",
    "speedup",
    "speedup_lo",
    "speedup_hi",
    "p",
    "pairs",
    "verdict",
    "too_slow",
    "pairs_needed",
    "p_holm",
];

#[derive(Debug)]
struct Csv;

impl Exporter<Contrasts> for Csv {
    fn form(&self) -> Form {
        Form { name: "csv", file: None, about: "One claim or comparison per row" }
    }

    fn write(&self, all: &Contrasts, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS)?;
        let word = |text: &str| neutral::cell(text).into_owned();
        let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for one in &all.contrasts {
            let ratio = one.speedup;
            let bound = |ci: Option<[f64; 2]>, at: usize| known(ci.map(|ci| ci[at]));
            csv.write_record([
                word(&one.configuration),
                word(&one.app),
                word(&one.metric),
                word(&one.unit),
                word(&one.policy_a),
                word(&one.policy_b),
                one.mean_a.to_string(),
                one.mean_b.to_string(),
                one.difference.to_string(),
                bound(one.difference_ci95, 0),
                bound(one.difference_ci95, 1),
                known(ratio.map(|ratio| ratio.mean)),
                bound(ratio.and_then(|ratio| ratio.ci95), 0),
                bound(ratio.and_then(|ratio| ratio.ci95), 1),
                known(one.p),
                one.pairs.to_string(),
                one.verdict.word().into(),
                one.too_slow.to_string(),
                one.pairs_needed.map_or_else(String::new, |needed| needed.to_string()),
                known(one.p_holm),
            ])?;
        }
        csv.flush()
    }
}

#[derive(Debug)]
struct Markdown;

impl Exporter<Contrasts> for Markdown {
    fn form(&self) -> Form {
        Form { name: "markdown", file: None, about: "Tables in Markdown" }
    }

    fn write(&self, all: &Contrasts, out: &mut dyn Write, _: &View<'_>) -> io::Result<()> {
        writeln!(out, "# {}", markdown(&title(all)))?;
        for (configuration, here) in by_configuration(all) {
            writeln!(out)?;
            if !configuration.is_empty() {
                writeln!(out, "## {}\n", markdown(configuration))?;
            }
            writeln!(out, "| | | |\n|---|---|---|")?;
            for one in here {
                let verdict = if one.too_slow { "**slower**" } else { one.verdict.word() };
                writeln!(
                    out,
                    "| {} | {verdict} | {} |",
                    markdown(&place(one)),
                    markdown(&sentence(all, one))
                )?;
            }
        }
        writeln!(out, "\n{}", conclusion(all))?;
        all.remarks.iter().try_for_each(|remark| writeln!(out, "\n{}", markdown(remark)))
    }
}
