//! Loops, and lengths in a few numbers.

use super::*;
use crate::stream::Draw;

/// A letter and perhaps a length.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Letter(char, Option<u64>);

impl Token for Letter {
    fn length(self) -> Option<u64> {
        self.1
    }

    fn alike(self, other: Self) -> bool {
        self.0 == other.0
    }
}

fn text(letters: &str) -> Vec<Letter> {
    letters.chars().map(|letter| Letter(letter, Some(10))).collect()
}

/// `ab5(xy)` for loops.
fn shown(parts: &[Part<Letter>]) -> String {
    let part = |part: &Part<Letter>| match part {
        Part::One(step) => step.0.to_string(),
        Part::Loop(times, block) => {
            format!("{times}({})", block.iter().map(|(step, _)| step.0).collect::<String>())
        }
    };
    parts.iter().map(part).collect()
}

#[test]
fn steps_that_come_again_become_a_loop() {
    assert_eq!(shown(&fold(&text("sababababe"))), "s4(ab)e");
    assert_eq!(shown(&fold(&text("aaaaaa"))), "6(a)");
    assert_eq!(shown(&fold(&text("ababab"))), "ababab", "three passes are no loop");
    assert_eq!(shown(&fold(&text("aabaabaabaabaab"))), "5(aab)");
    assert_eq!(shown(&fold(&text(""))), "");
}

#[test]
fn a_loop_is_cut_behind_its_last_whole_pass() {
    assert_eq!(shown(&fold(&text("abcabcabcabcab"))), "4(abc)ab");
}

#[test]
fn blocks_have_at_most_64_steps() {
    let block: String = (0..65_u8).map(|at| char::from(at + 40)).collect();
    assert_eq!(fold(&text(&block.repeat(5))).len(), 65 * 5);
    assert_eq!(fold(&text(&block[1..].repeat(5))).len(), 1);
}

#[test]
fn a_loop_keeps_all_lengths_of_its_steps() {
    let steps: Vec<Letter> =
        (0..100).flat_map(|at| [Letter('r', Some(1_000 + at)), Letter('w', None)]).collect();
    let parts = fold(&steps);
    let [Part::Loop(100, block)] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!(block[0].1, (1_000..1_100).collect::<Vec<u64>>());
    assert!(block[1].1.is_empty());
}

#[test]
fn no_loop_where_a_random_sum_would_scatter_too_much() {
    // One of eight lasts 10,000, the others 10: the standard deviation of the sum is about 10,000.
    let steps: Vec<Letter> = (0..8).map(|at| Letter('r', Some(if at == 3 { 10_000 } else { 10 }))).collect();
    assert_eq!(shown(&fold(&steps)), "rrrrrrrr");
    // Of many it is less than a hundredth of all.
    let steps: Vec<Letter> =
        (0..160_000).map(|at| Letter('r', Some(if at % 8 == 3 { 10_000 } else { 10 }))).collect();
    assert_eq!(fold(&steps).len(), 1);
}

#[test]
fn folded_parts_have_the_steps_of_the_text() {
    for seed in 1..300 {
        let mut draw = Draw(seed);
        let letters: Vec<Letter> = (0..draw.below(200))
            .map(|_| Letter(['a', 'b', 'c'][draw.below(1 + seed % 3) as usize], Some(draw.below(5))))
            .collect();
        let mut unfolded = Vec::new();
        for part in fold(&letters) {
            match part {
                Part::One(step) => unfolded.push(step.0),
                Part::Loop(times, block) => {
                    (0..times).for_each(|_| unfolded.extend(block.iter().map(|(step, _)| step.0)));
                }
            }
        }
        assert_eq!(unfolded, letters.iter().map(|letter| letter.0).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn about_equal_lengths_are_their_mean() {
    assert_eq!(lengths(&[1_000, 1_010, 990, 1_000]), Lengths::Mean(1_000));
    assert_eq!(lengths(&[5, 500, 100]), Lengths::Mean(201), "too few for a table");
    assert_eq!(lengths(&[]), Lengths::Mean(0));
    assert_eq!(lengths(&[0, 0, 0, 0]), Lengths::Mean(0));
}

#[test]
fn a_table_keeps_the_mean() {
    for seed in 1..500 {
        let mut draw = Draw(seed);
        let most = [50_000, 1_000_000, 100_000_000][draw.below(3) as usize];
        let all: Vec<u64> = (0..4 + draw.below(300))
            .map(|_| {
                let length = 10_000 + draw.below(most);
                if draw.below(10) == 0 { length * 20 } else { length }
            })
            .collect();
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        let Lengths::Table(table) = lengths(&all) else { continue };
        assert!(table.is_sorted() && table.len() == PARTS + 1, "seed {seed}: {table:?}");
        let middles = table.windows(2).map(|pair| f64::midpoint(pair[0] as f64, pair[1] as f64));
        let kept = middles.sum::<f64>() / PARTS as f64;
        assert!((kept / mean - 1.0).abs() < 0.001, "seed {seed}: {kept} of {mean}");
    }
}
