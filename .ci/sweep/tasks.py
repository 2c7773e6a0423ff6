"""Runs the shards of a sweep as tasks of Dask or Ray, kills a worker with its shard in the middle, and leaves the merge to the caller:
tasks.py ENGINE PROGRAM SCENARIO DIRECTORY. Without the killing this is the recipe of docs/sweeps-engines.md."""

import os
import signal
import subprocess
import sys
import threading
import time

SHARDS = 4
WORKERS = 2
engine, program, scenario, directory = sys.argv[1:]


def run(shard):
    """Runs a shard. A signal or a limit that ended it early is exit code 75: the task is tried again."""
    command = [program, "sweep", scenario, "-o", directory, "--jobs", "1", "--shard", f"{shard}/{SHARDS}"]
    subprocess.run(command, check=True)


def with_dask():
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.gather(client.map(run, range(SHARDS), pure=False, retries=3))


def with_ray():
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    task = ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)(run)
    ray.get([task.remote(shard) for shard in range(SHARDS)])
    ray.shutdown()


def shards():
    """The processes of shards with their parents, the workers."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if words[0] == program and directory in words and "--shard" in words:
            found.append((int(name), parent, words[words.index("--shard") + 1]))
    return found


killed = []


def kill_one():
    """As if a node was lost: a worker and its shard end at once."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        at_work = shards()
        if len(at_work) == WORKERS:
            time.sleep(0.3)
            process, worker, shard = at_work[0]
            os.kill(worker, signal.SIGKILL)
            os.kill(process, signal.SIGKILL)
            killed.append(shard)
            print(f"killed a worker with shard {shard}", flush=True)
            return
        time.sleep(0.02)


if __name__ == "__main__":
    thread = threading.Thread(target=kill_one)
    thread.start()
    {"dask": with_dask, "ray": with_ray}[engine]()
    thread.join()
    if not killed:
        sys.exit("error: the shards ended before one was killed: the study is too short for this machine")
