//! The answer about a pod as text, Markdown and JSON.

use experiment::statistics::Summary;
use notation::{neutral, number};

use super::{Answer, Cell, Judged, Met, Procs, Target, Times, cells};
use crate::shapes::page::{Form, Page, Table};
use crate::shapes::words::length;

/// Cpus as Kubernetes writes them: whole ones, or thousandths.
pub(super) fn cpus(milli: u64) -> String {
    if milli.is_multiple_of(1_000) { format!("{}", milli / 1_000) } else { format!("{milli}m") }
}

/// Milliseconds with three digits.
fn ms(seconds: f64) -> String {
    number::short(seconds * 1e3)
}

/// Milliseconds of an interval, both ends.
fn interval(summary: &Summary) -> String {
    let [low, high] = summary.ci95.unwrap_or([summary.mean; 2]);
    format!("{} ms ({} to {})", ms(summary.mean), ms(low), ms(high))
}

/// The judgement of a check in one line.
pub(super) fn check_line(name: &str, own: &Judged, target: &Target) -> String {
    let name = neutral::line(name);
    let of = format!("{} <= {}", target.statistic.name(), length(target.ns));
    let with = format!("limit {}, GOMAXPROCS {}", cpus(own.limit), own.procs);
    let Some(value) = &own.value else {
        return format!(
            "{name} ({with}) misses {of}: its requests need more than it has, so that they pile up"
        );
    };
    let value = format!("{} {}", target.statistic.name(), interval(value));
    match own.met {
        Met::Yes => format!("{name} ({with}) meets {of}: {value}"),
        Met::No => format!("{name} ({with}) misses {of}: {value}"),
        Met::Undecided => format!(
            "{name} ({with}) may or may not meet {of}: {value} has the target inside, which counts as a miss"
        ),
    }
}

/// A column of the text: a rule of GOMAXPROCS with a burst.
fn columns(answer: &Answer) -> Vec<(Procs, u64)> {
    let mut columns: Vec<(Procs, u64)> = Vec::new();
    for cell in &answer.cells {
        if !columns.contains(&(cell.rule, cell.burst_ns)) {
            columns.push((cell.rule, cell.burst_ns));
        }
    }
    columns
}

