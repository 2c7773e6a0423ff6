//! Where each policy is the best one, in sentences: conditions on the two sides of a map that are true for
//! exactly these cells.

use std::collections::{BTreeMap, BTreeSet};

use super::Response;
use super::map::{Map, MapCell, Side, order};
use super::winners::Winner;
use crate::number::listed;
use crate::statements::title::{Piece, Title};

/// The most conditions that describe a region, and the most values that a condition lists.
const MOST_PARTS: usize = 3;
const MOST_VALUES: usize = 4;

/// The sentences about a map: which policy is best where, and how certain that is.
#[must_use]
pub fn sentences(response: &Response, map: &Map) -> Vec<String> {
    let cells = map.winners();
    let mut all = Vec::new();
    if cells.is_empty() {
        return vec![format!("No run has {}.", response.what())];
    }
    all.push(format!("By the mean {}, {}.", response.what(), shares(response, map, &cells)));
    all.extend(certainty(response, map, &cells));
    all.extend(panels(response, map));
    all.extend(largest(response, map, &cells));
    all
}

/// The best policy of a map in half a sentence, the title of its figure: `best: SPEED in 12 of 20
/// configurations; LOAD in 8`.
#[must_use]
pub fn title(response: &Response, map: &Map) -> Title {
    let cells = map.winners();
    let order = order(&cells);
    let of = cells_of(map, cells.len());
    let clause = |(at, (best, count)): (usize, &(usize, usize))| {
        let policy = &response.policies[*best];
        let words = match (at, order.len()) {
            (0, 1) => format!("Best {}: {policy} in all {of}", response.what()),
            (0, _) => format!("Best {}: {policy} in {count} of {of}", response.what()),
            _ => format!("{policy} in {count}"),
        };
        [Piece::Words(words)].into_iter().chain(ties(response, &cells, *best).map(Piece::Remark)).collect()
    };
    let mut clauses = order.iter().enumerate().map(clause);
    let none = || vec![Piece::Words(format!("Best {}: ", response.what()))];
    let first = Title::new(clauses.next().unwrap_or_else(none));
    clauses.fold(first, Title::and)
}

/// What the cells are: `configurations`, or `cells` of several configurations each.
fn cells_of(map: &Map, count: usize) -> String {
    let (one, many) = if map.is_exact() { ("configuration", "configurations") } else { ("cell", "cells") };
    crate::number::plural(count, one, many)
}

/// `SPEED is best in 12 of 20 configurations and LOAD in 8`.
fn shares(response: &Response, map: &Map, cells: &[(&MapCell, &Winner)]) -> String {
    let order = order(cells);
    let policy = |at: usize| &response.policies[at];
    if let [(only, count)] = order[..] {
        let ties = tied(response, cells, only);
        return format!("{} is best in all {}{ties}", policy(only), cells_of(map, count));
    }
    let of = cells_of(map, cells.len());
    let each = order.iter().enumerate().map(|(at, (best, count))| {
        let ties = tied(response, cells, *best);
        match at {
            0 => format!("{} is best in {count} of {of}{ties}", policy(*best)),
            _ => format!("{} in {count}{ties}", policy(*best)),
        }
    });
    listed(&each.collect::<Vec<_>>())
}

/// ` (in 13 equal to DWRR)`, empty without ties.
fn tied(response: &Response, cells: &[(&MapCell, &Winner)], policy: usize) -> String {
    ties(response, cells, policy).map_or_else(String::new, |ties| format!(" ({ties})"))
}

/// `in 13 equal to DWRR`: how often other policies have the same mean where one is the best.
fn ties(response: &Response, cells: &[(&MapCell, &Winner)], policy: usize) -> Option<String> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (_, winner) in cells.iter().filter(|(_, winner)| winner.best == policy) {
        winner.equal.iter().for_each(|other| *counts.entry(*other).or_default() += 1);
    }
    let each: Vec<String> = counts
        .iter()
        .map(|(other, count)| format!("in {count} equal to {}", response.policies[*other]))
        .collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// In how many cells the best policy is significantly ahead.
