//! Which programs go together: the cheapest division of programs into groups.

/// A division of programs into groups.
#[derive(Clone, PartialEq, Debug)]
pub struct Matching {
    /// The groups, each in order, by their first programs.
    pub parts: Vec<Vec<usize>>,
    /// The sum of their costs.
    pub cost: f64,
    /// Whether it is certain that no division costs less.
    pub exact: bool,
}

/// Up to so many programs the best division is found by dynamic programming over all subsets: 65,536 of them.
pub const MOST_EXACT: usize = 16;

/// The cheapest division of programs 0 to `count` - 1 into groups of at most `most`. `cost` of a group in
/// order; none if it cannot be. Groups of one must have a cost.
///
/// Exact up to [`MOST_EXACT`] programs. Beyond, a local search: each program begins by itself, and every two
/// groups are divided anew, in the best way, until no two of them gain by it.
#[must_use]
pub fn best(count: usize, most: usize, cost: &dyn Fn(&[usize]) -> Option<f64>) -> Matching {
    let all: Vec<usize> = (0..count).collect();
    if count <= MOST_EXACT {
        let (mut parts, cost) = divided(&all, most, cost);
        parts.sort();
        return Matching { parts, cost, exact: true };
    }
    let mut parts: Vec<Vec<usize>> = all.into_iter().map(|program| vec![program]).collect();
    while let Some(better) = improved(&parts, most, cost) {
        parts = better;
    }
    parts.sort();
    let cost = parts.iter().filter_map(|part| cost(part)).sum();
    Matching { parts, cost, exact: false }
}

/// A gain below this part is rounding.
const NOTHING: f64 = 1e-12;

/// The division in which the two groups that gain most by it are divided anew.
fn improved(
    parts: &[Vec<usize>],
    most: usize,
    cost: &dyn Fn(&[usize]) -> Option<f64>,
) -> Option<Vec<Vec<usize>>> {
    let mut found: Option<(f64, usize, usize, Vec<Vec<usize>>)> = None;
    for (at, one) in parts.iter().enumerate() {
        for (behind, other) in parts.iter().enumerate().skip(at + 1) {
            let now = cost(one)? + cost(other)?;
            let mut both: Vec<usize> = one.iter().chain(other).copied().collect();
            both.sort_unstable();
            let (anew, then) = divided(&both, most, cost);
            let gain = now - then;
            if gain > now * NOTHING && found.as_ref().is_none_or(|(known, ..)| gain > *known) {
                found = Some((gain, at, behind, anew));
            }
        }
    }
    let (_, at, behind, anew) = found?;
    let kept = parts.iter().enumerate().filter(|(place, _)| *place != at && *place != behind);
    Some(kept.map(|(_, part)| part.clone()).chain(anew).collect())
}

/// The cheapest division of at most [`MOST_EXACT`] programs, and its cost.
fn divided(
    programs: &[usize],
    most: usize,
    cost: &dyn Fn(&[usize]) -> Option<f64>,
) -> (Vec<Vec<usize>>, f64) {
    let full = (1_usize << programs.len()) - 1;
    let chosen = |set: usize| -> Vec<usize> {
        let inside = programs.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        inside.map(|(_, program)| *program).collect()
    };
    // Of each possible group its cost.
    let small = |set: &usize| set.count_ones() as usize <= most;
    let groups: Vec<(usize, f64)> =
        (1..=full).filter(small).filter_map(|set| Some((set, cost(&chosen(set))?))).collect();
    // Of each subset the least cost and the group with its first program; the empty one costs nothing.
    let mut least: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); full + 1];
    least[0] = (0.0, 0);
    let with_first = |first: u32| -> Vec<(usize, f64)> {
        groups.iter().filter(|(set, _)| set.trailing_zeros() == first).copied().collect()
    };
    let by_first: Vec<Vec<(usize, f64)>> = (0..programs.len() as u32).map(with_first).collect();
    for set in 1..=full {
        for (group, price) in &by_first[set.trailing_zeros() as usize] {
            if group & set == *group {
                let total = price + least[set ^ group].0;
                if total < least[set].0 {
                    least[set] = (total, *group);
                }
            }
        }
    }
    let (mut parts, mut rest) = (Vec::new(), full);
    while rest != 0 && least[rest].1 != 0 {
        parts.push(chosen(least[rest].1));
        rest ^= least[rest].1;
    }
    (parts, least[full].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alone each takes 10; together as the table says.
    fn of_table(table: &[[f64; 4]; 4], group: &[usize]) -> Option<f64> {
        match *group {
            [_] => Some(10.0),
            [a, b] => Some(table[a][b]),
            _ => None,
        }
    }

    #[test]
    fn the_cheapest_pairs_of_four_are_found_and_not_the_greedy_ones() {
        // Greedy takes 0 with 1 (11) and is left with 2 and 3 (19): 30. The best is 0 with 2, 1 with 3: 24.
        let table = [
            [99.0, 11.0, 12.0, 18.0],
            [11.0, 99.0, 18.0, 12.0],
            [12.0, 18.0, 99.0, 19.0],
            [18.0, 12.0, 19.0, 99.0],
        ];
        let found = best(4, 2, &|group| of_table(&table, group));
        assert_eq!(found.parts, [[0, 2], [1, 3]]);
        assert!((found.cost - 24.0).abs() < 1e-12 && found.exact);
    }

    #[test]
    fn programs_that_lose_together_stay_alone() {
        let table = [[25.0; 4]; 4];
        let found = best(3, 2, &|group| of_table(&table, group));
        assert_eq!(found.parts, [[0], [1], [2]]);
        assert_eq!(best(0, 2, &|_| None).parts, Vec::<Vec<usize>>::new());
    }

    /// Costs that depend on the programs in no simple way.
    fn odd(group: &[usize]) -> Option<f64> {
        match *group {
            [_] => Some(10.0),
            [a, b] => Some(((a * 7 + b * 13) % 17) as f64 + 8.0),
            [a, b, c] => Some(((a * 5 + b * 3 + c * 11) % 19) as f64 + 14.0),
            _ => None,
        }
    }

    /// The least cost by trying all divisions.
    fn tried(rest: &[usize], parts: &mut Vec<Vec<usize>>) -> f64 {
        let Some((first, rest)) = rest.split_first() else {
            return parts.iter().map(|part| odd(part).unwrap_or(f64::INFINITY)).sum();
        };
        let mut least = f64::INFINITY;
        for at in 0..=parts.len() {
            let new = at == parts.len();
            if new {
                parts.push(Vec::new());
            }
            parts[at].push(*first);
            least = least.min(tried(rest, parts));
            parts[at].pop();
            if new {
                parts.pop();
            }
        }
        least
    }

    #[test]
    fn groups_of_three_are_as_cheap_as_the_cheapest_of_all_divisions() {
        for count in 1..8 {
            let all: Vec<usize> = (0..count).collect();
            let found = best(count, 3, &odd);
            assert!((found.cost - tried(&all, &mut Vec::new())).abs() < 1e-9, "{count}");
        }
    }

    #[test]
    fn many_programs_are_divided_by_local_search_and_each_is_in_one_group() {
        let found = best(40, 2, &odd);
        let mut all: Vec<usize> = found.parts.concat();
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<_>>());
        assert!(!found.exact && found.cost < 400.0);
    }
}
