//! Values as people write them: `100ms`, `2MiB`, `4.5GB/s`, `15%`, `1.3`. Everything is held in whole
//! numbers; a bare number where a unit is due is an error that shows how to write it.

use std::str::FromStr;

use bytesize::ByteSize;

use crate::parameter::Kind;

/// Decimals of a size that count: their product with the largest unit, 2^60 bytes, fits into 128 bits.
const FRACTION: usize = 18;

/// The number a text stands for, in the unit of its kind (see [`Kind`]).
///
/// # Errors
/// A sentence that says what is wrong and how to write it.
pub fn parse(kind: Kind, text: &str) -> Result<u64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("a value is missing; {}", expected(kind)));
    }
    match kind {
        Kind::Duration => duration(text),
        Kind::Size => size(text),
        Kind::Rate => rate(text),
        Kind::Count => count(text),
        Kind::Signed => text.parse().map(Kind::signed).map_err(|_| refuse(kind, text)),
        Kind::Factor => factor(text),
        Kind::Percent => percent(text),
        Kind::Choice(words) => choice(words, text),
        Kind::Flag => match text {
            "true" => Ok(1),
            "false" => Ok(0),
            _ => Err(refuse(kind, text)),
        },
        Kind::Cpus | Kind::Counts => Err(refuse(kind, text)),
        Kind::PerApp(kind) => parse(*kind, text),
    }
}

/// How a value of this kind is written, as the end of a sentence.
#[must_use]
pub fn expected(kind: Kind) -> String {
    match kind {
        Kind::Duration => "write a duration with its unit, as `100ms`, `5us` or `infinite`".into(),
        Kind::Size => "write a size with its unit, as `2MiB` or `64kB`".into(),
        Kind::Rate => "write a rate with its unit, as `4.5GB/s`".into(),
        Kind::Count => "write a whole number, as `16`".into(),
        Kind::Signed => "write a whole number, as `16` or `-1`".into(),
        Kind::Factor => "write a number with at most 3 decimals, as `1.3`, or a percentage, as `62%`".into(),
        Kind::Percent => "write a percentage, as `15%`".into(),
        Kind::Choice(words) => format!("write one of {}", listed(words)),
        Kind::Flag => "write `true` or `false`".into(),
        Kind::Cpus => {
            "write a list of cpus as `0-3,8`, `0-15:4` or `[0, 2, 4]`, or in Linux's numbers as `linux:0-3`"
                .into()
        }
        Kind::Counts => "write a list of whole numbers as `[12, 4]`".into(),
        Kind::PerApp(kind) => expected(*kind),
    }
}

/// A regular expression that every legal text of the kind matches (for the JSON Schema); `None` where the
/// JSON type suffices.
#[must_use]
pub const fn pattern(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Duration => Some(r"^(infinite|(\s*[0-9]+(\.[0-9]+)?\s*[A-Za-zµ]+)+)$"),
        Kind::Size => Some(r"^([0-9]+\.?[0-9]*|\.[0-9]+)\s*([bB]|[kKmMgGtTpPeE][iI]?[bB]?)$"),
        Kind::Rate => Some(r"^([0-9]+\.?[0-9]*|\.[0-9]+)\s*([bB]|[kKmMgGtTpPeE][iI]?[bB]?)\s*/s$"),
        Kind::Percent => Some(r"^[0-9]+(\.[0-9]{1,2}0*)?\s*%$"),
        // A number has its own type; this is the percentage that may replace it.
        Kind::Factor => Some(r"^[0-9]+(\.[0-9]0*)?\s*%$"),
        Kind::Cpus => {
            Some(r"^\s*(linux:)?\s*[0-9]+(-[0-9]+(:[0-9]+)?)?(\s*,\s*[0-9]+(-[0-9]+(:[0-9]+)?)?)*\s*$")
        }
        Kind::Counts => Some(r"^\s*[0-9]+(\s*,\s*[0-9]+)*\s*$"),
        Kind::Count | Kind::Signed | Kind::Choice(_) | Kind::Flag => None,
        Kind::PerApp(kind) => pattern(*kind),
    }
}

/// `a`, `b` or `c`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

fn refuse(kind: Kind, text: &str) -> String {
    format!("`{text}` is not understood; {}", expected(kind))
}

/// True for a number without unit.
fn is_bare(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_'))
}

