//! Which rows a picture of threads has.

use crate::timeline::record::RowSpec;

/// The rows of these applications (a name and the number of threads each), of all threads or of those of a
/// list, at most `most` of them; and what there is to say about those that are left out.
///
/// # Errors
/// A sentence: what a list names does not exist.
pub(super) fn rows(
    apps: &[(String, u32)],
    list: Option<&str>,
    most: usize,
) -> Result<(Vec<RowSpec>, String), String> {
    let mut threads: Vec<(u32, u32)> = match list {
        Some(list) => listed(apps, list).map_err(|why| format!("--threads {list}: {why}"))?,
        None => {
            (0..).zip(apps).flat_map(|(app, (_, count))| (0..*count).map(move |rank| (app, rank))).collect()
        }
    };
    threads.sort_unstable();
    threads.dedup();
    let all = threads.len();
    threads.truncate(most);
    let alone = |app: u32| apps[app as usize].1 == 1;
    let row = |(app, rank): &(u32, u32)| RowSpec {
        // The name of its application says all.
        name: if alone(*app) { String::new() } else { rank.to_string() },
        group: *app,
        cpus: Vec::new(),
        thread: Some((*app, *rank)),
    };
    let remark = if threads.len() < all {
        format!("rows: the first {} of {all} threads; --threads chooses others", threads.len())
    } else {
        String::new()
    };
    Ok((threads.iter().map(row).collect(), remark))
}

/// The threads that a list names: `0-7` of the only application, `web.0-3`, or `batch` for all of one.
fn listed(apps: &[(String, u32)], list: &str) -> Result<Vec<(u32, u32)>, String> {
    let mut threads = Vec::new();
    for item in list.split(',').map(str::trim) {
        let named = |name: &str| apps.iter().position(|(app, _)| app == name);
        let whole = |place: usize| (place, (0, apps[place].1.saturating_sub(1)));
        let (place, (first, last)) = match (named(item), item.rsplit_once('.'), ranks(item)) {
            (Some(place), _, _) => whole(place),
            (None, None, Some(ranks)) if apps.len() == 1 => (0, ranks),
            (None, None, Some(_)) => {
                return Err(format!("`{item}` names no application: write `{}.{item}`", apps[0].0));
            }
            (None, Some((name, tail)), _) if named(name).is_some() => {
                let known =
                    ranks(tail).ok_or_else(|| format!("`{tail}` is no thread or range of threads"))?;
                (named(name).unwrap_or(0), known)
            }
            _ => {
                let all: Vec<&str> = apps.iter().map(|(name, _)| name.as_str()).collect();
                return Err(format!("there is no application `{item}` among {}", all.join(", ")));
            }
        };
        let (name, count) = &apps[place];
        if first > last || last >= *count {
            let there = count.saturating_sub(1);
            return Err(format!("{name} has the threads 0 to {there}, not {first}-{last}"));
        }
        threads.extend((first..=last).map(|rank| (place as u32, rank)));
    }
    Ok(threads)
}

/// `3` or `0-7`.
fn ranks(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_threads_of_applications() {
        let apps = [("web".to_owned(), 4), ("batch".to_owned(), 2)];
        let of = |list| listed(&apps, list);
        assert_eq!(of("web.1-2,batch"), Ok(vec![(0, 1), (0, 2), (1, 0), (1, 1)]));
        assert_eq!(listed(&apps[..1], "3"), Ok(vec![(0, 3)]));
        for (list, why) in [
            ("0-1", "write `web.0-1`"),
            ("web.4", "has the threads 0 to 3"),
            ("web.2-1", "has the threads 0 to 3"),
            ("web.x", "is no thread"),
            ("", "there is no application"),
            ("cg.0", "there is no application `cg.0` among web, batch"),
        ] {
            assert!(of(list).unwrap_err().contains(why), "{list}: {:?}", of(list));
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_named() {
        let apps = [("web".to_owned(), 40), ("batch".to_owned(), 2)];
        let (all, remark) = rows(&apps, None, 32).unwrap();
        assert_eq!((all.len(), all[31].thread), (32, Some((0, 31))));
        assert_eq!(remark, "rows: the first 32 of 42 threads; --threads chooses others");
        assert_eq!(rows(&apps, Some("batch"), 32).unwrap().1, "");
    }
}
