/* Tasks side by side on a kernel: who has how much of the cpus, how often they switch, how long they wait.
 *
 *   gcc -O2 -static -pthread -o cases docs/how-to/cases.c
 *   ./cases TABLE [TIMES]       # as root; as the first process of a machine (/init) it reads /table
 *
 * Each line of the table is a case: a name, what is measured, groups, and tasks:
 *
 *   for=MS             count for so long, after half a second
 *   work=MS            each task ends after so much cpu time of its own; when do they end
 *   fork=MS            one thread creates the others, each with so much work; where do they run first
 *   @PATH=WEIGHT[,QUOTA,PERIOD[,BURST]]    a control group: cpu.weight, cpu.max in us; put a parent before its child
 *   COUNT*KIND[,cpus=LIST][,nice=N][,group=PATH]    tasks of one class:
 *     hog              compute
 *     sleep:WORK:PAUSE compute and sleep in turn, us; each pause is drawn from three to five quarters of it, so that the
 *                      tasks do not keep step with the ticks
 *     yield:WORK       compute for so long, then sched_yield
 *     pair:WORK        two tasks that wake each other through pipes and compute in turn (COUNT = 2)
 *     feed:WORK        the first one computes and wakes all the others, which compute as long
 *
 * Lines of the result, for each class of each case:
 *   name run class  cpu ms | share of the cpu time of all classes | voluntary and involuntary switches a second |
 *   laps a second | us from the end of a sleep to the cpu: median, 90 %, most
 * and "name run @PATH cpu ms periods throttled" of each group with a quota. On several cpus
 * a task that computes for a time counts its own cpu time, so the results hold in an emulated machine, whose cpus take
 * turns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 96, CLASSES = 8, GROUPS = 8, WAITS = 8192, WARM_UP_MS = 500 };

struct class { long count, work, pause, nice; char kind[16], cpus[64], group[64]; };
struct group { char path[64]; long weight, quota, period, burst; };
struct task { pid_t pid; int class; long cpu, voluntary, forced; };
struct seen { pid_t pid; long laps, waits, wait[WAITS], end; int cpu; };

static struct shared { volatile int counts; struct seen seen[TASKS]; } *shared;
static long spins; /* turns of the loop in 10 us, where one cpu is busy */
static long cpus;
static const char *root = "/sys/fs/cgroup";

static long now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void pause_for(long ns) {
    struct timespec t = { ns / 1000000000, ns % 1000000000 };
    nanosleep(&t, NULL);
}

static void turn(long count) { for (volatile long i = 0; i < count; i++) { } }

/* Computes for so much cpu time. To read the own cpu time is to let the kernel account for it, and EEVDF then ends a
 * request that is used up, which it otherwise does at a tick: so it is read seldom, and never where there is one cpu. */
static void compute(long us) {
    if (cpus == 1) { turn(spins * us / 10); return; }
    for (long end = now(CLOCK_THREAD_CPUTIME_ID) + us * 1000, left; (left = end - now(CLOCK_THREAD_CPUTIME_ID)) > 0;)
        turn(left * 9 / 10 / cpus * spins / 10000 + spins / cpus / 2 + 1);
}

static int put(const char *group, const char *file, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s/%s", root, group, file);
    int handle = open(path, O_WRONLY), bad = handle < 0 || write(handle, text, strlen(text)) < 0;
    close(handle);
    return bad;
}

static long stat_of(const char *group, const char *key) {
    char path[256], text[2048] = "";
    snprintf(path, sizeof path, "%s/%s/cpu.stat", root, group);
    int handle = open(path, O_RDONLY);
    if (handle < 0 || read(handle, text, sizeof text - 1) < 0) return 0;
    close(handle);
    char *at = strstr(text, key);
    return at ? atol(at + strlen(key)) : 0;
}

static void bind_to(const char *list) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (char *at = (char *)list; *at; at += *at == '+') {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-') last = strtol(at + 1, &at, 10);
        for (; first <= last && first < CPU_SETSIZE; first++) CPU_SET(first, &mask);
    }
    if (*list && sched_setaffinity(0, sizeof mask, &mask)) { perror(list); exit(2); }
}

