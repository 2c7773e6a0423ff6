/* The measurements of docs/model/measured.md ("Waits on a host"): programs that wait for each other through pipes, sockets,
 * mutexes, conditions and semaphores of POSIX.
 *
 *   gcc -O2 -pthread -o waits docs/how-to/waits.c
 *   ./waits copy                    # a process writes a byte into a pipe and reads it
 *   ./waits message                 # the same with 100 bytes and a socket
 *   ./waits pipe 0 0                # two processes send a byte to and fro; cpu of each
 *   ./waits condition 0 1           # two threads that take turns, a mutex and two conditions
 *   ./waits semaphore 0 1           # the same with two semaphores
 *   ./waits buffer 0 1 30 20 8      # producer, consumer: us to make, us to use, places
 *   ./waits mutex 4 20 10           # threads, us outside and inside
 *   ./waits sockets 4 4 25          # senders, receivers, us to make a message
 *   ./waits priority 1 20 100       # as root: 0 no protocol, 1 PRIO_INHERIT, 2 PRIO_PROTECT; ms of low and middle
 *
 * Prints the microseconds of one turn, item, section or message; with `priority` those from the wake-up of the task of
 * the highest priority to the end of its section. Work is cpu time, so another process or a slower
 * clock changes it little. Run it on an idle machine, several times, and take the median.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Computes for so many microseconds of the thread's cpu time. */
static void work(double us)
{
    if (us > 0)
        for (double end = now(CLOCK_THREAD_CPUTIME_ID) + us; now(CLOCK_THREAD_CPUTIME_ID) < end;)
            for (int i = 0; i < 100; i++)
                __asm__ volatile("" ::: "memory");
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        perror("sched_setaffinity"), exit(1);
}

static int turns = 20000, places = 8, to[2], back[2], cpus[2], pairs[64][2];
static double a, b;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed[2] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static sem_t given[2];
static int whose, stored;

static void must(int ok)
{
    if (!ok)
        perror("waits"), exit(1);
}

