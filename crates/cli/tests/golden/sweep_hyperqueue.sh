#!/bin/bash
# A task array of HyperQueue: runs the 16 shards of a sweep, then merges their results. Use: bash THIS_FILE
# After a failure run it again: finished runs are kept.
set -euo pipefail

mkdir -p /scratch/study/logs
# A server and workers have to run (hq server start, hq worker start). If a worker is lost,
# HyperQueue starts its shards again on another one.
hq submit --wait --name=oversim --array=0-15 --cpus=4 --resource=mem=1536 \
    --time-limit=3601s \
    --crash-limit=50 --env=OVERSIM_SHARDS=16 --stdout=none --stderr=/scratch/study/logs/%{TASK_ID}.log \
    -- /opt/oversim/bin/oversim sweep study.yaml -o /scratch/study --jobs 4 --set apps.cg.workload.class=A
exec /opt/oversim/bin/oversim sweep merge /scratch/study