static void lap(struct seen *own) { if (shared->counts) own->laps++; }

static void behave(struct class *c, struct seen *own, int number, int (*pipes)[2]) {
    char byte = 0;
    prctl(PR_SET_TIMERSLACK, 1);
    if (!strcmp(c->kind, "hog")) for (;;) turn(LONG_MAX);
    if (!strcmp(c->kind, "yield")) for (;; lap(own)) { compute(c->work); sched_yield(); }
    if (!strcmp(c->kind, "pair")) for (int waits = number;; waits = 1, lap(own)) {
        if (waits && read(pipes[number][0], &byte, 1) < 1) exit(1);
        compute(c->work);
        if (write(pipes[1 - number][1], &byte, 1) < 1) exit(1);
    }
    if (!strcmp(c->kind, "feed")) for (;; lap(own)) {
        if (number && read(pipes[number][0], &byte, 1) < 1) exit(1);
        compute(c->work);
        for (int i = 1; !number && i < c->count; i++) if (write(pipes[i][1], &byte, 1) < 1) exit(1);
    }
    srand(number + getpid());
    pause_for(rand() % (c->pause + 1) * 1000);
    for (;; lap(own)) {
        compute(c->work);
        long at = now(CLOCK_MONOTONIC) + c->pause * 750 + rand() % (c->pause * 500);
        struct timespec t = { at / 1000000000, at % 1000000000 };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        long late = now(CLOCK_MONOTONIC) - at;
        if (shared->counts && own->waits < WAITS) own->wait[own->waits++] = late;
    }
}

static void counters(struct task *t) {
    char path[64], text[4096] = "", *at;
    clockid_t clock;
    clock_getcpuclockid(t->pid, &clock);
    t->cpu = now(clock);
    snprintf(path, sizeof path, "/proc/%d/status", t->pid);
    int handle = open(path, O_RDONLY);
    if (handle < 0 || read(handle, text, sizeof text - 1) < 0) return;
    close(handle);
    if ((at = strstr(text, "\nvoluntary_ctxt_switches:"))) t->voluntary = atol(at + 25);
    if ((at = strstr(text, "nonvoluntary_ctxt_switches:"))) t->forced = atol(at + 27);
}

static int ascending(const void *a, const void *b) {
    long x = *(long *)a, y = *(long *)b;
    return (x > y) - (x < y);
}

static void report(const char *head, struct class *classes, int many, struct task *a, struct task *b, int tasks, double s) {
    static long waits[TASKS * WAITS];
    double all = 0;
    for (int t = 0; t < tasks; t++) all += b[t].cpu - a[t].cpu;
    for (int c = 0, first = 0; c < many; first += classes[c++].count) {
        double cpu = 0, voluntary = 0, forced = 0, laps = 0;
        long n = 0;
        for (int t = first; t < first + classes[c].count; t++) {
            cpu += b[t].cpu - a[t].cpu;
            voluntary += b[t].voluntary - a[t].voluntary;
            forced += b[t].forced - a[t].forced;
            laps += shared->seen[t].laps;
            memcpy(waits + n, shared->seen[t].wait, shared->seen[t].waits * sizeof *waits);
            n += shared->seen[t].waits;
        }
        qsort(waits, n, sizeof *waits, ascending);
        printf("%s %d %.2f | %.4f | %.1f %.1f | %.1f", head, c, cpu / 1e6, cpu / all, voluntary / s, forced / s, laps / s);
        if (n) printf(" | %.0f %.0f %.0f", waits[n / 2] / 1e3, waits[n * 9 / 10] / 1e3, waits[n - 1] / 1e3);
        printf("\n");
    }
}

