//! The characters of timelines in a terminal: what most of a piece of time is, and how it is written.

use crate::timeline::palette::{Palette, dark};
use crate::timeline::runs::Timeline;
use crate::timeline::states::{Mix, Owner, State};

/// Letters for applications whose own first letter is taken.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// Digits of thread ids without colours.
pub(super) const DIGITS: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What most of a piece of time is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Class {
    Compute(Owner),
    /// Slowed by memory.
    Memory(Owner),
    /// Slowed by the other thread of the core.
    SharedCore(Owner),
    Pages(Owner),
    Wait(Owner),
    /// A thread without a cpu: in which state.
    Without(State),
    Overhead,
    Idle,
    /// Behind the end of the run.
    Nothing,
}

impl Class {
    pub(super) fn new(owner: Owner, state: State) -> Self {
        match state {
            State::Compute => Self::Compute(owner),
            State::Memory => Self::Memory(owner),
            State::SharedCore => Self::SharedCore(owner),
            State::PageInit => Self::Pages(owner),
            State::Spin | State::LockWait | State::Yield => Self::Wait(owner),
            State::Idle => Self::Idle,
            State::Ready | State::Blocked | State::Meets | State::Asleep => Self::Without(state),
            State::Switch | State::Migrate | State::Kernel => Self::Overhead,
        }
    }

    /// The largest class; of equals the first.
    pub(super) fn of(mix: &Mix) -> Self {
        let mut sums: Vec<(Self, u64)> = Vec::new();
        for (owner, state, ns) in mix.parts() {
            let class = Self::new(owner, state);
            match sums.iter_mut().find(|sum| sum.0 == class) {
                Some(sum) => sum.1 += ns,
                None => sums.push((class, ns)),
            }
        }
        let mut best = (Self::Nothing, 0);
        for sum in sums {
            if sum.1 > best.1 {
                best = sum;
            }
        }
        best.0
    }

    pub(super) const fn owner(self) -> Option<Owner> {
        match self {
            Self::Compute(owner)
            | Self::Memory(owner)
            | Self::SharedCore(owner)
            | Self::Pages(owner)
            | Self::Wait(owner) => Some(owner),
            Self::Without(_) | Self::Overhead | Self::Idle | Self::Nothing => None,
        }
    }

    /// The same without its owner: one entry of the legend.
    pub(super) const fn kind(self) -> Self {
        match self {
            Self::Compute(_) => Self::Compute(Owner::Nobody),
            Self::Memory(_) => Self::Memory(Owner::Nobody),
            Self::SharedCore(_) => Self::SharedCore(Owner::Nobody),
            Self::Pages(_) => Self::Pages(Owner::Nobody),
            Self::Wait(_) => Self::Wait(Owner::Nobody),
            other => other,
        }
    }
}

/// A character with the colours of it and of what is behind it, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Glyph {
    pub(super) sign: char,
    pub(super) ink: Option<u8>,
    pub(super) ground: Option<u8>,
}

impl Glyph {
    pub(super) const fn plain(sign: char) -> Self {
        Self { sign, ink: None, ground: None }
    }

    pub(super) fn codes(self) -> String {
        let mut codes = String::from("\u{1b}[0m");
        if let Some(ink) = self.ink {
            codes.push_str(&format!("\u{1b}[38;5;{ink}m"));
        }
        if let Some(ground) = self.ground {
            codes.push_str(&format!("\u{1b}[48;5;{ground}m"));
        }
        codes
    }
}

/// How classes are written.
pub(super) struct Script {
    pub(super) colour: bool,
    pub(super) palette: Palette,
    pub(super) letters: Vec<char>,
}

impl Script {
    pub(super) fn new(timeline: &Timeline, colour: bool) -> Self {
        let palette = Palette::new(timeline);
        let mut letters: Vec<char> = Vec::new();
        for name in &timeline.apps {
            let own = name.chars().map(|c| c.to_ascii_uppercase()).filter(char::is_ascii_uppercase);
            let free = own.chain(LETTERS.chars()).find(|letter| !letters.contains(letter));
            letters.push(free.unwrap_or('?'));
        }
        Self { colour, palette, letters }
    }

