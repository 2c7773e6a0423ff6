//! The machines, programming models and problem classes of a claim.

use notation::choices;

use super::text::chosen;

/// The machines of the literature that are meant where none is named.
const UNNAMED: [&str; 3] = ["tigerton", "barcelona", "nehalem"];

/// Machines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machines {
    /// Their names, never none.
    pub list: Vec<String>,
    /// None is named: these are all that are meant.
    pub unnamed: bool,
    /// The first is compared with the second.
    pub versus: bool,
}

impl Machines {
    /// Reads `tigerton,barcelona`, `tigerton vs barcelona` or `none`.
    pub(super) fn read(text: &str) -> Self {
        let commas = text.replace(" vs ", ",");
        let words = commas.split([',', '+']).map(str::trim).filter(|word| !word.is_empty());
        let mut list: Vec<String> = words.filter(|word| *word != "none").map(str::to_lowercase).collect();
        let unnamed = list.is_empty();
        if unnamed {
            list = UNNAMED.map(str::to_owned).into();
        }
        Self { list, unnamed, versus: text.contains(" vs ") }
    }
}

choices! {
    /// A programming model.
    pub enum Model {
        Upc = "upc",
        Mpi = "mpi",
        OpenMp = "openmp",
    }
}

/// How the models of a claim go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    /// Each by itself.
    Each,
    /// One against the others.
    Versus,
    /// Programs of different models run at once.
    Mixed,
    /// Each by itself, and programs of different models at once.
    EachAndMixed,
    /// The programs are sequential.
    Sequential,
    /// Nothing is said of models.
    Unstated,
    /// The words are no model.
    Unknown,
}

/// Programming models.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Models {
    /// The models in the order written; all three where none is named.
    pub list: Vec<Model>,
    /// How they go together.
    pub together: Together,
}

impl Models {
    /// Reads `upc,mpi`, `upc vs openmp`, `openmp+upc`, `upc,mpi and mixes`, `any`.
    pub(super) fn read(text: &str) -> Self {
        let mut list = chosen(text);
        let named = !list.is_empty();
        if !named {
            list = vec![Model::Upc, Model::Mpi, Model::OpenMp];
        }
        let together = match text.to_lowercase().as_str() {
            "any" | "all" | "none" | "not applicable" | "not stated" => Together::Unstated,
            "sequential" => Together::Sequential,
            text if text.contains("mix") => Together::EachAndMixed,
            text if text.contains('+') && list.len() > 1 => Together::Mixed,
            text if text.contains("vs") => Together::Versus,
            _ if named => Together::Each,
            _ => Together::Unknown,
        };
        Self { list, together }
    }
}

/// Problem classes `S`, `W`, `A`, `B` and `C`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes {
    /// Those named, one after the other: repetitions belong to programs in this order.
    pub written: Vec<char>,
    /// Letters named that are no class.
    pub unknown: Vec<char>,
    /// Nothing else is said of them.
    plain: bool,
}

impl Classes {
    /// Reads `A,B,C` or `A,B,C as named`.
    pub(super) fn read(text: &str) -> Self {
        let (mut written, mut unknown) = (Vec::new(), Vec::new());
        for word in text.split([',', ' ', '+', '/']) {
            match word.chars().next() {
                Some(class @ ('S' | 'W' | 'A' | 'B' | 'C')) if word.len() == 1 => written.push(class),
                Some(other @ 'A'..='Z') if word.len() == 1 => unknown.push(other),
                _ => {}
            }
        }
        Self { written, unknown, plain: text.split(',').all(|word| word.trim().len() == 1) }
    }

    /// Each class once; `A`, `B` and `C` where none is named.
    #[must_use]
    pub fn each(&self) -> Vec<char> {
        let mut each = Vec::new();
        for class in &self.written {
            if !each.contains(class) {
                each.push(*class);
            }
        }
        if each.is_empty() { vec!['A', 'B', 'C'] } else { each }
    }

    /// The middle one.
    #[must_use]
    pub fn middle(&self) -> Self {
        let each = self.each();
        Self { written: vec![each[each.len() / 2]], unknown: self.unknown.clone(), plain: self.plain }
    }

    /// All programs run in three or more classes.
    #[must_use]
    pub fn are_many(&self) -> bool {
        self.plain && self.each().len() >= 3
    }
}
