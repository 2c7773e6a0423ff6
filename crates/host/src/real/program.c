/* A program of a measurement under a real runtime: OpenMP, or with -DMESSAGES one of MPI.
 *
 * `oversim measure --real` compiles this file once for each runtime and starts it as
 *
 *     PROGRAM start MASK [LAUNCHER ARGUMENTS...]
 *
 * MASK are the cpus that it may use ("0,1"). The first line of standard input is the order (order()
 * below), the answer `"Ready"` follows, then comes the instant of the release in nanoseconds of
 * CLOCK_MONOTONIC, then the answer with the times. The end of the process that gives the order is the end of
 * this one.
 *
 * An OpenMP program then executes itself as `PROGRAM run CPUS`, because a runtime counts the cpus as it is loaded;
 * that of the first program has bound its first thread by then, so the mask is set in any case.
 * One of MPI starts its launcher, which starts `PROGRAM rank FILE`: the file is a page of memory that all
 * ranks and the first process share, so that no message of the library is needed before the release.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef MESSAGES
#include <mpi.h>
#else
#include <omp.h>
#endif

enum { MOST = 1024, DEPTH = 64, SECOND = 1000000000 };
/* Operations; the numbers are those of steps.rs. */
enum { COMPUTE = 1, SERIAL, BARRIER, SLEEP, YIELD, REPEAT, END, REGION, REGION_END, EXCHANGE, COLLECTIVE };
/* Collectives, in the order of COLLECTIVES of the simulator. */
enum { BCAST, REDUCE, ALLREDUCE, SCATTER, GATHER, ALLGATHER, ALLTOALL };

struct step {
    long code;
    uint64_t a;
    uint64_t b;
};

struct times {
    uint64_t started, ended, cpu;
};

/* A task. Two lines of the cache each: processors fetch lines in pairs. */
struct task {
    long nice, slept, cpus;
    uint64_t noise, draws;
    double factor;
    cpu_set_t mask;
    struct times times;
} __attribute__((aligned(128)));

static long parent, session, tasks, steps, regions;
static struct step *program;
static struct task *all;

static uint64_t clock_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) { return clock_of(CLOCK_MONOTONIC); }

