//! Loops: steps that a thread does again and again become a block with a count, and the lengths in it become
//! means or quantiles.

#[cfg(test)]
mod tests;

/// Most steps of a block.
const LONGEST: usize = 64;
/// Fewest passes of a loop.
const FEWEST: usize = 4;
/// What a random sum may be off, as a share of all lengths of a thread.
const KEPT: f64 = 0.01;
/// Parts of a table of quantiles.
const PARTS: usize = 8;
/// Lengths whose standard deviation is below this share of their mean are equal.
const EQUAL: f64 = 0.02;

/// A step without its length.
pub trait Token: Copy + PartialEq {
    /// Its length, if it has one, in ns.
    fn length(self) -> Option<u64>;
    /// Equal but for the length.
    fn alike(self, other: Self) -> bool;
}

/// Steps, some of them in loops.
#[derive(Clone, PartialEq, Debug)]
pub enum Part<T> {
    /// One step.
    One(T),
    /// A block so many times: each step with all its lengths, in ns.
    Loop(usize, Vec<(T, Vec<u64>)>),
}

/// Finds the loops of steps, from the first step on, each as long as possible.
///
/// A loop draws its lengths at random, so that their sum is not that of the steps; it is one only where their
/// standard deviation is at most 1 % of all lengths.
#[must_use]
pub fn fold<T: Token>(steps: &[T]) -> Vec<Part<T>> {
    let mut parts = Vec::new();
    let all: f64 = steps.iter().filter_map(|step| step.length()).map(|length| length as f64).sum();
    let mut at = 0;
    while at < steps.len() {
        let rest = &steps[at..];
        let best = (1..=LONGEST.min(rest.len() / FEWEST))
            .map(|period| (passes(rest, period) * period, period))
            .filter(|(covered, period)| *covered >= FEWEST * period)
            .max_by_key(|(covered, period)| (*covered, std::cmp::Reverse(*period)));
        let block = best.map(|(covered, period)| {
            let block = (0..period).map(|place| {
                let lengths = rest[..covered].iter().skip(place).step_by(period);
                (rest[place], lengths.filter_map(|step| step.length()).collect::<Vec<u64>>())
            });
            (covered, period, block.collect::<Vec<_>>())
        });
        let kept = |block: &[(T, Vec<u64>)]| {
            block.iter().map(|(_, lengths)| scatter(lengths)).sum::<f64>().sqrt() <= KEPT * all
        };
        match block {
            Some((covered, period, block)) if kept(&block) => {
                parts.push(Part::Loop(covered / period, block));
                at += covered;
            }
            Some((covered, ..)) => {
                parts.extend(rest[..covered].iter().map(|step| Part::One(*step)));
                at += covered;
            }
            None => {
                parts.push(Part::One(rest[0]));
                at += 1;
            }
        }
    }
    parts
}

/// The variance of the sum of so many lengths that are drawn at random.
fn scatter(lengths: &[u64]) -> f64 {
    let mean = lengths.iter().map(|length| *length as f64).sum::<f64>() / lengths.len().max(1) as f64;
    lengths.iter().map(|length| (*length as f64 - mean).powi(2)).sum()
}

/// How often the first steps, as many as the period, come one after the other.
fn passes<T: Token>(steps: &[T], period: usize) -> usize {
    let alike = (period..steps.len()).take_while(|place| steps[*place].alike(steps[*place - period])).count();
    (alike + period) / period
}

/// How lengths vary.
#[derive(Clone, PartialEq, Debug)]
pub enum Lengths {
    /// All are about equal: their mean, in ns.
    Mean(u64),
    /// Quantiles of equally likely parts, in ns; their mean is that of the lengths.
    Table(Vec<u64>),
}

/// Lengths in a few numbers.
#[must_use]
pub fn lengths(all: &[u64]) -> Lengths {
    let count = all.len().max(1) as f64;
    let mean = all.iter().map(|length| *length as f64).sum::<f64>() / count;
    let variance = all.iter().map(|length| (*length as f64 - mean).powi(2)).sum::<f64>() / count;
    if all.len() < FEWEST || variance.sqrt() <= EQUAL * mean {
        return Lengths::Mean(mean as u64);
    }
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    // The middle of each part is the mean of the lengths in it; its ends are between those of its neighbours.
    let means: Vec<f64> = (0..PARTS)
        .map(|part| {
            let (from, to) = (part * sorted.len() / PARTS, ((part + 1) * sorted.len() / PARTS));
            let slice = sorted.get(from..to.max(from + 1)).unwrap_or_default();
            slice.iter().map(|length| *length as f64).sum::<f64>() / slice.len().max(1) as f64
        })
        .collect();
    let mut edges: Vec<f64> = vec![sorted.first().copied().unwrap_or(0) as f64];
    edges.extend(means.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])));
    // The last end is such that the mean of all is kept, as far as the order allows it.
    let so_far = edges.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).sum::<f64>();
    let before = edges.last().copied().unwrap_or(0.0);
    edges.push((2.0 * (mean * PARTS as f64 - so_far) - before).max(before));
    let sum = edges.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).sum::<f64>() / PARTS as f64;
    let scale = if sum > 0.0 { mean / sum } else { 1.0 };
    let table: Vec<u64> = edges.iter().map(|edge| (edge * scale).round() as u64).collect();
    if table.iter().sum::<u64>() < 2 { Lengths::Mean(mean as u64) } else { Lengths::Table(table) }
}
