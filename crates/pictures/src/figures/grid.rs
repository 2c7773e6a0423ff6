//! Panels of a figure: one for each configuration, application or policy, in a grid of rows and columns that
//! are named at its edges.

use crate::canvas::font;
use crate::canvas::palette::MUTED;
use crate::canvas::{Area, Canvas, Letters};
use experiment::sweep::Sweep;

use crate::figures::axis_names;
use crate::figures::frame::LABEL;
use crate::figures::page::Page;
use crate::figures::plane::{Plane, Row, is_reference};

/// The least width of a panel, and the width of numbers at the left.
const LEAST: f64 = 66.0;
const MOST_NUMBERS: f64 = 60.0;
/// Space between panels.
const GUTTER: f64 = 22.0;
/// Most panels that stand one after the other, and most columns, rows and lines of a grid.
const MOST_PANELS: usize = 16;
const MOST_ACROSS: usize = 6;
const MOST_DOWN: usize = 8;
const MOST_LINES: usize = 60;
/// Columns of a grid that leave panels wide enough to read well.
const COMFORTABLE: usize = 4;
/// Most swept parameters of a picture.
const MOST_AXES: usize = 3;
/// Most pixels of a label at the left.
const MOST_LEFT: f64 = 190.0;
/// Lines that the name of a panel takes at most, and their height.
const NAME_LINES: usize = 3;
const LINE: f64 = 15.0;
/// Space above a row of panels that has a name.
const STRIP: f64 = 24.0;
/// Space below panels with and without an axis.
const AXIS: f64 = 26.0;
const GAP: f64 = 10.0;

/// What distinguishes panels, or lines of a panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Facet {
    /// The value of a swept parameter.
    Axis(usize),
    /// The policy.
    Policy,
    /// The application.
    App,
}

/// What is drawn: where configurations, policies and applications have their panels and lines.
pub(crate) struct Layout {
    facets: Facets,
    /// The facet of the lines of a panel.
    line: Option<Facet>,
    /// The facet of the columns of a grid, and those of its rows; without columns, panels stand one after the
    /// other.
    column: Option<Facet>,
    rows: Vec<Facet>,
    /// Names of the lines.
    pub(crate) lines: Vec<String>,
    page: Page,
}

/// Names and numbers of the values of each facet.
struct Facets {
    sweep: Sweep,
    /// The names of its axes in words, and whether these stand in the names of panels: on a screen these are
    /// settings, which can be typed.
    names: Vec<String>,
    printed: bool,
    policies: Vec<String>,
    apps: Vec<String>,
}

impl Facets {
    fn len(&self, facet: Facet) -> usize {
        match facet {
            Facet::Axis(axis) => self.sweep.varied[axis].axis.values.len(),
            Facet::Policy => self.policies.len(),
            Facet::App => self.apps.len(),
        }
    }

    fn at(&self, facet: Facet, (configuration, policy, app): (usize, usize, usize)) -> usize {
        match facet {
            Facet::Axis(axis) => self.sweep.place(configuration, axis).unwrap_or(0),
            Facet::Policy => policy,
            Facet::App => app,
        }
    }

    /// The name of a value; with `of` that of its parameter before it.
    fn name(&self, facet: Facet, value: usize, of: bool) -> String {
        match facet {
            Facet::Axis(axis) => {
                let varied = &self.sweep.varied[axis];
                let value = scenario::configuration::plain(&varied.axis.values[value]);
                match of {
                    true if self.printed => format!("{} = {value}", self.names[axis]),
                    true => format!("{}={value}", varied.short),
                    false => value,
                }
            }
            Facet::Policy => self.policies[value].clone(),
            Facet::App => self.apps[value].clone(),
        }
    }
}