static void sleep_until(uint64_t instant) {
    struct timespec t = {(time_t)(instant / SECOND), (long)(instant % SECOND)};
    while (now() < instant)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void answer(const char *text) {
    char line[512];
    int length = snprintf(line, sizeof line, "%s\n", text);
    if (write(1, line, (size_t)length) < 0)
        _exit(1);
}

/* Ends the program with a sentence, which has no quotes. */
static void fail(const char *why, const char *more) {
    char text[480];
    snprintf(text, sizeof text, "{\"Failed\":\"%.200s%.200s\"}", why, more);
    answer(text);
    _exit(1);
}

static void check(int right, const char *why) {
    if (!right)
        fail(why, "");
}

/* The counted work of work.rs: each operation needs the result of the one before. */
static __attribute__((noinline)) uint64_t spin(uint64_t iterations) {
    uint64_t x = 0x9E3779B97F4A7C15u;
    __asm__ volatile("" : "+r"(x));
    for (uint64_t i = 0; i < iterations; i++)
        x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
    __asm__ volatile("" : "+r"(x));
    return x;
}

/* The draw that the simulated task takes here: sim_core::rng::draw and Spread::apply. */
static uint64_t varied(struct task *task, uint64_t mean, uint64_t spread) {
    task->draws++;
    if (spread == 0)
        return mean;
    uint64_t z = task->noise + task->draws * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = (z ^ (z >> 31)) >> 32;
    unsigned __int128 width = ((unsigned __int128)mean * spread) >> 16;
    return (uint64_t)(mean - width + ((2 * width * z) >> 32));
}

static void compute(struct task *task, const struct step *step) {
    spin((uint64_t)((double)varied(task, step->a, step->b) * task->factor + 0.5));
}

#ifdef MESSAGES
static char *out, *in;

/* Reductions are of numbers of 8 bytes where the size allows: a library chooses its algorithm by their number,
 * too. */
static void collective(uint64_t what, int bytes) {
    MPI_Datatype type = bytes % 8 == 0 ? MPI_UINT64_T : MPI_BYTE;
    int count = bytes % 8 == 0 ? bytes / 8 : bytes;
    switch (what) {
    case BCAST:
        MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(out, in, count, type, MPI_BXOR, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(out, in, count, type, MPI_BXOR, MPI_COMM_WORLD);
        break;
    case SCATTER:
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case GATHER:
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        break;
    case ALLTOALL:
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
        break;
    }
}

static void exchange(int rank, long shift, int bytes) {
    int to = (int)((rank + shift) % tasks), from = (int)((rank + tasks - shift % tasks) % tasks);
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}
#endif

static void meet(void) {
#ifdef MESSAGES
    MPI_Barrier(MPI_COMM_WORLD);
#else
#pragma omp barrier
#endif
}

/* Executes the steps from one on, to the end of the region that it begins or to that of the program. */
static void run(struct task *task, long at) {
    struct {
        long begin;
        uint64_t left;
    } loops[DEPTH];
    int depth = 0;
    while (at < steps) {
        const struct step *step = &program[at++];
        switch (step->code) {
        case COMPUTE:
            compute(task, step);
            break;
        case SERIAL:
            if (task == all)
                compute(task, step);
            break;
        case BARRIER:
            meet();
            break;
        case SLEEP:
            sleep_until(now() + varied(task, step->a, step->b));
            break;
        case YIELD:
            sched_yield();
            break;
        case REPEAT:
            loops[depth].begin = at;
            loops[depth++].left = step->a;
            break;
        case END:
            if (--loops[depth - 1].left > 0)
                at = loops[depth - 1].begin;
            else
                depth--;
            break;
#ifdef MESSAGES
        case EXCHANGE:
            exchange((int)(task - all), (long)step->a, (int)step->b);
            break;
        case COLLECTIVE:
            collective(step->a, (int)step->b);
            break;
#else
        case REGION: {
            long body = at;
#pragma omp parallel num_threads((int)tasks)
            run(&all[omp_get_thread_num()], body);
            at = (long)step->a;
            break;
        }
#endif
        case REGION_END:
            return;
        }
    }
}

static char *word(char **rest) {
    char *found = strtok_r(NULL, " \n", rest);
    check(found != NULL, "the order is too short");
    return found;
}

static long number(char **rest) { return strtol(word(rest), NULL, 10); }

static uint64_t large(char **rest) { return strtoull(word(rest), NULL, 10); }

/* The order: parent, session (0 or 1), regions (0 or 1), bytes of messages, number of steps, steps of three
 * numbers, number of tasks, and for each: nice value (100: its own), cpu on which it sleeps before the
 * release (-1: any), key of its draws, iterations for a unit of work, number of cpus, cpus. */
static long order(char *line) {
    char *rest = NULL;
    char *first = strtok_r(line, " \n", &rest);
    check(first != NULL && strcmp(first, "order") == 0, "no order: `oversim measure --real` starts this");
    parent = number(&rest);
    session = number(&rest);
    regions = number(&rest);
    long bytes = number(&rest);
    steps = number(&rest);
    program = calloc((size_t)steps + 1, sizeof *program);
    check(program != NULL, "no memory");
    for (long at = 0; at < steps; at++) {
        program[at].code = number(&rest);
        program[at].a = large(&rest);
        program[at].b = large(&rest);
    }
    tasks = number(&rest);
    check(tasks >= 1 && tasks <= MOST, "too many tasks");
    all = aligned_alloc(128, (size_t)tasks * sizeof *all);
    check(all != NULL, "no memory");
    memset(all, 0, (size_t)tasks * sizeof *all);
    for (struct task *task = all; task < all + tasks; task++) {
        task->nice = number(&rest);
        task->slept = number(&rest);
        task->noise = large(&rest);
        task->factor = strtod(word(&rest), NULL);
        task->cpus = number(&rest);
        for (long i = 0; i < task->cpus; i++)
            CPU_SET((size_t)number(&rest), &task->mask);
    }
    return bytes;
}

static char *line_of_input(void) {
    char *line = NULL;
    size_t room = 0;
    return getline(&line, &room, stdin) > 0 ? line : NULL;
}

/* The calling thread sleeps on a cpu; its affinity mask stays. */
static void visit(long cpu) {
    cpu_set_t own, there;
    if (cpu < 0 || sched_getaffinity(0, sizeof own, &own) != 0 || !CPU_ISSET((size_t)cpu, &own))
        return;
    CPU_ZERO(&there);
    CPU_SET((size_t)cpu, &there);
    check(sched_setaffinity(0, sizeof there, &there) == 0, "a thread cannot be moved to its cpu");
    check(sched_setaffinity(0, sizeof own, &own) == 0, "the affinity of a thread cannot be restored");
}

/* What the calling thread needs of the kernel. */
static void prepare(const struct task *task) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    /* 100: no other nice value. In Linux, process 0 is the calling thread. */
    if (task->nice != 100)
        check(setpriority(PRIO_PROCESS, 0, (int)task->nice) == 0, "a nice value is refused");
}

static void report(const struct times *times, size_t stride, uint64_t cpu) {
    size_t room = 128 + (size_t)tasks * 48, at = 0;
    char *text = malloc(room);
    check(text != NULL, "no memory");
    const char *names[] = {"{\"Done\":{\"started\":[", "],\"ended\":["};
    for (int which = 0; which < 2; which++) {
        at += (size_t)snprintf(text + at, room - at, "%s", names[which]);
        for (long rank = 0; rank < tasks; rank++) {
            const struct times *one = (const void *)((const char *)times + (size_t)rank * stride);
            unsigned long long value = which ? one->ended : one->started;
            at += (size_t)snprintf(text + at, room - at, "%s%llu", rank ? "," : "", value);
        }
    }
    at += (size_t)snprintf(text + at, room - at, "],\"cpu\":%llu}}\n", (unsigned long long)cpu);
    if (write(1, text, at) < 0)
        _exit(1);
}

/* From here on the end of the parent ends this process; it may have ended before the call. */
static void end_with(long process, int sign) {
    prctl(PR_SET_PDEATHSIG, (unsigned long)sign);
    if (getppid() != (pid_t)process)
        _exit(1);
}

static int set_mask(char *list) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    char *rest = NULL;
    for (char *one = strtok_r(list, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest))
        CPU_SET((size_t)strtol(one, NULL, 10), &mask);
    check(sched_setaffinity(0, sizeof mask, &mask) == 0, "the cpus of the program cannot be set");
    return CPU_COUNT(&mask);
}

