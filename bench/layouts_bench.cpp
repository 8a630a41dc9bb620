// How long one listing takes to judge. The limit kept: 10,000 files in 10 ms.
#include <benchmark/benchmark.h>

#include "trainvigil/checkpoint.hpp"

namespace {

using namespace trainvigil;

constexpr double kNow = 1'800'000'000;

FileEntry file(std::string path, std::int64_t bytes, double age) {
  FileEntry e;
  e.path = std::move(path);
  e.bytes = bytes;
  e.mtime = host_time(kNow - age);
  return e;
}

/// `saves` directories with `ranks` shards each, as large sharded runs leave them.
Listing sharded(int saves, int ranks) {
  Listing out;
  for (int s = 1; s <= saves; ++s) {
    const std::string dir = "checkpoints/global_step" + std::to_string(s * 500);
    const double age = (saves - s + 1) * 1000.0;
    for (int r = 0; r < ranks; ++r)
      out.entries.push_back(file(dir + "/bf16_zero_pp_rank_" + std::to_string(r) + "_mp_rank_00_optim_states.pt", 4'000'000'000, age));
  }
  out.entries.push_back(file("checkpoints/latest", 14, 900));
  out.state_files.push_back({"checkpoints/latest", "global_step" + std::to_string(saves * 500)});
  return out;
}

/// One directory of plain files with counters.
Listing flat(int files) {
  Listing out;
  for (int i = 1; i <= files; ++i)
    out.entries.push_back(
        file("epoch=" + std::to_string(i / 10) + "-step=" + std::to_string(i * 100) + "-val_loss=0.31.ckpt", 500'000'000, (files - i) * 60.0));
  return out;
}

void judge(benchmark::State& state, const Listing& listing) {
  LayoutMemory memory;
  LayoutInput in;
  in.listing = &listing;
  in.now = host_time(kNow);
  in.run_start = host_time(kNow - 1e7);
  in.alive = true;
  for (auto _ : state) benchmark::DoNotOptimize(judge_listing(in, memory));
  state.counters["files"] = static_cast<double>(listing.entries.size());
}

void sharded_10000(benchmark::State& state) { judge(state, sharded(20, 500)); }
void flat_10000(benchmark::State& state) { judge(state, flat(10'000)); }
void sharded_100000(benchmark::State& state) { judge(state, sharded(1000, 100)); }
BENCHMARK(sharded_10000)->Unit(benchmark::kMillisecond);
BENCHMARK(flat_10000)->Unit(benchmark::kMillisecond);
BENCHMARK(sharded_100000)->Unit(benchmark::kMillisecond);

}  // namespace
