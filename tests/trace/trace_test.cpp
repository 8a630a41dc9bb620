// Traces are read back to the very same observation; what is missing stays unknown; what is alien is refused with file and line.
#include "trainvigil/trace.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace trainvigil {
namespace {

Observation full() {
  Observation o;
  o.watcher_time = watcher_time(1764422465.25);
  o.host = {host_time(1764422464.9), "boot", Seconds{86400.5}, 64, 3.1};
  Process p;
  p.pid = 4242;
  p.ppid = 1;
  p.state = 'R';
  p.start = host_time(1764420420.125);
  p.start_ticks = 123456;
  p.cpu_s = 1860.25;
  p.read_bytes = 9'000'000'000'000;
  p.write_bytes = 0;
  p.rss_kib = 5;
  p.threads = 57;
  p.matched = true;
  p.user = "ann";
  p.comm = "python";
  p.cmdline = "python 04_train.py --name \xff\x1b[31m";
  o.processes = {p};
  Gpu g;
  g.index = 1;
  g.uuid = "GPU-1";
  g.util_pct = 98.5;
  g.util_max_pct = 100;
  g.readings = 8;
  g.mem_used_mib = 40000;
  g.power_w = 380.1;
  g.throttle = "0x0000000000000004";
  g.pids = std::vector<std::int64_t>{4242};
  g.fault = "GPU requires reset";
  o.gpus = {g};
  o.gpu_error = "WARNING: infoROM is corrupted";
  o.gpu_exit = 14;
  auto listing = std::make_shared<Listing>();
  listing->entries.push_back({"0/odd\nname\xfe", FileType::file, 3145856, host_time(1764422460.5), std::nullopt, Integrity::truncated, 9'000'000});
  listing->entries.push_back({"last", FileType::link, std::nullopt, host_time(1764422460.5), "0", Integrity::unchecked, std::nullopt});
  listing->entries.push_back({"0", FileType::directory, std::nullopt, std::nullopt, std::nullopt, Integrity::unchecked, std::nullopt});
  listing->state_files.push_back({"0/trainer_state.json", "{\"global_step\":500}"});
  listing->state_files.push_back({"latest", "global_step500"});
  listing->cut = true;
  listing->cut_why = "more than 100000 entries";
  listing->cut_before = host_time(1764400000.25);
  o.files = listing;
  o.disk = Disk{1, 2, 3};
  o.shm = Disk{4, 5, std::nullopt};
  o.log = LogFacts{77, host_time(1764422450), "loss=nan\r\xc3("};
  o.kernel = std::vector<KernelEvent>{{"xid", host_time(1764422400), "NVRM: Xid (PCI:0000:41:00): 79"}};
  o.sensors["gpu"] = {SensorStatus::timeout, 20000.0, std::nullopt};
  return o;
}

TEST(Trace, WrittenAndReadBackIsTheSame) {
  const std::string line = encode_observation(full());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = decode_observation(line, nullptr);
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_EQ(encode_observation(*back), line);
  const Observation o = full();
  EXPECT_EQ(back->watcher_time, o.watcher_time);
  EXPECT_EQ(back->processes->front().cmdline, o.processes->front().cmdline);
  EXPECT_EQ(back->processes->front().state, 'R');
  EXPECT_EQ(*back->files, *o.files);
  EXPECT_EQ(back->gpus->front().fault, "GPU requires reset");
  EXPECT_EQ(back->log->tail, o.log->tail);
  EXPECT_EQ(back->sensors.at("gpu").status, SensorStatus::timeout);
}

TEST(Trace, WhatIsMissingOrNullIsUnknownAndNeverZero) {
  const auto o = decode_observation(
      R"({"schema":"trainvigil.observation/1","watcher_time":5,"reach":"ok","processes":[{"pid":1,"cpu_s":null}],"gpus":null,"kernel":[],"log":{"bytes":"many"}})",
      nullptr);
  ASSERT_TRUE(o.has_value());
  EXPECT_FALSE(o->processes->front().cpu_s.has_value());
  EXPECT_FALSE(o->gpus.has_value());
  EXPECT_FALSE(o->files);
  ASSERT_TRUE(o->kernel.has_value());
  EXPECT_TRUE(o->kernel->empty());
  EXPECT_FALSE(o->log->bytes.has_value());
  EXPECT_FALSE(o->host.time.has_value());
}

TEST(Trace, UnchangedListingIsShared) {
  const std::string line = encode_observation(full());
  const auto first = decode_observation(line, nullptr);
  const auto second = decode_observation(line, &*first);
  EXPECT_EQ(first->files.get(), second->files.get());
}

TEST(Trace, HeaderCarriesTheJobAsTheConfigWritesIt) {
  const auto header = decode_trace_header(
      R"({"schema":"trainvigil.trace/1","job":{"name":"n","host":"h","checkpoints":"/d","epochs":5,"expected":"155m","stall_after":"90s","gpus":[0,1],"interval":"500ms"},"prior":{"total_s":9300}})");
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->job.expected, Seconds{9300});
  EXPECT_EQ(header->job.stall_after, Seconds{90});
  EXPECT_EQ(header->job.interval, Seconds{0.5});
  EXPECT_EQ(header->prior.total, Seconds{9300});
  const auto again = decode_trace_header(encode_trace_header(*header));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->job, header->job);
  EXPECT_EQ(again->prior, header->prior);
}

