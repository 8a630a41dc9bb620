#include "app/demo_job.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

namespace trainvigil::app {
namespace {

constexpr std::size_t kRows = 2048;
constexpr std::size_t kColumns = 1024;
constexpr int kParts = 8;  // a save that takes a moment can be seen under way

/// Works in short bursts: one demo must not take a whole core from whoever shares the machine.
double work_for(Seconds length) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(length);
  double loss = 0;
  while (std::chrono::steady_clock::now() < end) {
    const auto burst = std::chrono::steady_clock::now() + std::chrono::milliseconds(70);
    while (std::chrono::steady_clock::now() < burst)
      for (int i = 1; i < 1000; ++i) loss += std::sin(loss + i);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  return std::fabs(loss);
}

/// safetensors: eight bytes of header length, a JSON header, the numbers (huggingface/safetensors, README "Format").
bool write_safetensors(const std::string& path) {
  const std::size_t bytes = kRows * kColumns * sizeof(float);
  std::string header = R"({"weight":{"dtype":"F32","shape":[)" + std::to_string(kRows) + "," + std::to_string(kColumns) + R"(],"data_offsets":[0,)" +
                       std::to_string(bytes) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  std::uint64_t left = header.size();
  for (int i = 0; i < 8; ++i, left >>= 8) out.put(static_cast<char>(left & 0xFFU));
  out << header;
  const std::vector<char> part(bytes / kParts, '\x3c');
  for (int i = 0; i < kParts; ++i) {
    out.write(part.data(), static_cast<std::streamsize>(part.size()));
    out.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  return out.good();
}

}  // namespace

int train(const DemoJob& job) {
  std::printf("training for %d epochs\n", job.epochs);
  for (int epoch = 0; epoch < job.epochs; ++epoch) {
    constexpr int kSteps = 4;
    for (int step = 1; step <= kSteps; ++step) {
      work_for(job.epoch / kSteps);
      std::printf("epoch %d/%d step %d/%d loss %.4f\n", epoch + 1, job.epochs, step, kSteps, 2.0 / (1 + epoch + 0.25 * step));
      std::fflush(stdout);
    }
    const std::string folder = job.directory + "/" + std::to_string(epoch);
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault || !write_safetensors(folder + "/model.safetensors")) {
      std::printf("saving failed\n");
      return 1;
    }
    std::ofstream(folder + "/training_state.json") << R"({"epoch":)" << epoch << R"(,"global_step":)" << (epoch + 1) * kSteps << "}\n";
    std::printf("saved %s\n", folder.c_str());
    std::fflush(stdout);
  }
  std::printf("Training completed\n");
  return 0;
}

}  // namespace trainvigil::app
