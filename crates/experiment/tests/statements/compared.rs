//! The sentences of `oversim compare`: every number and verdict is recomputed from the values of the pairs.

use experiment::compare::contrast::{self, Contrast, Contrasts, Named, Wanted};
use experiment::compare::report;
use experiment::export::{View, find};
use experiment::result::Results;
use experiment::statistics::{rounded, summarise};

use super::oracle::{Verdict, ensure, number, quantity};

/// Metrics of times and of other things.
const METRICS: [&str; 8] = [
    "run_time",
    "makespan",
    "work",
    "slowdown",
    "throughput",
    "breakdown_spin",
    "lateness_max",
    "missed_deadlines",
];

/// Comparisons of the policies of one result and of two results, at a threshold.
pub(crate) fn all(a: &Results, b: &Results, threshold: f64) -> Vec<Contrasts> {
    let metrics = METRICS.map(str::to_owned).to_vec();
    let wanted = Wanted { policies: Vec::new(), metrics, threshold };
    let (a, b) = (Named { file: "old.json", results: a }, Named { file: "new.json", results: b });
    [contrast::policies(a, &wanted), contrast::results(a, b, &wanted)].into_iter().flatten().collect()
}

/// Every comparison and the conclusion.
pub(crate) fn check(a: &Results, b: &Results, all: &Contrasts) -> Verdict {
    let b = if all.a.file == all.b.file { a } else { b };
    for one in &all.contrasts {
        let said = report::sentence(all, one);
        sentence(a, b, all, one, &said).map_err(|why| format!("{said}\n{why}"))?;
    }
    let mut text = Vec::new();
    find(report::FORMS, "text")
        .ok_or("no text")?
        .write(all, &mut text, &View::FILE)
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8(text).map_err(|e| e.to_string())?;
    for one in &all.contrasts {
        words(one, &text).map_err(|why| format!("{text}\n{why}"))?;
    }
    conclusion(all, &text).map_err(|why| format!("{text}\n{why}"))
}

/// Each line says whether b is better or worse than a, or that no difference is found.
fn words(one: &Contrast, text: &str) -> Verdict {
    let more_is_better = one.metric == "throughput";
    let word = match (one.verdict.word(), one.metric.as_str()) {
        ("faster", _) => "better: ",
        ("slower", _) => "worse: ",
        ("higher" | "lower", "work") => "differs: ",
        ("higher", _) => {
            if more_is_better {
                "better: "
            } else {
                "worse: "
            }
        }
        ("lower", _) => {
            if more_is_better {
                "worse: "
            } else {
                "better: "
            }
        }
        ("no difference", _) => "no ",
        _ => "undecided",
    };
    let place = if one.app == "all" { "all programs" } else { &one.app };
    let says = |line: &str| line.contains(&format!("  {word}")) || line.contains("exactly the same values");
    let found = text.lines().any(|line| line.contains(place) && says(line));
    ensure(found, || format!("no line of {place} says `{word}`"))
}

/// The values of both sides with equal seeds, as published.
fn pairs(a: &Results, b: &Results, one: &Contrast) -> Vec<(f64, f64)> {
    let values = |of: &Results, policy: &str| {
        of.values(&one.configuration, policy, &one.app, &one.metric).map(<[_]>::to_vec).unwrap_or_default()
    };
    let (of_a, of_b) = (values(a, &one.policy_a), values(b, &one.policy_b));
    // All random results begin with the same seed.
    of_a.iter().zip(&of_b).filter_map(|(a, b)| Some((rounded((*a)?), rounded((*b)?)))).collect()
}

/// A ratio with its tolerance, the ends of its interval, and the text behind them.
type Factor<'t> = ((f64, f64), Option<[f64; 2]>, &'t str);

/// `1.34 (1.29 to 1.39)` or `1.34` at the beginning of a text.
fn factor(text: &str) -> Option<Factor<'_>> {
    let (value, tolerance, rest) = number(text)?;
    let Some(inner) = rest.strip_prefix(" (") else { return Some(((value, tolerance), None, rest)) };
    let (lo, _, inner) = number(inner)?;
    let (hi, _, rest) = number(inner.strip_prefix(" to ")?)?;
    Some(((value, tolerance), Some([lo, hi]), rest.strip_prefix(')')?))
}

fn close(written: f64, tolerance: f64, value: f64) -> bool {
    (written - value).abs() <= tolerance + value.abs() * 1e-6
}