/* Starts the tasks of a class; in its process: a first one that joins the group and creates them. */
static pid_t start(struct class *c, int first) {
    pid_t leader = fork();
    if (leader) return leader;
    setpgid(0, 0);
    struct sched_param none = { 0 };
    sched_setscheduler(0, SCHED_OTHER, &none);
    if (*c->group && put(c->group, "cgroup.procs", "0")) { perror(c->group); exit(2); }
    bind_to(c->cpus);
    setpriority(PRIO_PROCESS, 0, c->nice);
    static int pipes[TASKS][2];
    for (int i = 0; i < c->count; i++) if (pipe(pipes[i])) exit(2);
    for (int i = 0; i < c->count; i++) {
        pid_t child = fork();
        if (!child) behave(c, &shared->seen[first + i], i, pipes);
        shared->seen[first + i].pid = child;
    }
    for (;;) pause();
}

static void measure(const char *head, long ms, struct class *classes, int many, struct group *groups, int ngroups) {
    static struct task a[TASKS], b[TASKS];
    pid_t leaders[CLASSES];
    int tasks = 0;
    long stats[GROUPS][3];
    memset(shared, 0, sizeof *shared);
    for (int c = 0; c < many; tasks += classes[c++].count) leaders[c] = start(&classes[c], tasks);
    pause_for(WARM_UP_MS * 1000000L);
    for (int t = 0; t < tasks; t++) a[t].pid = b[t].pid = shared->seen[t].pid;
    for (int t = 0; t < tasks; t++) counters(&a[t]);
    for (int g = 0; g < ngroups; g++) {
        stats[g][0] = stat_of(groups[g].path, "usage_usec ");
        stats[g][1] = stat_of(groups[g].path, "nr_periods ");
        stats[g][2] = stat_of(groups[g].path, "nr_throttled ");
    }
    shared->counts = 1;
    long from = now(CLOCK_MONOTONIC);
    pause_for(ms * 1000000L);
    shared->counts = 0;
    for (int t = 0; t < tasks; t++) counters(&b[t]);
    double s = (now(CLOCK_MONOTONIC) - from) / 1e9;
    report(head, classes, many, a, b, tasks, s);
    for (int g = 0; g < ngroups; g++) if (groups[g].quota)
        printf("%s @%s %.2f %ld %ld\n", head, groups[g].path, (stat_of(groups[g].path, "usage_usec ") - stats[g][0]) / 1e3,
               stat_of(groups[g].path, "nr_periods ") - stats[g][1], stat_of(groups[g].path, "nr_throttled ") - stats[g][2]);
    for (int c = 0; c < many; c++) kill(-leaders[c], SIGKILL);
    for (int c = 0; c < many; c++) waitpid(leaders[c], NULL, 0);
    pause_for(100000000);
}

static long own_work;
static void *once(void *seen) {
    ((struct seen *)seen)->cpu = sched_getcpu();
    compute(own_work);
    ((struct seen *)seen)->end = now(CLOCK_MONOTONIC);
    return NULL;
}

/* Threads of one process that end; the first one computes, too, unless it only creates the others. */
static void until_done(const char *head, long us, struct class *c, int only_creates) {
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    if (child) { waitpid(child, NULL, 0); pause_for(100000000); return; }
    struct sched_param none = { 0 };
    sched_setscheduler(0, SCHED_OTHER, &none);
    bind_to(c->cpus);
    pause_for(100000000);
    own_work = us;
    pthread_t others[TASKS];
    long from = now(CLOCK_MONOTONIC), last = 0, places[CPU_SETSIZE] = { 0 };
    double sum = 0;
    for (long i = !only_creates; i < c->count; i++) pthread_create(&others[i], NULL, once, &shared->seen[i]);
    if (!only_creates) once(&shared->seen[0]);
    for (long i = !only_creates; i < c->count; i++) pthread_join(others[i], NULL);
    for (long i = 0; i < c->count; i++) {
        last = shared->seen[i].end > last ? shared->seen[i].end : last;
        sum += shared->seen[i].end - from;
        places[shared->seen[i].cpu]++;
    }
    printf("%s 0 last %.2f ms mean %.2f ms first", head, (last - from) / 1e6, sum / c->count / 1e6);
    for (int i = 0; i < cpus; i++) printf(" %ld", places[i]);
    printf("\n");
    fflush(stdout);
    _exit(0);
}

