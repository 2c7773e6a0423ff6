//! What the tables show, in sentences computed from them.

use crate::metrics::ALL_APPS;
use crate::report::number;
use crate::result::Results;
use crate::statistics::Summary;
use crate::yardsticks::{FLUID, PARTITION};

/// A throughput within this distance of 1 counts as that of running in sequence.
const EVEN: f64 = 0.01;

/// Policies whose unevenness differs by less than this part are not told apart.
const CLEAR: f64 = 0.05;

/// The sentences about one point of the sweep; none without anything measured.
#[must_use]
pub fn point(results: &Results, point: &str) -> Vec<String> {
    let fastest = results.foreground().filter_map(|app| fastest(results, point, app));
    let mut sentences: Vec<String> = fastest.collect();
    sentences.extend(fairest(results, point));
    sentences.extend(throughput(results, point));
    sentences.extend(gap(results, point));
    sentences.extend(partition(results, point));
    sentences.extend(steadiest(results, point));
    sentences
}

/// The sentences about the whole sweep; none without a sweep.
#[must_use]
pub fn overall(results: &Results) -> Vec<String> {
    if results.provenance.points.len() < 2 {
        Vec::new()
    } else {
        best_of_sweep(results).into_iter().collect()
    }
}

/// Policy and cell of a metric at a point, in the order of the policies.
fn row<'a>(
    results: &'a Results,
    point: &'a str,
    app: &'a str,
    metric: &'a str,
) -> Vec<(&'a str, &'a Summary)> {
    let policies = results.provenance.policies.iter();
    policies.filter_map(|p| Some((p.as_str(), results.get(point, p, app, metric)?))).collect()
}

/// The first of the items with the smallest key.
fn lowest<T>(items: &[T], key: impl Fn(&T) -> f64) -> Option<&T> {
    // min_by keeps the first of equals.
    items.iter().min_by(|a, b| key(a).total_cmp(&key(b)))
}

/// Who gets an application done first, and who does as well within the noise.
fn fastest(results: &Results, point: &str, app: &str) -> Option<String> {
    let times = row(results, point, app, "run_time");
    let (best, time) = *lowest(&times, |t| t.1.mean)?;
    let slowdown = results.get(point, best, app, "slowdown");
    let alone = slowdown.map_or_else(String::new, |s| format!(", {} x alone", number::ratio(s.mean)));
    let took = number::seconds(time.mean);
    if times.len() == 1 {
        return Some(format!("{app} takes {took}{alone} under {best}."));
    }
    // The slowest of those that differ from the best beyond the noise; a noisy one may be slower still.
    let differ: Vec<_> = times.iter().copied().filter(|t| !t.1.overlaps(time)).collect();
    let Some((worst, longest)) = lowest(&differ, |t| -t.1.mean).copied() else {
        return Some(format!("{app} takes about {took}{alone} under every policy."));
    };
    let level: Vec<&str> =
        times.iter().filter(|(p, t)| *p != best && t.overlaps(time)).map(|(p, _)| *p).collect();
    let level = if level.is_empty() { String::new() } else { format!(" (level with {})", level.join(", ")) };
    let factor = number::ratio(longest.mean / time.mean);
    Some(format!(
        "{app} finishes first under {best}{level}: {took}{alone}; last under {worst}, {factor} times as long."
    ))
}

/// An application and its mean slowdown.
type Slowdown<'a> = (&'a str, f64);

/// The least and the most slowed-down application under a policy.
fn extremes<'a>(results: &'a Results, point: &str, policy: &str) -> Option<(Slowdown<'a>, Slowdown<'a>)> {
    let slowdown = |app: &'a str| Some((app, results.get(point, policy, app, "slowdown")?.mean));
    let all: Vec<Slowdown<'a>> = results.foreground().map(slowdown).collect::<Option<_>>()?;
    Some((*lowest(&all, |s| s.1)?, *lowest(&all, |s| -s.1)?))
}

/// Whom the policies protect: the smallest worst slowdown, and the most uneven treatment.
fn fairest(results: &Results, point: &str) -> Option<String> {
    if results.foreground().count() < 2 {
        return None;
    }
    let policies = results.provenance.policies.iter();
    let rows: Vec<_> = policies.filter_map(|p| Some((p.as_str(), extremes(results, point, p)?))).collect();
    let (fair, (_, hit)) = lowest(&rows, |(_, (_, most))| most.1)?;
    let (_, (_, worst)) = lowest(&rows, |(_, (_, most))| -most.1)?;
    let shown = number::ratio(hit.1);
    let mut text = if number::ratio(worst.1) == shown {
        format!("The application hit hardest takes {shown} x alone under every policy")
    } else {
        format!("The application hit hardest loses least under {fair} ({} {shown} x alone)", hit.0)
    };
    let unevenness = |(_, (least, most)): &(&str, (Slowdown<'_>, Slowdown<'_>))| most.1 / least.1;
    let (biased, (saved, paid)) = lowest(&rows, |row| -unevenness(row))?;
    let even = lowest(&rows, unevenness)?;
    if unevenness(&(biased, (*saved, *paid))) > unevenness(even) * (1.0 + CLEAR) {
        text += &format!(
            "; {biased} protects {} most ({} x), at the expense of {} ({} x)",
            saved.0,
            number::ratio(saved.1),
            paid.0,
            number::ratio(paid.1)
        );
    }
    Some(text + ".")
}

