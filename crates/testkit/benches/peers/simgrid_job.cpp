// The benchmark's job on SimGrid 4.1 (S4U): CPUS hosts of one core with 4 actors each; every actor computes
// 1 ms +-10 % and then waits at one barrier of all actors, INTERVALS times.
//
//   simgrid_job fifo|share CPUS INTERVALS
//
// fifo: a host takes one computation at a time, the others queue (a concurrency limit of 1).
// share: SimGrid's own way, the computations of a host run at once and share its speed fairly.
//
// Left out: polls, yields, the cost of switches, and memory contention; waiting actors cost nothing.
// Last line: end of the simulation in seconds, number of computations.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

constexpr unsigned tasks_per_cpu = 4;

static std::mt19937_64 noise(1);
static std::uint64_t computed = 0;

static void task(sg4::BarrierPtr barrier, int intervals)
{
  std::uniform_real_distribution<double> flops(0.9e6, 1.1e6);
  for (int left = intervals; left > 0; left--) {
    sg4::this_actor::execute(flops(noise));
    computed++;
    barrier->wait();
  }
}

int main(int argc, char** argv)
{
  // Small stacks without guard pages, so that 16,384 actors fit; no log, no tracing.
  std::vector<std::string> options = {argv[0], "--log=root.threshold:warning", "--cfg=contexts/factory:raw",
                                      "--cfg=contexts/stack-size:32", "--cfg=contexts/guard-size:0"};
  std::vector<char*> arguments;
  for (auto& option : options)
    arguments.push_back(option.data());
  int count = arguments.size();
  arguments.push_back(nullptr);
  sg4::Engine engine(&count, arguments.data());
  if (argc != 4 || (std::strcmp(argv[1], "fifo") != 0 && std::strcmp(argv[1], "share") != 0)) {
    std::fprintf(stderr, "usage: %s fifo|share CPUS INTERVALS\n", argv[0]);
    return 2;
  }
  const bool fifo     = std::strcmp(argv[1], "fifo") == 0;
  const int cpus      = std::atoi(argv[2]);
  const int intervals = std::atoi(argv[3]);

  // No network: nobody sends anything.
  auto* zone   = engine.get_netzone_root()->add_netzone_empty("machine");
  auto barrier = sg4::Barrier::create(cpus * tasks_per_cpu);
  std::vector<sg4::Host*> hosts;
  for (int cpu = 0; cpu < cpus; cpu++)
    hosts.push_back(zone->add_host("cpu" + std::to_string(cpu), 1e9));
  zone->seal();
  if (fifo)
    for (auto* host : hosts)
      host->set_concurrency_limit(1);
  for (unsigned rank = 0; rank < cpus * tasks_per_cpu; rank++)
    hosts[rank % cpus]->add_actor("task", task, barrier, intervals);
  engine.run();
  std::printf("%.9f %llu\n", sg4::Engine::get_clock(), static_cast<unsigned long long>(computed));
}
