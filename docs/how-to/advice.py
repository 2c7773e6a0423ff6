#!/usr/bin/env python3
"""Holds the advice of `oversim advise` against measurements on this host: the campaign of docs/validation-advice.md.

    python3 docs/how-to/advice.py all --oversim target/release/oversim      # about 8 minutes, on an idle host

It needs gcc, clang with libomp, Open MPI, GNU make and GNU time (Debian: clang libomp-dev openmpi-bin
libopenmpi-dev make time), two cpus, and no Python package. Steps, of which `all` is the sequence:

    build      compiles docs/how-to/advice.c for each runtime
    profile    calibrates the host, runs each program once, alone and as it is, and describes it by `oversim profile`
    advise     asks `oversim advise` what to type; nothing that is measured later is known then
    try        runs each program once as advised
    measure    runs each program as it is, as advised, and in a fixed list of settings
    report     prints the table

Everything is kept in one directory (--dir): scenarios, answers, and each single time in results.json.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().with_name("advice.c")
# A run is ended after so many seconds, and counts as that long. No setting that is near the best one takes a
# fifth of it.
LONGEST = 1.5
# A setting that takes so many times as long as the best one of its program in the first round is not repeated.
HOPELESS = 2.5
# Settings that take so many times as long as the best one after all rounds are in the running: they get `--more`
# rounds, as the best of many medians of three is a lucky one.
RUNNING = 1.1
# Advice is good if it takes at most so many times as long as the best measured setting.
NEAR = 1.05
# Variables that change what a runtime does; none of them may come from outside.
FOREIGN = ("OMP_", "GOMP_", "KMP_", "OMPI_", "OPENBLAS_", "MAKEFLAGS", "REGIONS", "RATE", "JOBS")


def teams(name="job"):
    """Settings of an OpenMP program: 1, 2, 4 threads, how they wait, bound or not. One thread waits for nobody, and
    two are what a host with two cpus has by itself."""
    waits = ["", "OMP_WAIT_POLICY=passive ", "OMP_WAIT_POLICY=active "]
    texts = []
    for bind in ["", "OMP_PROC_BIND=true "]:
        texts.append(f"OMP_NUM_THREADS=1 {bind}{name}")
        texts += [f"{number}{wait}{bind}{name}" for number in ("", "OMP_NUM_THREADS=4 ") for wait in waits]
    return texts


RANKS = [
    "mpirun -np 1 job",
    "mpirun -np 2 job",
    "mpirun -np 2 --bind-to none job",
    "mpirun -np 2 --mca mpi_yield_when_idle 1 job",
    "mpirun -np 2 --bind-to none --mca mpi_yield_when_idle 1 job",
    "mpirun -np 4 --oversubscribe job",
    "mpirun -np 4 --oversubscribe --mca mpi_yield_when_idle 0 job",
    "mpirun -np 4 --oversubscribe --map-by core --bind-to core:overload-allowed job",
]
HYBRID = [
    "OMP_NUM_THREADS=2 mpirun -np 2 --bind-to none job",
    "OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive mpirun -np 2 --bind-to none job",
    "OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active mpirun -np 2 --bind-to none job",
    "OMP_NUM_THREADS=2 mpirun -np 2 job",
    "OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive mpirun -np 2 job",
    "OMP_NUM_THREADS=2 mpirun -np 1 --bind-to none job",
    "OMP_NUM_THREADS=1 mpirun -np 2 job",
    "OMP_NUM_THREADS=1 mpirun -np 2 --bind-to none job",
    "OMP_NUM_THREADS=1 mpirun -np 4 --oversubscribe job",
]
BOTH = [
    "a\nb",
    "OMP_WAIT_POLICY=passive a\nOMP_WAIT_POLICY=passive b",
    "OMP_WAIT_POLICY=active a\nOMP_WAIT_POLICY=active b",
    "OMP_NUM_THREADS=1 a\nOMP_NUM_THREADS=1 b",
    "OMP_NUM_THREADS=1 taskset -c 0 a\nOMP_NUM_THREADS=1 taskset -c 1 b",
    "OMP_PROC_BIND=true a\nOMP_PROC_BIND=true b",
    "OMP_PROC_BIND=true OMP_WAIT_POLICY=passive a\nOMP_PROC_BIND=true OMP_WAIT_POLICY=passive b",
    "a &&\nb",
]
MAKE = [f"JOBS={jobs} job" for jobs in (1, 2, 3, 4, 6, 8)]


class Program:
    """A program: how it is built and started, how it is described, and what its users may set.

    `work`: of a loop, of all tasks; `loops`; `vary` and `serial` in %. `of`: gomp, lomp, ranks, hybrid, make, or two
    of the first two, which run at once."""

    def __init__(self, name, of, work="", loops=0, vary=0, serial=0, hogs=0, memory=0, ranks=0, every=1):
        self.name, self.of, self.hogs, self.memory = name, of.split("+"), hogs, memory
        self.work, self.loops, self.vary, self.serial, self.ranks, self.every = work, loops, vary, serial, ranks, every

    def words(self, scale):
        """Arguments of the program; `scale` shortens it."""
        loops = max(1, round(self.loops * scale))
        if self.memory:
            return f"memory {self.memory} {loops}"
        return f"loops {self.work} {loops} {self.vary} {self.serial} {self.every}"

    @property
    def kind(self):
        return "both" if len(self.of) > 1 else self.of[0]

    @property
    def apps(self):
        return ["a", "b"] if self.kind == "both" else ["job"]

    def default(self):
        """The program as it is started without any thought."""
        return {
            "ranks": f"mpirun -np {self.ranks}{' --oversubscribe' if self.ranks > 2 else ''} job",
            "hybrid": HYBRID[0],
            "make": "JOBS=2 job",
            "both": "a\nb",
        }.get(self.kind, "job")

    def settings(self):
        lists = {"ranks": RANKS, "hybrid": HYBRID, "make": MAKE, "both": BOTH}
        return lists.get(self.kind) or teams()


# Work of a loop is that of all tasks together: 60us are regions of 30us for each of two threads.
PROGRAMS = [
    Program("libgomp, regions of 30 us", "gomp", "60us", 8000, 10),
    Program("libgomp, 300 us, uneven", "gomp", "600us", 800, 30),
    Program("libgomp, 3 ms, uneven", "gomp", "6ms", 80, 50),
    Program("libgomp, 300 us, a third serial", "gomp", "600us", 700, 10, serial=33),
    Program("libgomp, 30 us, beside a busy task", "gomp", "60us", 5000, 10, hogs=1),
    Program("libgomp, 300 us, uneven, beside a busy task", "gomp", "600us", 500, 30, hogs=1),
    Program("libgomp, 3 ms, beside two busy tasks", "gomp", "6ms", 50, 20, hogs=2),
    Program("libgomp, memory-bound", "gomp", loops=50, memory=64),
    Program("libomp, 30 us", "lomp", "60us", 8000, 10),
    Program("libomp, 300 us, a third serial, uneven", "lomp", "600us", 700, 30, serial=33),
    Program("libomp, 300 us, beside a busy task", "lomp", "600us", 500, 10, hogs=1),
    Program("libomp, 3 ms, uneven, beside two busy tasks", "lomp", "6ms", 50, 50, hogs=2),
    Program("libomp, memory-bound, beside a busy task", "lomp", loops=40, memory=64, hogs=1),
    Program("Open MPI, 2 ranks, 100 us", "ranks", "200us", 2400, 10, ranks=2),
    Program("Open MPI, 4 ranks, 300 us", "ranks", "1200us", 400, 20, ranks=4),
    Program("Open MPI, 2 ranks, 300 us, beside a busy task", "ranks", "600us", 500, 20, hogs=1, ranks=2),
    Program("2 ranks of 2 threads, 300 us", "hybrid", "1200us", 400, 20, ranks=2, every=5),
    Program("two programs of libgomp, 300 us", "gomp+gomp", "600us", 500, 20),
    Program("libgomp and libomp at once, 3 ms", "gomp+lomp", "6ms", 50, 20),
    Program("make: 24 jobs that compute and wait", "make"),
]
# One job of make: work, wait, and how often.
JOBS, JOB = 24, ("10ms", "8ms", 2)


class Campaign:
    """The directory with all files, and what is common to all runs."""

    def __init__(self, args):
        self.args = args
        self.dir = Path(args.dir).resolve()
        self.dir.mkdir(parents=True, exist_ok=True)
        # Commands run in other directories.
        self.oversim = Path(shutil.which(args.oversim) or args.oversim).resolve()
        if args.step in ("profile", "advise", "all") and not self.oversim.is_file():
            sys.exit(f"{self.oversim}: there is no such program; name it by --oversim")
        self.file = self.dir / "results.json"
        self.data = json.loads(self.file.read_text()) if self.file.exists() else {}

    def save(self):
        self.file.write_text(json.dumps(self.data, indent=1) + "\n")

    def programs(self):
        """The chosen programs with their numbers, from 1."""
        wanted = self.args.only
        return [(n, p) for n, p in enumerate(PROGRAMS, 1) if not wanted or n in wanted]

    def entry(self, number):
        return self.data.setdefault("programs", {}).setdefault(str(number), {})

    def home(self, number):
        """The directory of a program: its scenario, and `job`, `a` or `b`, which a user would call by name."""
        home = self.dir / f"{number:02}"
        home.mkdir(exist_ok=True)
        return home

    def environment(self, home):
        kept = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
        kept["PATH"] = f"{home}:{kept.get('PATH', '/usr/bin:/bin')}"
        kept["RATE"] = str(self.data["rate"])
        # Open MPI refuses to start as root without these.
        kept["OMPI_ALLOW_RUN_AS_ROOT"] = kept["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return kept

    def tool(self, *words):
        """A command of oversim; its standard output."""
        done = subprocess.run([self.oversim, *map(str, words)], cwd=self.dir, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"oversim {' '.join(map(str, words))}\n{done.stderr}")
        return done.stdout

    # -- build ---------------------------------------------------------------------------------------------------

    def build(self):
        llvm = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so"))
        libomp = [f"-L{llvm[-1].parent}", f"-Wl,-rpath,{llvm[-1].parent}"] if llvm else []
        for name, words in {
            "gomp": ["gcc", "-O2", "-fopenmp"],
            "lomp": ["clang", "-O2", "-fopenmp=libomp", *libomp],
            "ranks": ["mpicc", "-O2", "-fopenmp", "-DRANKS"],
        }.items():
            subprocess.run([*words, "-o", self.dir / name, SOURCE], check=True)
        versions = [["gcc", "--version"], ["clang", "--version"], ["mpirun", "--version"], ["make", "--version"]]
        run = lambda words: subprocess.run(words, capture_output=True, text=True).stdout.splitlines()[0]
        self.data["versions"] = [run(words) for words in versions] + [" ".join(os.uname()[0:3:2])]
        self.save()

    def wrappers(self, number, program):
        """Commands of the program's name, so that what is typed is executed as it is typed."""
        home = self.home(number)
        words = program.words(self.args.scale)
        for app, of in zip(program.apps, program.of):
            if of == "make":
                jobs = max(2, round(JOBS * self.args.scale))
                work, sleep, times = JOB
                names = " ".join(f"job{n}" for n in range(jobs))
                rule = f"{names}:\n\t@{self.dir}/gomp job {work} {sleep} {times}\n"
                (home / "Makefile").write_text(f"all: {names}\n{rule}")
                text = f"exec make -s -j ${{JOBS:-2}} -f {home}/Makefile"
            else:
                binary = "ranks" if of in ("ranks", "hybrid") else of
                threads = "export OMP_NUM_THREADS=1; " if of == "ranks" else ""
                text = f"{threads}exec {self.dir}/{binary} {words}"
            (home / app).write_text(f"#!/bin/sh\n{text}\n")
            (home / app).chmod(0o755)

    # -- one run -------------------------------------------------------------------------------------------------

    def run(self, number, script, hogs=0, whole=False, more=None, limit=LONGEST):
        """Runs a script of bash in the directory of a program, beside busy tasks. Seconds: those that the program
        prints, or the `whole` from the start of the first process to the end of the last. A run that takes too long
        is ended."""
        home = self.home(number)
        environment = self.environment(home) | (more or {})
        busy = [subprocess.Popen([self.dir / "gomp", "hog"], stdout=subprocess.DEVNULL) for _ in range(hogs)]
        try:
            if busy:
                time.sleep(0.03)  # until each of them computes
            # A process group of its own, so that all of it can be ended, but the same session, so that the kernel
            # has all of them in one group (sched_autogroup).
            begin = time.monotonic()
            child = subprocess.Popen(["bash", "-c", script], cwd=home, env=environment, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0)
            try:
                out, err = child.communicate(timeout=limit + 0.5)
            except subprocess.TimeoutExpired:
                # mpirun ends its ranks, which are in groups of their own, if it has time to.
                os.killpg(child.pid, signal.SIGTERM)
                try:
                    child.communicate(timeout=5)
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.communicate()
                return limit
            except BaseException:
                os.killpg(child.pid, signal.SIGTERM)
                raise
            span = time.monotonic() - begin
        finally:
            for one in busy:
                one.kill()
                one.wait()
        if child.returncode != 0:
            sys.exit(f"{number}: {script}\n{out}{err}")
        return min(span if whole else float(out.split()[-1]), limit)

    # -- profile -------------------------------------------------------------------------------------------------

    def profile(self):
        machine = self.dir / "mine.yaml"
        if not self.args.only or "rate" not in self.data or not machine.exists():
            self.data["rate"] = int(subprocess.run([self.dir / "gomp", "speed"], capture_output=True, text=True,
                                                   check=True).stdout)
            machine.unlink(missing_ok=True)
            force = ["--force"] if self.args.force else []
            self.tool("calibrate", "host", "--quick", "-o", machine, *force)
        for number, program in self.programs():
            self.wrappers(number, program)
            entry = self.entry(number)
            entry["name"] = program.name
            texts, entry["described"] = [], []
            if program.kind == "make":
                texts.append(self.described_by_hand(number, program, entry))
            for app in [] if program.kind == "make" else program.apps:
                texts.append(self.described(number, program, app, entry))
            (self.home(number) / "job.yaml").write_text(merged(texts))
            self.save()
            print(f"{number:2} {program.name}: {'; '.join(entry['described'])}", flush=True)

    def timed(self, number, typed, app="job", whole=False):
        """One run, alone, under `/usr/bin/time -v`, with the CSV of its regions."""
        home = self.home(number)
        csv, report = home / f"{app}.csv", home / f"{app}.time"
        # GNU time starts programs, not lines of a shell: variables go to `env`.
        script = f"/usr/bin/time -v -o {report} env {typed}"
        self.run(number, script, whole=whole, more={"REGIONS": str(csv)}, limit=60)
        return csv, report

    def described(self, number, program, app, entry):
        """A scenario of one program, by `oversim profile`, of one run alone in the setting that it has by itself."""
        typed = program.default() if program.kind != "both" else app
        csv, report = self.timed(number, typed, app)
        yaml = self.home(number) / f"{app}.yaml"
        runtime = {"gomp": "libgomp", "lomp": "libomp"}.get(program.of[program.apps.index(app)])
        words = [csv.name]
        if program.serial:
            words.append(report.name)
        if runtime:
            words += ["--wait", runtime]
        if program.memory:
            # Bytes that the program moves in a second, of one thread.
            one, _ = self.timed(number, "OMP_NUM_THREADS=1 job", "one")
            calls, busy = loops(one)
            rate = 3 * program.memory * 2**20 * calls / busy
            words += ["--bandwidth", f"{rate / 1e9:.1f}GB/s"]
        if program.kind in ("ranks", "hybrid") and (program.ranks > 2 or program.kind == "hybrid"):
            # More tasks than cpus wait for a cpu, not only for each other, so the time at barriers says little:
            # three numbers are typed in.
            calls, busy = loops(csv)
            tasks = program.ranks * (2 if program.kind == "hybrid" else 1)
            words = ["--interval", f"{busy / calls / tasks * 1e9:.0f}ns", "--work", f"{busy * 1e3:.1f}ms"]
        if program.kind == "ranks":
            words += ["--ranks", program.ranks, "--threads", 1]
        if program.kind == "hybrid":
            words += ["--ranks", 2, "--threads", 2, "--wait", "{ mpi: openmpi, openmp: libgomp }"]
        entry["described"].append(" ".join(["oversim profile", *map(str, words)]))
        full = [self.home(number) / word if word in (csv.name, report.name) else word for word in words]
        self.tool("profile", *full, "--name", app, "--machine", self.dir / "mine.yaml", "-o", yaml, "--force",
                  "--no-trials", "-q")
        return yaml.read_text()

    def described_by_hand(self, number, program, entry):
        """A scenario of make: nothing describes pools of jobs, but one job after the other under `time` has all that
        `make` of a scenario needs."""
        jobs = max(2, round(JOBS * self.args.scale))
        _, report = self.timed(number, "JOBS=1 job", whole=True)
        text = report.read_text()
        find = lambda key: float(re.search(re.escape(key) + r": ([\d.]+)", text).group(1))
        minutes, seconds = re.search(r"m:ss\): (\d+):([\d.]+)", text).groups()
        cpu = find("User time (seconds)") + find("System time (seconds)")
        elapsed = 60 * int(minutes) + float(seconds)
        compute, wait = cpu / jobs, max(elapsed - cpu, 0.001) / jobs / JOB[2]
        workload = f"compute: {compute * 1e6:.0f}us, io: {wait * 1e6:.0f}us, parts: {JOB[2]}, jobs: {jobs}"
        entry["described"].append(f"by hand, of /usr/bin/time of one job after the other: {workload}")
        return (f"name: job\nmachine: {{ \"{self.dir}/mine.yaml\": {{ work_unit: own }} }}\nkernel: linux-6.18\n"
                f"apps:\n  job:\n    workload: {{ make: {{ {workload} }} }}\n    tasks: 2\npolicies: [LOAD]\n")

    # -- advise --------------------------------------------------------------------------------------------------

    def advise(self):
        for number, program in self.programs():
            entry = self.entry(number)
            words = [self.home(number) / "job.yaml", "--format", "json"]
            if program.hogs:
                words += ["--set", f"apps.hog={{ workload: hog, background: true, tasks: {program.hogs} }}"]
            if program.kind == "ranks" and program.ranks == 2:
                # mpirun of Open MPI binds each of two ranks to a core.
                words += ["--policy", "PIN"]
            if program.kind == "both":
                words += ["--objective", "makespan"]
            if program.kind == "hybrid":
                words += ["--set", f"apps.job.workload.exchange_every={program.every}"]
            answer = json.loads(self.tool("advise", *words))
            entry["asked"] = " ".join(str(word) for word in words[1:] if word not in ("--format", "json"))
            entry["advice"] = {
                "setting": answer["advised"]["setting"],
                "flags": answer["advised"]["flags"],
                "typed": answer["typed"],
                "predicted": answer["advised"]["mean"],
                "as it is": answer["as_it_is"]["mean"] if answer.get("as_it_is") else None,
            }
            entry["advised"] = advised(program, entry["advice"])
            self.save()
            shown = entry["advised"].replace("\n", "; ")
            print(f"{number:2} {program.name}: {entry['advice']['setting']}\n     {shown}", flush=True)

    # -- measure -------------------------------------------------------------------------------------------------

    def measure(self):
        busy = others()
        if busy > 0.05 and not self.args.force:
            sys.exit(f"other programs use {100 * busy:.0f} % of the cpus: wait until they have ended, or use --force")
        begin = time.monotonic()
        self.data["date"] = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        self.data["rounds"], self.data["scale"] = self.args.rounds, self.args.scale
        self.data["busy"] = [busy]
        for number, _ in self.programs():
            self.entry(number)["times"] = {}
        last = 0.0
        for turn in range(self.args.rounds + self.args.more):
            took = time.monotonic() - begin
            if turn >= self.args.rounds and took + (took - last) / 2 > self.args.at_most:
                break
            last = took
            for number, program in self.programs():
                self.turn(number, program, turn)
                self.save()
            self.data["busy"].append(others())
            self.data["took"] = time.monotonic() - begin
            self.save()
            print(f"round {turn + 1} of {self.args.rounds + self.args.more}: {self.data['took']:.0f} s so far; other "
                  f"programs use {100 * self.data['busy'][-1]:.0f} % of the cpus", flush=True)

    def chosen(self, program, entry, turn):
        """What is measured in a round: all settings in the first one, then those that are not hopeless, and after
        all rounds those in the running. What is advised is always among them, the default in all rounds."""
        times, advice = entry["times"], entry.get("advised")
        if turn == 0:
            every = [program.default(), *program.settings(), *([advice] if advice else [])]
            return list({shell(typed, program.apps): typed for typed in every}.values())
        middle = {typed: statistics.median(of) for typed, of in times.items()}
        best = min(middle.values())
        last = turn >= self.args.rounds
        same = {shell(typed, program.apps): typed for typed in times}
        keep = {same.get(shell(advice, program.apps))} if advice else set()
        if not last:
            keep.add(same.get(shell(program.default(), program.apps)))
        near = (RUNNING if last else HOPELESS) * best
        # One that was ended is as slow again.
        return [typed for typed, of in middle.items() if (of <= near or typed in keep) and of < LONGEST]

    def turn(self, number, program, turn):
        """One round of a program, in an order of its own in each round."""
        self.wrappers(number, program)
        entry = self.entry(number)
        order = self.chosen(program, entry, turn)
        random.Random(1000 * number + turn).shuffle(order)
        whole = program.kind in ("both", "make")
        for typed in order:
            span = self.run(number, shell(typed, program.apps), program.hogs, whole)
            entry["times"].setdefault(typed, []).append(span)

    def tried(self):
        """Runs each program once as advised: whether what is typed works."""
        for number, program in self.programs():
            self.wrappers(number, program)
            script = shell(self.entry(number)["advised"], program.apps)
            span = self.run(number, script, program.hogs, program.kind in ("both", "make"))
            print(f"{number:2} {program.name}: {span * 1e3:.0f} ms", flush=True)

    # -- report --------------------------------------------------------------------------------------------------

    def report(self):
        rows, near, gains = [], 0, []
        for number, program in self.programs():
            entry = self.entry(number)
            if not entry.get("times"):
                continue
            of = {shell(typed, program.apps): statistics.median(all_) for typed, all_ in entry["times"].items()}
            texts = {shell(typed, program.apps): typed for typed in entry["times"]}
            best, worst = min(of, key=of.get), max(of, key=of.get)
            default, advice = shell(program.default(), program.apps), shell(entry["advised"], program.apps)
            near += of[advice] <= NEAR * of[best]
            gains.append(of[default] / of[advice])
            ends = entry["advice"]["as it is"], entry["advice"]["predicted"]
            predicted = f"{ends[0] / ends[1]:.2f}" if all(ends) else "-"
            show = lambda script: "as it is" if script == default else code(texts[script])
            more = ">" if of[worst] >= LONGEST else ""
            rows.append(f"| {number} | {program.name} | {show(advice)} | {of[advice] / of[best]:.3f} | "
                        f"{of[default] / of[best]:.2f} | {more}{of[worst] / of[best]:.1f} | {predicted} | "
                        f"{of[default] / of[advice]:.2f} | {of[best] * 1e3:.0f} ms: {show(best)} |")
        print("| | program | advice | advice / best | as it is / best | worst / best | as it is / advice, predicted | "
              "measured | best measured |")
        print("|---:|---|---|---:|---:|---:|---:|---:|---|")
        print("\n".join(rows))
        if rows:
            gain = statistics.geometric_mean(gains)
            rounds = self.data["rounds"]
            more = len(self.data["busy"]) - 1 - rounds
            print(f"\nWithin {100 * (NEAR - 1):.0f} % of the best measured setting: {near} of {len(rows)}. "
                  f"As it is / advised, geometric mean: {gain:.2f}. Measured {self.data['date']} UTC in "
                  f"{self.data.get('took', 0):.0f} s, {rounds} rounds and {more} of those "
                  f"within {100 * (RUNNING - 1):.0f} % of the best; between them other programs used at most "
                  f"{100 * max(self.data['busy']):.0f} % of the cpus.")

    def all(self):
        for step in (self.build, self.profile, self.advise, self.measure, self.report):
            step()