fn certainty(response: &Response, map: &Map, cells: &[(&MapCell, &Winner)]) -> Vec<String> {
    let mut all = Vec::new();
    let margin = |winner: &Winner| winner.second.map(|_| winner.margin.and_then(|m| m.significant));
    let margins: Vec<Option<bool>> = cells.iter().filter_map(|(_, winner)| margin(winner)).collect();
    let (known, unsure) =
        (margins.iter().flatten().count(), margins.iter().flatten().filter(|sure| !**sure).count());
    let of = if map.is_exact() { "seeds" } else { "the configurations of a cell" };
    if known > 0 {
        all.push(format!(
            "In {unsure} of {} the best policy is not significantly ahead of the second one (paired 95 % \
                intervals over {of}).",
            cells_of(map, known)
        ));
    }
    let unknown = margins.len() - known;
    if unknown > 0 && response.replicates() < 2 && known == 0 {
        all.push("With one seed there is no statement on significance.".into());
    } else if unknown > 0 {
        all.push(format!(
            "In {} there are fewer than two pairs of values, so no statement on significance.",
            cells_of(map, unknown)
        ));
    }
    let alone = cells.len() - margins.len();
    if alone > 0 {
        all.push(format!("In {} only the best policy completed its runs.", cells_of(map, alone)));
    }
    let none = map.cells.len() - cells.len();
    if none > 0 {
        all.push(format!("In {} no run completed.", cells_of(map, none)));
    }
    all
}

/// A sentence for each panel; panels with the same regions share one.
fn panels(response: &Response, map: &Map) -> Vec<String> {
    let mut bodies: Vec<(String, Vec<String>)> = Vec::new();
    for (panel, setting) in map.panels.iter().enumerate() {
        let Some(body) = regions(response, map, panel) else { continue };
        let setting = setting.join(" and ");
        match bodies.iter_mut().find(|(known, _)| *known == body) {
            Some((_, settings)) => settings.push(setting),
            None => bodies.push((body, vec![setting])),
        }
    }
    let sentence = |(body, settings): &(String, Vec<String>)| match settings.as_slice() {
        [only] if only.is_empty() => format!("{body}."),
        [only] => format!("With {only}: {body}."),
        many => {
            let many: Vec<String> = many.iter().map(|one| format!("with {one}")).collect();
            let each = listed(&many);
            format!("W{}, for each: {body}.", &each[1..])
        }
    };
    bodies.iter().map(sentence).collect()
}

/// The regions of a panel, the largest one last: `SPEED is best for x <= 2 with y = 1 or 2 (4
/// configurations); LOAD is best elsewhere (12 configurations, 1 not significant)`.
fn regions(response: &Response, map: &Map, panel: usize) -> Option<String> {
    let cells: Vec<(&MapCell, &Winner)> =
        map.winners().into_iter().filter(|(cell, _)| cell.panel == panel).collect();
    let order = order(&cells);
    let (most, others) = order.split_first()?;
    let size = |policy: usize| {
        let own = cells.iter().filter(|(_, winner)| winner.best == policy);
        let unsure = own
            .clone()
            .filter(|(_, winner)| winner.margin.is_some_and(|margin| margin.significant == Some(false)));
        let (count, unsure) = (own.count(), unsure.count());
        let unsure = if unsure > 0 { format!(", {unsure} not significant") } else { String::new() };
        format!("({}{unsure})", cells_of(map, count))
    };
    let policy = |at: usize| &response.policies[at];
    if others.is_empty() {
        return Some(format!("{} is best everywhere {}", policy(most.0), size(most.0)));
    }
    let mut clauses: Vec<String> = others
        .iter()
        .map(|(best, _)| format!("{} is best {} {}", policy(*best), place(map, &cells, *best), size(*best)))
        .collect();
    clauses.push(format!("{} is best elsewhere {}", policy(most.0), size(most.0)));
    Some(clauses.join("; "))
}

/// Where a policy is best: conditions that hold for exactly these cells, or the range around them.
fn place(map: &Map, cells: &[(&MapCell, &Winner)], policy: usize) -> String {
    let grid = |flip: bool| -> Vec<(usize, usize, bool)> {
        let place = |cell: &MapCell| if flip { (cell.row, cell.column) } else { (cell.column, cell.row) };
        cells.iter().map(|(cell, winner)| (place(cell).0, place(cell).1, winner.best == policy)).collect()
    };
    let (x, y) = (Some(&map.x), map.y.as_ref());
    let exact = [parts(x, y, &grid(false)), parts(y, x, &grid(true))];
    let exact = exact.into_iter().flatten().min_by_key(|parts| (parts.len(), parts.concat().len()));
    if let Some(parts) = exact {
        return parts.iter().map(|part| format!("for {part}")).collect::<Vec<_>>().join(", and ");
    }
    let around = |side: Option<&Side>, of: fn(&MapCell) -> usize| {
        let own: Vec<usize> =
            cells.iter().filter(|(_, w)| w.best == policy).map(|(cell, _)| of(cell)).collect();
        let (low, high) = (own.iter().min()?, own.iter().max()?);
        let all: BTreeSet<usize> = cells.iter().map(|(cell, _)| of(cell)).collect();
        let range = all.range(*low..=*high).copied().collect();
        condition(side?, &range, &all).flatten()
    };
    let within: Vec<String> =
        [around(x, |cell| cell.column), around(y, |cell| cell.row)].into_iter().flatten().collect();
    match within.as_slice() {
        [] => "in scattered cells".into(),
        within => format!("in some of the cells with {}", within.join(" and ")),
    }
}

