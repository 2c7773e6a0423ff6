//! Colours: applications by hue, states by shade and pattern, so that neither colour blindness nor a grey printer hides them.

use crate::record::Recording;
use crate::states::{Owner, State};

/// Hues of applications: the set of Okabe and Ito (Color Universal Design, 2008) without black; neighbours in the list differ
/// in lightness. The numbers are those of terminals with 256 colours.
const HUES: [(Rgb, u8); 7] = [
    (Rgb(0x00, 0x72, 0xB2), 25),
    (Rgb(0xE6, 0x9F, 0x00), 214),
    (Rgb(0x00, 0x9E, 0x73), 35),
    (Rgb(0x56, 0xB4, 0xE9), 117),
    (Rgb(0xCC, 0x79, 0xA7), 175),
    (Rgb(0xF0, 0xE4, 0x42), 227),
    (Rgb(0xD5, 0x5E, 0x00), 166),
];
/// The applications that have no hue of their own.
const OTHERS: (Rgb, u8) = (Rgb(0x8C, 0x8C, 0x8C), 245);

/// A colour: red, green, blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// As SVG writes it: `#0072B2`.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }

    /// True when white text reads better on it than black (ITU-R BT.709 luma below the middle).
    #[must_use]
    pub fn dark(self) -> bool {
        u32::from(self.0) * 2126 + u32::from(self.1) * 7152 + u32::from(self.2) * 722 < 127 * 10_000
    }

    /// Mixed with white, of which there is this percentage.
    #[must_use]
    pub fn lighter(self, percent: u32) -> Self {
        let mixed = |part: u8| {
            let whole = u32::from(part) * (100 - percent.min(100)) + 255 * percent.min(100);
            (whole / 100) as u8
        };
        Self(mixed(self.0), mixed(self.1), mixed(self.2))
    }
}

/// Who has which hue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Palette {
    /// For each application its place in the list of hues; none for those that share the grey.
    places: Vec<Option<usize>>,
}

impl Palette {
    /// Hues for those of `apps` applications that appear in the recordings: if there are more than hues, the ones with most
    /// cpu time there; in the order of the applications.
    pub fn new<'r>(apps: usize, recordings: impl IntoIterator<Item = &'r Recording>) -> Self {
        let mut time = vec![0u64; apps];
        for (owner, _, ns) in recordings.into_iter().flat_map(|recording| recording.total.parts()) {
            if let Owner::App(app) = owner
                && let Some(time) = time.get_mut(app as usize)
            {
                *time += ns;
            }
        }
        let mut shown: Vec<usize> = (0..apps).filter(|app| time[*app] > 0).collect();
        shown.sort_by_key(|app| std::cmp::Reverse(time[*app]));
        shown.truncate(HUES.len());
        shown.sort_unstable();
        Self { places: (0..apps).map(|app| shown.binary_search(&app).ok()).collect() }
    }

    /// The place of an application's hue; none when it shares the grey.
    #[must_use]
    pub fn place(&self, app: usize) -> Option<usize> {
        self.places.get(app).copied().flatten()
    }

    /// The colour of an application.
    #[must_use]
    pub fn colour(&self, app: usize) -> Rgb {
        self.place(app).map_or(OTHERS, |place| HUES[place]).0
    }

    /// The colour of an application in terminals with 256 colours.
    #[must_use]
    pub fn terminal(&self, app: usize) -> u8 {
        self.place(app).map_or(OTHERS, |place| HUES[place]).1
    }

    /// The colour of an owner's time.
    #[must_use]
    pub fn of(&self, owner: Owner) -> Rgb {
        match owner {
            Owner::App(app) => self.colour(app as usize),
            Owner::Several | Owner::Nobody => OTHERS.0,
        }
    }
}

/// The grey of states that belong to nobody.
#[must_use]
pub const fn grey(state: State) -> Rgb {
    match state {
        State::Switch => Rgb(0x33, 0x33, 0x33),
        State::Migrate => Rgb(0x00, 0x00, 0x00),
        State::Kernel => Rgb(0x9A, 0x9A, 0x9A),
        State::Idle => Rgb(0xF2, 0xF2, 0xF2),
        State::Compute | State::Stall | State::Spin | State::Yield => Rgb(0x60, 0x60, 0x60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::Mix;

    fn luminance(colour: Rgb) -> u32 {
        (u32::from(colour.0) * 2126 + u32::from(colour.1) * 7152 + u32::from(colour.2) * 722) / 10_000
    }

    #[test]
    fn neighbours_differ_in_print_and_shades_of_a_hue_do() {
        for pair in HUES.windows(2) {
            assert!(luminance(pair[0].0).abs_diff(luminance(pair[1].0)) > 20, "{pair:?}");
        }
        for (hue, _) in HUES {
            assert!(luminance(hue.lighter(60)) > luminance(hue) + 15, "{hue:?}");
        }
    }

    #[test]
    fn those_with_most_time_have_a_hue() {
        let mut total = Mix::default();
        for app in 0..10 {
            total.add(Owner::App(app), State::Compute, if app == 2 { 1 } else { 100 + u64::from(app) });
        }
        let recording = Recording { total, ..Recording::default() };
        let palette = Palette::new(11, [&recording]);
        let places: Vec<_> = (0..11).map(|app| palette.place(app)).collect();
        let hues = (3..10).map(|app: usize| Some(app - 3));
        assert_eq!(places, [None, None, None].into_iter().chain(hues).chain([None]).collect::<Vec<_>>());
    }
}
