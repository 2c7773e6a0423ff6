"""A substitute for the `hq` program, which the wheel of HyperQueue does not have: `hq submit` with the options that
`oversim sweep script --engine hyperqueue` prints, through the Python interface. An option that it does not know is an error."""

import argparse
import os
import sys

from hyperqueue import Client, Job
from hyperqueue.ffi.protocol import ResourceRequest

parser = argparse.ArgumentParser(prog="hq", allow_abbrev=False)
parser.add_argument("verb", choices=["submit"])
parser.add_argument("--wait", action="store_true", required=True)
parser.add_argument("--name", required=True)
parser.add_argument("--array", required=True)
parser.add_argument("--cpus", type=int, required=True)
# The workers of a local cluster have no memory to ask for, and the Python interface has no time limit.
parser.add_argument("--resource")
parser.add_argument("--time-limit")
parser.add_argument("--crash-limit", type=int, required=True)
parser.add_argument("--env", action="append", default=[])
parser.add_argument("--stdout", choices=["none"], required=True)
parser.add_argument("--stderr", required=True)
words = sys.argv[1:]
split = words.index("--")
options, command = parser.parse_args(words[:split]), words[split + 1 :]

first, last = map(int, options.array.split("-"))
assert first == 0, "the Python interface numbers tasks from 0"
job = Job(os.getcwd(), max_fails=None, name=options.name)
for _ in range(last + 1):
    job.program(
        command,
        env=dict(pair.split("=", 1) for pair in options.env),
        stdout=None,
        stderr=options.stderr,
        resources=ResourceRequest(cpus=options.cpus),
        crash_limit=options.crash_limit,
    )
client = Client(os.environ["OVERSIM_HQ_SERVER"])
sys.exit(0 if client.wait_for_jobs([client.submit(job)], raise_on_error=False) else 1)
