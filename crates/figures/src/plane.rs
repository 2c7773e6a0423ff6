//! The points of a sweep as a plane: its axes with their values, read back from the labels of the points.

/// A swept path and its values, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sweep {
    /// The whole path.
    pub(crate) path: String,
    /// Its last part, or more of it where that would not tell it from another one.
    pub(crate) short: String,
    /// The values.
    pub(crate) values: Vec<String>,
}

impl Sweep {
    /// The values as numbers, if all are.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(|value| value.parse().ok().filter(|n: &f64| n.is_finite())).collect()
    }
}

/// The points of a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plane {
    /// The labels of the points, in order.
    pub(crate) points: Vec<String>,
    /// Axes with more than one value.
    pub(crate) sweeps: Vec<Sweep>,
    /// Settings that all points share, `path=value`.
    pub(crate) fixed: Vec<String>,
    /// For each point the position of its value on each axis.
    places: Vec<Vec<usize>>,
}

impl Plane {
    /// Reads labels such as `threads_per_core=1, machine.turbo=on`.
    pub(crate) fn of(points: &[String]) -> Self {
        let read: Option<Vec<Vec<(String, String)>>> = points.iter().map(|label| settings(label)).collect();
        let same = |all: &Vec<Vec<(String, String)>>| {
            all.iter().all(|point| point.iter().map(|s| &s.0).eq(all[0].iter().map(|s| &s.0)))
        };
        match read.filter(|all| !all.is_empty() && same(all)) {
            Some(all) => Self::from_settings(points, &all),
            None => Self::of_labels(points),
        }
    }

    fn from_settings(points: &[String], all: &[Vec<(String, String)>]) -> Self {
        let (mut sweeps, mut fixed, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (path, first)) in all[0].iter().enumerate() {
            let mut values: Vec<String> = Vec::new();
            for point in all {
                if !values.contains(&point[at].1) {
                    values.push(point[at].1.clone());
                }
            }
            if values.len() > 1 {
                sweeps.push(Sweep { path: path.clone(), short: String::new(), values });
                kept.push(at);
            } else {
                fixed.push(format!("{path}={first}"));
            }
        }
        name(&mut sweeps);
        let place = |point: &Vec<(String, String)>| {
            let each = kept.iter().zip(&sweeps);
            each.filter_map(|(at, sweep)| sweep.values.iter().position(|v| *v == point[*at].1)).collect()
        };
        let places = all.iter().map(place).collect();
        Self { points: points.to_vec(), sweeps, fixed, places }
    }

    /// Labels of another form: one axis whose values they are.
    fn of_labels(points: &[String]) -> Self {
        let sweep = Sweep { path: "point".into(), short: "point".into(), values: points.to_vec() };
        let sweeps = if points.len() > 1 { vec![sweep] } else { Vec::new() };
        let places =
            (0..points.len()).map(|at| if points.len() > 1 { vec![at] } else { Vec::new() }).collect();
        Self { points: points.to_vec(), sweeps, fixed: Vec::new(), places }
    }

    /// What tells a point from the others, in words; empty for a single one.
    pub(crate) fn short(&self, point: usize) -> String {
        let all: Vec<usize> = (0..self.sweeps.len()).collect();
        self.described(point, &all)
    }

