# Edit the image and the name of the claim for the cluster: a claim that all nodes can mount, with the
# scenario in it.

shards() {
    cat <<'END_OF_SHARDS'
apiVersion: batch/v1
kind: Job
metadata:
  generateName: oversim-
spec:
  completionMode: Indexed
  completions: {{shards}}
  parallelism: {{shards}}
  backoffLimitPerIndex: {{tries}}
  podFailurePolicy:
    rules:
      # After SIGTERM oversim finishes the runs in hand and exits with code 75; the shard starts again.
      - action: Ignore
        onExitCodes: { containerName: oversim, operator: In, values: [75] }
      - action: Ignore
        onPodConditions: [{ type: DisruptionTarget, status: "True" }]
      # Wrong usage, or another plan: no repetition helps.
      - action: FailIndex
        onExitCodes: { containerName: oversim, operator: In, values: [2] }
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: {{grace}}
      containers:
        - name: oversim
          image: oversim
          args: {{sweep_args}}
          env: [{ name: OVERSIM_SHARDS, value: "{{shards}}" }]
          resources:
            requests: { cpu: {{jobs}}, memory: {{mebibytes}}Mi }
            limits: { memory: {{mebibytes}}Mi }
          volumeMounts: [{ name: sweep, mountPath: {{volume}} }]
      volumes: [{ name: sweep, persistentVolumeClaim: { claimName: oversim } }]
END_OF_SHARDS
}

merge() {
    cat <<'END_OF_MERGE'
apiVersion: batch/v1
kind: Job
metadata:
  generateName: oversim-merge-
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: oversim
          image: oversim
          args: {{merge_args}}
          volumeMounts: [{ name: sweep, mountPath: {{volume}} }]
      volumes: [{ name: sweep, persistentVolumeClaim: { claimName: oversim } }]
END_OF_MERGE
}

finished() { # job
    local types
    while sleep {{poll}}; do
        types="$(kubectl get "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}')" || continue
        case " $types " in
        *" Complete "*) return 0 ;;
        *" Failed "*)
            echo "$1 failed: kubectl describe $1" >&2
            return 1
            ;;
        esac
    done
}

job="$(shards | kubectl create -o name -f -)"
echo "$job runs the shards"
finished "$job"
job="$(merge | kubectl create -o name -f -)"
echo "$job merges the results"
finished "$job"
kubectl logs "$job"
