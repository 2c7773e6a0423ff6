//! The programs of SPEC OMP 2001: their numbers and their names.

/// A program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its number in the suite.
    pub number: u32,
    /// Its name in scenarios.
    pub name: &'static str,
}

impl Program {
    /// Number and name, as in `312.swim`.
    #[must_use]
    pub fn label(self) -> String {
        format!("{}.{}", self.number, self.name)
    }
}

/// All eleven, by number.
pub const PROGRAMS: [Program; 11] = [
    Program { number: 310, name: "wupwise" },
    Program { number: 312, name: "swim" },
    Program { number: 314, name: "mgrid" },
    Program { number: 316, name: "applu" },
    Program { number: 318, name: "galgel" },
    Program { number: 320, name: "equake" },
    Program { number: 324, name: "apsi" },
    Program { number: 326, name: "gafort" },
    Program { number: 328, name: "fma3d" },
    Program { number: 330, name: "art" },
    Program { number: 332, name: "ammp" },
];

/// The programs named in a text, by number, by name or as `312.swim`, in the order written, each once.
pub(super) fn read(text: &str) -> Vec<Program> {
    let mut found: Vec<Program> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        let program = PROGRAMS.iter().find(|p| p.name == word || p.number.to_string() == word);
        if let Some(program) = program.filter(|p| !found.contains(p)) {
            found.push(*program);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_number() {
        let names = |text| read(text).into_iter().map(|p| p.name).collect::<Vec<_>>();
        assert_eq!(names("326.gafort + 312.swim"), ["gafort", "swim"]);
        assert_eq!(names("queue order: 332, 316"), ["ammp", "applu"]);
        assert!(names("11 SpecOMP benchmarks").is_empty());
    }
}