def shell(typed, apps):
    """The text for bash: commands of different programs run at once, unless they are in turns (`&&`). A program
    that is not named runs as it is."""
    lines = [line.strip() for line in typed.splitlines() if line.strip() and not line.startswith("#")]
    named = lambda app: any(re.search(rf"(^|\s){app}(\s*&&)?$", line) for line in lines)
    lines += [app for app in apps if not named(app)]
    if any(line.endswith("&&") for line in lines):
        return "\n".join(lines)
    once = lambda line: line if line.startswith("export ") or len(apps) == 1 else f"{line} &"
    return "\n".join([*map(once, lines), *(["wait"] if len(apps) > 1 else [])])


def advised(program, advice):
    """What the advice says to type. make has an option of its own for the number of its jobs, which no line can
    name; what is advised is in the flags."""
    lines = [line for line in advice["typed"] if not line.startswith("#")]
    if program.kind == "make":
        jobs = re.search(r"apps\.job\.tasks=(\d+)", advice["flags"])
        lines = [line for line in lines if line.split()[-1] != "job"] + [f"JOBS={jobs.group(1) if jobs else 2} job"]
    if not advice["flags"]:
        return program.default()
    if program.kind in ("ranks", "hybrid") and not any(line.endswith(" job") for line in lines):
        lines.append(program.default())
    return "\n".join(lines)


