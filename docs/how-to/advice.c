/* The programs of docs/validation-advice.md: a fixed problem in loops, divided among threads, ranks or both.
 * advice.py builds and starts them:
 *
 *   gcc -O2 -fopenmp -o gomp docs/how-to/advice.c                        # libgomp
 *   clang -O2 -fopenmp=libomp -o lomp docs/how-to/advice.c               # libomp
 *   mpicc -O2 -fopenmp -DRANKS -o ranks docs/how-to/advice.c             # Open MPI
 *
 *   ./gomp speed                                 # steps of the work in a millisecond
 *   RATE=853000 ./gomp loops 300us 1000 20 30    # work of a loop, loops, % of variation, % of serial work
 *   RATE=853000 ./gomp memory 64 30              # MiB of each of three arrays, loops
 *   RATE=853000 mpirun -np 2 ./ranks loops 300us 1000 20 0 5    # ranks meet after every 5 loops
 *   RATE=853000 ./gomp job 20ms 15ms 2           # one job of make: work, sleep, how often
 *   ./gomp hog                                   # computes until it is ended
 *
 * Prints the seconds of all loops, and into the file REGIONS, if there is such a variable, what `oversim profile`
 * reads: region,calls,threads,time_s,barrier_s. Work is counted, so it is the same in each run. A loop has 24
 * pieces. The heavy end of the loop is the first or the last piece, by so many % more than the mean at most, and
 * differs from loop to loop.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef RANKS
#include <mpi.h>
#endif

enum { PIECES = 24, MOST = 64 };

static volatile uint64_t sink;
/* What each thread was busy for in all loops, on a line of the cache of its own. */
static struct { double busy; char rest[120]; } each[MOST];
static double rate, *a, *b, *c;
static int me, size = 1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void compute(uint64_t steps)
{
    uint64_t x = steps;
    for (uint64_t i = 0; i < steps; i++) {
        x = x * 6364136223846793005UL + 1;
        __asm__ volatile("" ::"r"(x));
    }
    sink = x;
}

/* A number from -1 to 1 for each loop. */
static double drawn(uint64_t loop)
{
    uint64_t z = (loop + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) / (double)(1L << 52) - 1;
}

static void piece(long loop, int number, double mean, double vary)
{
    double more = vary * drawn((uint64_t)loop) * (2.0 * number / (PIECES - 1) - 1);
    compute((uint64_t)(mean * (1 + more)));
}

/* One piece of a loop over the arrays. */
static void triad(int number, long length)
{
    long from = length * number / PIECES, to = length * (number + 1) / PIECES;
    for (long i = from; i < to; i++)
        a[i] = b[i] + 3 * c[i];
}

/* One loop of this process. Pieces are divided among ranks, and those of a rank among its threads. */
static void loop(long number, double mean, double vary, long length)
{
    int from = PIECES * me / size, to = PIECES * (me + 1) / size;
#pragma omp parallel
    {
        double begin = now();
#pragma omp for schedule(static) nowait
        for (int i = from; i < to; i++) {
            if (length)
                triad(i, length);
            else
                piece(number, i, mean, vary);
        }
        each[omp_get_thread_num() % MOST].busy += now() - begin;
    }
}

static void meet(void)
{
#ifdef RANKS
    double mine = 1, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
}

/* The CSV of regions; ranks without threads of their own count as the threads of one region. */
static void report(long loops, double inside)
{
    const char *file = getenv("REGIONS");
    double busy = 0;
    int threads = omp_get_max_threads();
    for (int i = 0; i < threads && i < MOST; i++)
        busy += each[i].busy;
#ifdef RANKS
    double mine = busy;
    MPI_Reduce(&mine, &busy, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    threads *= size;
#endif
    FILE *out = file && me == 0 ? fopen(file, "w") : NULL;
    if (out) {
        double waited = inside * threads - busy;
        fprintf(out, "region,calls,threads,time_s,barrier_s\nloop,%ld,%d,%.6f,%.6f\n", loops, threads, inside,
                waited > 0 ? waited : 0);
        fclose(out);
    }
}

/* us, ms or s as a suffix; in milliseconds. */
static double ms(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return !strcmp(end, "us") ? value / 1e3 : !strcmp(end, "s") ? value * 1e3 : value;
}

static int one_job(double work, double sleep, int times)
{
    struct timespec t = { 0, (long)(sleep * 1e6) };
    for (int i = 0; i < times; i++) {
        compute((uint64_t)(work * rate));
        nanosleep(&t, NULL);
    }
    return 0;
}

/* MiB of each array. Pages are touched by the threads that use them. */
static long arrays(long mib)
{
    long length = mib * (1 << 20) / (long)sizeof *a;
    a = malloc(length * sizeof *a), b = malloc(length * sizeof *a), c = malloc(length * sizeof *a);
    if (!a || !b || !c)
        exit(1);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < length; i++)
        a[i] = 0, b[i] = 1, c[i] = 2;
    return length;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    double n[5] = { 0 };
    for (int i = 2; i < count && i < 7; i++)
        n[i - 2] = ms(words[i]);
    if (!strcmp(what, "speed")) {
        double least = 1e9;
        for (int i = 0; i < 20; i++) {
            double begin = now();
            compute(20000000);
            double span = now() - begin;
            least = span < least ? span : least;
        }
        return printf("%.0f\n", 20000000 / (least * 1e3)), 0;
    }
    if (!strcmp(what, "hog"))
        for (;;)
            compute(100000);
    rate = atof(getenv("RATE") ? getenv("RATE") : "800000");
    if (!strcmp(what, "job"))
        return one_job(n[0], n[1], (int)n[2]);
    int memory = !strcmp(what, "memory");
    if ((strcmp(what, "loops") && !memory) || n[0] <= 0 || n[1] < 1)
        return fprintf(stderr, "usage: see the head of advice.c\n"), 2;
#ifdef RANKS
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
    long loops = (long)n[1], length = memory ? arrays((long)n[0]) : 0;
    long every = n[4] >= 1 ? (long)n[4] : 1;
    double serial = memory ? 0 : n[3] / 100, mean = n[0] * rate * (1 - serial) / PIECES, inside = 0;
    for (int i = 0; i < MOST; i++)
        each[i].busy = 0;
    meet();
    double begin = now();
    for (long i = 0; i < loops; i++) {
        double enter = now();
        loop(i, mean, n[2] / 100, length);
        if ((i + 1) % every == 0)
            meet();
        inside += now() - enter;
        if (serial > 0 && me == 0)
            compute((uint64_t)(n[0] * rate * serial));
    }
    double span = now() - begin;
    report(loops, inside);
    if (me == 0)
        printf("%.6f\n", span);
#ifdef RANKS
    MPI_Finalize();
#endif
    return 0;
}
