//! Colours: applications, or threads of the only one, by hue, states by shade and pattern, so that neither colour blindness
//! nor a grey printer hides them.

use crate::timeline::runs::Timeline;
use crate::timeline::states::{Owner, State};

/// Hues of applications or threads: the set of Okabe and Ito (Color Universal Design, 2008) without black; neighbours in the list differ
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
/// The applications that share a grey.
const OTHERS: (Rgb, u8) = (Rgb(0x8C, 0x8C, 0x8C), 245);
/// The only application, where its threads have the hues.
const WHOLE: (Rgb, u8) = (Rgb(0x33, 0x33, 0x33), 240);

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
    /// Threads have the hues: so many later ones are one hue further, on top of one for each thread.
    lap: Option<u32>,
}

impl Palette {
    /// Hues for the threads of the only application, or for those applications that appear in the runs: if there are more
    /// than hues, the ones with most cpu time there; in the order of the applications.
    #[must_use]
    pub fn new(timeline: &Timeline) -> Self {
        let apps = timeline.apps.len();
        if timeline.threads {
            // Threads that start on the same cpu are to differ.
            let cpus = timeline.machine_cpus;
            let lap = if cpus.is_multiple_of(Self::HUES as u32) { cpus.max(1) } else { u32::MAX };
            return Self { places: vec![None; apps], lap: Some(lap) };
        }
        let mut time = vec![0u64; apps];
        for (owner, _, ns) in timeline.tracks.iter().flat_map(|track| track.recording.total.parts()) {
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
        Self { places: (0..apps).map(|app| shown.binary_search(&app).ok()).collect(), lap: None }
    }

    /// Number of hues.
    pub const HUES: usize = HUES.len();

    /// The place of an owner's hue; none when it has none.
    #[must_use]
    pub fn place(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::App(app) => self.places.get(app as usize).copied().flatten(),
            Owner::Thread(rank) => {
                let laps = self.lap.map_or(0, |lap| rank / lap);
                Some((rank as usize + laps as usize) % HUES.len())
            }
            Owner::Several | Owner::Nobody => None,
        }
    }

    fn both(&self, owner: Owner) -> (Rgb, u8) {
        let grey = if self.lap.is_some() && matches!(owner, Owner::App(_)) { WHOLE } else { OTHERS };
        self.place(owner).map_or(grey, |place| HUES[place])
    }

    /// The colour of an owner's time.
    #[must_use]
    pub fn of(&self, owner: Owner) -> Rgb {
        self.both(owner).0
    }

    /// The colour of an owner's time in terminals with 256 colours.
    #[must_use]
    pub fn terminal(&self, owner: Owner) -> u8 {
        self.both(owner).1
    }

    /// The colour at a place in the list of hues.
    #[must_use]
    pub fn hue(place: usize) -> Rgb {
        HUES[place % HUES.len()].0
    }
}

/// True when white text reads better than black on a colour of terminals with 256 colours.
#[must_use]
pub fn dark(terminal: u8) -> bool {
    HUES.iter().chain([&OTHERS, &WHOLE]).any(|(colour, number)| *number == terminal && colour.dark())
}

/// The grey of states that belong to nobody.
#[must_use]
pub const fn grey(state: State) -> Rgb {
    match state {
        State::Switch => Rgb(0x33, 0x33, 0x33),
        State::Migrate => Rgb(0x00, 0x00, 0x00),
        State::Kernel => Rgb(0x9A, 0x9A, 0x9A),
        State::Idle => Rgb(0xF2, 0xF2, 0xF2),
        State::Compute | State::SharedCore | State::Memory | State::PageInit | State::Spin | State::Yield => {
            Rgb(0x60, 0x60, 0x60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::runs::fixture;
    use crate::timeline::states::Mix;

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
        let apps = (0..11).map(|app| app.to_string()).collect();
        let palette = Palette::new(&Timeline { apps, ..fixture::one(total) });
        let places: Vec<_> = (0..11).map(|app| palette.place(Owner::App(app))).collect();
        let hues = (3..10).map(|app: usize| Some(app - 3));
        assert_eq!(places, [None, None, None].into_iter().chain(hues).chain([None]).collect::<Vec<_>>());
    }

    #[test]
    fn threads_have_hues_and_those_of_one_cpu_differ() {
        for machine_cpus in [1, 4, 7, 16, 28] {
            let timeline = Timeline { threads: true, machine_cpus, ..fixture::one(Mix::default()) };
            let palette = Palette::new(&timeline);
            let hue = |rank: u32| palette.place(Owner::Thread(rank)).unwrap();
            assert!((0..200).all(|rank| hue(rank) < HUES.len()));
            assert!((0..machine_cpus).all(|rank| hue(rank) != hue(rank + machine_cpus)), "{machine_cpus}");
        }
    }
}
