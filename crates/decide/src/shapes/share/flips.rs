//! What would change the answer: the mix, ranges of numbers of the programs, and memory traffic.

use experiment::PolicyRegistry;
use experiment::number::{plural, ratio};

use super::{End, Node, PAYS};
use crate::matrix::{Effort, Measured, Programs, Together, groups, measure};
use crate::trial::{Failed, Means};

/// Ends of ranges that are tried: each takes a run for each pair in which the program is.
const MOST_TRIED: usize = 24;
/// By how much more all programs may draw from memory: numbers measured by hand or with counters of another
/// host are rarely wrong by more than three times.
const TRAFFIC: [f64; 4] = [1.25, 1.5, 2.0, 3.0];
/// Bisections of a share: to less than one per cent.
const BISECTIONS: usize = 7;

/// What the answer is: many jobs at a time, or one.
#[derive(Clone, Copy)]
struct Answer {
    /// At a time: as advised, or two where one is advised.
    factor: usize,
    shares: bool,
}

impl Answer {
    /// Whether a throughput leads to another answer.
    fn flips(self, throughput: f64) -> bool {
        (throughput > 1.0 + PAYS) != self.shares
    }

    /// What then holds.
    fn then(self, throughput: f64) -> String {
        let work = format!("{} together do {} times the work of one", self.factor, ratio(throughput));
        if self.shares { format!("{work}: then do not share") } else { format!("{work}: then share") }
    }
}

/// Sentences on what would change the answer.
pub(super) fn of(
    (programs, policies): (&Programs, &PolicyRegistry),
    node: &Node<'_>,
    factor: usize,
    means: Means<'_>,
) -> Result<Vec<String>, Failed> {
    let answer = Answer { factor: factor.max(2), shares: factor > 1 };
    let mean = node.throughput(answer.factor, End::Mean).unwrap_or(1.0);
    if answer.flips(mean) {
        return Ok(vec![format!(
            "More replicates (`--most`): {} jobs together do {} times the work of one in the mean, and the \
             interval is too wide to count on it.",
            answer.factor,
            ratio(mean)
        )]);
    }
    let bench = Tried { programs, policies, node, answer, means };
    let sentences = [bench.ranges()?, mix(node, answer), bench.traffic()?];
    Ok(sentences.into_iter().flatten().collect())
}

/// The program of which the smallest further share among the jobs changes the answer.
fn mix(node: &Node<'_>, answer: Answer) -> Option<String> {
    if node.mix.len() < 2 {
        return None;
    }
    let with = |program: usize, share: f64| {
        let rest = 1.0 - node.mix[program];
        let part = |(at, old): (usize, &f64)| {
            if at == program { share } else { old * (1.0 - share) / rest }
        };
        let mix: Vec<f64> = node.mix.iter().enumerate().map(part).collect();
        Node { mix: &mix, ..*node }.throughput(answer.factor, End::Mean)
    };
    let mut found: Option<(f64, usize)> = None;
    for program in (0..node.mix.len()).filter(|program| node.mix[*program] < 1.0) {
        let Some(all) = with(program, 1.0) else { continue };
        if !answer.flips(all) {
            continue;
        }
        let (mut keeps, mut flips) = (node.mix[program], 1.0);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(keeps, flips);
            if with(program, middle).is_some_and(|throughput| answer.flips(throughput)) {
                flips = middle;
            } else {
                keeps = middle;
            }
        }
        if found.is_none_or(|(share, _)| flips < share) {
            found = Some((flips, program));
        }
    }
    let Some((share, program)) = found else {
        return Some("The mix: the answer holds for a queue of any one of the programs, too.".to_owned());
    };
    let name = &node.alone[program].program;
    Some(format!(
        "The mix: above {:.0} % of {name} (now {:.0} %) the answer is {}.",
        100.0 * share,
        100.0 * node.mix[program],
        if answer.shares { "not to share" } else { "to share" }
    ))
}

/// Inputs that are tried.
struct Tried<'a, 'n> {
    programs: &'a Programs,
    policies: &'a PolicyRegistry,
    node: &'a Node<'n>,
    answer: Answer,
    means: Means<'a>,
}

