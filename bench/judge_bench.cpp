// What one decoded observation costs to judge: 8 GPUs, 20 processes, 200 files whose listing did not change.
#include <benchmark/benchmark.h>

#include "../tests/core/scenario.hpp"

namespace trainvigil {
namespace {

test::Scenario big_job(std::int64_t looks_before) {
  test::Scenario s;
  s.job.epochs = 1'000'000;
  s.workers = 19;
  s.healthy(2);
  s.gpus.clear();
  for (int i = 0; i < 8; ++i) s.gpus.push_back(s.gpu(i, 97, 320, 50));
  for (int n = 2; n < 40; ++n) s.epoch(n, 1000 - n);
  for (std::int64_t i = 0; i < looks_before; ++i) s.look();
  return s;
}

// The age of the run must not matter: the argument is how many looks went before.
void judge_unchanged_listing(benchmark::State& state) {
  test::Scenario s = big_job(state.range(0));
  Observation o = s.observe();
  for (auto _ : state) {
    o.watcher_time += Seconds{30};
    *o.host.time += Seconds{30};
    for (Process& p : *o.processes) *p.cpu_s += 20;
    benchmark::DoNotOptimize(advance(s.job, s.prior, s.state, o));
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["state_bytes"] = static_cast<double>(s.state.serialize().size());
}
BENCHMARK(judge_unchanged_listing)->Arg(10)->Arg(3000);

void judge_changed_listing(benchmark::State& state) {
  test::Scenario s = big_job(10);
  for (auto _ : state) benchmark::DoNotOptimize(s.look());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(judge_changed_listing);

}  // namespace
}  // namespace trainvigil
