// What a look asks about files: listings, the bytes and sums that they make worth reading, file systems, logs.
#include <iterator>

#include "core/wire/conversation.hpp"
#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::int64_t kListingBytes = 2'500'000;  ///< of the bounded answer, shared by the directories

}  // namespace

void Probe::ask_files() {
  bool shm = true;
  std::size_t number = 0;
  for (auto& [path, directory] : directories_) {
    const std::string place = std::to_string(number++);
    directory.view.begin_look(options_.verify_all, options_.catch_up);
    directory.disk.reset();
    directory.files = directory.state = directory.disk_report = SensorReport{SensorStatus::timeout, {}, {}};
    ask_list(directory, "d" + place);
    ask_disks(directory, "s" + place, shm);
    shm = false;
  }
  if (shm) {
    exchange_.request('S', "s0", "- shm", [this](const Answer& answer) { shm_ = parse_disks(answer.lines).shm; });
  }
}

void Probe::ask_list(Directory& directory, const std::string& slot) {
  Directory* const place = &directory;
  exchange_.request('D', slot, directory.view.list_arguments(kListingBytes / static_cast<std::int64_t>(directories_.size())),
                    [this, place, slot](const Answer& answer) {
                      place->view.listed(answer);
                      if (place->view.wants_again()) {
                        ask_list(*place, slot);
                        return;
                      }
                      place->files = report(answer);
                      if (place->view.error() == "missing") place->files.status = SensorStatus::absent;
                      if (place->view.error() == "denied") place->files.status = SensorStatus::denied;
                      if (place->view.error() == "timeout" && place->files.status == SensorStatus::ok) place->files.status = SensorStatus::timeout;
                      place->state = place->files;
                      ask_read(*place);
                    });
}

void Probe::ask_disks(Directory& directory, const std::string& slot, bool with_shm) {
  Directory* const place = &directory;
  exchange_.request('S', slot, request_word(directory.view.path()) + (with_shm ? " shm" : " -"), [this, place](const Answer& answer) {
    const DiskAnswer disks = parse_disks(answer.lines);
    place->disk = disks.disk;
    if (disks.shm) shm_ = disks.shm;
    place->disk_report = report(answer);
  });
}

void Probe::ask_read(Directory& directory) {
  if (exchange_.settling()) return;
  // What has been begun is brought to its end first: its bytes need not be kept any longer, and should time run out, the newest files are done.
  if (ask_sums(directory)) return;
  const auto arguments = directory.view.read_arguments();
  if (!arguments) return;
  Directory* const place = &directory;
  // A slot of its own for each directory: one dead file system blocks one.
  const std::string slot = "r" + std::to_string(std::distance(directories_.begin(), directories_.find(directory.view.path())));
  exchange_.request('R', slot, *arguments, [this, place](const Answer& answer) {
    place->view.read(answer, constants_.base64);
    note_reads(*place, answer);
    if (answer.good()) ask_read(*place);
  });
}

void Probe::note_reads(Directory& directory, const Answer& answer) {
  directory.state = report(answer);
  if (directory.view.unverified() && directory.state.status == SensorStatus::ok) directory.state.status = SensorStatus::absent;
}

bool Probe::ask_sums(Directory& directory) {
  const auto arguments = directory.view.sum_arguments();
  if (!arguments) return false;
  Directory* const place = &directory;
  const std::string slot = "v" + std::to_string(std::distance(directories_.begin(), directories_.find(directory.view.path())));
  exchange_.request('V', slot, *arguments, [this, place](const Answer& answer) {
    place->view.summed(answer);
    note_reads(*place, answer);
    // Without the tools for sums, archives stay unverified and everything else is read all the same.
    if (answer.good() || answer.status == "absent") ask_read(*place);
  });
  return true;
}

void Probe::ask_logs() {
  std::size_t number = 0;
  for (auto& [path, log] : logs_) {
    LogView* const view = &log;
    view->begin_look();
    exchange_.request('L', "l" + std::to_string(number++), view->arguments(),
                      [this, view](const Answer& answer) { view->answered(answer, constants_.base64, report(answer)); });
  }
}

}  // namespace trainvigil::wire
