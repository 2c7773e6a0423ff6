//! Wrong scenario files and what is said about them: each `tests/wrong/NAME.yaml` has its messages in
//! `NAME.txt`. OVERSIM_UPDATE=1 rewrites the messages; read the difference before it is kept.

use std::fs;
use std::path::PathBuf;

use scenario::{Overrides, load};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wrong")
}

#[test]
fn wrong_files_are_answered_with_place_and_advice() {
    let mut names: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    names.sort();
    assert!(names.len() >= 12);
    let update = std::env::var_os("OVERSIM_UPDATE").is_some();
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let said = match load(&name, &text, &Overrides::default()) {
            Ok(_) => panic!("{name} is wrong and was accepted"),
            Err(said) => format!("{}\n", said.trim_end()),
        };
        let expected = path.with_extension("txt");
        if update {
            fs::write(&expected, &said).unwrap();
        }
        assert_eq!(said, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
    }
}

const GOOD: &str = "\
name: good
machine: barcelona
apps: { a: { workload: spmd } }
policies: [LOAD, { SPEED: { interval: 50ms }, as: fast }]
";

fn overridden(set: &[&str]) -> Overrides {
    Overrides { set: set.iter().map(|pair| (*pair).to_owned()).collect(), ..Overrides::default() }
}

#[test]
fn a_wrong_override_is_shown_as_its_own_source() {
    let Err(said) = load("good.yaml", GOOD, &overridden(&["kernel.yield=posiks"])) else {
        panic!("accepted")
    };
    assert_eq!(
        said,
        "\
error: `yield`: `posiks` is not one of `default`, `posix` or `skip`; did you mean `posix`?
 --> --set:1:14
  |
1 | kernel.yield=posiks
  |              ^^^^^^"
    );
    for (pair, near) in [
        ("policies.fsat.interval=1ms", "policies.fast.interval"),
        ("machin.core_speed=1", "machine.core_speed"),
        ("apps.a.taks=2", "apps.a.tasks"),
    ] {
        let said = load("good.yaml", GOOD, &overridden(&[pair])).err().unwrap_or_default();
        assert!(said.contains(&format!("did you mean `{near}`?")), "{pair}: {said}");
    }
    for pair in [
        "kernel.yield",
        "kernel.yield=",
        "nonsense=1",
        "apps.b.tasks=2",
        "policies.SLOW.interval=1ms",
        "a=[1",
    ] {
        assert!(load("good.yaml", GOOD, &overridden(&[pair])).is_err(), "{pair}");
    }
}

#[test]
fn no_text_whatever_makes_the_reader_panic() {
    let mut texts =
        vec![String::new(), "\u{feff}".into(), "- 1\n- 2\n".into(), "5\n".into(), "? [a]\n: b\n".into()];
    for cut in 0..GOOD.len() {
        texts.push(GOOD[..cut].to_owned());
        texts.push(GOOD.replacen(&GOOD[cut..=cut], "{", 1));
        texts.push(GOOD.replacen(&GOOD[cut..=cut], "\n", 1));
    }
    for text in texts {
        let _ = load("cut.yaml", &text, &Overrides::default());
    }
}
