#!/bin/bash
# A job array of Torque: runs the 16 shards of a sweep, then merges their results. Use: bash THIS_FILE
# After a failure run it again: finished runs are kept.
set -euo pipefail

mkdir -p /scratch/study/logs
# PBS starts no task again whose time is over. The job of the merge runs this copy if runs are missing.
[ "$0" -ef /scratch/study/logs/again ] || cp -- "$0" /scratch/study/logs/again

shard() {
    cat <<'END_OF_SHARD'
#!/bin/bash
#PBS -N oversim
#PBS -t 0-15
#PBS -r y
#PBS -l nodes=1:ppn=4,mem=1536mb
#PBS -l walltime=01:00:01
#PBS -j oe
#PBS -o /dev/null
cd "$PBS_O_WORKDIR"
exec /opt/oversim/bin/oversim sweep study.yaml -o /scratch/study --shard "$PBS_ARRAYID/16" --jobs 4 --set apps.cg.workload.class=A >>/scratch/study/logs/"$PBS_ARRAYID.log" 2>&1
END_OF_SHARD
}

merge() {
    cat <<'END_OF_MERGE'
#!/bin/bash
#PBS -N oversim-merge
#PBS -j oe
#PBS -o /dev/null
cd "$PBS_O_WORKDIR"
exec >>/scratch/study/logs/merge.log 2>&1
/opt/oversim/bin/oversim sweep merge /scratch/study && exit
# The shards continue as long as each round adds runs.
there="$(/opt/oversim/bin/oversim sweep status /scratch/study | sed -n 's/^there: \([0-9]*\) .*/\1/p')"
[ "${there:-0}" -gt "${OVERSIM_THERE:-0}" ] || exit 1
OVERSIM_THERE="$there" exec bash /scratch/study/logs/again
END_OF_MERGE
}

array="$(shard | qsub)"
merge="$(merge | qsub -v OVERSIM_THERE="${OVERSIM_THERE:-0}" -W depend=afteranyarray:"$array")"
echo "job array $array runs the shards, job $merge merges the results"