#ifdef MESSAGES

/* What the first process and the ranks share. */
struct page {
    uint64_t release;
    uint32_t ready, ended, over;
    struct times times[MOST];
    char order[];
};

static void wait_a_while(long ns) {
    struct timespec t = {0, ns};
    nanosleep(&t, NULL);
}

static int rank_of(const char *file) {
    int handle = open(file, O_RDWR | O_CLOEXEC);
    if (handle < 0)
        _exit(1);
    off_t size = lseek(handle, 0, SEEK_END);
    struct page *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    if (page == MAP_FAILED)
        _exit(1);
    long bytes = order(strdup(page->order));
    MPI_Init(NULL, NULL);
    int rank = 0, size_of_job = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size_of_job);
    if (size_of_job != tasks)
        MPI_Abort(MPI_COMM_WORLD, 1);
    struct task *task = &all[rank];
    out = calloc((size_t)bytes * (size_t)tasks + 1, 1);
    in = calloc((size_t)bytes * (size_t)tasks + 1, 1);
    if (out == NULL || in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    prepare(task);
    if (task->cpus > 0 && sched_setaffinity(0, sizeof task->mask, &task->mask) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* Connections are made by the first message to a rank. */
    for (int shift = 1; shift < tasks; shift++)
        exchange(rank, shift, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    __atomic_fetch_add(&page->ready, 1, __ATOMIC_SEQ_CST);
    uint64_t release = 0;
    while ((release = __atomic_load_n(&page->release, __ATOMIC_SEQ_CST)) == 0)
        wait_a_while(200000);
    uint64_t before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    visit(task->slept);
    sleep_until(release);
    struct times times = {now(), 0, 0};
    run(task, 0);
    times.ended = now();
    times.cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - before;
    page->times[rank] = times;
    if (__atomic_add_fetch(&page->ended, 1, __ATOMIC_SEQ_CST) == (uint32_t)tasks)
        syscall(SYS_futex, &page->ended, FUTEX_WAKE, 1, NULL, NULL, 0);
    while (__atomic_load_n(&page->over, __ATOMIC_SEQ_CST) == 0)
        wait_a_while(2000000);
    MPI_Finalize();
    return 0;
}

/* Ends the launcher, which ends the ranks and removes their files. */
static void end_of(pid_t launcher) {
    for (int attempt = 0; attempt < 3000; attempt++) {
        if (waitpid(launcher, NULL, WNOHANG) == launcher)
            return;
        if (attempt == 1500)
            kill(launcher, SIGTERM);
        wait_a_while(1000000);
    }
    kill(launcher, SIGKILL);
    waitpid(launcher, NULL, 0);
}

/* Ends with the last words of the launcher. */
static void gone(int words) {
    char text[201];
    off_t size = lseek(words, 0, SEEK_END);
    ssize_t got = pread(words, text, sizeof text - 1, size > 200 ? size - 200 : 0);
    text[got < 0 ? 0 : got] = 0;
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c == '"' || *c == '\\' || (unsigned char)*c > '~')
            *c = ' ';
    fail("the launcher has ended: ", text);
}

static int start(char **launcher) {
    char *line = line_of_input();
    check(line != NULL, "standard input ended: `oversim measure --real` starts this");
    size_t size = sizeof(struct page) + strlen(line) + 1;
    int handle = memfd_create("ranks", MFD_CLOEXEC), words = memfd_create("words", MFD_CLOEXEC);
    check(handle >= 0 && words >= 0 && ftruncate(handle, (off_t)size) == 0, "no memory to share");
    struct page *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    check(page != MAP_FAILED, "no memory to share");
    strcpy(page->order, line);
    order(line);
    end_with(parent, SIGKILL);
    check(!session || setsid() >= 0, "the program cannot begin a session");
    char file[64];
    snprintf(file, sizeof file, "/proc/%d/fd/%d", (int)getpid(), handle);
    /* The last of the arguments is this program. */
    size_t count = 0;
    while (launcher[count] != NULL)
        count++;
    char **arguments = calloc(count + 3, sizeof *arguments);
    check(arguments != NULL, "no memory");
    memcpy(arguments, launcher, count * sizeof *arguments);
    arguments[count] = "rank";
    arguments[count + 1] = file;
    long self_id = getpid();
    pid_t child = fork();
    check(child >= 0, "no process for the launcher");
    if (child == 0) {
        /* Told to end, it ends the ranks and removes their files. */
        end_with(self_id, SIGTERM);
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0);
        dup2(nothing, 1);
        dup2(words, 2);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    for (long waited = 0; __atomic_load_n(&page->ready, __ATOMIC_SEQ_CST) < (uint32_t)tasks; waited++) {
        if (waitpid(child, NULL, WNOHANG) == child)
            gone(words);
        wait_a_while(1000000);
    }
    answer("\"Ready\"");
    char *instant = line_of_input();
    if (instant == NULL) {
        kill(child, SIGTERM);
        end_of(child);
        return 1;
    }
    uint64_t release = strtoull(instant, NULL, 10);
    __atomic_store_n(&page->release, release, __ATOMIC_SEQ_CST);
    check(now() <= release, "the instant of the release was over when it was read");
    uint32_t ended = 0;
    while ((ended = __atomic_load_n(&page->ended, __ATOMIC_SEQ_CST)) < (uint32_t)tasks) {
        struct timespec limit = {1, 0};
        syscall(SYS_futex, &page->ended, FUTEX_WAIT, ended, &limit, NULL, 0);
        if (waitpid(child, NULL, WNOHANG) == child)
            gone(words);
    }
    uint64_t cpu = 0;
    for (long rank = 0; rank < tasks; rank++)
        cpu += page->times[rank].cpu;
    report(page->times, sizeof *page->times, cpu);
    /* Until the others have ended, too. */
    free(line_of_input());
    __atomic_store_n(&page->over, 1, __ATOMIC_SEQ_CST);
    end_of(child);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "rank") == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return rank_of(arguments[2]);
    }
    check(count > 3 && strcmp(arguments[1], "start") == 0, "`oversim measure --real` starts this");
    set_mask(arguments[2]);
    return start(arguments + 3);
}

