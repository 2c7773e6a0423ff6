//! The parser: words to a tree of statements.

use std::collections::BTreeMap;

use notation::diagnostics::Place;
use notation::parameter::Kind;
use notation::reader::Reader;
use notation::suggest::nearest;
use notation::yaml::Node;
use sim_core::ids::CpuId;
use sim_core::limits::MAX_CPUS;
use sim_core::machine::CpuSet;
use sim_core::program::Scheduling;
use sim_core::time::Span;

use super::collectives::COLLECTIVES;
use super::statements::{BY, STATEMENTS};
use super::tree::{Action, Block, Data, Length, Name, Run, Statement, Vary};
use super::words::{Token, What, tokens};

/// Deepest nesting of blocks: well above that of the loops of programs.
const DEEPEST: usize = 32;

/// Longest length of a statement, 240 hours.
pub(super) const LONGEST: u64 = 864_000_000_000_000;

/// Largest count of units, passes or tasks in a statement.
const MOST: u64 = 1 << 30;

/// Largest message, in bytes.
const MOST_BYTES: u64 = 1 << 40;

/// Longest name.
const LONGEST_NAME: usize = 64;

/// Reads the statements of a node, which is a text or a list; `source` is the text of the file that holds it,
/// for the places in errors. Words that begin with `$` stand for one of `values`.
///
/// What is wrong goes to the reader; then there is no program.
pub fn parse<C>(
    reader: &mut Reader<C>,
    node: &Node,
    source: &str,
    values: &BTreeMap<String, String>,
) -> Option<Block> {
    let tokens = tokens(reader, node, source)?;
    let mut parser = Parser { reader, tokens: &tokens, at: 0, values, wrong: false, whole: node.place };
    let block = parser.block(0);
    (!parser.wrong).then_some(block)
}

/// Reads work as it stands behind `run`: a length, with a memory profile if it names one.
///
/// What is wrong goes to the reader; then there is none.
pub fn run<C>(
    reader: &mut Reader<C>,
    node: &Node,
    source: &str,
    values: &BTreeMap<String, String>,
) -> Option<Run> {
    reader.text(node, "the work of a job")?;
    let tokens = tokens(reader, node, source)?;
    let mut parser = Parser { reader, tokens: &tokens, at: 0, values, wrong: false, whole: node.place };
    let form = "run: SPAN [VARIATION] [with PROFILE]";
    let (length, profile) = parser.run(form)?;
    let rest = parser.tokens.get(parser.at..).unwrap_or_default();
    if let Some(more) = rest.iter().find(|token| token.what != What::End) {
        parser.refuse(more.place, "this does not belong here", format!("write `{form}`"));
        return None;
    }
    Some(Run { length, profile, place: node.place })
}

/// True for a name of objects: letters, digits, `_` and `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(legal)
}

struct Parser<'a, C> {
    reader: &'a mut Reader<C>,
    tokens: &'a [Token],
    at: usize,
    values: &'a BTreeMap<String, String>,
    wrong: bool,
    whole: Place,
}

