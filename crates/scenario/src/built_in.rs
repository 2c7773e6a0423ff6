//! The built-in scenarios: files of the repository that the program contains, and the scenario to start from.

use notation::suggest::nearest;
use notation::yaml::{Content, tree};

use crate::labels::is_word;

/// A scenario that the program contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuiltIn {
    /// Its name, the stem of its file.
    pub name: &'static str,
    /// Its file in the repository.
    pub path: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($folder:literal: [$($name:literal),* $(,)?],)*) => {
        &[$($(BuiltIn {
            name: $name,
            path: concat!($folder, "/", $name, ".yaml"),
            text: include_str!(concat!("../data/", $folder, "/", $name, ".yaml")),
        }),*),*]
    };
}

/// All built-in scenarios, by folder and name.
pub const BUILT_IN: &[BuiltIn] = built_in! {
    "scenarios": [
        "all_to_all_lockstep",
        "backfilling",
        "bandwidth_sharing",
        "barrier_latency",
        "batch_slots",
        "big_little",
        "blocktime",
        "cache_refill",
        "cfs_vs_posix_yield",
        "cg_ft_share",
        "cpu_hog",
        "cpu_limit",
        "dining_philosophers",
        "ep_eight_per_core",
        "first_touch_startup",
        "fragile_policies",
        "gang_fragmentation",
        "hybrid_mpi_openmp",
        "interactive_beside_hogs",
        "job_queue",
        "lgroup_homes",
        "locks",
        "make_competitor",
        "numa_balancing_gathers",
        "numa_balancing_heals",
        "numa_balancing_hurts",
        "numa_first_touch",
        "parbench_node",
        "periodic_tasks",
        "queue_of_requests",
        "remote_memory",
        "services_on_one_core",
        "sessions",
        "seventeen_on_sixteen",
        "shared_cache",
        "smt_pairs",
        "spec_pair",
        "spin_yield_block",
        "thousand_cores",
        "turbo_steps",
        "two_hogs_one_core",
        "waiting_on_a_modern_kernel",
        "work_stealing",
        "yield_under_kernels",
    ],
    "scenarios/lessons": [
        "below_the_quota",
        "client_and_server",
        "each_its_own_core",
        "endless_fifo",
        "gaming_the_queue",
        "half_of_the_machine",
        "heavy_beside_light",
        "hog_beside_barriers",
        "how_to_wait",
        "io_and_cpu",
        "io_overlap",
        "lock_convoy",
        "lottery_and_stride",
        "nice_levels",
        "one_lock",
        "pathfinder",
        "serial_part",
        "server_beside_a_hog",
        "six_tasks",
        "sleeper_beside_a_hog",
        "spinning_jobs",
        "threads_on_sixteen_cores",
        "three_jobs",
        "three_to_one",
        "too_many_threads",
        "two_working_sets",
        "who_touches_first",
        "yield_beside_a_worker",
    ],
    "scenarios/ostep": [
        "convoy",
        "fifo",
        "homework_7",
        "late_arrivals",
        "lottery",
        "mlfq",
        "multi_affinity",
        "multi_cache",
        "multi_cpu",
        "multi_steal",
        "round_robin",
        "tickets",
    ],
    "scenarios/policies": [
        "asleep_at_barriers",
        "even_or_balanced",
        "fixed_priorities",
        "gangs_that_do_not_fill",
        "job_lengths",
        "lewi",
        "lewi_fine_grain",
        "moved_memory",
        "odd_thread",
        "one_queue_or_many",
        "one_thread_per_core",
        "polling_in_order",
        "share_since_the_start",
        "short_and_long",
        "short_waits",
        "sleepers_and_gangs",
        "space_or_time",
        "stranger_on_a_core",
        "streams_and_compute",
        "system_or_self",
        "turns_on_uneven_cores",
        "twice_too_many_threads",
        "two_spinning_programs",
        "urgent_and_bulk",
        "yield_to",
        "yield_to_o1",
    ],
};

/// A small scenario with a comment for every key, to be changed.
pub const STARTER: BuiltIn = BuiltIn {
    name: "my_scenario",
    path: "crates/scenario/data/starter.yaml",
    text: include_str!("../data/starter.yaml"),
};

/// What the first line of a scenario for editors begins with.
const EDITOR_LINE: &str = "# yaml-language-server: $schema=";

/// The built-in scenario of this name, upper or lower case, with or without `.yaml`.
#[must_use]
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    let stem = stem(name);
    BUILT_IN.iter().find(|scenario| scenario.name.eq_ignore_ascii_case(stem))
}

