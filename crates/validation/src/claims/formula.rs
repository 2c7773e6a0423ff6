//! Formulas over measures: `mean(programs: (mean(timed{1/core}) / timed{2/core} - 1) * 100)`.

use notation::declare::Choice;
use notation::suggest::nearest;

use super::named;
use crate::lab::Function;

/// Deepest nesting.
const DEEPEST: usize = 40;

/// A formula as written.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Formula {
    Number(f64),
    /// A measure where the names say, or a number of the list's entry.
    Measure {
        what: String,
        names: Vec<String>,
    },
    /// A function of quantities, or of one for each entry of a list.
    Call {
        function: Function,
        list: Option<(String, Vec<String>)>,
        parts: Vec<Formula>,
    },
}

/// Reads a formula.
///
/// # Errors
/// What is wrong, and where in the text.
pub(super) fn read(text: &str) -> Result<Formula, String> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let formula = parser.sum()?;
    parser.skip();
    if parser.at < text.len() { Err(parser.wrong("an operator or the end")) } else { Ok(formula) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether the next sign is this one, which is then read.
    fn takes(&mut self, sign: char) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    fn needs(&mut self, sign: char) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    fn wrong(&self, wanted: &str) -> String {
        let near: String = self.rest().chars().take(12).collect();
        let near = if near.is_empty() { "the end".to_owned() } else { format!("`{near}`") };
        format!("the formula needs {wanted} at {near}")
    }

    /// Terms with signs between them.
    fn chain(
        &mut self,
        signs: [(char, Function); 2],
        next: fn(&mut Self) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        let mut left = next(self)?;
        while let Some((_, function)) = signs.into_iter().find(|(sign, _)| self.takes(*sign)) {
            let parts = vec![left, next(self)?];
            left = Formula::Call { function, list: None, parts };
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Formula, String> {
        self.chain([('+', Function::Add), ('-', Function::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Formula, String> {
        self.chain([('*', Function::Multiply), ('/', Function::Divide)], Self::atom)
    }

    fn atom(&mut self) -> Result<Formula, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the formula is nested more than {DEEPEST} deep"));
        }
        let atom = if self.takes('(') {
            let inner = self.sum()?;
            self.needs(')')?;
            inner
        } else {
            self.number_or_name()?
        };
        self.depth -= 1;
        Ok(atom)
    }

    /// The longest beginning of such characters.
    fn word(&mut self, fits: fn(char) -> bool) -> String {
        self.skip();
        let word: String = self.rest().chars().take_while(|c| fits(*c)).collect();
        self.at += word.len();
        word
    }

    fn number_or_name(&mut self) -> Result<Formula, String> {
        let digits = self.word(|c| c.is_ascii_digit() || c == '.');
        if !digits.is_empty() {
            return digits.parse().map(Formula::Number).map_err(|_| format!("`{digits}` is no number"));
        }
        let what = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if what.is_empty() {
            return Err(self.wrong("a measure, a number or `(`"));
        }
        if !self.takes('(') {
            return Ok(Formula::Measure { what, names: self.names()? });
        }
        let Some(function) = named::<Function>(&what) else {
            let hint = nearest(&what, Function::WORDS.iter().copied());
            let hint = hint.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("no function is called `{what}`{hint}"));
        };
        let list = self.list()?;
        let mut parts = vec![self.sum()?];
        while self.takes(',') {
            parts.push(self.sum()?);
        }
        self.needs(')')?;
        Ok(Formula::Call { function, list, parts })
    }

    /// `name:` or `name{names}:`, if a list stands here.
    fn list(&mut self) -> Result<Option<(String, Vec<String>)>, String> {
        let start = self.at;
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        let names = self.names()?;
        if !name.is_empty() && self.takes(':') {
            return Ok(Some((name, names)));
        }
        self.at = start;
        Ok(None)
    }

    /// `{names}`, if there are any.
    fn names(&mut self) -> Result<Vec<String>, String> {
        if !self.takes('{') {
            return Ok(Vec::new());
        }
        let Some((inside, _)) = self.rest().split_once('}') else { return Err(self.wrong("`}`")) };
        let names = split(inside, ",");
        self.at += inside.len() + 1;
        Ok(names)
    }
}

/// The parts of a text between separators, without spaces around them and without empty ones.
pub(super) fn split(text: &str, separator: &str) -> Vec<String> {
    text.split(separator).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_bind_as_usual() {
        let one = read("1 - 2 * timed{a, b} / 3 - 4").unwrap();
        assert_eq!(one, read("((1 - ((2 * timed{a,b}) / 3)) - 4)").unwrap());
        assert_ne!(one, read("1 - (2 * timed{a, b} / 3 - 4)").unwrap());
        let Formula::Call { function: Function::Mean, list, .. } = read("mean(places{x}: timed)").unwrap()
        else {
            panic!()
        };
        assert_eq!(list, Some(("places".into(), vec!["x".into()])));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("", "a measure, a number or `(` at the end"),
            ("timed + ", "at the end"),
            ("(timed", "needs `)`"),
            ("timed{a", "needs `}`"),
            ("timed timed", "an operator or the end"),
            ("maen(timed)", "did you mean `mean`"),
            ("1.2.3", "is no number"),
            (&"(".repeat(99), "deep"),
            ("é", "a measure"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
