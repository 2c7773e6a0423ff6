//! Figures: which packed result a file was drawn from, and the same file again.
//!
//! Nobody writes down how a figure was drawn. A file is drawn again in the ways that `oversim plot` and
//! `oversim sweep phase-diagram` have, from each packed result, until the bytes are the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use experiment::metrics::METRICS;
use experiment::response::Response;
use experiment::result::Results;
use pictures::figures::caption::{Included, latex};
use pictures::figures::{self, Asked, Figure, Origin, Page, Target, file, phase};
use sweep::read::MOST_CONFIGURATIONS;
use sweep::store::Store;

use crate::manifest::{Drawing, Kind, Place};
use crate::{Trouble, result};

/// Endings of the files of a figure.
const ENDINGS: [&str; 5] = ["svg", "png", "pdf", "csv", "tex"];
/// Widths of a figure in a paper that are tried where no file of LaTeX names one: one column, and both.
const WIDTHS: [f64; 2] = [Page::COLUMN, 180.0];

/// The name of a figure, and the swept paths of its columns and rows where these are chosen.
type Named = (String, Option<[String; 2]>);

/// The ending of a file that may belong to a figure.
pub(crate) fn ending(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit_once('.')?;
    ENDINGS.into_iter().find(|ending| end.eq_ignore_ascii_case(ending))
}

/// Results by the directories of their parts, read when they are first needed.
pub(crate) struct Sources {
    places: Vec<(String, Kind, PathBuf)>,
    read: BTreeMap<String, Option<Results>>,
    figures: BTreeMap<String, Option<Figure>>,
}

impl Sources {
    /// The results and sweeps among these parts; none of them is read.
    pub(crate) fn new(parts: impl Iterator<Item = (String, Kind, PathBuf)>) -> Self {
        let places = parts.filter(|(_, kind, _)| matches!(kind, Kind::Result | Kind::Sweep)).collect();
        Self { places, read: BTreeMap::new(), figures: BTreeMap::new() }
    }

    /// The results of a part; none where figures cannot be drawn of it.
    fn results(&mut self, part: &str) -> Result<Option<&Results>, Trouble> {
        if !self.read.contains_key(part) {
            let results = match self.places.iter().find(|(name, ..)| name == part) {
                Some((_, Kind::Sweep, path)) => of_sweep(path)?,
                Some((_, _, path)) => Some(result::read(path)?),
                None => None,
            };
            let drawable = results.filter(|results| !results.provenance.window);
            self.read.insert(part.to_owned(), drawable);
        }
        Ok(self.read.get(part).and_then(Option::as_ref))
    }

    /// A figure of a part; none if it has no such figure.
    fn figure(&mut self, how: &Drawing) -> Result<Option<Figure>, Trouble> {
        let key = format!("{how:?}").replace(&format!("{:?}", how.file), "");
        if let Some(known) = self.figures.get(&key) {
            return Ok(known.clone());
        }
        let figure = match self.results(&how.from)? {
            None => None,
            Some(results) => drawn(results, how),
        };
        self.figures.insert(key, figure.clone());
        Ok(figure)
    }

    /// The file of a figure again; none if there is no such figure. `there` is the packed file: of a file
    /// for LaTeX the command and the path, which say nothing about numbers, are taken from it.
    pub(crate) fn again(&mut self, how: &Drawing, there: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        let Some(figure) = self.figure(how)? else { return Ok(None) };
        let target = target(how.place);
        let failed = |why| Trouble::Failed(format!("cannot draw {}: {why}", how.file));
        Ok(match ending(&how.file) {
            Some("csv") => Some(figure.data.csv().map_err(failed)?.into_bytes()),
            Some("tex") => {
                let text = String::from_utf8_lossy(there).into_owned();
                let (Some((command, file, _)), Place::Paper(width)) = (included(&text), how.place) else {
                    return Ok(None);
                };
                let Some(results) = self.results(&how.from)? else { return Ok(None) };
                let included = Included { figure: &figure, file: &file, width, command: &command };
                Some(latex(&included, results).into_bytes())
            }
            Some(form) => Some(file::bytes(&figure.picture, form, target).map_err(failed)?),
            None => None,
        })
    }

