// A job's memory as it lies in the state directory: another version, a half-written one, anything. Then one ordinary turn.
#include <cstdint>
#include <string_view>

#include "judged.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainvigil;
  JobState state;
  state.parse({reinterpret_cast<const char*>(data), size});
  Job job;
  job.name = "eagle3";
  job.host = "gpu1";
  job.checkpoints = "/data/out";
  job.process = "04_train";
  job.epochs = 5;
  const auto observation = decode_observation(
      R"({"schema":"trainvigil.observation/1","watcher_time":1764422465.2,"reach":"ok","host":{"time":1764422464.9,"boot_id":"b","uptime_s":86400},)"
      R"("processes":[{"pid":4242,"ppid":1,"state":"R","start":1764420420.0,"start_ticks":123456,"cpu_s":1860.2,"main":true,"cmdline":"python 04_train.py"}],)"
      R"("gpus":[{"index":0,"util_pct":99,"power_w":380.1,"power_limit_w":400.0,"mem_used_mib":40000,"pids":[4242]}],)"
      R"("files":[{"path":"0","type":"d","mtime":1764422400.0},{"path":"0/model.safetensors","type":"f","bytes":3145856,"mtime":1764422400.0}]})",
      nullptr);
  PROMISE(observation.has_value());
  fuzz::judge_and_print(job, state, *observation);
  return 0;
}
