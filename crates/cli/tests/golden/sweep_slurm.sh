#!/bin/bash
# A job array of Slurm: runs the 16 shards of a sweep, then merges their results. Use: bash THIS_FILE
# After a failure run it again: finished runs are kept.
set -euo pipefail

mkdir -p /scratch/study/logs

shard() {
    cat <<'END_OF_SHARD'
#!/bin/bash
#SBATCH --job-name=oversim
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --mem=1536M
#SBATCH --time=01:03:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
# Slurm sends SIGTERM to this shell before the time limit. oversim then finishes the runs in hand,
# exits with code 75, and the shard is queued again.
/opt/oversim/bin/oversim sweep study.yaml -o /scratch/study --shard "$SLURM_ARRAY_TASK_ID/16" --jobs "$SLURM_CPUS_PER_TASK" --set apps.cg.workload.class=A &
worker=$!
finish() { # exit code
    if [ "$1" = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 100 ]; then
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    fi
    exit "$1"
}
trap 'trap "" TERM; kill -TERM "$worker"; wait "$worker"; finish $?' TERM
wait "$worker"
finish $?
END_OF_SHARD
}

merge() {
    cat <<'END_OF_MERGE'
#!/bin/bash
#SBATCH --job-name=oversim-merge
exec /opt/oversim/bin/oversim sweep merge /scratch/study
END_OF_MERGE
}

array="$(shard | sbatch --parsable --output=/scratch/study/logs/%A_%a.log | cut -d';' -f1)"
merge="$(merge | sbatch --parsable --output=/scratch/study/logs/merge_%j.log --dependency="afterok:$array" --kill-on-invalid-dep=yes | cut -d';' -f1)"
echo "job array $array runs the shards, job $merge merges the results"
