// A look from its questions to its observations. What is asked and what follows from the answers stands in conversation_processes.cpp,
// conversation_gpu.cpp (drivers: GPUs and the kernel's log) and conversation_files.cpp; conversation.cpp begins the look and ends it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/directory.hpp"
#include "core/wire/exchange.hpp"
#include "core/wire/gpu.hpp"
#include "core/wire/kernel.hpp"
#include "core/wire/log_view.hpp"
#include "core/wire/proc.hpp"
#include "core/wire/process_table.hpp"
#include "trainvigil/wire.hpp"

namespace trainvigil::wire {

class Probe final : public ProbeConversation {
 public:
  Probe(std::vector<Job> jobs, std::uint32_t nonce);
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  void opened() override;
  std::string take_output(std::size_t limit) override { return exchange_.take_output(limit); }
  void received(std::string_view out) override { exchange_.received(out); }
  void received_error(std::string_view) override {}
  [[nodiscard]] bool ready() const override { return exchange_.ready(); }
  [[nodiscard]] bool answered() const override { return exchange_.ready() && asked_ && exchange_.idle(); }
  [[nodiscard]] std::optional<Failure> broken() const override { return exchange_.broken(); }
  [[nodiscard]] std::size_t most_bytes() const override;
  void hurry() override { exchange_.hurry(); }
  bool settle_for_less() override;

  void ask(const LookOptions& options) override;
  std::vector<Observation> take(WatcherTime now) override;

 private:
  struct Directory {
    DirectoryView view;
    SensorReport files, state, disk_report;
    std::optional<Disk> disk;
  };

  static constexpr int kFullScanEvery = 10, kKernelEvery = 10;  ///< looks

  void announced(const std::vector<std::string_view>& words_of_ready);
  void begin();
  [[nodiscard]] SensorReport report(const Answer& answer) const;
  [[nodiscard]] Observation observe(std::size_t index, WatcherTime now);

  void ask_scan();
  void ask_facts(const std::string& slot, const std::vector<std::int64_t>& pids);
  void host_answered(const ProcessFacts& facts);
  void follow_up();

  void ask_gpu(int gap_s);
  void keep_last_gpu();
  void gpu_answered(const Answer& answer);
  [[nodiscard]] int gpu_readings() const;
  void ask_kernel();

  void ask_files();
  void ask_list(Directory& directory, const std::string& slot);
  void ask_disks(Directory& directory, const std::string& slot, bool with_shm);
  bool ask_sums(Directory& directory);
  void ask_read(Directory& directory);
  void note_reads(Directory& directory, const Answer& answer);
  void ask_logs();

  std::vector<Job> jobs_;
  std::string mark_;
  Exchange exchange_;
  ProcessTable table_;
  std::map<std::string, Directory> directories_;
  std::map<std::string, LogView> logs_;
  HostConstants constants_;

  // the look
  LookOptions options_;
  bool asked_ = false, kernel_asked_ = false;
  std::optional<ProcessFacts> host_;
  SensorReport process_report_, gpu_report_, kernel_report_;
  std::optional<GpuAnswer> gpu_;
  std::optional<Disk> shm_;

  // remembered
  std::string boot_id_;
  std::int64_t last_pid_ = 0, before_last_pid_ = 0;
  int looks_since_scan_ = kFullScanEvery, looks_since_kernel_ = kKernelEvery;
  std::vector<std::string> gpu_fields_ = default_gpu_fields();
  int gpu_gap_s_ = 0;
  bool gpu_kept_ = false;  ///< this look did not ask: gpu_ is the answer of an earlier one
  std::optional<GpuAnswer> last_gpu_;
  SensorReport last_gpu_report_{SensorStatus::stale, {}, {}};
  std::optional<std::vector<KernelEvent>> kernel_;
};

}  // namespace trainvigil::wire