/// What to say to a bare number: the same number with a unit.
fn no_unit(what: &str, text: &str, example: &str) -> String {
    format!("a {what} needs a unit: write `{text}{example}`, for instance")
}

fn duration(text: &str) -> Result<u64, String> {
    if text == "infinite" {
        return Ok(u64::MAX);
    }
    if is_bare(text) {
        return Err(no_unit("duration", text, "ms"));
    }
    // The library reads `1 5ms` as `15ms`.
    let number = |part: Option<&str>| part.is_some_and(is_bare);
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.windows(2).any(|pair| number(pair[0].get(pair[0].len() - 1..)) && number(pair[1].get(..1))) {
        return Err(refuse(Kind::Duration, text));
    }
    let duration = humantime::parse_duration(text).map_err(|_| refuse(Kind::Duration, text))?;
    // `u64::MAX` itself means "infinite".
    u64::try_from(duration.as_nanos())
        .ok()
        .filter(|ns| *ns != u64::MAX)
        .ok_or_else(|| format!("`{text}` is too long; the longest duration is 584 years, or `infinite`"))
}

fn size(text: &str) -> Result<u64, String> {
    if is_bare(text) {
        return Err(no_unit("size", text, "MiB"));
    }
    // The library knows units and forms; its arithmetic is that of floating-point numbers.
    let refused = |_| refuse(Kind::Size, text);
    ByteSize::from_str(text).map_err(refused)?;
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bytes = ByteSize::from_str(&format!("1{unit}")).map_err(refused)?.as_u64();
    let number = &text[..text.len() - unit.len()];
    scaled(number, bytes).filter(|size| *size != u64::MAX).ok_or_else(|| format!("`{text}` is too large"))
}

/// A decimal number times a unit, rounded down; `None` when it is too large.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(FRACTION)];
    let digits: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let part = digits * u128::from(unit) / 10_u128.pow(fraction.len() as u32);
    whole.checked_mul(unit)?.checked_add(u64::try_from(part).ok()?)
}

fn rate(text: &str) -> Result<u64, String> {
    if is_bare(text) {
        return Err(no_unit("rate", text, "GB/s"));
    }
    let Some(amount) = text.strip_suffix("/s") else {
        return Err(refuse(Kind::Rate, text));
    };
    if is_bare(amount.trim()) {
        return Err(refuse(Kind::Rate, text));
    }
    size(amount.trim_end()).map_err(|_| refuse(Kind::Rate, text))
}

fn count(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.chars().all(|c| c.is_ascii_digit()) {
        digits.parse().map_err(|_| format!("`{text}` is too large"))
    } else {
        Err(refuse(Kind::Count, text))
    }
}

/// A plain number, or a percentage of 1.
fn factor(text: &str) -> Result<u64, String> {
    let read = match text.strip_suffix('%') {
        // One per cent is ten thousandths.
        Some(number) => decimal(number.trim_end(), 1),
        None => decimal(text, 3),
    };
    read.ok_or_else(|| refuse(Kind::Factor, text))
}

fn percent(text: &str) -> Result<u64, String> {
    if is_bare(text) {
        return Err(no_unit("percentage", text, "%"));
    }
    let number = text.strip_suffix('%').ok_or_else(|| refuse(Kind::Percent, text))?;
    decimal(number.trim_end(), 2).ok_or_else(|| refuse(Kind::Percent, text))
}

