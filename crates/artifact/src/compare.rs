//! Where two files differ, in sentences.

use experiment::neutral;
use sweep::row::Row;

/// Characters of a line that a sentence shows.
const SHOWN: usize = 90;
/// Differing values of a run that a sentence names.
const VALUES: usize = 3;

/// Where a packed file differs from the one that came out again, if it does.
pub(crate) fn bytes_differ(file: &str, packed: &[u8], again: &[u8]) -> Option<String> {
    if packed == again {
        return None;
    }
    let same = packed.iter().zip(again).take_while(|(a, b)| a == b).count();
    let (Ok(a), Ok(b)) = (std::str::from_utf8(packed), std::str::from_utf8(again)) else {
        return Some(format!(
            "{file} differs from byte {} on ({} bytes packed, {} again)",
            same + 1,
            packed.len(),
            again.len()
        ));
    };
    let lines = a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count();
    let line = |text: &str| text.lines().nth(lines).map_or_else(|| "the end".to_owned(), excerpt);
    Some(format!("{file} differs in line {}: packed {}, again {}", lines + 1, line(a), line(b)))
}

/// The beginning of a line, for a sentence.
fn excerpt(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(SHOWN).collect();
    let more = if short.len() < line.len() { "..." } else { "" };
    format!("`{}{more}`", neutral::line(&short))
}

/// How two lines of a sweep's merged file differ.
pub(crate) fn lines_differ(number: usize, packed: Option<&str>, again: Option<&str>) -> String {
    let (Some(packed), Some(again)) = (packed, again) else {
        let who = if packed.is_none() { "is not packed" } else { "does not come out again" };
        return format!("line {number} {who}");
    };
    let (Ok(a), Ok(b)) = (Row::read(packed), Row::read(again)) else {
        return format!("line {number}: packed {}, again {}", excerpt(packed), excerpt(again));
    };
    let run = format!("run {} (configuration {}, {}, seed {})", b.run, b.configuration, b.policy, b.seed);
    let mut what = Vec::new();
    let mut note = |name: String, packed: String, again: String| {
        if packed != again {
            what.push(format!("{name} is {packed}, and again {again}"));
        }
    };
    note("its number".into(), a.run.to_string(), b.run.to_string());
    note("its outcome".into(), a.outcome.clone(), b.outcome.clone());
    note("its digest".into(), a.digest.clone(), b.digest.clone());
    let number = |value: Option<&f64>| value.map_or("none".to_owned(), ToString::to_string);
    for (app, values) in &b.values {
        for (metric, value) in values {
            let there = a.values.get(app).and_then(|values| values.get(metric));
            note(format!("{metric} of {app}"), number(there), number(Some(value)));
        }
    }
    match what.len() {
        0 => format!("{run}: packed {}, again {}", excerpt(packed), excerpt(again)),
        more if more > VALUES => format!("{run}: {}, and {} more", what[..VALUES].join("; "), more - VALUES),
        _ => format!("{run}: {}", what.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(bytes_differ("a", b"x\ny\n", b"x\ny\n"), None);
        assert_eq!(
            bytes_differ("a.csv", b"x\ny\n", b"x\nz\n").unwrap(),
            "a.csv differs in line 2: packed `y`, again `z`"
        );
        assert_eq!(
            bytes_differ("a.csv", b"x\n", b"x\nz\n").unwrap(),
            "a.csv differs in line 2: packed the end, again `z`"
        );
        assert!(bytes_differ("a.png", b"\xff\x01", b"\xff\x02").unwrap().contains("from byte 2 on"));
    }
}
