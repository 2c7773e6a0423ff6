//! The shard of a task of a job array, from the variables that its engine sets.

use sweep::plan::Shard;

use crate::args::checked;
use crate::engines::ENGINES;

/// The number of shards, where the engine does not say it.
const SHARDS: &str = "OVERSIM_SHARDS";

/// The shard that the environment names; none outside of a job array.
///
/// # Errors
/// A sentence: a number is missing or wrong.
pub(super) fn of_array(variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    let number = |name: &str| -> Result<Option<u32>, String> {
        let Some(text) = variable(name) else { return Ok(None) };
        let wrong = |_| format!("the variable {name} is `{text}`, not a number: use --shard I/N");
        text.trim().parse().map(Some).map_err(wrong)
    };
    let mut found = ENGINES.iter().filter_map(|engine| Some((engine.index?, &engine.array)));
    let Some((name, array)) = found.find(|(name, _)| variable(name).is_some()) else {
        return Ok(None);
    };
    let id = number(name)?.unwrap_or(0);
    let refused = |why: String| format!("{why} (from {name}): use --shard I/N");
    if let Some(of) = number(SHARDS)? {
        return checked(id, of).map(Some).map_err(refused);
    }
    let Some(array) = array else {
        return Err(format!(
            "{name} is {id}, and the number of shards is not known: set {SHARDS}, or use --shard I/N"
        ));
    };
    let least = number(array.first)?.unwrap_or(0);
    let step = number(array.step)?.unwrap_or(1);
    if step == 0 {
        return Err(format!("the variable {} is 0: use --shard I/N", array.step));
    }
    let of = match (number(array.count)?, number(array.last)?) {
        (Some(count), _) => count,
        (None, Some(most)) => most.saturating_sub(least) / step + 1,
        (None, None) => return Err(format!("{name} is {id}, and the array has no count: use --shard I/N")),
    };
    let offset = id.checked_sub(least).filter(|offset| offset % step == 0);
    let index = offset.map(|offset| offset / step).filter(|index| *index < of);
    let Some(index) = index else {
        return Err(refused(format!(
            "the array is not one of equal steps: task {id} from {least} by {step}"
        )));
    };
    checked(index, of).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<Option<Shard>, String> {
        of_array(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn shard(index: u32, of: u32) -> Result<Option<Shard>, String> {
        Ok(Some(Shard { index, of }))
    }

    #[test]
    fn each_engine_names_its_task() {
        assert_eq!(of(&[]), Ok(None));
        let slurm = |id, min, count, step| {
            of(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_STEP", step),
            ])
        };
        assert_eq!(slurm("3", "0", "8", "1"), shard(3, 8));
        assert_eq!(slurm("9", "1", "5", "4"), shard(2, 5));
        let by_max =
            [("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_MAX", "4")];
        assert_eq!(of(&by_max), shard(1, 4));
        assert_eq!(of(&[("HQ_TASK_ID", "5"), ("OVERSIM_SHARDS", "6")]), shard(5, 6));
        for engine in ENGINES.iter().filter_map(|engine| engine.index) {
            assert_eq!(of(&[(engine, "0"), ("OVERSIM_SHARDS", "2")]), shard(0, 2), "{engine}");
        }
        assert_eq!(of(&[("SLURM_ARRAY_TASK_ID", "7"), ("OVERSIM_SHARDS", "9")]), shard(7, 9));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert!(of(&[("HQ_TASK_ID", "5")]).unwrap_err().contains("OVERSIM_SHARDS"));
        assert!(of(&[("HQ_TASK_ID", "x")]).unwrap_err().contains("not a number"));
        assert!(of(&[("HQ_TASK_ID", "6"), ("OVERSIM_SHARDS", "6")]).unwrap_err().contains("from 0 to 5"));
        let list =
            [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_COUNT", "2")];
        assert!(of(&list).unwrap_err().contains("equal steps"));
        let still = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_STEP", "0")];
        assert!(of(&still).unwrap_err().contains("SLURM_ARRAY_TASK_STEP is 0"));
        assert!(of(&[("SLURM_ARRAY_TASK_ID", "7")]).unwrap_err().contains("no count"));
    }
}
