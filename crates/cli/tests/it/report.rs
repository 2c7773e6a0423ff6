//! `oversim report`: one page without anything from elsewhere, checked by a real browser where there is one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::oversim;
use serde_json::Value;

const SCENARIO: &str = "\
name: small
about: \"Who <b>wins</b> & why? <script>document.title = 'stolen'</script>\"
machine: \"package:2 numa:1 core:2\"
apps:
  fine: { workload: { spmd: { work: 20ms, intervals: 20, spread: 20% } } }
  coarse: { workload: { spmd: { work: 30ms, intervals: 2 } } }
policies: [LOAD, PIN, SPEED]
sweep: { threads_per_core: [1, 2] }
repeat: 3
";

fn page() -> String {
    let (code, html, errors) = oversim(&["report", "-", "-o", "-"], SCENARIO);
    assert_eq!((code, errors.as_str()), (0, ""));
    html
}

#[test]
fn the_page_is_whole_escaped_and_the_same_twice() {
    let html = page();
    assert_eq!(html, page());
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>"));
    assert!(!html.contains("stolen'</script") && !html.contains("<b>wins"), "the scenario's words are text");
    assert_eq!(html.matches("<script").count(), 1, "the script that sorts tables and enlarges the timeline");
    assert!(html.contains("default-src 'none'"), "a browser loads nothing");
    let html = html.replace("url(#", "");
    for elsewhere in ["src=", "<link", "@import", "url(", "<iframe"] {
        assert!(!html.contains(elsewhere), "{elsewhere}");
    }
    let outside = html.matches("://").count() - html.matches("http://www.w3.org/").count();
    assert_eq!(outside, 0, "no address but names of standards");
    let headings: Vec<&str> =
        html.split("</h2>").filter_map(|before| before.rsplit_once("\">").map(|(_, text)| text)).collect();
    let wanted = [
        "Answer",
        "Figures",
        "Who ran where",
        "Comparisons",
        "Numbers",
        "References",
        "What was simulated",
        "Provenance",
    ];
    assert_eq!(headings[..wanted.len()], wanted);
    assert!(html.contains("oversim report scenario.yaml -o report.html"));
    assert!(html.matches("<svg").count() >= 7, "figures and the timeline");
    let detail = html.split_once("data-timeline=\"").and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
    let detail: Value = serde_json::from_str(&detail.replace("&quot;", "\"").replace("&amp;", "&")).unwrap();
    assert_eq!(detail["runs"].as_array().unwrap().len(), 2, "the timeline that a reader enlarges");
}

/// The rows of the table with this caption, each a row of texts.
fn table(html: &str, caption: &str) -> Vec<Vec<String>> {
    let (_, rest) = html.split_once(&format!("<caption>{caption}</caption>")).unwrap();
    let body = rest.split_once("<tbody>").unwrap().1.split_once("</table>").unwrap().0;
    let cell = |cell: &str| cell.split_once('>').unwrap().1.split('<').next().unwrap().to_owned();
    let row = |row: &str| row.split("<t").skip(1).filter(|c| c.starts_with(['h', 'd'])).map(cell).collect();
    body.split("<tr>").skip(1).map(row).collect()
}

fn number(text: &str) -> f64 {
    text.split([' ', '\u{b1}']).next().unwrap().parse().unwrap()
}

#[test]
fn the_best_case_and_the_largest_effect_come_first_and_references_last() {
    let html = page();
    let falling = |values: &[f64]| values.windows(2).all(|pair| pair[0] >= pair[1] - 0.005);
    let cases = table(&html, "All cases, the best first");
    let values: Vec<f64> = cases.iter().map(|row| number(&row[2])).collect();
    assert!(cases.len() == 6 && falling(&values), "{cases:?}");
    let against = table(&html, "Every policy against LOAD");
    let effects: Vec<f64> = against.iter().map(|row| number(&row[3]).ln().abs()).collect();
    assert!(effects.len() == 12 && falling(&effects), "{against:?}");
    let first = html.split("<caption>Policies with threads_per_core=").nth(1).unwrap();
    let best = first.split('<').next().unwrap();
    assert_eq!(best, cases[0][1], "the best configuration comes first");
    let rows = table(&html, &format!("Policies with threads_per_core={best}"));
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    let order: Vec<&str> = cases.iter().filter(|row| row[1] == best).map(|row| row[0].as_str()).collect();
    assert_eq!(names, [&order[..], &["dedicated", "fair-share", "lower-bound"]].concat());
}

#[test]
fn rows_of_the_breakdown_sum_to_a_hundred() {
    let html = page();
    assert!(html.contains("Each row sums to 100, apart from rounding"));
    let rows = table(&html, "Cpu-time breakdown");
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!(row.last().unwrap(), "100", "{row:?}");
        let sum: f64 = row[2..row.len() - 1].iter().map(|entry| number(entry)).sum();
        assert!((sum - 100.0).abs() < 0.5, "{row:?} sums to {sum}");
    }
}