#else

static uint64_t release_at, cpu_before;
static uint32_t ready, ended, given;

static void sleep_for_ever(void) {
    for (;;)
        pause();
}

/* LLVM's runtime notes in shared memory that it is loaded (kmp_runtime.cpp, __kmp_register_library_startup),
 * and a killed process would leave the note behind. A second runtime in this process does not look for it. */
static void remove_note(void) {
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
    unlink(name);
}

/* The thread of rank 0 reads the instant, the others sleep until it has. */
static void await_release(int rank) {
    if (rank == 0) {
        remove_note();
        for (uint32_t seen; (seen = __atomic_load_n(&ready, __ATOMIC_SEQ_CST)) < (uint32_t)tasks;)
            syscall(SYS_futex, &ready, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
        answer("\"Ready\"");
        char *line = line_of_input();
        if (line == NULL)
            _exit(1);
        release_at = strtoull(line, NULL, 10);
        cpu_before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        __atomic_store_n(&given, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &given, FUTEX_WAKE_PRIVATE, MOST, NULL, NULL, 0);
        check(now() <= release_at, "the instant of the release was over when it was read");
    }
    while (__atomic_load_n(&given, __ATOMIC_SEQ_CST) == 0)
        syscall(SYS_futex, &given, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void bound(const struct task *task) {
    cpu_set_t own;
    if (task->cpus == 0)
        return;
    check(sched_getaffinity(0, sizeof own, &own) == 0, "the affinity of a thread cannot be read");
    check(CPU_EQUAL(&own, &task->mask), "the runtime has not bound a thread to its cpu");
}

/* A thread up to its release; where the program has no regions of its own, to its end. */
static void thread(int rank) {
    struct task *task = &all[rank];
    prepare(task);
    bound(task);
    if (__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST) == (uint32_t)tasks)
        syscall(SYS_futex, &ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    await_release(rank);
    visit(task->slept);
    sleep_until(release_at);
    task->times.started = now();
    if (regions)
        return;
    run(task, 0);
    task->times.ended = now();
    if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == (uint32_t)tasks)
        report(&all->times, sizeof *all, clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_before);
    /* A task that has ended waits for nobody. The parent ends the process. */
    sleep_for_ever();
}

static int execute(int cpus) {
    char *line = line_of_input();
    check(line != NULL, "standard input ended: `oversim measure --real` starts this");
    order(line);
    end_with(parent, SIGKILL);
    check(!session || setsid() >= 0, "the program cannot begin a session");
    check(omp_get_num_procs() == cpus, "the runtime does not count the cpus of the program");
#pragma omp parallel num_threads((int)tasks)
    {
        check(omp_get_num_threads() == tasks, "the runtime gives fewer threads than the program has");
        thread(omp_get_thread_num());
    }
    run(all, 0);
    uint64_t end = now();
    for (struct task *task = all; task < all + tasks; task++)
        task->times.ended = end;
    report(&all->times, sizeof *all, clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_before);
#pragma omp parallel num_threads((int)tasks)
    sleep_for_ever();
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "start") == 0) {
        char cpus[16];
        snprintf(cpus, sizeof cpus, "%d", set_mask(arguments[2]));
        char *again[] = {arguments[0], "run", cpus, NULL};
        execv("/proc/self/exe", again);
        fail("the program cannot execute itself", "");
    }
    check(count == 3 && strcmp(arguments[1], "run") == 0, "`oversim measure --real` starts this");
    return execute(atoi(arguments[2]));
}

#endif