    /// The settings of a point on some axes, in words.
    pub(crate) fn described(&self, point: usize, axes: &[usize]) -> String {
        let each = axes.iter().filter_map(|axis| {
            let sweep = self.sweeps.get(*axis)?;
            let value = sweep.values.get(self.place(point, *axis)?)?;
            Some(format!("{} = {}", sweep.short, plain(value)))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The values of a point on all axes.
    pub(crate) fn values(&self, point: usize) -> String {
        let value = |axis: usize| self.sweeps[axis].values.get(self.place(point, axis)?);
        let all = (0..self.sweeps.len()).filter_map(value);
        all.map(|value| plain(value)).collect::<Vec<_>>().join(", ")
    }

    /// The short names of all axes.
    pub(crate) fn names(&self) -> String {
        self.sweeps.iter().map(|sweep| sweep.short.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The position of a point's value on an axis.
    pub(crate) fn place(&self, point: usize, axis: usize) -> Option<usize> {
        self.places.get(point)?.get(axis).copied()
    }

    /// Settings shared by all points, as an addition to a subtitle.
    pub(crate) fn remark(&self) -> String {
        let each: Vec<String> = self.fixed.iter().filter(|f| !f.is_empty()).map(|f| plain(f)).collect();
        if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) }
    }
}

/// A value without the signs of YAML around it: `{npb: {benchmark: ep}}` is `npb benchmark: ep`.
pub(crate) fn plain(value: &str) -> String {
    let bare: String = value.chars().filter(|c| !"{}[]\"".contains(*c)).collect();
    bare.replace(": ", " ")
}

/// Short names: the last part of a path, with as many before it as it takes to tell it from the others.
fn name(sweeps: &mut [Sweep]) {
    let paths: Vec<String> = sweeps.iter().map(|sweep| sweep.path.clone()).collect();
    let tail = |path: &str, parts: usize| {
        let all: Vec<&str> = path.split('.').collect();
        all[all.len().saturating_sub(parts)..].join(".")
    };
    for (at, sweep) in sweeps.iter_mut().enumerate() {
        let alone = |parts: &usize| {
            let mine = tail(&paths[at], *parts);
            paths.iter().enumerate().all(|(other, path)| other == at || tail(path, *parts) != mine)
        };
        let parts = (1..8).find(alone).unwrap_or(8);
        sweep.short = tail(&paths[at], parts);
        if let (true, Some(app)) = (parts == 1, paths[at].strip_prefix("apps.")) {
            // Whose it is matters.
            let app = app.split('.').next().unwrap_or(app);
            sweep.short = format!("{app}.{}", sweep.short);
        }
    }
}

/// Paths and values of a label; `None` when it has another form.
fn settings(label: &str) -> Option<Vec<(String, String)>> {
    let mut parts: Vec<String> = vec![String::new()];
    let (mut depth, mut rest) = (0_usize, label);
    while let Some(next) = rest.chars().next() {
        if depth == 0 && rest.starts_with(", ") {
            parts.push(String::new());
            rest = &rest[2..];
            continue;
        }
        match next {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        parts.last_mut()?.push(next);
        rest = &rest[next.len_utf8()..];
    }
    let split = |part: &String| {
        let (path, value) = part.split_once('=')?;
        Some((path.to_owned(), value.to_owned()))
    };
    if label.is_empty() { Some(Vec::new()) } else { parts.iter().map(split).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(points: &[&str]) -> Plane {
        Plane::of(&points.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn axes_come_back_from_the_labels() {
        let plane = plane(&[
            "machine=barcelona, apps.a.runtime={openmp: {x: 1, y: 2}}, threads_per_core=1",
            "machine=barcelona, apps.a.runtime={openmp: {x: 1, y: 2}}, threads_per_core=2",
            "machine=barcelona, apps.a.runtime=upc, threads_per_core=1",
            "machine=barcelona, apps.a.runtime=upc, threads_per_core=2",
        ]);
        assert_eq!(
            plane.sweeps.iter().map(|s| s.short.as_str()).collect::<Vec<_>>(),
            ["a.runtime", "threads_per_core"]
        );
        assert_eq!(plane.fixed, ["machine=barcelona"]);
        assert_eq!(plane.short(1), "a.runtime = openmp x 1, y 2, threads_per_core = 2");
        assert_eq!((plane.place(2, 0), plane.place(2, 1)), (Some(1), Some(0)));
        assert_eq!(plane.sweeps[1].numbers(), Some(vec![1.0, 2.0]));
        assert_eq!(plane.sweeps[0].numbers(), None);
    }

    #[test]
    fn names_are_as_long_as_it_takes() {
        let plane = plane(&[
            "apps.a.workload.program=x, apps.b.workload.program=y",
            "apps.a.workload.program=y, apps.b.workload.program=x",
        ]);
        assert_eq!(plane.sweeps[0].short, "a.workload.program");
    }

    #[test]
    fn a_single_point_and_labels_of_another_form() {
        assert!(plane(&[""]).sweeps.is_empty());
        assert_eq!(plane(&[""]).short(0), "");
        let odd = plane(&["first", "second"]);
        assert_eq!(odd.sweeps[0].values, ["first", "second"]);
        assert_eq!(odd.short(1), "point = second");
    }
}
