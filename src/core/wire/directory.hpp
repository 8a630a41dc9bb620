// One checkpoint directory of a host: its listing, the small files that tell progress and the integrity of the others, remembered from look to look
// so that only what is new is sent and read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/frame.hpp"
#include "core/wire/listing.hpp"
#include "trainvigil/integrity.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

class DirectoryView {
 public:
  static constexpr int kLevels = 7;             ///< the deepest layout known needs them
  static constexpr int kMostEntries = 120'000;  ///< known at once: some 250 bytes each on this side

  DirectoryView(std::string path, std::string mark) : path_(std::move(path)), mark_(std::move(mark)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  void begin_look(bool verify_all, bool catch_up);
  /// Arguments of request D. `most_bytes`: this directory's share of the bounded answer.
  [[nodiscard]] std::string list_arguments(std::int64_t most_bytes) const;
  void listed(const Answer& answer);
  /// That answer was not enough: what is to be known needs another request D in this look.
  [[nodiscard]] bool wants_again() const { return again_; }
  /// Arguments of the next request R, or nullopt when there is nothing (more) to read in this look.
  std::optional<std::string> read_arguments();
  void read(const Answer& answer, bool base64);
  /// Arguments of the next request V (what the host is to read and only sum up), or nullopt when there is none.
  std::optional<std::string> sum_arguments();
  void summed(const Answer& answer);

  /// The listing as it stands now; the same pointer as before while its content is equal. Null when this look has none.
  std::shared_ptr<const Listing> publish();
  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
  /// A read of this look did not come back.
  /// Of files, in this look.
  [[nodiscard]] std::int64_t bytes_asked() const { return bytes_asked_; }
  [[nodiscard]] bool reads_failed() const { return reads_failed_; }
  /// The host could not sum up all that was to be verified in this look.
  [[nodiscard]] bool unverified() const { return unverified_; }

 private:
  /// What was read of a file counts as long as size and time are these.
  struct Version {
    std::optional<std::int64_t> bytes;
    std::optional<HostTime> mtime;
    friend bool operator==(const Version&, const Version&) = default;
  };
  struct Checked {
    Version version;
    Integrity verdict = Integrity::unchecked;
    std::optional<std::int64_t> expected_bytes;
    bool whole_format = false;
  };
  struct State {
    Version version;
    std::string text;
  };
  struct Task {
    std::string path;
    Version version;
    bool state = false;
    std::vector<ByteRange> wanted;
    std::vector<ByteChunk> chunks;
    int rounds = 0;
    std::vector<Stretch> stretches;  ///< asked for when nothing is wanted any more
    std::vector<StretchSum> sums;
  };
  struct Piece {
    std::size_t task = 0;
    ByteRange range;
    std::int64_t block = 0, skip = 0, count = 0;
  };

  /// What a walk's answer says, and how many bytes it had before it was packed.
  struct Read {
    Walk walk;
    std::size_t unpacked_bytes = 0;
    bool packed = false;
  };

  [[nodiscard]] Read read_walk(const Answer& answer) const;
  void take_all(Read read, const Answer& answer);
  [[nodiscard]] bool take_changes(Walk walk, const Answer& answer);
  void remember_summary(const std::optional<WalkSummary>& summary, const Answer& answer);
  void note_cut(bool unreadable_part);
  void plan();
  void advance(Task& task);
  [[nodiscard]] static std::map<std::string, Version> versions_of(const std::vector<std::string>& lines, const std::string& mark);
  void rewritten(Task& task);
  void finish(const Task& task, Integrity verdict, std::optional<std::int64_t> expected_bytes);
  void forget_vanished();

  std::string path_, mark_;
  bool verify_all_ = false, catch_up_ = false;
  bool listed_ = false, cut_ = false, reads_failed_ = false;
  bool unverified_ = false;
  bool left_over_ = false;  ///< there are files that no look had time for
  bool dirty_ = true;       ///< something changed since publish()
  std::optional<std::string> cut_why_, error_;
  std::vector<FileEntry> entries_;

  // What the next request for the listing says.
  bool again_ = false;
  int rounds_ = 0;  ///< requests of this look
  int looks_since_all_ = 0;
  std::optional<Sums> sums_;                ///< of all that was there at the last look; absent: everything must come anew
  std::optional<double> last_change_;       ///< the newest time of change then, by the file server's clock
  std::optional<double> last_change_seen_;  ///< uptime of the host when a walk had first shown it
  std::string since_ = "-";                 ///< time of change from which on entries may be other ones
  std::string lean_ = "-", floor_ = "-";    ///< what is left out, as the host named it
  std::int64_t left_out_ = 0;
  bool over_ = false;                      ///< even so some found no room
  bool narrow_ = true;                     ///< no directory has so many entries that listing it anew is dear
  std::optional<std::size_t> room_bytes_;  ///< of a listing before it is packed, where packing was found to save little
  std::map<std::string, Checked> checked_;
  std::map<std::string, State> states_;
  std::vector<Task> tasks_;
  std::vector<Piece> asked_;
  std::vector<std::pair<std::size_t, Stretch>> asked_sums_;  ///< task and stretch
  std::int64_t budget_ = 0, bytes_asked_ = 0;
  std::shared_ptr<const Listing> published_;
};

}  // namespace trainvigil::wire