/// Conditions that hold for exactly the cells that are marked: a condition on the inner side for each group
/// of positions on the outer side. `None` if that takes too many.
fn parts(inner: Option<&Side>, outer: Option<&Side>, grid: &[(usize, usize, bool)]) -> Option<Vec<String>> {
    let inner = inner?;
    let lines: BTreeSet<usize> = grid.iter().map(|(_, line, _)| *line).collect();
    // By the condition on the inner side, which is none where a whole line is marked.
    let mut groups: BTreeMap<Option<String>, BTreeSet<usize>> = BTreeMap::new();
    for line in &lines {
        let on_line = grid.iter().filter(|(_, at, _)| at == line);
        let all: BTreeSet<usize> = on_line.clone().map(|(place, _, _)| *place).collect();
        let own: BTreeSet<usize> = on_line.filter(|(_, _, own)| *own).map(|(place, _, _)| *place).collect();
        if !own.is_empty() {
            groups.entry(condition(inner, &own, &all)?).or_default().insert(*line);
        }
    }
    let part = |(inner, own): (&Option<String>, &BTreeSet<usize>)| {
        let outer = match outer {
            Some(side) => condition(side, own, &lines)?,
            None => None,
        };
        match (inner, outer) {
            (Some(inner), Some(outer)) => Some(format!("{inner} with {outer}")),
            (Some(one), None) => Some(one.clone()),
            (None, one) => one,
        }
    };
    let parts: Vec<String> = groups.iter().map(part).collect::<Option<_>>()?;
    (parts.len() <= MOST_PARTS).then_some(parts)
}

/// The condition that, of these positions of a side, holds for its own ones: `Some(None)` if that is all of
/// them, `None` if no short condition does.
fn condition(side: &Side, own: &BTreeSet<usize>, all: &BTreeSet<usize>) -> Option<Option<String>> {
    if own == all {
        return Some(None);
    }
    let (first, last) = (*own.first()?, *own.last()?);
    let low = |at: usize| &side.classes[at].ends[0];
    let high = |at: usize| &side.classes[at].ends[1];
    let name = &side.name;
    let whole = all.range(first..=last).count() == own.len();
    if whole && side.ordered && (own.len() > 1 || side.classed) {
        return Some(Some(if Some(&first) == all.first() {
            format!("{name} <= {}", high(last))
        } else if Some(&last) == all.last() {
            format!("{name} >= {}", low(first))
        } else {
            format!("{name} from {} to {}", low(first), high(last))
        }));
    }
    if own.len() > MOST_VALUES || side.classed {
        return None;
    }
    let values: Vec<&str> = own.iter().map(|at| low(*at).as_str()).collect();
    let values = match values.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        all => all.concat(),
    };
    Some(Some(format!("{name} = {values}")))
}

/// The largest significant margin, or the largest one where nothing is known about significance.
fn largest(response: &Response, map: &Map, cells: &[(&MapCell, &Winner)]) -> Option<String> {
    let sure = |winner: &Winner| winner.margin.is_some_and(|margin| margin.significant != Some(false));
    let ratio = |winner: &Winner| winner.margin.and_then(|margin| margin.ratio);
    let known =
        cells.iter().filter(|(_, winner)| sure(winner) && ratio(winner).is_some_and(|r| r.mean > 1.0));
    let mean = |winner: &Winner| ratio(winner).map_or(0.0, |ratio| ratio.mean);
    let (cell, winner) = known.rev().max_by(|a, b| mean(a.1).total_cmp(&mean(b.1)))?;
    let (second, ratio) = (winner.second?.0, ratio(winner)?);
    let side = |side: &Side, at: usize| {
        let [low, high] = &side.classes[at].ends;
        if low == high {
            format!("{}={low}", side.name)
        } else {
            format!("{} from {low} to {high}", side.name)
        }
    };
    let sides = [Some(side(&map.x, cell.column)), map.y.as_ref().map(|y| side(y, cell.row))];
    let place: Vec<String> = sides.into_iter().flatten().chain(map.panels[cell.panel].clone()).collect();
    Some(format!(
        "The largest{} margin is a factor of {}: {} before {} with {}.",
        if ratio.ci95.is_some() { " significant" } else { "" },
        ratio.written(),
        response.policies[winner.best],
        response.policies[second],
        listed(&place)
    ))
}
