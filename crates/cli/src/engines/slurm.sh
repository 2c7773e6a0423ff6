mkdir -p {{logs}}

shard() {
    cat <<'END_OF_SHARD'
#!/bin/bash
#SBATCH --job-name=oversim
#SBATCH --array=0-{{last}}
#SBATCH --cpus-per-task={{jobs}}
#SBATCH --mem={{mebibytes}}M
#SBATCH --time={{slurm_time}}
#SBATCH --signal=B:TERM@{{grace}}
#SBATCH --requeue
#SBATCH --open-mode=append
# Slurm sends SIGTERM to this shell before the time limit. oversim then finishes the runs in hand,
# exits with code 75, and the shard is queued again.
{{sweep}} --shard "${{index}}/{{shards}}" --jobs "$SLURM_CPUS_PER_TASK"{{changes}} &
worker=$!
finish() { # exit code
    if [ "$1" = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt {{restarts}} ]; then
        scontrol requeue "${SLURM_ARRAY_JOB_ID}_${{index}}"
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
exec {{merge}}
END_OF_MERGE
}

array="$(shard | sbatch --parsable --output={{slurm_logs}}/%A_%a.log | cut -d';' -f1)"
merge="$(merge | sbatch --parsable --output={{slurm_logs}}/merge_%j.log --dependency="afterok:$array" --kill-on-invalid-dep=yes | cut -d';' -f1)"
echo "job array $array runs the shards, job $merge merges the results"
