#!/bin/bash
# Processes on one machine, started by GNU parallel: runs the 16 shards of a sweep, then merges their results. Use: bash THIS_FILE
# After a failure run it again: finished runs are kept.
set -euo pipefail

mkdir -p /scratch/study/logs
shard() {
    exec /opt/oversim/bin/oversim sweep study.yaml -o /scratch/study --shard "$1/16" --jobs 4 --set apps.cg.workload.class=A
}
export -f shard
export PARALLEL_SHELL="$BASH"
slots=$(($(parallel --number-of-threads) / 4))
parallel --jobs $((slots > 0 ? slots : 1)) --memfree 1536M \
    --retries 3 --halt soon,fail=1 --termseq TERM,60000,KILL,1000 \
    --joblog /scratch/study/logs/parallel.log shard ::: {0..15}
exec /opt/oversim/bin/oversim sweep merge /scratch/study