static void *take_turns(void *me_)
{
    int me = (int)(long)me_;
    pin(cpus[me]);
    for (int i = 0; i < turns; i++) {
        pthread_mutex_lock(&mutex);
        while (whose != me)
            pthread_cond_wait(&changed[me], &mutex);
        whose = !me;
        pthread_cond_signal(&changed[!me]);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *pass_on(void *me_)
{
    int me = (int)(long)me_;
    pin(cpus[me]);
    for (int i = 0; i < turns; i++) {
        sem_wait(&given[me]);
        sem_post(&given[!me]);
    }
    return NULL;
}

static void *produce_or_use(void *me_)
{
    int me = (int)(long)me_;
    pin(cpus[me]);
    for (int i = 0; i < turns; i++) {
        if (!me)
            work(a);
        pthread_mutex_lock(&mutex);
        while (stored == (me ? 0 : places))
            pthread_cond_wait(&changed[me], &mutex);
        stored += me ? -1 : 1;
        pthread_cond_signal(&changed[!me]);
        pthread_mutex_unlock(&mutex);
        if (me)
            work(b);
    }
    return NULL;
}

static void *sections(void *unused)
{
    for (int i = 0; i < turns; i++) {
        work(a);
        pthread_mutex_lock(&mutex);
        work(b);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static double threads(int count, void *(*body)(void *))
{
    pthread_t all[64];
    double begin = now(CLOCK_MONOTONIC);
    for (long i = 0; i < count; i++)
        must(!pthread_create(&all[i], NULL, body, (void *)i));
    for (int i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    return (now(CLOCK_MONOTONIC) - begin) / turns;
}

/* Writes and reads again what fits into the ends of a pipe or a socket. */
static double copies(int from, int into, size_t size)
{
    char message[100] = { 0 };
    double begin = now(CLOCK_MONOTONIC);
    for (int i = 0; i < turns; i++)
        must(write(into, message, size) == (ssize_t)size && read(from, message, size) == (ssize_t)size);
    return (now(CLOCK_MONOTONIC) - begin) / turns;
}

static double pipes(void)
{
    char byte = 0;
    must(!pipe(to) && !pipe(back));
    pid_t child = fork();
    must(child >= 0);
    pin(cpus[child == 0]);
    double begin = now(CLOCK_MONOTONIC);
    for (int i = 0; i < turns; i++) {
        if (child)
            must(write(to[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
        else
            must(read(to[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1);
    }
    if (!child)
        exit(0);
    wait(NULL);
    return (now(CLOCK_MONOTONIC) - begin) / turns;
}

/* Each sender makes messages for each receiver in turn; a receiver takes them from a socket of its own. */
static double sockets(int senders, int receivers)
{
    char message[100] = { 0 };
    for (int i = 0; i < receivers; i++)
        must(!socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]));
    double begin = now(CLOCK_MONOTONIC);
    for (int i = 0; i < senders + receivers; i++) {
        if (fork())
            continue;
        if (i < senders)
            for (int n = 0; n < turns; n++)
                for (int to = 0; to < receivers; to++) {
                    work(a);
                    must(write(pairs[to][0], message, sizeof message) == sizeof message);
                }
        else
            for (int n = 0; n < turns * senders; n++)
                must(recv(pairs[i - senders][1], message, sizeof message, MSG_WAITALL) == sizeof message);
        exit(0);
    }
    while (wait(NULL) > 0)
        ;
    return (now(CLOCK_MONOTONIC) - begin) / turns / senders / receivers;
}

static double begun, taken;

/* On one cpu, under SCHED_FIFO: low has the lock when the others wake up, high needs it, and middle does not. */
static void *of_priority(void *rank_)
{
    int rank = (int)(long)rank_;
    if (rank) {
        double until = begun + 5000;
        struct timespec t = { (time_t)(until / 1e6), 0 };
        t.tv_nsec = (long)((until - (double)t.tv_sec * 1e6) * 1e3);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    if (rank == 1)
        return work(b), NULL;
    pthread_mutex_lock(&mutex);
    work(rank ? 1000 : a);
    pthread_mutex_unlock(&mutex);
    if (rank)
        taken = now(CLOCK_MONOTONIC) - begun - 5000;
    return NULL;
}

static double priorities(int protocol)
{
    const int each[3] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT };
    pthread_mutexattr_t of;
    pthread_t all[3];
    pthread_mutexattr_init(&of);
    pthread_mutexattr_setprotocol(&of, each[protocol]);
    pthread_mutexattr_setprioceiling(&of, 30);
    must(!pthread_mutex_init(&mutex, &of));
    pin(0);
    struct sched_param own = { .sched_priority = 40 };
    must(!sched_setscheduler(0, SCHED_FIFO, &own));
    begun = now(CLOCK_MONOTONIC);
    for (long i = 2; i >= 0; i--) {
        pthread_attr_t thread;
        struct sched_param its = { .sched_priority = 10 * (int)i + 10 };
        pthread_attr_init(&thread);
        pthread_attr_setinheritsched(&thread, PTHREAD_EXPLICIT_SCHED);
        pthread_attr_setschedpolicy(&thread, SCHED_FIFO);
        pthread_attr_setschedparam(&thread, &its);
        must(!pthread_create(&all[i], &thread, of_priority, (void *)i));
    }
    for (int i = 0; i < 3; i++)
        pthread_join(all[i], NULL);
    return taken;
}

int main(int argc, char **argv)
{
    double n[6] = { 0 };
    for (int i = 2; i < argc && i < 8; i++)
        n[i - 2] = atof(argv[i]);
    const char *what = argc > 1 ? argv[1] : "";
    cpus[0] = (int)n[0], cpus[1] = (int)n[1];
    sem_init(&given[0], 0, 1);
    sem_init(&given[1], 0, 0);
    double us;
    if (!strcmp(what, "copy"))
        must(!pipe(to)), us = copies(to[0], to[1], 1);
    else if (!strcmp(what, "message"))
        must(!socketpair(AF_UNIX, SOCK_STREAM, 0, to)), us = copies(to[0], to[1], 100);
    else if (!strcmp(what, "pipe"))
        us = pipes();
    else if (!strcmp(what, "condition"))
        us = threads(2, take_turns);
    else if (!strcmp(what, "semaphore"))
        us = threads(2, pass_on);
    else if (!strcmp(what, "buffer"))
        a = n[2], b = n[3], places = (int)n[4], us = threads(2, produce_or_use);
    else if (!strcmp(what, "mutex"))
        a = n[1], b = n[2], us = threads((int)n[0], sections) / n[0];
    else if (!strcmp(what, "sockets"))
        a = n[2], turns = 2000, us = sockets((int)n[0], (int)n[1]);
    else if (!strcmp(what, "priority"))
        a = n[1] * 1000, b = n[2] * 1000, us = priorities((int)n[0]);
    else
        return fprintf(stderr, "usage: see the head of waits.c\n"), 2;
    printf("%.3f\n", us);
    return 0;
}
