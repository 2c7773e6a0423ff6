//! Lists of cpus as variables and options take them: masks, places of OpenMP, words of a shell.

use std::fmt::Write as _;

/// Words of a shell need no quotes with these characters.
const PLAIN: &str = "_./:,=+@%-";

/// A word of a shell: quoted if it has to be. Invisible characters are shown.
pub(super) fn word(text: &str) -> String {
    let text = notation::neutral::line(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The mask of these cpus in hexadecimal digits, without `0x`.
pub(super) fn hexadecimal(cpus: &[u32]) -> String {
    let digits = cpus.iter().max().map_or(1, |last| *last as usize / 4 + 1);
    let mut nibbles = vec![0_u8; digits];
    for cpu in cpus {
        if let Some(nibble) = nibbles.get_mut(*cpu as usize / 4) {
            *nibble |= 1 << (cpu % 4);
        }
    }
    nibbles.iter().rev().map(|nibble| char::from_digit(u32::from(*nibble), 16).unwrap_or('0')).collect()
}

/// Numbers between commas.
pub(super) fn commas(numbers: impl IntoIterator<Item = u32>) -> String {
    let all: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    all.join(",")
}

/// One place of OpenMP: `{3}`, `{0,8}`, or from three cpus in a row on `{0:4}` (first cpu and number).
fn place(cpus: &[u32]) -> String {
    let row = cpus.len() > 2 && cpus.windows(2).all(|pair| pair[1] == pair[0] + 1);
    match (row, cpus.first()) {
        (true, Some(first)) => format!("{{{first}:{}}}", cpus.len()),
        _ => format!("{{{}}}", commas(cpus.iter().copied())),
    }
}

/// By how much the cpus of a place lie behind those of another one, if all do by the same number.
fn step(from: &[u32], to: &[u32]) -> Option<i64> {
    let mut steps = from.iter().zip(to).map(|(a, b)| i64::from(*b) - i64::from(*a));
    let first = steps.next()?;
    (from.len() == to.len() && steps.all(|other| other == first)).then_some(first)
}

/// Places as `OMP_PLACES` takes them. From three places at equal distances on an interval is written:
/// `{0}:4:2` is `{0},{2},{4},{6}`.
pub(super) fn places(all: &[Vec<u32>]) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some(first) = all.get(at) {
        let distance = all.get(at + 1).and_then(|next| step(first, next)).filter(|distance| *distance != 0);
        let same = |pair: &&[Vec<u32>]| step(&pair[0], &pair[1]) == distance;
        let count = distance.map_or(1, |_| all[at..].windows(2).take_while(same).count() + 1);
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&place(first));
        at += 1;
        if let Some(distance) = distance.filter(|_| count > 2) {
            // Writing to a string does not fail.
            let _ = write!(text, ":{count}");
            if distance != 1 {
                let _ = write!(text, ":{distance}");
            }
            at += count - 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_a_bit_for_each_cpu() {
        assert_eq!(hexadecimal(&[0]), "1");
        assert_eq!(hexadecimal(&[0, 8]), "101");
        assert_eq!(hexadecimal(&[70, 4, 5]), "400000000000000030");
        assert_eq!(hexadecimal(&[]), "0");
    }

    #[test]
    fn places_at_equal_distances_are_an_interval() {
        let one = |cpus: &[u32]| places(&cpus.iter().map(|cpu| vec![*cpu]).collect::<Vec<_>>());
        assert_eq!(one(&[0, 1, 2, 3]), "{0}:4");
        assert_eq!(one(&[0, 2]), "{0},{2}");
        assert_eq!(one(&[0, 2, 4, 1]), "{0}:3:2,{1}");
        assert_eq!(one(&[3, 2, 1, 0]), "{3}:4:-1");
        assert_eq!(one(&[0, 1, 2, 0, 1, 2]), "{0}:3,{0}:3");
        assert_eq!(one(&[5, 5, 5]), "{5},{5},{5}");
        assert_eq!(places(&[vec![0, 8], vec![1, 9], vec![2, 10]]), "{0,8}:3");
        assert_eq!(places(&[vec![0, 1, 2, 3], vec![8, 9, 10, 11]]), "{0:4},{8:4}");
    }

    #[test]
    fn words_with_other_characters_are_quoted() {
        assert_eq!(word("cg.B"), "cg.B");
        assert_eq!(word("{0},{2}"), "'{0},{2}'");
        assert_eq!(word("a'b c"), r"'a'\''b c'");
        assert_eq!(word(""), "''");
    }
}