/// What a sentence is about, recomputed.
struct Known<'a> {
    one: &'a Contrast,
    pairs: Vec<(f64, f64)>,
    /// b over a: the geometric mean and its interval; `None` where a value is not positive.
    ratio: Option<(f64, Option<[f64; 2]>)>,
    timed: bool,
    a: &'a str,
    b: &'a str,
}

impl<'a> Known<'a> {
    fn of(a: &Results, b: &Results, one: &'a Contrast) -> Self {
        let pairs = pairs(a, b, one);
        let positive = one.metric != "lateness_max" && pairs.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
        let of_logs = summarise(&logs).filter(|_| positive);
        let ratio = of_logs.map(|s| (s.mean.exp(), s.ci95.map(|[lo, hi]| [lo.exp(), hi.exp()])));
        let same_policy = one.policy_a == one.policy_b;
        let (a, b) = if same_policy { ("old", "new") } else { (&*one.policy_a, &*one.policy_b) };
        Self {
            one,
            pairs,
            ratio,
            timed: one.unit == "s" && one.metric != "lateness_max" || one.metric == "slowdown",
            a,
            b,
        }
    }

    /// The factor at the beginning of a text is the ratio: of b over a, or the inverse. Returns the interval
    /// as printed.
    fn factor(&self, longer: bool, text: &str) -> Result<[f64; 2], String> {
        let ((value, tolerance), interval, _) = factor(text).ok_or("no factor")?;
        let (mean, ci) = self.ratio.ok_or("a factor without a ratio")?;
        let turned = |x: f64| if longer { x } else { 1.0 / x };
        ensure(close(value, tolerance, turned(mean)), || format!("the ratio is {}", turned(mean)))?;
        let [lo, hi] = interval.ok_or("no interval")?;
        let wanted = ci.ok_or("an interval of one pair")?.map(turned);
        let [low, high] = if longer { wanted } else { [wanted[1], wanted[0]] };
        ensure(close(lo, tolerance, low) && close(hi, tolerance, high), || format!("{low} to {high}"))?;
        Ok([lo, hi])
    }

    /// `SPEED is 1.34 (1.29 to 1.39) times as fast as LOAD`: the printed interval lies above 1.
    fn apart(&self, longer: bool, words: &str) -> Verdict {
        ensure(self.timed && words.starts_with(self.b), || "not a time".into())?;
        let text = words.split_once(" takes ").or_else(|| words.split_once(" is "));
        let [lo, _] = self.factor(longer, text.ok_or("no verb")?.1)?;
        ensure(lo > 1.0, || "the printed interval contains 1".into())
    }

    fn words(&self, words: &str) -> Verdict {
        let Self { one, pairs, ratio, a, b, .. } = self;
        if words.ends_with(&format!(" times as fast as {a}")) {
            return self.apart(false, words);
        }
        if words.ends_with(&format!(" times as long as {a}")) {
            return self.apart(true, words);
        }
        if let Some(text) = words.strip_prefix(&format!("{} of {b} is ", one.metric)) {
            ensure(!self.timed && text.ends_with(&format!(" times that of {a}")), || "a time".into())?;
            let [lo, hi] = self.factor(true, text)?;
            return ensure(lo > 1.0 || hi < 1.0, || "the printed interval contains 1".into());
        }
        if words == format!("{b} and {a} have exactly the same values") {
            let equal = pairs.iter().all(|(a, b)| (a - b).abs() < 1e-300);
            return ensure(pairs.len() > 1 && equal, || "not equal".into());
        }
        if let Some(text) = words.strip_prefix(&format!("no significant difference, {b} / {a} is ")) {
            self.factor(true, text)?;
            let [lo, hi] = ratio.and_then(|(_, ci)| ci).ok_or("no interval")?;
            let within = lo * 1.1 >= 1.0 - 1e-9 && hi <= 1.1 + 1e-9;
            ensure(within, || format!("{lo} to {hi} reaches farther than a tenth"))?;
            return ensure(lo <= 1.0 + 1e-9 && hi >= 1.0 - 1e-9, || format!("{lo} to {hi} is significant"));
        }
        if let Some(text) = words.strip_prefix(&format!("undecided, {b} / {a} is ")) {
            self.factor(true, text)?;
            let [lo, hi] = ratio.and_then(|(_, ci)| ci).ok_or("no interval")?;
            let within = lo * 1.1 >= 1.0 + 1e-9 && hi <= 1.1 - 1e-9;
            ensure(!within, || format!("{lo} to {hi} is within a tenth"))?;
            return ensure(lo <= 1.0 + 1e-9 && hi >= 1.0 - 1e-9, || format!("{lo} to {hi} is significant"));
        }
        if let Some(text) = words.strip_prefix(&format!("{b} / {a} is ")) {
            ensure(pairs.len() == 1, || "an interval is known".into())?;
            let ((value, tolerance), interval, _) = factor(text).ok_or("no factor")?;
            let mean = ratio.ok_or("no ratio")?.0;
            return ensure(interval.is_none() && close(value, tolerance, mean), || format!("{mean}"));
        }
        self.without_ratio(words)
    }

