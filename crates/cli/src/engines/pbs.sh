mkdir -p {{logs}}
# PBS starts no task again whose time is over. The job of the merge runs this copy if runs are missing.
[ "$0" -ef {{logs}}/again ] || cp -- "$0" {{logs}}/again

shard() {
    cat <<'END_OF_SHARD'
#!/bin/bash
#PBS -N oversim
#PBS {{array}} 0-{{last}}
#PBS -r y
#PBS -l {{resources}}
#PBS -l walltime={{walltime}}
#PBS -j oe
#PBS -o /dev/null
cd "$PBS_O_WORKDIR"
exec {{sweep}} --shard "${{index}}/{{shards}}" --jobs {{jobs}}{{changes}} >>{{logs}}/"${{index}}.log" 2>&1
END_OF_SHARD
}

merge() {
    cat <<'END_OF_MERGE'
#!/bin/bash
#PBS -N oversim-merge
#PBS -j oe
#PBS -o /dev/null
cd "$PBS_O_WORKDIR"
exec >>{{logs}}/merge.log 2>&1
{{merge}} && exit
# The shards continue as long as each round adds runs.
there="$({{status}} | sed -n 's/^there: \([0-9]*\) .*/\1/p')"
[ "${there:-0}" -gt "${OVERSIM_THERE:-0}" ] || exit 1
OVERSIM_THERE="$there" exec bash {{logs}}/again
END_OF_MERGE
}

array="$(shard | qsub)"
merge="$(merge | qsub -v OVERSIM_THERE="${OVERSIM_THERE:-0}" -W depend={{dependency}}:"$array")"
echo "job array $array runs the shards, job $merge merges the results"
