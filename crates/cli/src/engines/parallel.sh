mkdir -p {{logs}}
shard() {
    exec {{sweep}} --shard "$1/{{shards}}" --jobs {{jobs}}{{changes}}
}
export -f shard
export PARALLEL_SHELL="$BASH"
slots=$(($(parallel --number-of-threads) / {{jobs}}))
parallel --jobs $((slots > 0 ? slots : 1)) --memfree {{mebibytes}}M \
    --retries {{tries}} --halt soon,fail=1 --termseq TERM,{{grace}}000,KILL,1000 \
    --joblog {{logs}}/parallel.log shard ::: {0..{{last}}}
exec {{merge}}
