//! Reads what people write to say what they want to see: instants and lists of cpus.

use notation::parameter::Kind;
use notation::{lists, units};

/// The nanoseconds of an instant written as `1.5s` or `20ms`; `0` needs no unit.
///
/// # Errors
/// A sentence that says how to write it.
pub fn instant(text: &str) -> Result<u64, String> {
    if text.trim() == "0" {
        return Ok(0);
    }
    units::parse(Kind::Duration, text)
}

/// The cpus of a list such as `0-3,8` or `0-15:4` on a machine of `count` cpus (at least 1), in the order
/// written.
///
/// # Errors
/// A sentence: no list, or a cpu that the machine does not have.
pub fn cpus(text: &str, count: u32) -> Result<Vec<u32>, String> {
    let most = u64::from(count.saturating_sub(1));
    let list = lists::parse(Kind::Cpus, text, 0, most)
        .map_err(|why| format!("{why}; the machine has the cpus 0-{most}"))?;
    Ok(list.into_iter().map(|cpu| cpu as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_a_unit() {
        assert_eq!((instant("1.5s"), instant("0")), (Ok(1_500_000_000), Ok(0)));
        assert!(instant("3").is_err() && instant("soon").is_err());
    }

    #[test]
    fn cpus_exist() {
        assert_eq!(cpus("0-2,7", 8), Ok(vec![0, 1, 2, 7]));
        assert!(cpus("8", 8).is_err() && cpus("a", 8).is_err() && cpus("", 8).is_err());
    }
}