fn choice(words: &[&str], text: &str) -> Result<u64, String> {
    if let Some(at) = words.iter().position(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(at as u64);
    }
    let near = crate::suggest::nearest(text, words.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(format!("`{text}` is not one of {}{hint}", listed(words)))
}

/// A non-negative decimal number times 10^`places`; `None` when it has more decimals or does not fit.
fn decimal(text: &str, places: u32) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = if fraction.len() > 1 { fraction.trim_end_matches('0') } else { fraction };
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > places as usize {
        return None;
    }
    if text.ends_with('.') {
        return None;
    }
    let missing = places - fraction.len() as u32;
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(10u64.pow(places))?.checked_add(fraction * 10u64.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[&str] = &["default", "posix"];

    #[test]
    fn values_with_units_become_whole_numbers() {
        for (kind, text, value) in [
            (Kind::Duration, "100ms", 100_000_000),
            (Kind::Duration, "1.5 us", 1_500),
            (Kind::Duration, "1min 30s", 90_000_000_000),
            (Kind::Duration, "1 min 30 s", 90_000_000_000),
            (Kind::Duration, "0s", 0),
            (Kind::Duration, "infinite", u64::MAX),
            (Kind::Size, "2MiB", 2 << 20),
            (Kind::Size, "64 kB", 64_000),
            (Kind::Size, "16B", 16),
            (Kind::Size, "1.5B", 1),
            (Kind::Size, ".5k", 500),
            (Kind::Size, "2. KiB", 2_048),
            (Kind::Size, "1953125000009765.625KiB", 2_000_000_000_010_000_000),
            (Kind::Size, "15.999999999999999999999EiB", 18_446_744_073_709_551_614),
            (Kind::Rate, "4.035GB/s", 4_035_000_000),
            (Kind::Rate, "4.5GB/s", 4_500_000_000),
            (Kind::Rate, "200 MB/s", 200_000_000),
            (Kind::Rate, "0B/s", 0),
            (Kind::Count, "4096", 4_096),
            (Kind::Factor, "1.3", 1_300),
            (Kind::Factor, "0.0010", 1),
            (Kind::Factor, "2", 2_000),
            (Kind::Factor, "62%", 620),
            (Kind::Factor, "62.5 %", 625),
            (Kind::Factor, "150%", 1_500),
            (Kind::Percent, "15%", 1_500),
            (Kind::Percent, "0.25 %", 25),
            (Kind::Choice(WORDS), "posix", 1),
            (Kind::Flag, "true", 1),
        ] {
            assert_eq!(parse(kind, text), Ok(value), "{kind:?} {text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        for (kind, value) in [
            (Kind::Duration, 1_234_567),
            (Kind::Duration, u64::MAX),
            (Kind::Duration, 0),
            (Kind::Size, (2 << 20) + 1),
            (Kind::Size, 115_292_150_460_684_697),
            (Kind::Duration, u64::MAX - 1),
            (Kind::Rate, 4_512_345_678),
            (Kind::Factor, 1_305),
            (Kind::Percent, 1_505),
        ] {
            assert_eq!(parse(kind, &kind.show(value)), Ok(value), "{}", kind.show(value));
        }
    }

    #[test]
    fn a_bare_number_is_answered_with_its_unit() {
        assert_eq!(
            parse(Kind::Duration, "100").unwrap_err(),
            "a duration needs a unit: write `100ms`, for instance"
        );
        assert!(parse(Kind::Size, "64").unwrap_err().contains("`64MiB`"));
        assert!(parse(Kind::Rate, "4.5").unwrap_err().contains("`4.5GB/s`"));
        assert!(parse(Kind::Percent, "15").unwrap_err().contains("`15%`"));
        assert!(parse(Kind::Duration, "0").is_err());
    }

    #[test]
    fn nonsense_and_overflow_are_errors() {
        for (kind, text) in [
            (Kind::Duration, "soon"),
            (Kind::Duration, "-5ms"),
            (Kind::Duration, "1 5ms"),
            (Kind::Duration, "1. 5ms"),
            (Kind::Duration, "1000000years"),
            (Kind::Duration, ""),
            (Kind::Size, "99999999999EB"),
            (Kind::Size, "16EiB"),
            (Kind::Size, "1.2.3MB"),
            (Kind::Size, ".MB"),
            (Kind::Size, "1ü"),
            (Kind::Size, "1 parsec"),
            (Kind::Rate, "4.5GB"),
            (Kind::Rate, "4.5/s"),
            (Kind::Count, "1.5"),
            (Kind::Count, "-1"),
            (Kind::Count, "99999999999999999999999"),
            (Kind::Factor, "1.2345"),
            (Kind::Factor, "-1.0"),
            (Kind::Factor, "1."),
            (Kind::Factor, "99999999999999999999"),
            (Kind::Factor, "62.55%"),
            (Kind::Factor, "%"),
            (Kind::Factor, "99999999999999999999%"),
            (Kind::Percent, "%"),
            (Kind::Choice(WORDS), "never"),
            (Kind::Flag, "yes"),
        ] {
            assert!(parse(kind, text).is_err(), "{kind:?} `{text}`");
        }
    }

    #[test]
    fn a_wrong_word_is_answered_with_the_nearest() {
        let message = parse(Kind::Choice(WORDS), "posiks").unwrap_err();
        assert_eq!(message, "`posiks` is not one of `default` or `posix`; did you mean `posix`?");
    }
}
