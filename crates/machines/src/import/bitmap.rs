//! Sets of cpus as hwloc writes them (`0x0000000f,0xffffffff`, `0xf...f`) and as Linux does (`0-3,8`).

use notation::lists;
use notation::parameter::Kind;

use super::found::MAX_CPUS;

/// A set of cpu numbers that may hold all numbers from some number on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Bitmap {
    /// Words of 32 bits, lowest first.
    words: Vec<u32>,
    /// Holds every number behind the words.
    endless: bool,
}

impl Bitmap {
    /// Reads hwloc's form: words of 32 bits in hexadecimal, highest first; an empty word is 0, and a leading
    /// `0xf...f` stands for all higher bits.
    pub(super) fn hwloc(text: &str) -> Result<Self, String> {
        let wrong = |word: &str| {
            format!("`{word}` is not a word of a cpu set; hwloc writes for example `0x00000003,0xffffffff`")
        };
        let text = text.trim();
        let (endless, rest) = match text.strip_prefix("0xf...f") {
            Some("") => return Ok(Self { words: Vec::new(), endless: true }),
            Some(rest) => (true, rest.strip_prefix(',').ok_or_else(|| wrong(rest))?),
            None => (false, text),
        };
        if rest.is_empty() {
            return Err("the cpu set is empty; hwloc writes for example `0x00000003`".into());
        }
        let word = |word: &str| match word {
            "" => Ok(0),
            _ => {
                let digits = word.strip_prefix("0x").unwrap_or(word);
                let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let value = plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten();
                value.ok_or_else(|| wrong(word))
            }
        };
        Ok(Self { words: rest.rsplit(',').map(word).collect::<Result<_, _>>()?, endless })
    }

    /// Reads Linux's form, `0-3,8`; an empty text is the empty set.
    pub(super) fn linux(text: &str) -> Result<Self, String> {
        let mut set = Self::default();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for number in lists::parse(Kind::Cpus, text.trim(), 0, MAX_CPUS as u64 - 1)? {
            let at = number as usize / 32;
            if at >= set.words.len() {
                set.words.resize(at + 1, 0);
            }
            set.words[at] |= 1 << (number % 32);
        }
        Ok(set)
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        self.words.get(number as usize / 32).map_or(self.endless, |word| word >> (number % 32) & 1 == 1)
    }

    /// Its numbers in rising order, without those of an endless rest.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(at, word): (u32, &u32)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 32 + bit)
        })
    }

    /// True when it holds no number.
    pub(super) fn is_empty(&self) -> bool {
        !self.endless && self.words.iter().all(|word| *word == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_hwloc_are_read_highest_first() {
        let numbers = |text: &str| Bitmap::hwloc(text).unwrap().numbers().collect::<Vec<_>>();
        assert_eq!(numbers("0x00000005"), [0, 2]);
        assert_eq!(numbers("0x00000001,,0x80000000"), [31, 64]);
        assert_eq!(numbers("0x0"), Vec::<u32>::new());
        let all = Bitmap::hwloc("0xf...f").unwrap();
        assert!(all.contains(7) && !all.is_empty());
        let high = Bitmap::hwloc("0xf...f,0x00000000").unwrap();
        assert!(high.contains(32) && !high.contains(31));
        for wrong in ["", "0xg", "0x1,0xfffffffff", "0xf...f0x1", "-1", "0x+1"] {
            assert!(Bitmap::hwloc(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_of_linux_are_read() {
        let set = Bitmap::linux("0-2,64\n").unwrap();
        assert_eq!(set.numbers().collect::<Vec<_>>(), [0, 1, 2, 64]);
        assert!(Bitmap::linux("\n").unwrap().is_empty());
        assert!(Bitmap::linux("0-4294967295").is_err() && Bitmap::linux("x").is_err());
    }
}
