//! Reads what people write to say what they want to see: instants and lists of cpus.

use notation::cpus::Numbering;
use notation::lists::List;
use notation::parameter::Kind;
use notation::units;

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

/// The cpus of a list such as `0-3,8`, `0-15:4` or `linux:0-3` on a machine, in the order written, and what
/// to say of its numbers.
///
/// # Errors
/// A sentence: no list, or a cpu that the machine does not have.
pub fn cpus(text: &str, machine: &Numbering) -> Result<(Vec<u32>, Option<String>), String> {
    let mut list = List::default();
    machine.add(&mut list, text).map_err(|why| format!("{why}; {}", machine.hint()))?;
    let cpus = list.items();
    let remark = machine.remark(text, &cpus, false);
    Ok((cpus.into_iter().map(|cpu| cpu as u32).collect(), remark))
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
        let machine = Numbering { machine: "mine".into(), cpus: 8, linux: vec![0, 4, 1, 5, 2, 6, 3, 7] };
        let shown = |text| cpus(text, &machine);
        assert_eq!(shown("0-2,7").unwrap().0, [0, 1, 2, 7]);
        assert!(shown("0-2,7").unwrap().1.unwrap().contains("Linux 0,4,1,7"));
        assert_eq!(shown("linux:0-2"), Ok((vec![0, 2, 4], None)));
        assert!(shown("8").unwrap_err().contains("numbered 0 to 7"));
        assert!(shown("a").is_err() && shown("").is_err());
    }
}