impl<C> Parser<'_, C> {
    /// Statements up to the brace that closes them, or to the end.
    fn block(&mut self, depth: usize) -> Block {
        let mut block = Vec::new();
        while let Some(token) = self.tokens.get(self.at) {
            match &token.what {
                What::End => self.at += 1,
                What::Close if depth > 0 => return block,
                What::Close => {
                    self.refuse(token.place, "a `}` without its `{`", "");
                    self.at += 1;
                }
                What::Open => {
                    self.refuse(token.place, "a block without a statement before it", "write `repeat 3 {`");
                    self.skip();
                }
                What::Word(_) => match self.statement(depth) {
                    Some((action, by)) => block.push(Statement { action, place: token.place, by }),
                    None => self.skip(),
                },
            }
        }
        if depth > 0 {
            let place = self.tokens.last().map_or(self.whole, |token| token.place);
            self.refuse(place, "a `{` is not closed", "add `}`");
        }
        block
    }

    fn refuse(&mut self, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        // One missing brace is one error.
        if !self.wrong || self.at < self.tokens.len() {
            self.reader.wrong_with_hint(place, message, hint);
        }
        self.wrong = true;
    }

    /// Goes to the end of a statement that cannot be read.
    fn skip(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token.what {
                What::End if depth == 0 => return,
                What::Open => depth += 1,
                What::Close if depth == 0 => return,
                What::Close => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// The next word of the statement, if there is one.
    fn peek(&self) -> Option<(&str, Place)> {
        match self.tokens.get(self.at) {
            Some(Token { what: What::Word(word), place }) => Some((word, *place)),
            _ => None,
        }
    }

    /// Passes over the next word if it is this one.
    fn accept(&mut self, wanted: &str) -> bool {
        let found = self.peek().is_some_and(|(word, _)| word == wanted);
        self.at += usize::from(found);
        found
    }

    /// The place behind what was read.
    fn here(&self) -> Place {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(self.whole, |token| token.place)
    }

    /// The next word, values put in.
    fn word(&mut self, what: &str, form: &str) -> Option<(String, Place)> {
        let Some((word, place)) = self.peek().map(|(word, place)| (word.to_owned(), place)) else {
            let place = self.here();
            self.refuse(place, format!("{what} is missing"), format!("write `{form}`"));
            return None;
        };
        self.at += 1;
        let Some(name) = word.strip_prefix('$') else { return Some((word, place)) };
        if let Some(value) = self.values.get(name) {
            return Some((value.clone(), place));
        }
        let hint = match nearest(name, self.values.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("add `values: {{ {name}: ... }}` to the program"),
        };
        self.refuse(place, format!("no value is called `{name}`"), hint);
        None
    }

    fn name(&mut self, what: &str, form: &str) -> Option<Name> {
        let (text, place) = self.word(what, form)?;
        if is_name(&text) {
            return Some(Name { text, place });
        }
        self.refuse(place, format!("`{text}` is not a name"), "use letters, digits, `_` and `-`");
        None
    }

    /// A value of a kind, by the rules of values in scenarios.
    fn value(&mut self, (what, form): (&str, &str), kind: Kind, range: (u64, u64)) -> Option<u64> {
        let (text, place) = self.word(what, form)?;
        let value = self.reader.value(&Node::scalar(place, &text), what, kind, range.0, range.1);
        self.wrong |= value.is_none();
        value
    }

    /// A count if there is one, else 1.
    fn count(&mut self, form: &str) -> Option<u32> {
        if self.peek().is_none_or(|(word, _)| word == BY.word) {
            return Some(1);
        }
        self.value(("the count", form), Kind::Count, (1, MOST)).map(|count| count as u32)
    }

    fn span(&mut self, what: &str, form: &str, least: u64) -> Option<Span> {
        self.value((what, form), Kind::Duration, (least, LONGEST)).map(Span::from_ns)
    }

    /// A length with its variation.
    fn length(&mut self, form: &str, least: u64) -> Option<Length> {
        if self.accept("table") {
            return self.name("the name of a table", form).map(Length::Table);
        }
        let mean = self.span("the length", form, least)?;
        let vary = match self.peek().map(|(word, _)| word) {
            Some("uniform") => {
                self.at += 1;
                Vary::Uniform(self.value(("the half-width", "uniform 10%"), Kind::Percent, (0, 10_000))?)
            }
            Some("lognormal") => {
                self.at += 1;
                let range = (1, 100_000);
                Vary::Lognormal(self.value(
                    ("the standard deviation", "lognormal 50%"),
                    Kind::Percent,
                    range,
                )?)
            }
            Some("exponential") => {
                self.at += 1;
                Vary::Exponential
            }
            _ => Vary::Fixed,
        };
        Some(Length::Mean(mean, vary))
    }

    /// A length of work, and its memory profile.
    fn run(&mut self, form: &str) -> Option<(Length, Option<Name>)> {
        let length = self.length(form, 0)?;
        let profile = self.accept("with").then(|| self.name("the name of a profile", form));
        Some((length, transposed(profile)?))
    }

    /// A block in braces.
    fn braces(&mut self, depth: usize, form: &str) -> Option<Block> {
        let open = self.tokens.get(self.at);
        let Some(Token { what: What::Open, place }) = open else {
            let place = self.here();
            self.refuse(place, "a block in braces is missing", format!("write `{form}`"));
            return None;
        };
        if depth >= DEEPEST {
            self.refuse(*place, format!("blocks nest at most {DEEPEST} deep"), "");
            return None;
        }
        self.at += 1;
        let block = self.block(depth + 1);
        // Behind the brace that closes it, if there is one.
        self.at += 1;
        self.at = self.at.min(self.tokens.len());
        Some(block)
    }

    /// A statement up to its end.
    fn statement(&mut self, depth: usize) -> Option<(Action, Option<Name>)> {
        let (word, place) = self.word("a statement", "run 5ms")?;
        let Some(form) = STATEMENTS.iter().find(|statement| statement.word == word) else {
            let near = nearest(&word, STATEMENTS.iter().map(|statement| statement.word));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "statements begin with `run`, `sleep`, `lock`, `receive`, `repeat` and the like".into()
                }
            };
            self.refuse(place, format!("unknown statement `{word}`"), hint);
            return None;
        };
        let action = self.action(&word, form.form, depth)?;
        let by = self.accept(BY.word).then(|| self.name("the name of a runtime", BY.form));
        let by = transposed(by)?;
        match self.tokens.get(self.at) {
            None | Some(Token { what: What::End | What::Close, .. }) => Some((action, by)),
            Some(token) => {
                let what = match &token.what {
                    What::Word(word) => format!("`{word}` does not belong here"),
                    _ => "a block does not belong here".to_owned(),
                };
                let hint =
                    format!("write `{}`; a new statement begins on a new line or behind `;`", form.form);
                self.refuse(token.place, what, hint);
                None
            }
        }
    }

    fn action(&mut self, word: &str, form: &str, depth: usize) -> Option<Action> {
        Some(match word {
            "run" => {
                let (length, profile) = self.run(form)?;
                Action::Run(length, profile)
            }
            "sleep" => Action::Sleep(self.length(form, 0)?),
            "until" => self.until(form)?,
            "io" => Action::Io(self.name("the name of a device", form)?, self.length(form, 1)?),
            "repeat" | "share" => {
                let passes = self.value(("the number of passes", form), Kind::Count, (1, MOST))? as u32;
                let block = self.braces(depth, form)?;
                if word == "share" { Action::Share(passes, block) } else { Action::Repeat(passes, block) }
            }
            "forever" => Action::Forever(self.braces(depth, form)?),
            "parallel" => Action::Parallel(self.braces(depth, form)?),
            "choose" => Action::Choose(self.cases(depth, form)?),
            "nice" => Action::Nice(self.nice(form)?),
            "cpus" => Action::Cpus(self.cpus(form)?),
            "scheduling" => Action::Scheduling(self.scheduling()?),
            "barrier" => {
                let named = self.peek().is_some_and(|(word, _)| word != BY.word);
                let name = named.then(|| self.name("the name of a barrier", form));
                Action::Barrier(transposed(name)?)
            }
            "exchange" => {
                let shift = self.value(("the distance", form), Kind::Count, (1, MOST))? as u32;
                Action::Exchange(shift, self.data(form)?)
            }
            "start" => {
                if !self.accept("clock") {
                    let place = self.here();
                    self.refuse(place, "`start` starts the clock", "write `start clock`");
                    return None;
                }
                Action::StartClock
            }
            "yield" => Action::Yield,
            "done" => Action::Done,
            _ => match COLLECTIVES.iter().find(|(known, _)| *known == word) {
                Some((_, collective)) => Action::Collective(*collective, self.data(form)?),
                None => return self.named(word, form),
            },
        })
    }

    /// What a message carries, if anything.
    fn data(&mut self, form: &str) -> Option<Data> {
        let sized = self.peek().is_some_and(|(word, _)| word != BY.word && word != "with");
        let bytes = if sized { self.value(("the size", form), Kind::Size, (0, MOST_BYTES))? } else { 0 };
        let profile = self.accept("with").then(|| self.name("the name of a profile", form));
        Some(Data { bytes, profile: transposed(profile)? })
    }

    /// A statement about an object.
    fn named(&mut self, word: &str, form: &str) -> Option<Action> {
        let what = match word {
            "lock" | "unlock" => "the name of a lock",
            "wait" | "signal" | "broadcast" => "the name of a condition",
            "acquire" | "release" => "the name of a semaphore",
            "send" | "receive" => "the name of a queue",
            "call" => "the name of a section",
            "work" => "the name of a graph",
            _ => "the name of a kind",
        };
        let name = self.name(what, form)?;
        Some(match word {
            "lock" => Action::Lock(name),
            "unlock" => Action::Unlock(name),
            "wait" => {
                self.accept("with");
                Action::Wait(name, self.name("the name of the lock", form)?)
            }
            "signal" => Action::Signal(name, self.count(form)?),
            "broadcast" => Action::Broadcast(name),
            "acquire" => Action::Acquire(name, self.count(form)?),
            "release" => Action::Release(name, self.count(form)?),
            "send" => Action::Send(name),
            "receive" => Action::Receive(name),
            "fork" => Action::Fork(name, self.count(form)?),
            "join" => Action::Join(name, self.count(form)?),
            "call" => Action::Call(name),
            "work" => Action::Work(name),
            _ => return None,
        })
    }

    fn until(&mut self, form: &str) -> Option<Action> {
        let period = self.span("the period", form, 1)?;
        let (mut first, mut clock, mut skips) = (None, None, false);
        while let Some((word, place)) = self.peek().map(|(word, place)| (word.to_owned(), place)) {
            let again = match word.as_str() {
                "from" => first.is_some(),
                "clock" => clock.is_some(),
                "skip" => skips,
                _ => break,
            };
            if again {
                self.refuse(place, format!("`{word}` stands here already"), format!("write `{form}`"));
                return None;
            }
            self.at += 1;
            match word.as_str() {
                "from" => first = Some(self.span("the first instant", form, 0)?),
                "clock" => clock = Some(self.name("the name of a clock", form)?),
                _ => skips = true,
            }
        }
        Some(Action::Until { period, first: first.unwrap_or(Span::ZERO), clock, skips })
    }

    /// The cases of `choose`. After an error it goes behind the brace that closes them.
    fn cases(&mut self, depth: usize, form: &str) -> Option<Vec<(u64, Block)>> {
        let open = self.at;
        let cases = self.each_case(depth, form);
        if cases.is_none() && matches!(self.tokens.get(open), Some(Token { what: What::Open, .. })) {
            self.at = self.closing(open);
        }
        cases
    }

    /// The position behind the brace that closes the one at a position.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.what {
                What::Open => depth += 1,
                What::Close if depth == 1 => return at + 1,
                What::Close => depth -= 1,
                What::Word(_) | What::End => {}
            }
        }
        self.tokens.len()
    }

    fn each_case(&mut self, depth: usize, form: &str) -> Option<Vec<(u64, Block)>> {
        let Some(Token { what: What::Open, place }) = self.tokens.get(self.at) else {
            let place = self.here();
            self.refuse(place, "a block in braces is missing", format!("write `{form}`"));
            return None;
        };
        self.at += 1;
        let mut cases = Vec::new();
        loop {
            match self.tokens.get(self.at).map(|token| &token.what) {
                Some(What::End) => self.at += 1,
                Some(What::Close) => break,
                Some(What::Word(_)) => {
                    let share = self.value(("the probability", form), Kind::Percent, (1, 10_000))?;
                    cases.push((share, self.braces(depth + 1, form)?));
                }
                _ => {
                    let at = self.here();
                    self.refuse(at, "`choose` has probabilities with blocks", format!("write `{form}`"));
                    return None;
                }
            }
        }
        self.at += 1;
        let sum: u64 = cases.iter().map(|(share, _)| share).sum();
        if sum > 10_000 || cases.is_empty() {
            let sum = Kind::Percent.show(sum);
            self.refuse(
                *place,
                format!("the probabilities are {sum} together"),
                "at most 100% can be chosen",
            );
            return None;
        }
        Some(cases)
    }

    fn nice(&mut self, form: &str) -> Option<i8> {
        let (text, place) = self.word("the nice value", form)?;
        let nice = text.parse().ok().filter(|nice: &i8| (-20..=19).contains(nice));
        if nice.is_none() {
            self.refuse(place, "`nice` takes a whole number between -20 and 19", "");
        }
        nice
    }

    fn scheduling(&mut self) -> Option<Scheduling> {
        const FORM: &str = "scheduling fifo 50";
        let (text, place) = self.word("the scheduling policy", FORM)?;
        let of: fn(u8) -> Scheduling = match text.as_str() {
            "other" => return Some(Scheduling::Other),
            "batch" => return Some(Scheduling::Batch),
            "idle" => return Some(Scheduling::Idle),
            "fifo" => Scheduling::Fifo,
            "rr" => Scheduling::RoundRobin,
            _ => {
                let message = format!("`{text}` is no scheduling policy");
                self.refuse(place, message, "write `other`, `batch`, `idle`, `fifo 50` or `rr 50`");
                return None;
            }
        };
        let priority = self.value(("the priority, 1 to 99,", FORM), Kind::Count, (1, 99))?;
        Some(of(priority as u8))
    }

    fn cpus(&mut self, form: &str) -> Option<CpuSet> {
        let (text, place) = self.word("the list of cpus", form)?;
        let node = Node::scalar(place, &text);
        let cpus = self.reader.list(&node, "`cpus`", Kind::Cpus, (0, MAX_CPUS - 1));
        self.wrong |= cpus.is_none();
        Some(CpuSet::of(cpus?.into_iter().map(|cpu| CpuId(cpu as u32))))
    }
}

/// Outer `None` after an error, inner `None` without a name.
fn transposed(name: Option<Option<Name>>) -> Option<Option<Name>> {
    match name {
        None => Some(None),
        Some(read) => read.map(Some),
    }
}
