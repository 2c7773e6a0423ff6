/* Tasks that only compute under a mask, as in the table "Masks" of docs/model/measured.md: how long the last one takes.
 *
 *   gcc -O2 -static -pthread -o masks docs/how-to/masks.c
 *   ./masks 0-4 8 1000          # cpus, threads, milliseconds of cpu time of each
 *
 * A thread computes until its own cpu time is used up, so the result does not depend on how fast the cpus are: it
 * also holds in an emulated machine. Put the program and a shell (busybox) into an initramfs and start, for
 * package:2 core:4,
 *
 *   qemu-system-x86_64 -machine q35 -accel tcg,thread=single -icount shift=3,sleep=off -cpu max \
 *     -smp 8,sockets=2,dies=1,cores=4,threads=1 -m 768 -nographic -kernel vmlinuz -initrd init.gz \
 *     -append "console=ttyS0 tsc=reliable clocksource=tsc nowatchdog"
 *
 * Memory nodes: -object memory-backend-ram,size=256M,id=m0 -numa node,nodeid=0,memdev=m0,cpus=0-3 for each, and
 * -numa dist,src=0,dst=1,val=12 within a package, 21 between packages.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 256 };

static long work;
static long ended[MOST];

static long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *compute(void *number)
{
    while (now(CLOCK_THREAD_CPUTIME_ID) < work) {
    }
    ended[(long)number] = now(CLOCK_MONOTONIC);
    return NULL;
}

int main(int count, char **words)
{
    if (count != 4) {
        fprintf(stderr, "usage: %s CPUS THREADS MILLISECONDS\n", words[0]);
        return 2;
    }
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (char *at = words[1]; *at; at += *at == ',') {
        long first = strtol(at, &at, 10), last = first;
        if (*at == '-')
            last = strtol(at + 1, &at, 10);
        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_SET(first, &mask);
    }
    long threads = atol(words[2]);
    work = atol(words[3]) * 1000000L;
    if (threads < 1 || threads > MOST || work < 1 || sched_setaffinity(0, sizeof mask, &mask)) {
        fprintf(stderr, "%s: 1 to %d threads, some work, and cpus that exist\n", words[0], MOST);
        return 2;
    }
    long start = now(CLOCK_MONOTONIC), end = 0;
    pthread_t others[MOST];
    for (long i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, compute, (void *)i);
    compute(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    for (long i = 0; i < threads; i++)
        end = ended[i] > end ? ended[i] : end;
    printf("%.3f s\n", (end - start) / 1e9);
    return 0;
}
