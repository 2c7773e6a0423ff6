/* Cpu time of control groups side by side: groups SECONDS WEIGHT,TASKS[,BUSY_US,PAUSE_US]...
 *
 * Each group has its weight (cpu.weight) and tasks that compute, or compute and sleep in turn; a first process joins
 * the group and creates them. After two seconds their cpu time is counted for SECONDS; the output is the milliseconds
 * of each group and its part of the sum. Needs root, control groups of version 2 in /sys/fs/cgroup and the controller
 * cpu in its cgroup.subtree_control. Build: cc -O2 -o groups groups.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GROUPS = 16 };

static long now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void pause_for(long ns) {
    struct timespec t = { ns / 1000000000, ns % 1000000000 };
    nanosleep(&t, NULL);
}

static void put(const char *group, const char *file, long value) {
    char path[256], text[32];
    snprintf(path, sizeof path, "%s/%s", group, file);
    int length = snprintf(text, sizeof text, "%ld", value), handle = open(path, O_WRONLY);
    if (handle < 0 || write(handle, text, length) < 0) { perror(path); exit(1); }
    close(handle);
}

static long used(const char *group) { /* microseconds */
    char path[256], text[512] = "";
    snprintf(path, sizeof path, "%s/cpu.stat", group);
    int handle = open(path, O_RDONLY);
    if (handle < 0 || read(handle, text, sizeof text - 1) < 0) { perror(path); exit(1); }
    close(handle);
    return atol(strstr(text, "usage_usec ") + 11);
}

static void work(long busy, long pause) {
    if (pause == 0) for (volatile long i = 0;; i++) { }
    srand(getpid());
    pause_for(rand() % pause * 1000L);
    for (;;) {
        for (long end = now(CLOCK_THREAD_CPUTIME_ID) + busy * 1000; now(CLOCK_THREAD_CPUTIME_ID) < end;) { }
        pause_for(pause * 1000);
    }
}

int main(int count, char **args) {
    static char groups[GROUPS][128];
    pid_t leaders[GROUPS];
    long before[GROUPS], after[GROUPS], sum = 0;
    int number = count - 2;
    if (count < 3 || number > GROUPS) { fprintf(stderr, "groups SECONDS WEIGHT,TASKS[,BUSY_US,PAUSE_US]...\n"); return 2; }
    for (int g = 0; g < number; g++) {
        long weight, size, busy = 0, pause = 0;
        sscanf(args[2 + g], "%ld,%ld,%ld,%ld", &weight, &size, &busy, &pause);
        snprintf(groups[g], sizeof groups[g], "/sys/fs/cgroup/groups-%d-%d", getpid(), g);
        mkdir(groups[g], 0755);
        put(groups[g], "cpu.weight", weight);
        pid_t leader = fork();
        if (leader == 0) {
            put(groups[g], "cgroup.procs", getpid());
            for (long i = 0; i < size; i++) if (fork() == 0) work(busy, pause);
            for (;;) wait(NULL);
        }
        leaders[g] = leader;
        pause_for(100000000);
    }
    sleep(2);
    for (int g = 0; g < number; g++) before[g] = used(groups[g]);
    pause_for(atof(args[1]) * 1e9);
    for (int g = 0; g < number; g++) sum += (after[g] = used(groups[g])) - before[g];
    for (int g = 0; g < number; g++) put(groups[g], "cgroup.kill", 1);
    for (int g = 0; g < number; g++) {
        waitpid(leaders[g], NULL, 0);
        pause_for(100000000);
        long part = after[g] - before[g];
        printf("%s %.0f ms %.4f\n", args[2 + g], part / 1e3, (double)part / sum);
        rmdir(groups[g]);
    }
}