fn limits(answer: &Answer) -> Vec<u64> {
    let mut limits: Vec<u64> = answer.cells.iter().map(|cell| cell.limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// The answer in a form.
pub(super) fn written(answer: &Answer, form: Form) -> String {
    if form == Form::Json {
        return json(answer);
    }
    let mut page = Page::new(form);
    page.paragraph(&head(answer));
    let columns = columns(answer);
    // The short text has room for the rules with the first burst, and for the other bursts of the pod's rule.
    let first = columns.first().map_or(0, |(_, burst)| *burst);
    let shown: Vec<(Procs, u64)> = columns
        .into_iter()
        .filter(|(rule, burst)| form != Form::Text || *burst == first || *rule == answer.rule)
        .take(if form == Form::Text { 4 } else { usize::MAX })
        .collect();
    page.table(&table(answer, &shown, "p50/p99, ms", |times| {
        format!("{}/{}", ms(times.p50.mean), ms(times.p99.mean))
    }));
    if form != Form::Text {
        page.table(&table(answer, &shown, "mean, ms", |times| times.mean.shown(1e-3)));
        page.table(&table(answer, &shown, "p99, ms", |times| times.p99.shown(1e-3)));
        page.table(&table(answer, &shown, "added by the limit, %", |times| number::percent(times.throttled)));
    }
    page.paragraph(
        "GOMAXPROCS limit: rounded up, at least 2 (unset, Go 1.25 and later); node: all cpus (unset before).",
    );
    conclusion(answer, &mut page);
    page.done()
}

fn head(answer: &Answer) -> String {
    let law = if answer.exponential { "exponential" } else { "equal" };
    let parts = match answer.parallel {
        1 => String::new(),
        parts => format!(" in {parts} parts side by side"),
    };
    let beside = match answer.beside {
        0 => ", nothing else on the node".to_owned(),
        milli => format!(", beside pods that request {} and keep all cpus busy", cpus(milli)),
    };
    format!(
        "{} on {} ({}, {}): {} requests/s of {} cpu time ({law}){parts}, {:.2} cpus in the \
         mean{beside}; period {}.",
        answer.pod,
        answer.machine,
        number::plural(answer.cpus as usize, "cpu", "cpus"),
        answer.kernel,
        number::short(answer.rate),
        length(answer.service_ns),
        answer.load,
        length(answer.period_ns),
    )
}

fn name((rule, burst): (Procs, u64)) -> String {
    let rule = match rule {
        Procs::Limit => "limit".to_owned(),
        Procs::Node => "node".to_owned(),
        Procs::Count(count) => format!("{count}"),
    };
    if burst == 0 { rule } else { format!("{rule}, burst {}", length(burst)) }
}

fn table(answer: &Answer, shown: &[(Procs, u64)], what: &str, value: impl Fn(&Times) -> String) -> Table {
    let cell = |limit: u64, (rule, burst): (Procs, u64)| {
        let at = |cell: &&Cell| cell.limit == limit && cell.rule == rule && cell.burst_ns == burst;
        answer.cells.iter().find(at).map_or_else(String::new, |cell| match &cell.times {
            Some(times) => value(times),
            None => cell.without.unwrap_or_default().to_owned(),
        })
    };
    let rows = limits(answer).into_iter().map(|limit| {
        let mut row = vec![format!("limit {}", cpus(limit))];
        row.extend(shown.iter().map(|column| cell(limit, *column)));
        row
    });
    let rows = rows.collect();
    let head = shown.iter().map(|column| format!("GOMAXPROCS {}", name(*column)));
    Table { head: [what.to_owned()].into_iter().chain(head).collect(), rows }
}

/// What the table says of the two rules: where all cpus of the node are worse by the most.
fn rules(answer: &Answer) -> String {
    let p99 = |limit: u64, rule: Procs| {
        let first = answer.cells.first()?.burst_ns;
        let at = |cell: &&Cell| cell.limit == limit && cell.rule == rule && cell.burst_ns == first;
        Some(answer.cells.iter().find(at)?.times.as_ref()?.p99)
    };
    let both: Vec<(u64, Summary, Summary)> = limits(answer)
        .into_iter()
        .filter_map(|limit| Some((limit, p99(limit, Procs::Limit)?, p99(limit, Procs::Node)?)))
        .collect();
    let apart = both.iter().filter(|(_, by_limit, node)| !by_limit.overlaps(node));
    let difference = |of: &(u64, Summary, Summary)| (of.2.mean - of.1.mean).abs();
    let Some((limit, by_limit, node)) = apart.max_by(|a, b| difference(a).total_cmp(&difference(b))) else {
        let none = if both.is_empty() {
            "no limit of the table has response times with both rules"
        } else {
            "p99 does not differ between the two rules beyond the intervals"
        };
        return none.into();
    };
    let more = node.mean - by_limit.mean;
    if more < 0.0 {
        return format!(
            "no advice for all cpus of the node: by queueing alone p99 would be {} ms less at limit {} ({} \
             against {} ms), but the garbage collector and idle threads that spin, which are not \
             simulated, use up the quota with as many threads. Measured with a quota of 2 on 24 cpus, all \
             cpus gave half the requests and a p99.9 of 76 instead of 26 ms (uber-go/automaxprocs, README)",
            ms(-more),
            cpus(*limit),
            ms(node.mean),
            ms(by_limit.mean)
        );
    }
    format!(
        "with all cpus of the node p99 is {} ms more at limit {} ({} against {} ms), the largest \
         difference",
        ms(more),
        cpus(*limit),
        ms(node.mean),
        ms(by_limit.mean)
    )
}

fn conclusion(answer: &Answer, page: &mut Page) {
    page.labelled("GOMAXPROCS", &rules(answer));
    let Some(target) = &answer.target else {
        page.labelled(
            "Target",
            "none is stated: --target p99=50ms asks for the smallest limit that meets it",
        );
        return;
    };
    let of = format!("{} <= {}", target.statistic.name(), length(target.ns));
    if let Some(own) = &answer.own {
        page.labelled("As it is", &check_line(&answer.pod, own, target));
    }
    let Some(found) = &answer.smallest else {
        page.labelled("Target", &format!("no limit up to {} cpus was found that meets {of}", answer.cpus));
        return;
    };
    let value = found.value.as_ref().map_or_else(String::new, interval);
    page.labelled(
        "Smallest",
        &format!(
            "limit {} with GOMAXPROCS {} meets {of}: {value}, with other seeds than the search",
            cpus(found.limit),
            found.procs
        ),
    );
    if let Some(node) = answer.smallest_with_node.as_ref().filter(|node| node.procs != found.procs) {
        page.labelled(
            "All cpus",
            &format!(
                "with GOMAXPROCS {} limit {} meets it; garbage collection, which is not simulated, \
                 would use as many threads",
                node.procs,
                cpus(node.limit)
            ),
        );
    }
    if let Some(miss) = &answer.larger_miss {
        page.labelled(
            "But",
            &format!(
                "a larger limit can be worse: {} (GOMAXPROCS {}) misses it{}",
                cpus(miss.limit),
                miss.procs,
                miss.value.as_ref().map_or_else(String::new, |value| format!(", {}", interval(value)))
            ),
        );
    }
    page.typed(&typed(answer, found));
    page.labelled(
        "Assumed",
        "requests are independent and first come, first served; threads only compute, without a garbage \
         collector; simulated, not measured",
    );
}

/// The lines to type for a limit.
fn typed(answer: &Answer, found: &Judged) -> Vec<String> {
    let request = answer.request.unwrap_or(found.limit).min(found.limit);
    let quota = cells::quota(found.limit, answer.period_ns) / 1_000;
    let mut lines = vec![
        format!(
            "resources: {{ requests: {{ cpu: {} }}, limits: {{ cpu: {} }} }}",
            cpus(request),
            cpus(found.limit)
        ),
        format!("env: [{{ name: GOMAXPROCS, value: \"{}\" }}]", found.procs),
        format!("cpu.max: {quota} {}", answer.period_ns / 1_000),
    ];
    let burst = answer.cells.first().map_or(0, |cell| cell.burst_ns).min(quota * 1_000);
    if burst > 0 {
        lines.push(format!(
            "cpu.max.burst: {}  # a pod cannot state it: write it into its group",
            burst / 1_000
        ));
    }
    lines
}

fn json(answer: &Answer) -> String {
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        answer: &'a Answer,
        #[serde(rename = "type")]
        typed: Vec<String>,
    }
    let typed = answer.smallest.as_ref().map_or_else(Vec::new, |found| typed(answer, found));
    serde_json::to_string_pretty(&Whole { answer, typed }).unwrap_or_default() + "\n"
}
