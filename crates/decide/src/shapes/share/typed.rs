//! What an administrator and users of Slurm type.

use serde::Serialize;

/// A line to type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Typed {
    /// The file that gets it, or who types it.
    pub place: &'static str,
    /// The line.
    pub line: String,
    /// What it does, or for whom it is.
    pub why: String,
}

/// Lines for `slurm.conf` and for job scripts. `sharing`: programs that gain beside others; `alone`: those
/// that do not.
pub(super) fn lines(factor: usize, sharing: &[String], alone: &[String]) -> Vec<Typed> {
    let of = |place, line: String, why: String| Typed { place, line, why };
    let conf = |line: String, why: &str| of("slurm.conf", line, why.to_owned());
    let job = |line: &str, why: String| of("job script", line.to_owned(), why);
    if factor < 2 {
        return vec![
            conf("PartitionName=... OverSubscribe=EXCLUSIVE".to_owned(), "whole nodes for one job each"),
            job("#SBATCH --exclusive", "or this, where OverSubscribe=YES".to_owned()),
        ];
    }
    let up_to = format!("up to {factor} jobs on a core");
    let mut lines = vec![
        conf("SelectType=select/cons_tres".to_owned(), "cores are given out, not nodes"),
        conf("SelectTypeParameters=CR_Core_Memory".to_owned(), "memory is not given out twice"),
        conf("PreemptMode=OFF".to_owned(), "GANG would suspend jobs in turns"),
    ];
    if alone.is_empty() {
        lines.push(conf(format!("PartitionName=... OverSubscribe=FORCE:{factor}"), &up_to));
    } else {
        let ask = format!("{up_to}, if all of them ask");
        lines.push(conf(format!("PartitionName=... OverSubscribe=YES:{factor}"), &ask));
        lines.push(job("#SBATCH --oversubscribe", sharing.join(", ")));
        lines.push(job("#SBATCH --exclusive", alone.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_loses_does_not_ask_and_then_nobody_is_forced() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let all =
            |lines: Vec<Typed>| lines.into_iter().map(|typed| typed.line).collect::<Vec<_>>().join("\n");
        assert!(all(lines(1, &[], &[])).contains("OverSubscribe=EXCLUSIVE"));
        let forced = all(lines(2, &names(&["a", "b"]), &[]));
        assert!(forced.contains("OverSubscribe=FORCE:2") && !forced.contains("SBATCH"));
        let asked = all(lines(3, &names(&["a"]), &names(&["b"])));
        assert!(asked.contains("OverSubscribe=YES:3") && asked.contains("--oversubscribe"));
    }
}
