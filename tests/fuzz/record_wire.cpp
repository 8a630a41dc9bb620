// record_wire CHECKPOINTS LOG LOOKS: watches this machine through /bin/sh and prints what the probe answered, in the form that fuzz_wire takes.
// LOOKS is a letter for each: l, or v for one that verifies, or q for a quick one. What is to happen on the host between two looks can wait for the
// first one's end to be printed: the next begins a second later. With a stand-in nvidia-smi first on PATH and a process that has "04_train" in its
// command line this makes good seeds for the corpus. Command lines and kernel messages of all that runs here are in it: a PID namespace, a root and a
// dmesg of its own keep them out.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "promise.hpp"
#include "trainvigil/wire.hpp"
#include "wire_jobs.hpp"

using namespace trainvigil;

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: record_wire CHECKPOINTS LOG LOOKS\n";
    return 3;
  }
  std::array<int, 2> to{}, from{};
  PROMISE(pipe(to.data()) == 0 && pipe(from.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    dup2(to[0], 0);
    dup2(from[1], 1);
    close(to[1]);
    close(from[0]);
    execl("/bin/sh", "sh", "-s", static_cast<char*>(nullptr));
    std::_Exit(127);
  }
  close(to[0]);
  close(from[1]);
  const auto conversation = ProbeConversation::make(fuzz::wire_jobs(argv[1], argv[2]), fuzz::kNonce);
  conversation->opened();
  for (const char look : std::string_view(argv[3])) {
    const int how = 0x3f | (look == 'v' ? 0x80 : 0) | (look == 'q' ? 0x40 : 0);
    std::cout << static_cast<char>(how);
    conversation->ask({.verify_all = look == 'v', .quick = look == 'q', .budget = Seconds{1.0}});
    while (!conversation->answered()) {
      const std::string out = conversation->take_output(4096);
      PROMISE(write(to[1], out.data(), out.size()) == static_cast<ssize_t>(out.size()));
      if (!out.empty() && !conversation->ready()) continue;  // the script first
      pollfd wait{from[0], POLLIN, 0};
      if (poll(&wait, 1, 20) <= 0) continue;
      std::array<char, 4096> bytes{};
      const auto got = read(from[0], bytes.data(), bytes.size());
      PROMISE(got > 0);
      std::cout.write(bytes.data(), got);
      conversation->received({bytes.data(), static_cast<std::size_t>(got)});
    }
    conversation->take(watcher_time(1764422465.0));
    std::cout << fuzz::kNextLook << std::flush;
    sleep(1);
  }
  close(to[1]);
  waitpid(child, nullptr, 0);
}