#[test]
fn the_commands_on_the_page_run_from_where_it_was_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::create_dir(at("mine")).unwrap();
    fs::write(at("mine/mine.yaml"), SCENARIO).unwrap();
    let within = |words: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("oversim").unwrap();
        command.current_dir(folder.path()).args(words).assert().success();
    };
    let args = ["report", "mine/mine.yaml", "--policy", "LOAD,PIN", "--seed", "7"];
    within(&[&args[..], &["--set", "machine.migration=50us", "-o", "r.html"]].concat());
    let html = fs::read_to_string(at("r.html")).unwrap();
    let command = "oversim report mine/mine.yaml --policy LOAD,PIN --seed 7 --set machine.migration=50us -o report.html";
    assert!(html.contains(command), "the file as it was typed");
    within(&command.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(html, fs::read_to_string(at("report.html")).unwrap());
    let (_, rest) = html.split_once("<code>oversim timeline ").unwrap();
    let timeline = format!("timeline {}", rest.split_once("</code>").unwrap().0);
    assert!(
        timeline.contains(" mine/mine.yaml ") && timeline.contains("--set threads_per_core="),
        "{timeline}"
    );
    within(&timeline.split(' ').collect::<Vec<_>>());
    assert!(Path::new(&at("timeline.svg")).exists());
}

#[test]
fn the_timeline_of_a_sweep_names_its_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.yaml"), SCENARIO).unwrap();
    let within = |words: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("oversim").unwrap();
        command.current_dir(folder.path()).args(words).assert().success();
    };
    let sweep = ["--policy", "LOAD,PIN", "--sweep", "machine.migration=50us,70us", "-o", "r.html"];
    within(&[&["report", "mine.yaml"], &sweep[..]].concat());
    let html = fs::read_to_string(folder.path().join("r.html")).unwrap();
    let (_, rest) = html.split_once("<code>oversim timeline ").unwrap();
    let timeline = format!("timeline {}", rest.split_once("</code>").unwrap().0);
    // A timeline shows one configuration and refuses --sweep.
    assert!(timeline.contains("--set machine.migration=") && !timeline.contains("--sweep"), "{timeline}");
    within(&timeline.split(' ').collect::<Vec<_>>());
    assert!(folder.path().join("timeline.svg").exists());
}

#[test]
fn errors_are_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(at("there.html"), "mine").unwrap();
    let (code, _, errors) = oversim(&["report", "-", "-o", &at("there.html")], SCENARIO);
    assert!(code == 2 && errors.contains("--force replaces it"), "{errors}");
    assert_eq!(fs::read_to_string(at("there.html")).unwrap(), "mine");
    let (_, result, _) = oversim(&["run", "-", "--format", "json", "--repeat", "1"], SCENARIO);
    let (code, _, errors) = oversim(&["report", "-", "-o", &at("r.html")], &result);
    assert!(code == 2 && errors.contains("name the scenario instead"), "{errors}");
    let (code, _, errors) = oversim(&["report", "-", "-o", &at("r.html")], &SCENARIO.replace("PIN", "PNI"));
    assert!(code == 2 && errors.contains("did you mean `PIN`?"), "{errors}");
    assert!(!Path::new(&at("r.html")).exists());
}

/// A Chromium of this machine: that of OVERSIM_BROWSER, or one of the usual names.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("OVERSIM_BROWSER").map(PathBuf::from);
    let usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    let found = usual.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.into_iter().chain(found).find(|path| path.is_file())
}

/// What is asked of the page inside the browser; the answer becomes its text.
const PROBE: &str = r"
<script>
addEventListener('load', () => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const a = light(getComputedStyle(element).color), b = light(getComputedStyle(document.body).backgroundColor);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const ids = all('[id]').map((e) => e.id);
  const levels = all('h1,h2,h3,h4').map((h) => +h.tagName[1]);
  const reached = all('a[href],summary,button,[tabindex=\'0\']').filter((e) => e.checkVisibility());
  all('details').forEach((d) => { d.open = true; });
  const cut = [];
  let small = 99;
  all('figure svg').forEach((svg) => {
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    svg.querySelectorAll('text').forEach((t) => {
      small = Math.min(small, parseFloat(getComputedStyle(t).fontSize) * scale);
      const b = t.getBoundingClientRect();
      if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1) cut.push(t.textContent.trim());
    });
  });
  const sorted = Array.from(document.querySelector('table').tHead.rows[0].cells).map((head, column) => {
    const body = document.querySelector('table').tBodies[0], press = () => head.querySelector('button').click();
    const values = () => Array.from(body.rows).map((row) => row.cells[column].textContent);
    press();
    const up = [head.ariaSort, values()];
    press();
    return [up, [head.ariaSort, values()]];
  });
  const answer = {
    sorted: sorted,
    small: small,
    outside: all('.scroll').filter((b) => b.querySelector('table') && !b.closest('.data') && b.scrollWidth > b.clientWidth + 1).map((b) => b.ariaLabel),
    title: document.title,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    doubled: ids.filter((id, at) => ids.indexOf(id) !== at),
    dangling: all('a[href^=\'#\']').map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id)),
    skips: levels.some((level, at) => at > 0 && level > levels[at - 1] + 1),
    first: reached[0].className,
    unreached: reached.filter((e) => { e.focus(); return document.activeElement !== e; }).length,
    stops: reached.length,
    bare: all('table').filter((t) => !t.caption || !t.querySelector('th[scope=col]') || !t.querySelector('th[scope=row]')).length,
    nameless: all('svg').filter((s) => !s.getAttribute('aria-label') && !s.querySelector('title')).length,
    loaded: performance.getEntriesByType('resource').length,
    contrast: Math.min(...['body', 'a', 'figcaption', 'summary', 'footer'].map((s) => contrast(document.querySelector(s)))),
    letters: contrast(document.querySelector('figure svg')),
    cut: cut,
  };
  document.open(); document.write('<pre id=probe>' + JSON.stringify(answer).replace(/</g, '\\u003c') + '</pre>'); document.close();
});
</script>
</body>";