/// The name of the built-in scenario that is nearest to a mistyped one, if one is near.
#[must_use]
pub fn similar(name: &str) -> Option<&'static str> {
    nearest(stem(name), BUILT_IN.iter().map(|scenario| scenario.name))
}

/// Names of built-in scenarios that begin with this word, at least three letters long; else those that
/// contain it.
pub fn beginning(word: &str) -> impl Iterator<Item = &'static str> {
    let word = stem(word).to_ascii_lowercase().replace(['-', ' '], "_");
    let long = word.len() >= 3;
    let names = || BUILT_IN.iter().map(|scenario| scenario.name);
    let begins = names().any(|name| name.starts_with(&word));
    names().filter(move |name| long && if begins { name.starts_with(&word) } else { name.contains(&word) })
}

/// The name without the ending of a file.
fn stem(name: &str) -> &str {
    [".yaml", ".yml"].into_iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

impl BuiltIn {
    /// The name in messages.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} (built-in)", self.name)
    }

    /// The question that it answers: its key `about`.
    #[must_use]
    pub fn about(&self) -> String {
        let root = tree(0, self.text).ok();
        let about = root.as_ref().and_then(|root| root.get("about")).map(|entry| &entry.value.content);
        if let Some(Content::Scalar(text)) = about { text.clone() } else { String::new() }
    }

    /// The comment at its head: what happens in it, and what to watch for.
    #[must_use]
    pub fn comment(&self) -> String {
        let lines = self.text.lines().take_while(|line| line.starts_with('#'));
        let lines = lines.filter(|line| !line.starts_with(EDITOR_LINE));
        let bare =
            |line: &str| line.strip_prefix("# ").unwrap_or_else(|| line.trim_start_matches('#')).to_owned();
        lines.map(bare).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// Its text as a separate file, with this name where it is valid. `schema` is the file that an editor
    /// checks it with.
    #[must_use]
    pub fn copy(&self, name: &str, schema: Option<&str>) -> String {
        let name = if is_word(name) { name } else { self.name };
        let kept = self.text.lines().filter(|line| !line.starts_with(EDITOR_LINE));
        let renamed = kept
            .map(|line| if line.starts_with("name:") { format!("name: {name}") } else { line.to_owned() });
        let body = renamed.collect::<Vec<_>>().join("\n");
        // The comment of a file begins after the line for editors and an empty one.
        let body = body.strip_prefix("#\n").unwrap_or(&body);
        match schema {
            Some(schema) => format!("{EDITOR_LINE}{schema}\n#\n{body}\n"),
            None => format!("{body}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_and_without_their_ending() {
        assert_eq!(find("cg_ft_share").map(|found| found.path), Some("scenarios/cg_ft_share.yaml"));
        assert_eq!(
            find("Odd_Thread.yaml").map(|found| found.path),
            Some("scenarios/policies/odd_thread.yaml")
        );
        assert!(find("scenarios/cg_ft_share.yaml").is_none() && find("").is_none());
        assert_eq!(similar("cg_ft_shar.yaml"), Some("cg_ft_share"));
        assert_eq!(similar("nothing_like_it_at_all"), None);
        assert_eq!(beginning("two_hogs").collect::<Vec<_>>(), ["two_hogs_one_core"]);
        assert_eq!(beginning("hogs").collect::<Vec<_>>(), ["interactive_beside_hogs", "two_hogs_one_core"]);
        assert_eq!(beginning("x").count(), 0);
    }

    #[test]
    fn a_scenario_explains_itself_without_marks_of_a_comment() {
        let comment = find("two_hogs_one_core").unwrap().comment();
        assert!(comment.starts_with("A result that") && comment.contains("\nWatch for:\n- "), "{comment}");
        assert!(!comment.contains('#') && !comment.contains("schema"), "{comment}");
        assert!(find("two_hogs_one_core").unwrap().about().starts_with("Do two equal tasks"));
    }

    #[test]
    fn a_copy_points_to_no_file_that_is_not_there() {
        let scenario = find("odd_thread").unwrap();
        let copy = scenario.copy("mine", None);
        assert!(!copy.contains("$schema") && copy.contains("\nname: mine\n"), "{copy}");
        assert!(copy.starts_with("# 17 threads"), "{copy}");
        let copy = scenario.copy("odd_thread", Some("oversim.schema.json"));
        assert_eq!(copy, scenario.text.replace("../../oversim", "oversim"));
        assert!(scenario.copy("not a name", None).contains("\nname: odd_thread\n"));
    }
}