class File {
 public:
  explicit File(const std::string& text) {
    char name[] = "/tmp/trainvigil-trace-XXXXXX";
    const int fd = ::mkstemp(name);
    EXPECT_GE(fd, 0);
    ::close(fd);
    path = name;
    std::ofstream(path, std::ios::binary) << text;
  }
  ~File() { ::unlink(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
};

const std::string kHead = R"({"schema":"trainvigil.trace/1","job":{"name":"n","host":"h"}})";

TEST(Trace, ReaderNamesFileAndLineOfWhatItRefuses) {
  for (const std::string& text :
       {std::string(), std::string("hello\n"), std::string(R"({"schema":"trainvigil.trace/2"})"), std::string("\0\0\0", 3)}) {
    const File file(text);
    const auto reader = TraceReader::open(file.path);
    ASSERT_FALSE(reader.has_value());
    EXPECT_NE(reader.error().text().find(file.path), std::string::npos);
    EXPECT_FALSE(reader.error().remedy.empty());
  }
  EXPECT_FALSE(TraceReader::open("/nonexistent/trace").has_value());
  EXPECT_EQ(TraceReader::open("/").error().what, "this is a directory and no trace");
}

TEST(Trace, HeaderWithoutAUsableJobIsRefused) {
  for (const char* job : {"null", R"({"epochs":-1})", R"({"steps":0})", R"j({"process":"("})j"}) {
    EXPECT_FALSE(decode_trace_header(std::string(R"({"schema":"trainvigil.trace/1","job":)") + job + "}").has_value()) << job;
  }
}

TEST(Trace, ImpossibleSizesAndTimesAreNotObserved) {
  const auto o = decode_observation(
      R"({"schema":"trainvigil.observation/1","watcher_time":5,"reach":"ok","files":[{"path":"a","type":"f","bytes":9223372036854775807},{"path":"b","type":"f","bytes":-5}]})",
      nullptr);
  ASSERT_TRUE(o.has_value());
  for (const FileEntry& f : o->files->entries) EXPECT_FALSE(f.bytes.has_value()) << f.path;
  EXPECT_FALSE(decode_observation(R"({"schema":"trainvigil.observation/1","watcher_time":9e18,"reach":"ok"})", nullptr).has_value());
}

TEST(Trace, WhatIsWholeBeforeACutIsRead) {
  const std::string line = encode_observation(full());
  const File file(kHead + "\n" + line + "\n" + line.substr(0, line.size() / 2));
  auto reader = TraceReader::open(file.path);
  ASSERT_TRUE(reader.has_value());
  Observation o;
  const auto first = reader->next(o);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(*first);
  const auto second = reader->next(o);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().where, file.path + ":3");
}

TEST(Trace, WatcherTimeMayNotRunBackwards) {
  Observation late = full(), early = full();
  early.watcher_time -= Seconds{10};
  const File file(kHead + "\n" + encode_observation(late) + "\n" + encode_observation(early) + "\n");
  auto reader = TraceReader::open(file.path);
  ASSERT_TRUE(reader.has_value());
  Observation o;
  ASSERT_TRUE(reader->next(o).has_value());
  EXPECT_FALSE(reader->next(o).has_value());
}

}  // namespace
}  // namespace trainvigil