static void make_group(struct group *g) {
    char text[64];
    snprintf(text, sizeof text, "%s/%s", root, g->path);
    mkdir(text, 0755);
    char parent[64] = "";
    if (strrchr(g->path, '/')) snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(g->path, '/') - g->path), g->path);
    put(parent, "cgroup.subtree_control", "+cpu");
    snprintf(text, sizeof text, "%ld", g->weight);
    if (put(g->path, "cpu.weight", text)) perror(g->path);
    if (!g->quota) return;
    snprintf(text, sizeof text, "%ld %ld", g->quota, g->period);
    put(g->path, "cpu.max", text);
    snprintf(text, sizeof text, "%ld", g->burst);
    if (g->burst && put(g->path, "cpu.max.burst", text)) printf("# no cpu.max.burst\n");
}

static void run_case(char *line, int run) {
    struct class classes[CLASSES] = { 0 };
    struct group groups[GROUPS] = { 0 };
    int many = 0, ngroups = 0;
    long ms = 0;
    char how = 0, *name = strtok(line, " \n"), *word, head[96];
    while ((word = strtok(NULL, " \n"))) {
        struct class *c = &classes[many];
        struct group *g = &groups[ngroups];
        if (!strncmp(word, "for=", 4) || !strncmp(word, "work=", 5) || !strncmp(word, "fork=", 5)) {
            how = word[3] == '=' ? 'f' : word[4] == '=' && word[3] == 'k' && word[0] == 'w' ? 'w' : 'k';
            ms = atol(strchr(word, '=') + 1);
        } else if (*word == '@') {
            sscanf(word, "@%63[^=]=%ld,%ld,%ld,%ld", g->path, &g->weight, &g->quota, &g->period, &g->burst);
            make_group(g);
            ngroups++;
        } else if (sscanf(word, "%ld*%15[^:,]:%ld:%ld", &c->count, c->kind, &c->work, &c->pause) >= 2) {
            char *at;
            if ((at = strstr(word, "cpus="))) sscanf(at, "cpus=%63[^,]", c->cpus);
            if ((at = strstr(word, "nice="))) c->nice = atol(at + 5);
            if ((at = strstr(word, "group="))) sscanf(at, "group=%63[^,]", c->group);
            many++;
        } else { fprintf(stderr, "%s: %s?\n", name, word); exit(2); }
    }
    snprintf(head, sizeof head, "%s %d", name, run);
    if (how == 'f') measure(head, ms, classes, many, groups, ngroups);
    else until_done(head, ms * 1000, &classes[0], how == 'k');
    while (ngroups--) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", root, groups[ngroups].path);
        if (rmdir(path)) perror(path);
    }
}

int main(int count, char **words) {
    static char line[1024];
    int first = getpid() == 1;
    if (first) {
        mount("none", "/proc", "proc", 0, NULL);
        mount("none", "/sys", "sysfs", 0, NULL);
        mount("none", root, "cgroup2", 0, NULL);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct utsname system;
    uname(&system);
    if (first) sleep(8); /* the kernel still starts in the background */
    turn(1000000);
    long from = now(CLOCK_MONOTONIC);
    turn(1000000);
    spins = 1000000 * 10000L / (now(CLOCK_MONOTONIC) - from) + 1;
    printf("# %s, %ld cpus, %ld turns in 10 us\n", system.release, cpus, spins);
    struct sched_param high = { 50 };
    if (sched_setscheduler(0, SCHED_FIFO, &high)) { perror("SCHED_FIFO"); return 2; }
    put("", "cgroup.subtree_control", "+cpu");
    FILE *table = fopen(count > 1 ? words[1] : "/table", "r");
    int times = count > 2 ? atoi(words[2]) : getenv("times") ? atoi(getenv("times")) : 3;
    if (!table) { perror("table"); return 2; }
    for (int run = 0; run < times; run++) {
        rewind(table);
        while (fgets(line, sizeof line, table)) if (*line != '#' && *line != '\n') { fflush(stdout); run_case(line, run); }
    }
    printf("# done at %.1f s\n", now(CLOCK_MONOTONIC) / 1e9);
    fflush(stdout);
    if (first) reboot(RB_POWER_OFF);
}
