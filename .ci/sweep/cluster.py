"""A server of HyperQueue, two workers in processes of their own, and a submit script; one worker is killed with its task.

Usage: cluster.py SERVER_DIRECTORY SUBMIT_SCRIPT PROGRAM"""

import os
import signal
import subprocess
import sys
import time

from hyperqueue import LocalCluster

server, submit, program = sys.argv[1:]

# A worker of `LocalCluster` is a thread of its process. For a process that can be killed, the worker connects to the server of the
# other cluster, whose address is in the directory behind `hq-current`.
WORKER = """
import os, sys, time
from hyperqueue import LocalCluster
from hyperqueue.cluster import WorkerConfig
server, own = sys.argv[1:]
cluster = LocalCluster(own)
current = os.path.join(own, "hq-current")
os.unlink(current)
os.symlink(os.path.realpath(os.path.join(server, "hq-current")), current)
cluster.start_worker(WorkerConfig(cores=1))
print("ready", flush=True)
time.sleep(600)
"""


def start_worker(number):
    own = f"{server}-worker-{number}"
    worker = subprocess.Popen([sys.executable, "-c", WORKER, server, own], stdout=subprocess.PIPE, text=True)
    while (line := worker.stdout.readline()) != "ready\n":
        if not line:
            sys.exit("error: a worker of HyperQueue did not start")
    return worker


def tasks(worker):
    """The tasks that a worker runs now: process, number of the task, how often it was started before."""
    found = []
    for process in os.listdir("/proc"):
        try:
            parent = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
            if parent == worker.pid and os.readlink(f"/proc/{process}/exe") == program:
                pairs = open(f"/proc/{process}/environ", "rb").read().split(b"\0")
                values = dict(pair.split(b"=", 1) for pair in pairs if b"=" in pair)
                found.append((int(process), int(values[b"HQ_TASK_ID"]), int(values[b"HQ_INSTANCE_ID"])))
        except (OSError, ValueError, KeyError):
            pass  # No process, or one that has just ended.
    return found


def until(seconds, what, condition):
    end = time.monotonic() + seconds
    while not (answer := condition()):
        if time.monotonic() > end:
            sys.exit(f"error: {what} took too long")
        time.sleep(0.02)
    return answer


# Whatever ends this script, its processes end with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
workers, job = [], None
with LocalCluster(server) as cluster:
    try:
        workers += [start_worker(1), start_worker(2)]
        job = subprocess.Popen(["bash", submit], env={**os.environ, "OVERSIM_HQ_SERVER": server}, start_new_session=True)
        until(30, "the start of a task on each worker", lambda: all(tasks(worker) for worker in workers))
        time.sleep(0.5)
        # As if the node was lost: neither the worker nor its task can do anything more.
        lost, left = workers
        os.kill(lost.pid, signal.SIGSTOP)
        victims = tasks(lost)
        for process, _, _ in victims:
            os.kill(process, signal.SIGKILL)
        lost.kill()
        if not victims:
            sys.exit("error: the task ended before its worker was killed: the study is too short for this machine")
        task = victims[0][1]
        print(f"killed worker 1 with task {task}", flush=True)
        until(60, "the second start of the task", lambda: any(n == task and again > 0 for _, n, again in tasks(left)))
        print(f"worker 2 runs task {task} again", flush=True)
        if job.wait(timeout=90) != 0:
            sys.exit("error: the submit script failed")
    finally:
        for worker in workers:
            worker.kill()
        if job and job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