    /// Without a ratio the interval of the difference decides.
    fn without_ratio(&self, words: &str) -> Verdict {
        let Self { one, pairs, ratio, a, b, timed } = self;
        ensure(ratio.is_none_or(|(mean, _)| !mean.is_normal() || pairs.len() > 1), || {
            "a ratio exists".into()
        })?;
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let want = match summarise(&differences).and_then(|s| s.ci95) {
            None => format!("{b} and {a}, without an interval"),
            Some([lo, hi]) if lo <= 0.0 && hi >= 0.0 => {
                let [one, other] = means_of(pairs);
                if hi.max(-lo) > 0.1 * one.abs().max(other.abs()) + 1e-15 {
                    format!("undecided between {b} and {a}")
                } else {
                    format!("no significant difference between {b} and {a}")
                }
            }
            Some([lo, _]) if *timed => {
                format!("{b} is {} than {a}", if lo > 0.0 { "slower" } else { "faster" })
            }
            Some([lo, _]) => {
                let word = if lo > 0.0 { "higher" } else { "lower" };
                format!("{} is {word} for {b} than for {a}", one.metric)
            }
        };
        ensure(words == want, || format!("expected: {want}"))
    }

    /// Where the arithmetic means differ the other way, the sentence says so.
    fn direction(&self, text: &str) -> Verdict {
        let significant = ["faster", "slower", "higher", "lower"].contains(&self.one.verdict.word());
        let Some((ratio, _)) = self.ratio.filter(|_| significant && self.one.speedup.is_some()) else {
            return Ok(());
        };
        let [a, b] = means_of(&self.pairs);
        let differ = ratio.total_cmp(&1.0) != b.total_cmp(&a);
        ensure(differ == text.contains("the means differ the other way"), || "direction of the means".into())
    }

    /// A slowdown is marked when its interval is larger than the threshold, in per cent.
    fn mark(&self, threshold: f64) -> Verdict {
        let limit = 1.0 + threshold / 100.0;
        let Some([lo, _]) = self.ratio.and_then(|(_, ci)| ci).filter(|_| self.one.speedup.is_some()) else {
            return Ok(());
        };
        let marked = self.timed && lo > limit.max(1.0);
        let on_the_limit = (lo - limit).abs() < 1e-6;
        ensure(on_the_limit || self.one.too_slow == marked, || {
            format!("marked {}, from {lo}", self.one.too_slow)
        })
    }
}

fn sentence(a: &Results, b: &Results, all: &Contrasts, one: &Contrast, said: &str) -> Verdict {
    let known = Known::of(a, b, one);
    let (words, rest) = said.rsplit_once(": ").ok_or("no means")?;
    known.words(words)?;
    means(&known.pairs, one, rest)?;
    known.direction(rest)?;
    known.mark(all.threshold)
}

/// The arithmetic means of both sides.
fn means_of(pairs: &[(f64, f64)]) -> [f64; 2] {
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / pairs.len() as f64;
    [mean(|pair| pair.0), mean(|pair| pair.1)]
}

