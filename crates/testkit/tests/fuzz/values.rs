//! Single values: units, lists, instants, settings of studies; and claims, which consist of them.

use std::sync::LazyLock;

use decide::shapes::pod;
use decide::shapes::share::Mix;
use notation::cpus::Numbering;
use notation::parameter::Kind;
use notation::{lists, units};
use pictures::timeline;
use regex::Regex;
use validation::claims;
use validation::lab::Setting;
use validation::reproduce::wanted;

use crate::promise;

/// The kinds of one value.
const KINDS: [Kind; 8] = [
    Kind::Duration,
    Kind::Size,
    Kind::Rate,
    Kind::Count,
    Kind::Factor,
    Kind::Percent,
    Kind::Choice(&["none", "all", "a b"]),
    Kind::Flag,
];

/// The patterns of the JSON Schema of scenarios, of each kind that has one.
static PATTERNS: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let pattern = |kind: &Kind| units::pattern(*kind).map(|pattern| Regex::new(pattern).unwrap());
    KINDS.iter().map(pattern).collect()
});

/// A value of each kind, and lists.
pub(crate) fn value(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (kind, pattern) in KINDS.iter().zip(PATTERNS.iter()) {
        match units::parse(*kind, text) {
            Ok(value) => {
                let shown = kind.show(value);
                assert_eq!(units::parse(*kind, &shown), Ok(value), "{kind:?}: {text} is shown as {shown}");
                let number = matches!(kind, Kind::Factor) && text.trim().parse::<f64>().is_ok();
                let legal = pattern.as_ref().is_none_or(|pattern| pattern.is_match(text.trim())) || number;
                assert!(legal, "{kind:?}: the schema refuses {text:?}, and the reader does not");
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
    for (kind, most) in [(Kind::Cpus, 4_095), (Kind::Counts, u64::MAX)] {
        match lists::parse(kind, text, 1, most) {
            Ok(list) => {
                let shown = kind.show_all(&list);
                let inside = shown.trim_matches(['[', ']']);
                assert_eq!(lists::parse(kind, inside, 1, most), Ok(list), "{text} is shown as {shown}");
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
    if let Ok(list) = lists::parse(Kind::Cpus, text, 0, 4_095) {
        let mut sorted = list.clone();
        sorted.sort_unstable();
        let ranges = lists::ranges(sorted.iter().map(|cpu| *cpu as u32));
        assert_eq!(lists::parse(Kind::Cpus, &ranges, 0, 4_095), Ok(sorted));
    }
    let linux = (0..32).flat_map(|core| [core, core + 32]).collect();
    let machine = Numbering { machine: "m".into(), cpus: 64, linux };
    for refused in [timeline::instant(text).err(), timeline::cpus(text, &machine).err()] {
        assert!(refused.is_none_or(|why| !why.is_empty()));
    }
}

/// A quantity of `advise pod`.
pub(crate) fn quantity(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let said = [
        pod::cpus(text).err(),
        pod::period(text).err(),
        pod::burst(text).err(),
        pod::procs(text).err(),
        pod::rate(text).err(),
        pod::service(text).err(),
        pod::target(text).err(),
        Mix::parse(text).err(),
    ];
    said.into_iter().flatten().for_each(|why| assert!(!why.is_empty()));
}

/// A setting of a study.
pub(crate) fn setting(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Setting::read(text) {
        Ok(setting) => {
            let shown = setting.to_string();
            promise::visible(&shown.replace('\n', " "));
            assert_eq!(Setting::read(&shown).as_ref(), Ok(&setting), "{text:?} is written as {shown:?}");
        }
        Err(why) => promise::refusal(&why),
    }
}

/// A file of claims.
pub(crate) fn claims(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let load = |path: &str| match path {
        "small.yaml" => Ok(crate::scenarios::SMALL.to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    match claims::read_with("claims.yaml", text, &load) {
        Ok(claims) => {
            for claim in &claims {
                promise::visible(&claim.id);
                promise::visible(&claim.group);
            }
            for cell in wanted(&claims, true) {
                promise::refusal(&cell.key());
            }
        }
        Err(why) => promise::placed_refusal(&why, &["claims.yaml"]),
    }
}
