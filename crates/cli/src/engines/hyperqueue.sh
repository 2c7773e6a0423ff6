mkdir -p {{logs}}
# A server and workers have to run (hq server start, hq worker start). If a worker is lost,
# HyperQueue starts its shards again on another one.
hq submit --wait --name=oversim --array=0-{{last}} --cpus={{jobs}} --resource=mem={{mebibytes}} \
    --time-limit={{seconds}}s \
    --crash-limit={{crashes}} --env=OVERSIM_SHARDS={{shards}} --stdout=none --stderr={{logs}}/%{TASK_ID}.log \
    -- {{sweep}} --jobs {{jobs}}{{changes}}
exec {{merge}}
