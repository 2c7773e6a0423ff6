//! Colours: applications, or threads of the only one, by hue, states by shade and pattern, so that neither
//! colour blindness nor a grey printer hides them.

use crate::canvas::palette::{
    BLUE, Colour, Fill, GREEN, Hatch, ON_DARK, ON_LIGHT, ORANGE, PAPER, PURPLE, SKY, VERMILLION, YELLOW,
};
use crate::timeline::runs::Timeline;
use crate::timeline::states::{Owner, State};

/// Hues of applications or threads: the set of Okabe and Ito (Color Universal Design, 2008) without black;
/// neighbours in the list differ in lightness. The numbers are those of terminals with 256 colours.
const HUES: [(Colour, u8); 7] =
    [(BLUE, 25), (ORANGE, 214), (GREEN, 35), (SKY, 117), (PURPLE, 175), (YELLOW, 227), (VERMILLION, 166)];
/// The applications that share a grey.
const OTHERS: (Colour, u8) = (Colour(0x8C, 0x8C, 0x8C), 245);
/// The only application, where its threads have the hues.
const WHOLE: (Colour, u8) = (Colour(0x33, 0x33, 0x33), 240);
/// Part of the colour in that of memory stalls and of what is between the lines of a hatching.
const STALLED: f64 = 0.42;
const PAGES: f64 = 0.25;
/// The same for threads that have no cpu.
const QUEUED: f64 = 0.2;

/// Who has which hue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Palette {
    /// For each application its place in the list of hues; none for those that share the grey.
    places: Vec<Option<usize>>,
    /// Threads have the hues: so many later ones are one hue further, on top of one for each thread.
    lap: Option<u32>,
}

impl Palette {
    /// Hues for the threads of the only application, or for those applications that appear in the runs: if
    /// there are more than hues, the ones with most cpu time there; in the order of the applications.
    #[must_use]
    pub(super) fn new(timeline: &Timeline) -> Self {
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
    pub(super) const HUES: usize = HUES.len();

    /// The place of an owner's hue; none when it has none.
    #[must_use]
    pub(super) fn place(&self, owner: Owner) -> Option<usize> {
        match owner {
            Owner::App(app) => self.places.get(app as usize).copied().flatten(),
            Owner::Thread(rank) => {
                let laps = self.lap.map_or(0, |lap| rank / lap);
                Some((rank as usize + laps as usize) % HUES.len())
            }
            Owner::Several | Owner::Nobody => None,
        }
    }

    fn both(&self, owner: Owner) -> (Colour, u8) {
        let grey = if self.lap.is_some() && matches!(owner, Owner::App(_)) { WHOLE } else { OTHERS };
        self.place(owner).map_or(grey, |place| HUES[place])
    }

    /// The colour of an owner's time.
    #[must_use]
    pub(super) fn of(&self, owner: Owner) -> Colour {
        self.both(owner).0
    }

    /// The colour of an owner's time in terminals with 256 colours.
    #[must_use]
    pub(super) fn terminal(&self, owner: Owner) -> u8 {
        self.both(owner).1
    }

    /// How an owner's state is filled.
    #[must_use]
    pub(super) fn fill(&self, owner: Owner, state: State) -> Fill {
        let base = self.of(owner);
        match state {
            State::Compute => base.into(),
            State::Memory => base.mixed(STALLED, PAPER).into(),
            State::SharedCore => Fill::hatched(Hatch::WideUpright, base, base.mixed(STALLED, PAPER)),
            State::PageInit => Fill::hatched(Hatch::Dots, base, base.mixed(PAGES, PAPER)),
            State::Spin => Fill::hatched(Hatch::WideRising, base, PAPER),
            State::LockWait => Fill::hatched(Hatch::Level, base, PAPER),
            State::Yield => Fill::hatched(Hatch::Falling, base, PAPER),
            State::Switch => Colour(0x33, 0x33, 0x33).into(),
            State::Migrate => ON_LIGHT.into(),
            State::Kernel => Colour(0x9A, 0x9A, 0x9A).into(),
            State::Idle => Colour(0xF2, 0xF2, 0xF2).into(),
            State::Ready => Fill::hatched(Hatch::Upright, base, base.mixed(QUEUED, PAPER)),
            State::Blocked => Fill::hatched(Hatch::Crossed, base, PAPER),
            State::Meets => base.mixed(QUEUED, PAPER).into(),
            State::Asleep => Colour(0xF2, 0xF2, 0xF2).into(),
        }
    }
}

/// True when white text reads better than black on a colour of terminals with 256 colours.
#[must_use]
pub(super) fn dark(terminal: u8) -> bool {
    let mut all = HUES.iter().chain([&OTHERS, &WHOLE]);
    all.any(|(colour, number)| *number == terminal && colour.letters() == ON_DARK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::runs::fixture;
    use crate::timeline::states::Mix;

    fn luminance(colour: Colour) -> u32 {
        (u32::from(colour.0) * 2126 + u32::from(colour.1) * 7152 + u32::from(colour.2) * 722) / 10_000
    }

    #[test]
    fn neighbours_differ_in_print_and_shades_of_a_hue_do() {
        for pair in HUES.windows(2) {
            assert!(luminance(pair[0].0).abs_diff(luminance(pair[1].0)) > 20, "{pair:?}");
        }
        for (hue, _) in HUES {
            assert!(luminance(hue.mixed(0.4, PAPER)) > luminance(hue) + 15, "{hue:?}");
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