/// `7.063 s -> 10.03 s (p < 0.001, 5 pairs, about 24 needed)`.
fn means(pairs: &[(f64, f64)], one: &Contrast, text: &str) -> Verdict {
    let value = |text: &str| -> Option<(f64, f64)> {
        let (value, tolerance, _) = if one.unit == "s" { quantity(text)? } else { number(text)? };
        Some((value, tolerance))
    };
    let (a, rest) = text.split_once(" -> ").ok_or("no arrow")?;
    let (b, bracket) = rest.split_once(" (").ok_or("no bracket")?;
    for (text, mean) in [a, b].into_iter().zip(means_of(pairs)) {
        let (written, tolerance) = value(text).ok_or_else(|| format!("no number in {text}"))?;
        ensure(close(written, tolerance, mean), || format!("the mean is {mean}, not {text}"))?;
    }
    let count = format!("{} pair{}", pairs.len(), if pairs.len() == 1 { "" } else { "s" });
    ensure(bracket.contains(&count), || format!("there are {count}"))?;
    if let Some((_, needed)) = bracket.split_once("about ") {
        let (needed, _, _) = number(needed).ok_or("no number of pairs")?;
        let open = ["no difference", "undecided"].contains(&one.verdict.word());
        ensure(needed > pairs.len() as f64 && open, || "needed".into())?;
    }
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| rounded(b - a)).collect();
    let alike = bracket.contains("all alike");
    if alike {
        let same = pairs.len() > 1
            && differences.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= pair[0].abs() * 1e-9);
        return ensure(same && !bracket.contains("p "), || format!("{differences:?} are not alike"));
    }
    let p = one.p.filter(|_| pairs.len() > 1);
    match (p, bracket.split_once("p ")) {
        (None, None) => Ok(()),
        (Some(p), Some((_, text))) => {
            let (written, tolerance, _) = number(&text[2..]).ok_or("no p")?;
            let significant = !["no difference", "undecided"].contains(&one.verdict.word());
            let holds = if text.starts_with('<') { p < written } else { close(written, tolerance, p) };
            // The confidence of the interval and the p-value say the same.
            ensure(holds && (significant == (p < 0.05) || (p - 0.05).abs() < 1e-6), || format!("p is {p}"))
        }
        _ => Err("p without interval, or the other way round".into()),
    }
}

/// `12 comparisons at 95 % confidence: 1 faster; 3 slower, 2 of them by more than 1 % (marked with !).`
fn conclusion(all: &Contrasts, text: &str) -> Verdict {
    let line = text.lines().find(|line| line.contains(" at 95 % confidence: ")).ok_or("no conclusion")?;
    let (total, _, _) = number(line).ok_or("no total")?;
    ensure(total as usize == all.contrasts.len(), || "total".into())?;
    let count = |word: &str| all.contrasts.iter().filter(|one| one.verdict.word() == word).count();
    let (_, parts) = line.split_once(": ").ok_or("no parts")?;
    let parts: Vec<&str> = parts.split("; ").collect();
    for (word, start) in [
        ("faster", "faster"),
        ("slower", "slower"),
        ("higher", "higher"),
        ("lower", "lower"),
        ("no difference", "without"),
        ("undecided", "undecided"),
    ] {
        let found = parts.iter().find_map(|part| {
            let (count, _, rest) = number(part)?;
            rest.trim_start().starts_with(start).then_some(count as usize)
        });
        ensure(found.unwrap_or(0) == count(word), || format!("{word}: {found:?}, {} are", count(word)))?;
    }
    let tested: Vec<f64> = all.contrasts.iter().filter_map(|one| one.p).collect();
    // Holm: of the smallest first, each times the number of those that are not smaller.
    let mut order = tested.clone();
    order.sort_by(f64::total_cmp);
    let passed = (0..order.len()).take_while(|at| order[*at] * ((order.len() - at) as f64) < 0.05).count();
    let differs = all.contrasts.iter().any(|one| one.p.is_some() && one.verdict.is_difference());
    let said = text.replace("\n  ", " ");
    let said = said.split_once(" Corrected for ").map(|(_, rest)| rest);
    ensure(said.is_some() == (tested.len() > 1 && differs), || "a correction, or none".into())?;
    if let Some(said) = said {
        let left = if passed == 0 { "no".to_owned() } else { passed.to_string() };
        let words = format!("{} comparisons (Holm), {left} difference", tested.len());
        ensure(said.starts_with(&words), || format!("{words}, not {said}"))?;
    }
    let marked = text.lines().filter(|line| line.starts_with("! ")).count();
    let slow = all.contrasts.iter().filter(|one| one.too_slow).count();
    let said = match line.split_once("slower") {
        Some((_, rest)) if rest.starts_with(", none of them") => 0,
        Some((_, rest)) if rest.starts_with(" by more") || rest.starts_with(" (marked") => count("slower"),
        Some((_, rest)) => number(&rest[2..]).map_or(usize::MAX, |(count, _, _)| count as usize),
        None => 0,
    };
    ensure(marked == slow && said == slow, || format!("{marked} marked, {said} said, {slow} are too slow"))
}