impl Tried<'_, '_> {
    /// The throughput with changes; `of`: only groups with this program can differ.
    fn throughput(&self, more: &[String], of: Option<usize>) -> Result<Option<f64>, Failed> {
        let size = self.answer.factor;
        let within =
            |group: &Vec<usize>| group.len() == size && of.is_none_or(|program| group.contains(&program));
        let drawn = |group: &Vec<usize>| group.iter().all(|program| self.node.mix[*program] > 0.0);
        let all = groups(self.programs.programs.len(), size);
        let wanted: Vec<Vec<usize>> = all.into_iter().filter(within).filter(drawn).collect();
        // The same seed as the first replicate of all others: what differs is the change.
        let effort = Effort { least: 1, most: 1, narrow: 1.0 };
        let Measured { alone, groups: tried, .. } =
            measure((self.programs, self.policies), wanted, more, effort, self.means)?;
        let same =
            self.node.groups.iter().filter(|group| !tried.iter().any(|new| new.members == group.members));
        let groups: Vec<Together> = tried.iter().chain(same).cloned().collect();
        let node = Node { alone: &alone, groups: &groups, mix: self.node.mix };
        Ok(node.throughput(size, End::Mean))
    }

    /// The ends of ranges that the files state, as a sentence; none without a range.
    fn ranges(&self) -> Result<Option<String>, Failed> {
        let ends: Vec<(&str, &str)> = self
            .programs
            .ranges
            .iter()
            .flat_map(|range| [(range.path.as_str(), range.low.as_str()), (&range.path, &range.high)])
            .collect();
        if ends.is_empty() {
            return Ok(None);
        }
        let tried = ends.len().min(MOST_TRIED);
        let mut found: Option<(f64, String)> = None;
        for (path, end) in ends.iter().take(tried) {
            let program = path.strip_prefix("apps.").and_then(|rest| {
                let name = rest.split('.').next()?;
                self.programs.programs.iter().position(|program| program.name == name)
            });
            let set = format!("{path}={end}");
            let Some(throughput) = self.throughput(std::slice::from_ref(&set), program)? else { continue };
            let distance = (throughput - 1.0).abs();
            if self.answer.flips(throughput) && found.as_ref().is_none_or(|(known, _)| distance > *known) {
                found =
                    Some((distance, format!("{set}, within its range: {}", self.answer.then(throughput))));
            }
        }
        let rest = match ends.len() - tried {
            0 => String::new(),
            rest => format!("; {rest} more were not tried"),
        };
        Ok(Some(found.map_or_else(
            || {
                let ends = plural(tried, "end of a range", "ends of ranges");
                format!("Ranges: none of {ends} changes the answer{rest}.")
            },
            |(_, text)| format!("Measure first: {text}."),
        )))
    }

    /// How much more from memory changes the answer, as a sentence; none where memory has no limit or does
    /// not matter.
    fn traffic(&self) -> Result<Option<String>, Failed> {
        let memory = |group: &Together| group.causes.iter().any(|cause| cause.part == "memory");
        let limit = self.programs.node_bandwidth;
        if limit == 0 || !self.node.groups.iter().any(memory) {
            return Ok(None);
        }
        let mut last = 1.0;
        for factor in TRAFFIC {
            // More memory traffic brings no sharing: then less of it is tried.
            let factor = if self.answer.shares { factor } else { 1.0 / factor };
            let set = format!("machine.node_bandwidth={}B/s", (limit as f64 / factor) as u64);
            let Some(throughput) = self.throughput(&[set], None)? else { break };
            if self.answer.flips(throughput) {
                let (then, factor) = (self.answer.then(throughput), times(factor));
                return Ok(Some(format!("Memory: if all programs drew {factor} times as much, {then}.")));
            }
            last = factor;
        }
        let last = times(last);
        Ok(Some(format!("Memory: the answer holds even if all programs draw {last} times as much.")))
    }
}

/// A factor with two digits behind the point at most.
fn times(factor: f64) -> String {
    let text = format!("{factor:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
