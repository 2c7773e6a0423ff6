/* Teams of OpenMP threads that compute and meet at barriers: the host rows of docs/model/measured.md ("Teams on a host").
 *
 *   gcc -O2 -fopenmp -o teams docs/how-to/teams.c                       # libgomp
 *   gcc -O2 -fopenmp -c docs/how-to/teams.c && gcc -o teams teams.o -L/usr/lib/llvm-14/lib -lomp    # libomp
 *   OMP_WAIT_POLICY=passive ./teams 4 200 100        # threads, milliseconds of work in all, barriers
 *
 * Prints the milliseconds of the parallel region. The work is a counted loop, whose speed is measured before. Run it
 * on an idle machine, five times, and take the median.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void compute(unsigned long steps)
{
    unsigned long x = 1;
    for (unsigned long i = 0; i < steps; i++) {
        x = x * 6364136223846793005UL + 1;
        __asm__ volatile("" ::"r"(x));
    }
    sink = x;
}

int main(int count, char **words)
{
    if (count != 4 || atoi(words[1]) < 1 || atof(words[2]) <= 0 || atoi(words[3]) < 1) {
        fprintf(stderr, "usage: %s THREADS MILLISECONDS BARRIERS\n", words[0]);
        return 2;
    }
    int threads = atoi(words[1]), barriers = atoi(words[3]);
    const unsigned long steps = 20000000;
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        double start = now();
        compute(steps);
        double span = now() - start;
        least = span < least ? span : least;
    }
    unsigned long part = (unsigned long)(steps * (atof(words[2]) * 1e-3 / threads / barriers) / least);
    omp_set_num_threads(threads);
    double start = now();
#pragma omp parallel
    for (int i = 0; i < barriers; i++) {
        compute(part);
#pragma omp barrier
    }
    printf("%.1f\n", (now() - start) * 1e3);
    return 0;
}