def code(typed):
    """What is typed, in a table of Markdown. The way in which Open MPI binds more ranks than cores is a long line."""
    short = re.sub(r"bash -c 'c=\(([\d ]+)\); exec taskset.*?' job", r"(ranks on cpus \1 by taskset) job", typed)
    return "`" + short.replace("\n", "; ").replace("|", "\\|") + "`"


def loops(csv):
    """Calls and the seconds that threads were busy, of a CSV of regions."""
    calls, threads, inside, waited = csv.read_text().splitlines()[1].split(",")[1:]
    return int(calls), float(inside) * int(threads) - float(waited)


def merged(texts):
    """Scenarios of the same machine as one: the applications and the uncertain values of all of them."""
    blocks = {}
    for text in texts:
        key = ""
        for line in text.splitlines():
            if line and not line[0].isspace() and not line.startswith("#"):
                key = line.split(":")[0]
                blocks.setdefault(key, [line])
            elif line and not line.startswith("#"):
                blocks[key].append(line)
    return "\n".join(line for block in blocks.values() for line in block) + "\n"


def others():
    """The share of all cpus that is in use while this program sleeps for a second."""
    def read():
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]
    total, idle = read()
    time.sleep(1)
    total_, idle_ = read()
    return 1 - (idle_ - idle) / max(1, total_ - total)


def main():
    steps = ["build", "profile", "advise", "try", "measure", "report", "all"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=steps)
    parser.add_argument("--oversim", default="oversim", help="the program (default: that of PATH)")
    parser.add_argument("--dir", default="advice-campaign", help="where everything is kept (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each setting (default: %(default)s)")
    parser.add_argument("--more", type=int, default=4, help="more runs of those near the best (default: %(default)s)")
    parser.add_argument("--at-most", type=float, default=420, metavar="SECONDS",
                        help="begin none of --more after it (default: %(default)s)")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of programs, from 1 (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="shorten all programs, for a trial (default: 1)")
    parser.add_argument("--force", action="store_true", help="measure although other programs use the host")
    args = parser.parse_args()
    getattr(Campaign(args), "tried" if args.step == "try" else args.step)()


if __name__ == "__main__":
    main()