    /// How a file was drawn, if one of the packed results gives the same bytes.
    ///
    /// # Errors
    /// A packed result cannot be read.
    pub(crate) fn find(&mut self, name: &str, path: &Path) -> Result<Option<Drawing>, Trouble> {
        if ending(name).is_none() || self.places.is_empty() {
            return Ok(None);
        }
        let there = fs::read(path).map_err(|error| Trouble::failed("read", path, &error))?;
        let shape = shape(&there);
        if ending(name) == Some("png") && shape.is_none() {
            return Ok(None);
        }
        let stem =
            name.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map_or("", |(stem, _)| stem);
        let places = places(path);
        let parts: Vec<String> = self.places.iter().map(|(part, ..)| part.clone()).collect();
        for from in &parts {
            let figures = self.named(from, stem)?;
            for (figure, axes) in figures {
                // Phase diagrams of chosen paths are for the browser.
                for place in places.iter().filter(|place| axes.is_none() || **place == Place::Web) {
                    let how = Drawing {
                        file: name.to_owned(),
                        from: from.clone(),
                        figure: figure.clone(),
                        place: *place,
                        axes: axes.clone(),
                    };
                    // To draw pixels takes long: another shape is another figure.
                    let size = self.figure(&how)?.map(|figure| figure.picture.size());
                    let other =
                        |shape: f64| size.is_none_or(|size| (size.0 / size.1 / shape - 1.0).abs() > 0.01);
                    if shape.is_some_and(other) {
                        continue;
                    }
                    if self.again(&how, &there)?.is_some_and(|again| again == there) {
                        return Ok(Some(how));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The figures that a file of this name may show: the one of this name first. A phase diagram has a
    /// name of its author and any two of the swept paths.
    fn named(&mut self, from: &str, stem: &str) -> Result<Vec<Named>, Trouble> {
        let mut names: Vec<String> = figures::names().map(str::to_owned).collect();
        let metrics = METRICS.iter().map(|metric| metric.name.to_owned());
        if let Some(metric) = metrics.into_iter().find(|metric| metric == stem) {
            names.push(metric);
        }
        names.extend(figures::objectives().map(str::to_owned));
        if names.iter().any(|name| name == stem) {
            names.retain(|name| name == stem);
        }
        let mut all: Vec<Named> = names.into_iter().map(|name| (name, None)).collect();
        let Some(results) = self.results(from)? else { return Ok(Vec::new()) };
        let swept = results.provenance.sweep.iter().filter(|axis| axis.values.len() > 1);
        let swept: Vec<&str> = swept.map(|axis| axis.path.as_str()).collect();
        for x in &swept {
            for y in swept.iter().filter(|y| *y != x) {
                all.push(("phase".to_owned(), Some([(*x).to_owned(), (*y).to_owned()])));
            }
        }
        Ok(all)
    }
}

/// The results of a packed sweep; none if it is too large for tables.
fn of_sweep(path: &Path) -> Result<Option<Results>, Trouble> {
    let (store, plan) = Store::open(path)?;
    if plan.configurations > MOST_CONFIGURATIONS {
        return Ok(None);
    }
    Ok(Some(sweep::read::results(&store, &plan, None)?))
}

const fn target(place: Place) -> Target {
    match place {
        Place::Web => Target::Screen,
        Place::Paper(width) => Target::Paper(width),
        Place::Slide => Target::Slide,
    }
}

/// A figure of a result.
fn drawn(results: &Results, how: &Drawing) -> Option<Figure> {
    if let Some([x, y]) = &how.axes {
        let response = Response::chosen(results, None, None).ok()?;
        let map = response.map(response.axis(x).ok(), response.axis(y).ok()).ok()?;
        return phase::figure(&response, &map, &Origin::of(results)).ok();
    }
    let name = std::slice::from_ref(&how.figure);
    let known = figures::names().any(|figure| *figure == how.figure);
    let (figures, metrics) = if known { (name, &[][..]) } else { (&[][..], name) };
    let drawn = figures::drawn(results, &Asked { figures, metrics, target: target(how.place) });
    drawn.figures.into_iter().next()
}

/// Width over height of a PNG: the numbers in its first chunk, behind the signature. None for other files.
fn shape(bytes: &[u8]) -> Option<f64> {
    let size = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let number = |at: usize| Some(f64::from(u32::from_be_bytes(size.get(at..at + 4)?.try_into().ok()?)));
    Some(number(0)? / number(4)?.max(1.0))
}

/// What a figure may be drawn for: a file for LaTeX beside it knows its width in a paper.
fn places(path: &Path) -> Vec<Place> {
    let text = fs::read_to_string(path.with_extension("tex")).unwrap_or_default();
    let width = included(&text).map(|(.., width)| width);
    let papers = width.into_iter().chain(WIDTHS).filter(|width| Page::WIDTHS.contains(width));
    let mut places = vec![Place::Web, Place::Slide];
    places.extend(papers.map(Place::Paper));
    places
}

/// The command, the file and the width that a file for LaTeX names.
fn included(text: &str) -> Option<(String, String, f64)> {
    let command = text.lines().next()?.strip_prefix("% ")?.to_owned();
    let line = text.lines().find(|line| line.contains("[width="))?;
    let (width, rest) = line.split_once("[width=")?.1.split_once("mm]{")?;
    let file = rest.strip_suffix('}')?.to_owned();
    Some((command, file, width.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_latex_names_its_command_its_picture_and_its_width() {
        let text = "% oversim plot a.json -o b\n\\begin{figure}\n  \\centering\n  \
                    \\includegraphics[width=85mm]{b/x.pdf}\n";
        let (command, file, width) = included(text).unwrap();
        assert_eq!((command.as_str(), file.as_str()), ("oversim plot a.json -o b", "b/x.pdf"));
        assert!((width - 85.0).abs() < 1e-9);
        assert!(included("no\n").is_none() && included("").is_none());
        assert!(ending("a/B.SVG") == Some("svg") && ending("a.txt").is_none() && ending("a").is_none());
    }
}
