//! What every result promises: each form of it can be written, and the JSON form can be read again.

use experiment::compare::contrast::{self, Named, Wanted};
use experiment::compare::report::FORMS;
use experiment::report::{FORMATS, View};
use experiment::response::Response;
use experiment::result::{self, Results};

use crate::promise;

/// Checks all outputs of a result.
pub(crate) fn results(results: &Results) {
    let answer = View { width: 80, full: false, ..View::FILE };
    for format in FORMATS {
        for view in [View::FILE, answer] {
            let mut bytes = Vec::new();
            format.write(results, &mut bytes, &view).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            promise::visible(&text);
            if format.form().name == "json" {
                let again = result::read("again.json", &text);
                // The jobs have a form of their own.
                let written = Results { jobs: Vec::new(), ..results.clone() };
                assert_eq!(again.as_ref(), Ok(&written), "what was written is not what is read");
            }
        }
    }
    figures(results);
    compared(results);
}

fn figures(results: &Results) {
    let drawn = pictures::figures::draw(results, &[]);
    for figure in &drawn.figures {
        let svg = figure.picture.svg();
        promise::visible(&svg);
        let parsed = roxmltree::Document::parse(&svg);
        assert!(parsed.is_ok(), "the figure {} is not XML: {parsed:?}\n{svg}", figure.name);
        promise::visible(&figure.data.csv().unwrap());
        promise::visible(&figure.title);
    }
    drawn.omitted.iter().for_each(|omitted| promise::refusal(&omitted.why));
}

fn compared(results: &Results) {
    let (a, b) = (Named { file: "a.json", results }, Named { file: "b.json", results });
    let wanted = Wanted { threshold: 1.0, ..Wanted::default() };
    for contrasts in [contrast::results(a, b, &wanted), contrast::policies(a, &wanted)] {
        match contrasts {
            Ok(all) => {
                for form in FORMS {
                    let mut bytes = Vec::new();
                    form.write(&all, &mut bytes, &View::FILE).unwrap();
                    promise::visible(&String::from_utf8(bytes).unwrap());
                }
            }
            Err(why) => promise::refusal(&why),
        }
    }
    if let Err(why) = Response::chosen(results, None, None) {
        promise::refusal(&why);
    }
}
