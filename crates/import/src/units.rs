//! Numbers of other programs to values of a scenario, without rounding where the file has whole numbers.

/// The longest time that a scenario has (240 h), in ns.
pub(crate) const LONGEST: u64 = 864_000_000_000_000;

/// A time in ns as a scenario writes it, in the largest unit that needs no fraction.
pub(crate) fn span(ns: u64) -> String {
    for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if ns.is_multiple_of(size) {
            return format!("{}{unit}", ns / size);
        }
    }
    format!("{ns}ns")
}

/// A decimal number with a unit of so many ns as whole ns, rounded; none when it is no number from 0 to
/// 240 h.
pub(crate) fn ns(text: &str, unit: u64) -> Option<u64> {
    if let Ok(whole) = text.parse::<u64>() {
        return whole.checked_mul(unit).filter(|ns| *ns <= LONGEST);
    }
    let value: f64 = text.parse().ok()?;
    let ns = value * unit as f64;
    (ns.is_finite() && ns >= 0.0 && ns <= LONGEST as f64).then(|| ns.round() as u64)
}

/// An instant in seconds, such as the seconds since 1970, as whole ns; none when it is negative, no number,
/// or above 584 years.
pub(crate) fn instant(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        let seconds: f64 = text.parse().ok()?;
        let ns = seconds * 1e9;
        // Below 2^63, which a float holds.
        return (ns.is_finite() && (0.0..9.2e18).contains(&ns)).then(|| ns.round() as u64);
    }
    let ns = format!("{part:0<9}").get(..9)?.parse::<u64>().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// A list of cpus as Linux writes it (`0-3,8`), sorted; none when it is no such list or has numbers above
/// `most`.
pub(crate) fn cpus(text: &str, most: u32) -> Option<Vec<u32>> {
    let mut cpus = std::collections::BTreeSet::new();
    for part in text.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last > most {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_every_digit() {
        assert_eq!([span(0), span(1_500_000), span(2_000_000_000)], ["0s", "1500us", "2s"]);
        assert_eq!(span(1_234_567), "1234567ns");
        assert_eq!(ns("33333", 1_000), Some(33_333_000));
        assert_eq!(ns("0.25", 1_000_000_000), Some(250_000_000));
        assert_eq!(ns("1e2", 1_000_000_000), Some(100_000_000_000));
        for bad in ["-1", "x", "nan", "inf", "1e300", "18446744073709551615", ""] {
            assert_eq!(ns(bad, 1_000), None, "{bad}");
        }
    }

    #[test]
    fn instants_are_exact_and_go_beyond_the_longest_time() {
        assert_eq!(instant("1700000000"), Some(1_700_000_000_000_000_000));
        assert_eq!(instant("1700000000.25"), Some(1_700_000_000_250_000_000));
        assert_eq!([instant("1e3"), instant(".5")], [Some(1_000_000_000_000), Some(500_000_000)]);
        for bad in ["-1", "x", "nan", "1e30", "18446744073709551615", "", "1.x"] {
            assert_eq!(instant(bad), None, "{bad}");
        }
    }

    #[test]
    fn lists_of_cpus_are_those_of_linux() {
        assert_eq!(cpus("0-2,8\n", 100), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpus("", 100), Some(Vec::new()));
        for bad in ["3-1", "x", "0-4294967295", "1-2-3", "-1"] {
            assert_eq!(cpus(bad, 1000), None, "{bad}");
        }
    }
}