    /// Bold where there are colours.
    pub(super) fn bold(&self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The character of an owner that computes, where there are no colours.
    pub(super) fn letter(&self, owner: Owner) -> char {
        match owner {
            Owner::App(_) if self.letters.len() == 1 => '█',
            Owner::App(app) => self.letters.get(app as usize).copied().unwrap_or('?'),
            Owner::Thread(rank) => DIGITS.chars().nth(rank as usize % DIGITS.len()).unwrap_or('?'),
            Owner::Several | Owner::Nobody => '█',
        }
    }

    pub(super) fn glyph(&self, class: Class) -> Glyph {
        let sign = match class {
            Class::Compute(owner) if !self.colour => self.letter(owner),
            Class::Compute(_) => '█',
            // A small letter for an application; threads have no small digits.
            Class::Memory(owner @ Owner::App(_)) if !self.colour && self.letters.len() > 1 => {
                self.letter(owner).to_ascii_lowercase()
            }
            Class::Memory(_) => '▓',
            Class::SharedCore(_) => '▄',
            Class::Pages(_) => '▚',
            Class::Wait(_) => '▒',
            Class::Without(State::Ready) => '-',
            Class::Without(State::Blocked) => 'x',
            Class::Without(State::Meets) => '|',
            Class::Overhead => '░',
            Class::Without(_) | Class::Idle => '·',
            Class::Nothing => ' ',
        };
        let hue = class.owner().filter(|owner| self.palette.place(*owner).is_some());
        let grey = matches!(class, Class::Compute(Owner::App(_)) | Class::Memory(Owner::App(_)));
        let ink = hue.or(class.owner().filter(|_| grey)).map(|owner| self.palette.terminal(owner));
        Glyph { sign, ink: ink.filter(|_| self.colour), ground: None }
    }

    /// The characters of the row of a thread: digits are the cpu on which it runs; in colour they stand at
    /// the begin of its time there.
    pub(super) fn placed(&self, classes: &[Class], places: &[Option<u32>]) -> Vec<Glyph> {
        let mut glyphs: Vec<Glyph> = classes.iter().map(|class| self.glyph(*class)).collect();
        let place = |at: usize| places.get(at).copied().flatten();
        let mut at = 0;
        while at < classes.len() {
            let same = |next: &usize| classes[*next] == classes[at] && place(*next) == place(at);
            let length = (at..classes.len()).take_while(same).count();
            if let (Class::Compute(owner), Some(cpu)) = (classes[at], place(at)) {
                let ground = self.palette.terminal(owner);
                let ink = if dark(ground) { 231 } else { 16 };
                let id = cpu.to_string();
                let room = length > id.len() + 1;
                for (number, glyph) in glyphs[at..at + length].iter_mut().enumerate() {
                    let digit = DIGITS.chars().nth(cpu as usize % DIGITS.len()).unwrap_or('?');
                    if !self.colour {
                        *glyph = Glyph::plain(digit);
                    } else if let Some(sign) = id.chars().nth(number.wrapping_sub(1)).filter(|_| room) {
                        *glyph = Glyph { sign, ink: Some(ink), ground: Some(ground) };
                    }
                }
            }
            at += length.max(1);
        }
        glyphs
    }

    /// The characters of a row; in colour the id of a thread at the begin of each of its slices, where there
    /// is room.
    pub(super) fn glyphs(&self, classes: &[Class]) -> Vec<Glyph> {
        let mut glyphs: Vec<Glyph> = classes.iter().map(|class| self.glyph(*class)).collect();
        let mut at = 0;
        while self.colour && at < classes.len() {
            let length = classes[at..].iter().take_while(|class| **class == classes[at]).count();
            if let Class::Compute(owner @ Owner::Thread(rank)) = classes[at] {
                let id = rank.to_string();
                let ground = self.palette.terminal(owner);
                // Black and white of the 256 colours, whatever the terminal's own are.
                let ink = if dark(ground) { 231 } else { 16 };
                if length > id.len() + 1 {
                    for (glyph, sign) in glyphs[at + 1..].iter_mut().zip(id.chars()) {
                        *glyph = Glyph { sign, ink: Some(ink), ground: Some(ground) };
                    }
                }
            }
            at += length;
        }
        glyphs
    }
}

/// Characters with their colours, changed as seldom as possible.
pub(super) fn line(glyphs: &[Glyph]) -> String {
    let mut text = String::new();
    let mut now = Glyph::plain(' ');
    for glyph in glyphs {
        if (glyph.ink, glyph.ground) != (now.ink, now.ground) {
            text.push_str(&glyph.codes());
            now = *glyph;
        }
        text.push(glyph.sign);
    }
    if (now.ink, now.ground) != (None, None) {
        text.push_str("\u{1b}[0m");
    }
    text
}