impl Layout {
    /// Policies as the lines of panels. A single one leaves them to the values of a swept parameter. Where
    /// there are applications, each has panels.
    ///
    /// # Errors
    /// Why they do not fit one picture.
    pub(crate) fn of_policies(plane: &Plane<'_>, rows: &[Row<'_>], apps: &[&str]) -> Result<Self, String> {
        let axes = plane.sweep().varied.len();
        let own = rows.iter().filter(|(label, _)| !is_reference(label)).count();
        let inner = if own == 1 { longest(plane.sweep()) } else { None };
        let mut free: Vec<Facet> = (0..axes).filter(|at| Some(*at) != inner).map(Facet::Axis).collect();
        if inner.is_some() && rows.len() > 1 {
            free.push(Facet::Policy);
        }
        let line = inner.map_or(Facet::Policy, Facet::Axis);
        Self::of(plane, rows, apps, Some(line), free)
    }

    /// A panel for each application and setting of the other parameters beside that of an axis.
    ///
    /// # Errors
    /// Why they do not fit one picture.
    pub(crate) fn of_curves(
        plane: &Plane<'_>,
        rows: &[Row<'_>],
        apps: &[&str],
        along: usize,
    ) -> Result<Self, String> {
        let others = (0..plane.sweep().varied.len()).filter(|at| *at != along);
        Self::of(plane, rows, apps, None, others.map(Facet::Axis).collect())
    }

    fn of(
        plane: &Plane<'_>,
        rows: &[Row<'_>],
        apps: &[&str],
        line: Option<Facet>,
        mut free: Vec<Facet>,
    ) -> Result<Self, String> {
        let swept = plane.sweep().varied.len();
        if swept > MOST_AXES {
            return Err(format!(
                "{swept} parameters are swept and a picture shows at most {MOST_AXES}: fix some with --set \
                    PATH=VALUE"
            ));
        }
        let facets = Facets {
            sweep: plane.sweep().clone(),
            names: axis_names::names(&plane.sweep().varied),
            printed: plane.page.points().is_some(),
            policies: rows.iter().map(|(_, words)| words.clone()).collect(),
            apps: apps.iter().map(|app| (*app).to_owned()).collect(),
        };
        if apps.len() > 1 {
            free.push(Facet::App);
        }
        // Columns that would be too narrow stand one after the other.
        let wide = |facet: &Facet| width(plane.page, MOST_NUMBERS, facets.len(*facet)) >= LEAST;
        let column = if free.len() > 1 { column(&facets, &free).filter(wide) } else { None };
        free.retain(|facet| Some(*facet) != column);
        let count = line.map_or(0, |line| facets.len(line));
        let lines = line.map_or_else(Vec::new, |l| (0..count).map(|at| facets.name(l, at, false)).collect());
        let layout = Self { facets, line, column, rows: free, lines, page: plane.page };
        layout.fits()?;
        Ok(layout)
    }

    /// # Errors
    /// Why it does not fit one picture.
    fn fits(&self) -> Result<(), String> {
        let (across, down) = (self.column.map_or(1, |facet| self.facets.len(facet)), self.groups());
        let what = match self.column {
            _ if self.lines.len() > MOST_LINES => {
                format!("{} rows do not fit one panel (at most {MOST_LINES})", self.lines.len())
            }
            None if down > MOST_PANELS => {
                format!("{down} panels do not fit one picture (at most {MOST_PANELS})")
            }
            Some(_) if across > MOST_ACROSS || down > MOST_DOWN => format!(
                "{across} x {down} panels do not fit one picture (at most {MOST_ACROSS} x {MOST_DOWN})"
            ),
            _ => return Ok(()),
        };
        Err(format!("{what}: sweep fewer values, fix some with --set, or choose policies"))
    }

    /// Rows of a grid, or panels one after the other.
    fn groups(&self) -> usize {
        self.rows.iter().map(|facet| self.facets.len(*facet)).product()
    }

    /// The number of panels.
    pub(crate) fn panels(&self) -> usize {
        self.groups() * self.column.map_or(1, |facet| self.facets.len(facet))
    }

    /// Panel and line of a configuration, a policy and an application.
    pub(crate) fn place(&self, configuration: usize, policy: usize, app: usize) -> (usize, usize) {
        let at = (configuration, policy, app);
        let group = self.rows.iter().fold(0, |sum, f| sum * self.facets.len(*f) + self.facets.at(*f, at));
        let panel = match self.column {
            Some(column) => group * self.facets.len(column) + self.facets.at(column, at),
            None => group,
        };
        (panel, self.line.map_or(0, |line| self.facets.at(line, at)))
    }

    /// The application of a panel.
    pub(crate) fn app(&self, panel: usize) -> usize {
        let across = self.column.map_or(1, |facet| self.facets.len(facet));
        if self.column == Some(Facet::App) {
            return panel % across;
        }
        self.values(panel / across).into_iter().find(|(f, _)| *f == Facet::App).map_or(0, |(_, app)| app)
    }

    /// What the lines are where that does not speak for itself, as an addition to what is shown.
    pub(crate) fn remark(&self) -> String {
        match self.line {
            Some(Facet::Axis(axis)) => format!("; rows: {}", self.facets.names[axis]),
            _ => String::new(),
        }
    }

    /// The values of the facets of a row of a grid or of a panel.
    fn values(&self, group: usize) -> Vec<(Facet, usize)> {
        let mut rest = group;
        let mut values: Vec<(Facet, usize)> = Vec::new();
        for facet in self.rows.iter().rev() {
            values.push((*facet, rest % self.facets.len(*facet)));
            rest /= self.facets.len(*facet);
        }
        values.reverse();
        values
    }

    /// The name of a row of a grid, or of a panel.
    fn named(&self, group: usize, of: bool) -> String {
        let names = self.values(group).into_iter().map(|(facet, value)| self.facets.name(facet, value, of));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The swept parameter with the most values; of equals one of numbers.
fn longest(sweep: &Sweep) -> Option<usize> {
    let rank = |at: &usize| {
        let axis = &sweep.varied[*at].axis;
        (axis.values.len(), axis.numbers.is_some(), std::cmp::Reverse(*at))
    };
    (0..sweep.varied.len()).max_by_key(rank)
}

/// The facet whose values become columns: the applications; else the one with the most values that leave
/// room; else that with the fewest.
fn column(facets: &Facets, free: &[Facet]) -> Option<Facet> {
    if free.contains(&Facet::App) {
        return Some(Facet::App);
    }
    let axes = || free.iter().copied().filter(|facet| *facet != Facet::Policy);
    let fitting = axes().filter(|facet| facets.len(*facet) <= COMFORTABLE);
    fitting.max_by_key(|f| facets.len(*f)).or_else(|| axes().min_by_key(|f| facets.len(*f)))
}

/// Sizes of panels.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Height of the plotting area of a panel.
    pub(crate) height: f64,
    /// Space at the left of each row.
    pub(crate) left: f64,
    /// Space for the labels of the axis below.
    pub(crate) foot: f64,
}

/// Panels with their places and names, relative to the body of a figure.
pub(crate) struct Sheet {
    panels: Vec<Area>,
    across: usize,
    /// Lines of the name above each panel, or above the columns of a grid.
    names: Vec<Vec<String>>,
    /// What the values above the columns are, where the names leave it out.
    what: String,
    /// Names of the rows of a grid; empty ones are not written.
    rows: Vec<String>,
    edges: bool,
    /// Labels at the left.
    labels: Vec<String>,
    /// Width of the labels.
    pub(crate) left: f64,
    /// Height of everything.
    pub(crate) height: f64,
    page: Page,
}

impl Layout {
    /// Panels with a line of this height for each line of the layout, named at the left.
    pub(crate) fn sheet(&self, line: f64) -> Sheet {
        let labels: Vec<String> =
            self.lines.iter().map(|name| font::squeezed(name, LABEL, self.page.left(MOST_LEFT))).collect();
        let left = labels.iter().map(|label| font::width(label, LABEL)).fold(0.0, f64::max) + 12.0;
        let height = line * labels.len() as f64;
        Sheet { labels, ..self.panels_of(Sizes { height, left, foot: AXIS }) }
    }

    /// Panels of these sizes.
    pub(crate) fn panels_of(&self, sizes: Sizes) -> Sheet {
        let across = match self.column {
            Some(column) => self.facets.len(column),
            None => {
                let most = side_by_side(self.groups(), self.line.is_some());
                let fits = |across: &usize| width(self.page, sizes.left, *across) >= LEAST;
                (1..=most).rev().find(fits).unwrap_or(1)
            }
        };
        let width = width(self.page, sizes.left, across);
        let (what, names) = self.heads(width);
        let edges = self.column.is_some();
        let rows: Vec<String> = if edges {
            (0..self.groups()).map(|group| self.named(group, true)).collect()
        } else {
            Vec::new()
        };
        let lines = names.iter().map(Vec::len).max().unwrap_or(0);
        let head = if lines == 0 { 6.0 } else { lines as f64 * LINE + 10.0 };
        let head = head + if what.is_empty() { 0.0 } else { LINE };
        let down = self.panels().div_ceil(across);
        let (mut y, mut panels) = (if edges { head } else { 0.0 }, Vec::new());
        for row in 0..down {
            let named = rows.get(row).is_some_and(|name| !name.is_empty());
            y += if !edges {
                head
            } else if named {
                STRIP
            } else {
                0.0
            };
            for column in 0..across.min(self.panels() - row * across) {
                let x = sizes.left + column as f64 * (width + GUTTER);
                panels.push(Area { x, y, width, height: sizes.height });
            }
            y += sizes.height + if !edges || row + 1 == down { sizes.foot } else { GAP };
        }
        let height = y + 22.0;
        Sheet {
            panels,
            across,
            names,
            what,
            rows,
            edges,
            labels: Vec::new(),
            left: sizes.left,
            height,
            page: self.page,
        }
    }

    /// What stands above columns, and the lines of each of their names: with the parameter in each if that
    /// fits a line, else once.
    fn heads(&self, width: f64) -> (String, Vec<Vec<String>>) {
        let name = |at: usize, of: bool| match self.column {
            Some(column) => self.facets.name(column, at, of),
            None => self.named(at, of),
        };
        let count = self.column.map_or_else(|| self.groups(), |column| self.facets.len(column));
        let all = |of: bool| (0..count).map(|at| name(at, of)).collect::<Vec<String>>();
        let parameter = match (self.column, self.rows.as_slice()) {
            (Some(Facet::Axis(axis)), _) | (None, &[Facet::Axis(axis)]) => {
                Some(self.facets.names[axis].clone())
            }
            _ => None,
        };
        let full = all(true);
        let fits = full.iter().all(|name| font::width(name, Letters::new(LABEL).bold()) <= width);
        match parameter {
            Some(short) if !fits => (short, wrapped(&all(false), width)),
            _ => (String::new(), wrapped(&full, width)),
        }
    }
}

/// Width of each of so many panels beside each other, with labels of this width at the left.
fn width(page: Page, left: f64, across: usize) -> f64 {
    (page.body() - left - GUTTER * across.saturating_sub(1) as f64) / across.max(1) as f64
}

/// Panels side by side of so many one after the other: wide ones hold curves.
const fn side_by_side(panels: usize, lines: bool) -> usize {
    match panels {
        0 | 1 => 1,
        4 if !lines => 2,
        2..=4 => panels,
        7 | 8 | 10.. => 4,
        _ => 3,
    }
}

/// Names broken into lines for panels of this width.
fn wrapped(names: &[String], width: f64) -> Vec<Vec<String>> {
    let lines = |name: &String| {
        let mut lines = font::wrapped(name, LABEL, width / 1.13);
        lines.truncate(NAME_LINES);
        lines.iter().map(|line| font::shortened(line, LABEL, width / 1.13)).collect()
    };
    names.iter().map(lines).collect()
}

impl Sheet {
    /// The panels where the figure's body begins at `body`.
    pub(crate) fn within(&self, body: Area) -> Vec<Area> {
        self.panels.iter().map(|p| Area { x: p.x + body.x, y: p.y + body.y, ..*p }).collect()
    }

    /// Width of a panel.
    pub(crate) fn width(&self) -> f64 {
        self.panels.first().map_or(100.0, |panel| panel.width)
    }

    /// Rows of panels.
    pub(crate) const fn rows(&self) -> usize {
        self.panels.len().div_ceil(self.across)
    }

    /// Whether a panel is the first of its row.
    pub(crate) const fn first(&self, panel: usize) -> bool {
        panel.is_multiple_of(self.across)
    }

    /// Whether the labels of the axis stand below a panel: in a grid below the last of each column.
    pub(crate) const fn foot(&self, panel: usize) -> bool {
        !self.edges || panel + self.across >= self.panels.len()
    }

    /// Writes the names of columns, rows and panels.
    pub(crate) fn write_names(&self, canvas: &mut Canvas, body: Area) {
        let bold = Letters::new(LABEL).bold();
        for (at, lines) in self.names.iter().enumerate() {
            let Some(panel) = self.panels.get(at) else { continue };
            let strip =
                if self.edges && self.rows.first().is_some_and(|r| !r.is_empty()) { STRIP } else { 0.0 };
            let (x, y) = (body.x + panel.x, body.y + panel.y - strip - 10.0);
            for (line, text) in lines.iter().rev().enumerate() {
                canvas.text((x, y - line as f64 * LINE), text, bold);
            }
            let most = self.names.iter().map(Vec::len).max().unwrap_or(0);
            if !self.what.is_empty() && self.first(at) {
                let letters = Letters::new(LABEL).in_colour(MUTED);
                canvas.text((x, y - most as f64 * LINE), &self.what, letters);
            }
        }
        for (row, name) in self.rows.iter().enumerate() {
            let Some(panel) = self.panels.get(row * self.across) else { continue };
            canvas.text(
                (body.x, body.y + panel.y - 11.0),
                &font::shortened(name, LABEL, self.page.body() / 1.13),
                bold,
            );
        }
    }

    /// Writes the labels of the lines at the left of a panel.
    pub(crate) fn write_labels(&self, canvas: &mut Canvas, body: Area, panel: Area) {
        let line = panel.height / self.labels.len().max(1) as f64;
        for (number, label) in self.labels.iter().enumerate() {
            let middle = panel.y + (number as f64 + 0.5) * line;
            canvas.text((body.x, middle), label, Letters::new(LABEL));
        }
    }
}
