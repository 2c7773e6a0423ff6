//! The attribute `indexes` of hwloc's synthetic descriptions: the Linux numbers of the parts of a level, as a
//! list (`0,2,1,3`), as loops (`2*4:1*2`) or as types (`core:package`).

use notation::diagnostics::{Diagnostic, Place};

use super::elements::Problem;
use super::found::MAX_CPUS;
use super::kinds::{Kind, kind_of};

/// Most loops: one for each level.
const MAX_LOOPS: usize = 64;

/// The numbers of `count` parts. `levels` are the types of all levels with their parts in the machine,
/// outermost first.
pub(super) fn read(
    text: &str,
    place: Place,
    levels: &[(Kind, usize)],
    count: usize,
) -> Result<Vec<u32>, Problem> {
    let wrong = |message: String| -> Problem {
        Diagnostic::new(place, message)
            .hint("write for example `indexes=0,2,1,3` or `indexes=2*2:1*2`")
            .into()
    };
    let list = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    let numbers = if list {
        listed(text).map_err(wrong)?
    } else {
        interleaved(&loops(text, place, levels, count).map_err(|why| why.or_else(wrong))?, count)
            .map_err(wrong)?
    };
    if numbers.len() != count {
        return Err(wrong(format!("`indexes` has {} numbers, and there are {count} parts", numbers.len())));
    }
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong(format!("the number {} appears twice in `indexes`", twice[0])));
    }
    Ok(numbers)
}

fn listed(text: &str) -> Result<Vec<u32>, String> {
    let number = |word: &str| {
        let number = word.parse::<u32>().ok().filter(|number| (*number as usize) < MAX_CPUS);
        number.ok_or_else(|| format!("`{word}` is no number below {MAX_CPUS}"))
    };
    text.split(',').map(number).collect()
}

/// Step and count.
type Loop = (usize, usize);

/// A sentence about the whole attribute, or a complete diagnostic.
enum Why {
    Sentence(String),
    Complete(Problem),
}

impl Why {
    fn or_else(self, make: impl Fn(String) -> Problem) -> Problem {
        match self {
            Self::Sentence(sentence) => make(sentence),
            Self::Complete(problem) => problem,
        }
    }
}

/// The loops of `2*4:1*2` or `core:package`.
fn loops(text: &str, place: Place, levels: &[(Kind, usize)], count: usize) -> Result<Vec<Loop>, Why> {
    let words: Vec<&str> = text.split(':').collect();
    if words.len() > MAX_LOOPS {
        return Err(Why::Sentence(format!("`indexes` has at most {MAX_LOOPS} loops")));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let pair = |word: &&str| {
            let (step, many) = word.split_once('*')?;
            let number = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=MAX_CPUS).contains(n));
            Some((number(step)?, number(many)?))
        };
        let pair = |word: &&str| {
            pair(word).ok_or_else(|| Why::Sentence(format!("`{word}` is not of the form `step*count`")))
        };
        return words.iter().map(pair).collect();
    }
    let mut parts = Vec::new();
    for word in words {
        let kind = kind_of(word, place).map_err(Why::Complete)?;
        let level = levels.iter().find(|(other, _)| *other == kind);
        let (_, parts_of) = level.ok_or_else(|| Why::Sentence(format!("there is no level `{word}`")))?;
        if !count.is_multiple_of(*parts_of) {
            return Err(Why::Sentence(format!("the level `{word}` is inside of the level with `indexes`")));
        }
        parts.push(*parts_of);
    }
    // Each loop runs over the parts of its level within a part of the next outer level that is named.
    let outer = |own: usize| parts.iter().copied().filter(|other| *other < own).max().unwrap_or(1);
    Ok(parts.iter().map(|own| (count / own, own / outer(*own))).collect())
}

/// The numbers that nested loops give, as hwloc does: the first loop is the fastest; a loop of step 1 is
/// added if only that one is missing.
fn interleaved(loops: &[Loop], count: usize) -> Result<Vec<u32>, String> {
    let mut loops = loops.to_vec();
    let width = loops.iter().fold(1_usize, |width, (_, many)| width.saturating_mul(*many));
    if width != count {
        let least = loops.iter().map(|(step, _)| *step).min().unwrap_or(1);
        if width == 0 || !count.is_multiple_of(width) || least != count / width {
            return Err(format!("the loops of `indexes` give {width} numbers, and there are {count} parts"));
        }
        loops.push((1, count / width));
    }
    let number = |at: usize| {
        let (mut number, mut factor) = (0, 1);
        for (step, many) in &loops {
            number += at / step % many * factor;
            factor *= many;
        }
        number as u32
    };
    Ok((0..count).map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Result<Vec<u32>, Problem> {
        let levels = [(Kind::Package, 2), (Kind::Core, 4), (Kind::Pu, 8)];
        read(text, Place::NONE, &levels, 8)
    }

    #[test]
    fn the_three_forms_agree() {
        // Siblings are 4 apart, packages take every second core: as lstopo of hwloc 2.9 numbers them.
        let wanted = [0, 4, 1, 5, 2, 6, 3, 7];
        assert_eq!(numbers("0,4,1,5,2,6,3,7").unwrap(), wanted);
        assert_eq!(numbers("2*4:1*2").unwrap(), wanted);
        assert_eq!(numbers("core:package").unwrap(), wanted);
        assert_eq!(numbers("package:core").unwrap(), [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn wrong_indexes_are_named() {
        for (text, said) in [
            ("0,1", "2 numbers, and there are 8"),
            ("0,0,1,2,3,4,5,6", "0 appears twice"),
            ("0,9999999,1,2,3,4,5,6", "no number below"),
            ("3*4:1*2", "appears twice"),
            ("2*3", "give 3 numbers"),
            ("2x3", "step*count"),
            ("0*3", "step*count"),
            ("coer:package", "unknown type"),
            ("die", "there is no level"),
            ("", ""),
        ] {
            assert!(numbers(text).unwrap_err().message.contains(said), "{text}: {:?}", numbers(text));
        }
    }
}