/// Whether sharing pays against running one after the other.
fn throughput(results: &Results, point: &str) -> Option<String> {
    if results.foreground().count() < 2 {
        return None;
    }
    let all = row(results, point, ALL_APPS, "throughput");
    let (best, most) = *lowest(&all, |t| -t.1.mean)?;
    let winners = all.iter().filter(|(_, t)| t.mean > 1.0 + EVEN).count();
    let gain = number::spread((most.mean - 1.0).abs() * 100.0);
    Some(if winners == 0 && most.mean >= 1.0 - EVEN {
        format!("No policy beats running in sequence; {best} matches it.")
    } else if winners == 0 {
        format!("No policy beats running in sequence; the closest, {best}, gets {gain}% less done per time.")
    } else {
        format!(
            "Sharing gets up to {gain}% more done per time than running in sequence ({best}); {winners} of {} policies gain.",
            all.len()
        )
    })
}

/// How far the first policy is from the ideal share, and who comes closest to it.
fn gap(results: &Results, point: &str) -> Option<String> {
    let first = results.provenance.policies.first()?;
    let ideal = results.get(point, FLUID.label, ALL_APPS, "makespan")?.mean;
    let distance = results.get(point, first, ALL_APPS, "makespan")?.mean / ideal;
    let (best, closed) = *lowest(&row(results, point, ALL_APPS, "gap_closed"), |c| -c.1.mean)?;
    let over = number::ratio(distance);
    Some(if closed.mean > 0.0 {
        let part = number::count(closed.mean);
        format!("{first} takes {over} x the ideal share's time; {best} closes {part}% of that gap.")
    } else {
        format!("{first} takes {over} x the ideal share's time; nobody closes any of that gap.")
    })
}

/// The best static partition, if one was searched.
fn partition(results: &Results, point: &str) -> Option<String> {
    let best = results.best_partitions.iter().find(|best| best.point == point)?;
    let cores: Vec<String> = best.cores.iter().map(|(app, cores)| format!("{app} {cores}")).collect();
    let time = results.get(point, PARTITION.label, ALL_APPS, "makespan")?.mean;
    let ideal = results.get(point, FLUID.label, ALL_APPS, "makespan")?.mean;
    let (cores, over) = (cores.join(", "), number::ratio(time / ideal));
    let tried = best.tried;
    Some(format!(
        "The best of {tried} static partitions gives these cores: {cores}; it takes {over} x the ideal share's time."
    ))
}

/// Under which policies the run times vary most and least.
fn steadiest(results: &Results, point: &str) -> Option<String> {
    if results.provenance.repeat < 2 {
        return None;
    }
    let worst = |policy: &str| {
        let spreads =
            results.foreground().filter_map(|a| Some(results.get(point, policy, a, "spread")?.mean));
        spreads.reduce(f64::max)
    };
    let policies = results.provenance.policies.iter();
    let spreads: Vec<(&str, f64)> = policies.filter_map(|p| Some((p.as_str(), worst(p)?))).collect();
    let (steady, least) = lowest(&spreads, |s| s.1)?;
    let (loose, most) = lowest(&spreads, |s| -s.1)?;
    let show = |value: f64| number::spread(value);
    if show(*least) == show(*most) {
        return Some(format!("Run times vary by {}% between replicates.", show(*most)));
    }
    Some(format!(
        "Run times vary most under {loose} ({}%) and least under {steady} ({}%).",
        show(*most),
        show(*least)
    ))
}

/// The best point and policy of the sweep: by throughput, or by makespan without dedicated runs.
fn best_of_sweep(results: &Results) -> Option<String> {
    let points = &results.provenance.points;
    let all = |metric: &'static str| {
        points.iter().flat_map(move |point| {
            row(results, point, ALL_APPS, metric).into_iter().map(move |(p, s)| (point, p, s.mean))
        })
    };
    let throughputs: Vec<_> = all("throughput").collect();
    let shared = results.foreground().count() > 1;
    if let Some((point, policy, best)) = lowest(&throughputs, |t| -t.2).filter(|_| shared) {
        let times = number::ratio(*best);
        return Some(format!(
            "Over the whole sweep the most work per time is done under {policy} at {point}: {times} times that of running in sequence."
        ));
    }
    let makespans: Vec<_> = all("makespan").collect();
    let (point, policy, best) = lowest(&makespans, |m| m.2)?;
    let time = number::seconds(*best);
    Some(format!("Over the whole sweep the work is done first under {policy} at {point}: {time}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::fixture;

    #[test]
    fn sentences_say_what_the_cells_hold() {
        let results = fixture::two_apps();
        let text = point(&results, "threads_per_core=1").join(" ");
        assert!(text.contains("cg finishes first under PIN: 10.00 s, 2.00 x alone"), "{text}");
        assert!(text.contains("last under LOAD, 1.50 times as long"), "{text}");
        assert!(text.contains("ft takes about 20.00 s, 1.00 x alone under every policy"), "{text}");
        assert!(text.contains("loses least under PIN (cg 2.00 x alone)"), "{text}");
        assert!(text.contains("LOAD protects ft most (1.00 x), at the expense of cg (3.00 x)"), "{text}");
        assert!(text.contains("up to 25% more done per time than running in sequence (PIN)"), "{text}");
        assert!(text.contains("vary most under LOAD (12%) and least under PIN (0.5%)"), "{text}");
        assert!(overall(&results).is_empty(), "no sweep, nothing to say about it");
    }

    #[test]
    fn nothing_measured_is_nothing_said() {
        let mut results = fixture::two_apps();
        results.cells.clear();
        assert!(point(&results, "threads_per_core=1").is_empty());
    }
}
