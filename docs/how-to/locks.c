/* The host table of docs/how-to/locks.md: `critical-section` of oversim as a program with POSIX threads.
 *
 *   gcc -O2 -pthread -o locks docs/how-to/locks.c
 *   taskset -c 0,1 ./locks mutex 8            # lock, threads
 *   taskset -c 0,1 ./locks ticket 8 200       # sections per thread (1,000)
 *   taskset -c 0,1 ./locks spin 2 100000 0.1 0.05   # microseconds outside and inside (100, 2)
 *
 * Prints the seconds from the start of all threads to the end of the last one. Locks: mutex, adaptive, spin (test
 * and set with pause), yield (the same with sched_yield), ticket, mcs. Run it on an idle machine, several times, and
 * take the least.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif
#define LINE __attribute__((aligned(64)))

struct node { _Atomic(struct node *) next; atomic_int wait; } LINE;

static enum { MUTEX, ADAPTIVE, SPIN, YIELD, TICKET, MCS } kind;
static const char *const names[] = { "mutex", "adaptive", "spin", "yield", "ticket", "mcs" };
static pthread_mutex_t mutex LINE;
static atomic_int word LINE;
static struct { atomic_uint next, owner; } ticket LINE;
static _Atomic(struct node *) tail LINE;
static pthread_barrier_t barrier LINE;
static int sections = 1000;
static long outside, inside;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Work of a fixed number of steps, so that a thread without a cpu does none. */
static void work(long steps)
{
    for (long i = 0; i < steps; i++)
        __asm__ volatile("" ::: "memory");
}

static void take(struct node *me)
{
    switch (kind) {
    case MUTEX:
    case ADAPTIVE:
        pthread_mutex_lock(&mutex);
        break;
    case SPIN:
    case YIELD:
        while (atomic_exchange(&word, 1))
            while (atomic_load(&word))
                if (kind == YIELD)
                    sched_yield();
                else
                    PAUSE();
        break;
    case TICKET:
        for (unsigned mine = atomic_fetch_add(&ticket.next, 1); atomic_load(&ticket.owner) != mine;)
            PAUSE();
        break;
    case MCS:
        atomic_store(&me->next, NULL);
        atomic_store(&me->wait, 1);
        struct node *before = atomic_exchange(&tail, me);
        if (before) {
            atomic_store(&before->next, me);
            while (atomic_load(&me->wait))
                PAUSE();
        }
        break;
    }
}

static void give(struct node *me)
{
    switch (kind) {
    case MUTEX:
    case ADAPTIVE:
        pthread_mutex_unlock(&mutex);
        break;
    case SPIN:
    case YIELD:
        atomic_store_explicit(&word, 0, memory_order_release);
        break;
    case TICKET:
        atomic_store_explicit(&ticket.owner, ticket.owner + 1, memory_order_release);
        break;
    case MCS:
        if (!atomic_load(&me->next)) {
            struct node *only = me;
            if (atomic_compare_exchange_strong(&tail, &only, NULL))
                break;
            while (!atomic_load(&me->next))
                PAUSE();
        }
        atomic_store(&atomic_load(&me->next)->wait, 0);
        break;
    }
}

static void *thread(void *nothing)
{
    struct node me;
    pthread_barrier_wait(&barrier);
    for (int section = 0; section < sections; section++) {
        work(outside);
        take(&me);
        work(inside);
        give(&me);
    }
    return nothing;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    for (kind = MUTEX; argc > 1 && kind <= MCS && strcmp(argv[1], names[kind]); kind++) {
    }
    if (argc < 3 || threads < 1 || threads > 1024 || kind > MCS) {
        fprintf(stderr, "usage: locks mutex|adaptive|spin|yield|ticket|mcs THREADS [SECTIONS [OUTSIDE_US INSIDE_US]]\n");
        return 2;
    }
    if (argc > 3)
        sections = atoi(argv[3]);
    /* The fastest of some runs of a known number of steps is the speed of the cpu. */
    double best = 1;
    for (int i = 0; i < 50; i++) {
        double begin = now();
        work(100000);
        double took = now() - begin;
        best = took < best ? took : best;
    }
    double steps = 100000 / best * 1e-6;
    outside = (long)((argc > 5 ? atof(argv[4]) : 100) * steps);
    inside = (long)((argc > 5 ? atof(argv[5]) : 2) * steps);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind == ADAPTIVE ? PTHREAD_MUTEX_ADAPTIVE_NP : PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&mutex, &attributes);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    pthread_t ids[1024];
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, thread, NULL);
    pthread_barrier_wait(&barrier);
    double begin = now();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("%s %d threads: %.4f s\n", names[kind], threads, now() - begin);
    return 0;
}