/// The browser's command on a page.
fn open(browser: &Path, home: &Path, page: &Path, options: &[&str]) -> Vec<u8> {
    let mut command = Command::new(browser);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]);
    // Nothing from elsewhere could be had.
    command.arg("--host-resolver-rules=MAP * ~NOTFOUND").arg(format!("--user-data-dir={}", home.display()));
    let output = command.args(options).arg(format!("file://{}", page.display())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn probed(browser: &Path, home: &Path, page: &Path, options: &[&str]) -> Value {
    let dom = open(browser, home, page, &[options, &["--virtual-time-budget=5000", "--dump-dom"]].concat());
    let dom = String::from_utf8(dom).unwrap();
    let json = dom.split_once("<pre id=\"probe\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (json, _) = json.unwrap_or_else(|| panic!("no answer from the page: {}", &dom[..dom.len().min(500)]));
    serde_json::from_str(&json.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")).unwrap()
}

/// Each head of the first table sorts its column up and, pressed again, down.
fn check_sorting(sorted: &Value) {
    for column in sorted.as_array().unwrap() {
        let state = |at: usize| column[at][0].as_str().unwrap();
        assert_eq!((state(0), state(1)), ("ascending", "descending"));
        let mut texts: [Vec<&str>; 2] =
            [0, 1].map(|at| column[at][1].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect());
        texts[1].reverse();
        for texts in texts {
            let rising = texts.windows(2).all(|pair| {
                match (
                    pair[0].split(' ').next().unwrap().parse::<f64>(),
                    pair[1].split(' ').next().unwrap().parse::<f64>(),
                ) {
                    (Ok(a), Ok(b)) => a <= b,
                    _ => pair[0] <= pair[1],
                }
            });
            assert!(rising && texts.len() == 6, "{texts:?}");
        }
    }
}

#[test]
fn a_browser_shows_it_whole_in_both_themes_and_on_paper_and_the_keyboard_reaches_everything() {
    let Some(browser) = browser() else {
        println!(
            "SKIPPED: no Chromium found (PATH, OVERSIM_BROWSER); the page was not looked at by a browser"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let html = page();
    let (plain, asking) = (folder.path().join("page.html"), folder.path().join("asking.html"));
    fs::write(&plain, &html).unwrap();
    fs::write(&asking, html.replace("</body>", PROBE)).unwrap();
    let home = folder.path().join("home");
    let dark = "--blink-settings=preferredColorScheme=0";
    for (options, wants_dark) in [
        (&["--window-size=1200,900"][..], false),
        (&["--window-size=520,900"], false),
        (&["--window-size=400,900"], false),
        (&["--window-size=1200,900", dark], true),
    ] {
        let answer = probed(&browser, &home, &asking, options);
        let context = format!("{options:?}: {answer}");
        assert_eq!(answer["title"], "small: oversim 1.0.0", "{context}");
        assert_eq!(answer["dark"], wants_dark, "{context}");
        assert!(answer["wide"].as_i64().unwrap() <= 0, "it scrolls sideways: {context}");
        for none in ["doubled", "dangling", "cut"] {
            assert_eq!(answer[none].as_array().unwrap().len(), 0, "{none}: {context}");
        }
        for zero in ["unreached", "bare", "nameless", "loaded"] {
            assert_eq!(answer[zero], 0, "{zero}: {context}");
        }
        assert_eq!(answer["skips"], false, "{context}");
        assert!(answer["small"].as_f64().unwrap() >= 7.5, "letters of pictures are too small: {context}");
        if options[0].contains("1200") {
            assert_eq!(
                answer["outside"].as_array().unwrap().len(),
                0,
                "columns outside their box: {context}"
            );
        }
        check_sorting(&answer["sorted"]);
        assert_eq!(answer["first"], "skip", "{context}");
        assert!(answer["stops"].as_i64().unwrap() > 15, "{context}");
        assert!(
            answer["contrast"].as_f64().unwrap() >= 4.5 && answer["letters"].as_f64().unwrap() >= 7.0,
            "{context}"
        );
    }
    let paper = folder.path().join("page.pdf");
    open(&browser, &home, &plain, &[&format!("--print-to-pdf={}", paper.display())]);
    let paper = fs::read(&paper).unwrap();
    assert!(paper.starts_with(b"%PDF") && paper.len() > 20_000, "{} bytes on paper", paper.len());
}
