// Holds the arrows between the parts: which folder under src/ may include what. The table here is the design; the build files follow it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TV_SOURCE_DIR;

struct SourceFile {
  std::string path;                   ///< relative to the repository
  std::string part;                   ///< first folder under src/
  std::vector<std::string> includes;  ///< what stands between <> or ""
  std::string code;                   ///< without comments and string contents
  std::size_t lines = 0;
};

/// Comments and literals may say "thread" or "system_clock" freely; only code counts.
std::string without_comments_and_literals(std::string_view text) {
  std::string code;
  const auto skip_past = [&](std::size_t from, std::string_view end) {
    const auto at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    if (rest.substr(0, 2) == "//") {
      i = skip_past(i, "\n");
    } else if (rest.substr(0, 2) == "/*") {
      i = skip_past(i + 2, "*/");
    } else if (rest.substr(0, 2) == "R\"") {
      const auto open = rest.find('(');
      i = open == std::string_view::npos ? text.size() : skip_past(i + open, ")" + std::string(rest.substr(2, open - 2)) + "\"");
    } else if (rest[0] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      ++i;
    } else {
      code += text[i++];
      continue;
    }
    code += ' ';
  }
  return code;
}

SourceFile read(const fs::path& file) {
  SourceFile out;
  out.path = fs::relative(file, kRoot).generic_string();
  const fs::path below = fs::relative(file, kRoot / "src");
  out.part = below.begin()->string();
  std::ifstream in(file);
  std::ostringstream all;
  static const std::regex include(R"re(^\s*#\s*include\s*([<"][^>"]+[>"]).*)re");
  for (std::string line; std::getline(in, line); ++out.lines) {
    std::smatch match;
    if (std::regex_match(line, match, include)) {
      const std::string name = match[1];
      out.includes.push_back(name.substr(1, name.size() - 2));
    }
    all << line << '\n';
  }
  out.code = without_comments_and_literals(all.str());
  return out;
}

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> all = [] {
    std::vector<SourceFile> files;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
      const auto extension = entry.path().extension();
      if (extension == ".cpp" || extension == ".hpp" || extension == ".h") files.push_back(read(entry.path()));
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
  }();
  return all;
}

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return text.substr(0, p.size()) == p; });
}

/// Where a header of the project belongs: a folder of src/, "public", or "" for everything that is not ours.
std::string part_of(const std::string& include, const SourceFile& from) {
  if (include.rfind("trainvigil/", 0) == 0) return "public";
  if (fs::exists(kRoot / "src" / include)) return fs::path(include).begin()->string();
  if (fs::exists((kRoot / from.path).parent_path() / include)) return from.part;
  return "";
}

const std::map<std::string, std::set<std::string>> kMayUse = {
    {"core", {}},
    {"transport", {"core"}},
    {"trace", {"core"}},
    {"store", {"core"}},
    {"formats", {"core"}},
    {"config", {"core"}},
    {"notify", {"core", "formats"}},
    {"app", {"core", "transport", "trace", "store", "formats", "config", "notify"}},
};

/// Libraries other than the standard one, and the only parts that may see them.
const std::vector<std::pair<std::string, std::set<std::string>>> kLibraries = {
    {"nlohmann/", {"core", "trace", "store", "formats", "app"}},
    {"libssh/", {"transport"}},
    {"sqlite3", {"store"}},
    {"zlib", {"core"}},
    {"toml++", {"config"}},
    {"CLI/", {"app"}},
    {"spdlog/", {"app"}},
    {"fmt/", {"app"}},
};

TEST(Architecture, EveryFolderHasARowInTheTable) {
  ASSERT_FALSE(sources().empty());
  for (const auto& file : sources()) {
    EXPECT_TRUE(kMayUse.count(file.part)) << file.path << ": src/" << file.part << " has no row: say here what it may use";
  }
}

TEST(Architecture, PartsIncludeOnlyWhatTheArrowsAllow) {
  for (const auto& file : sources()) {
    const auto row = kMayUse.find(file.part);
    if (row == kMayUse.end()) continue;
    for (const auto& include : file.includes) {
      const std::string part = part_of(include, file);
      EXPECT_TRUE(part.empty() || part == "public" || part == file.part || row->second.count(part))
          << file.path << " includes " << include << ": " << file.part << " may not use " << part;
    }
  }
}

TEST(Architecture, LibrariesStayWhereTheyBelong) {
  for (const auto& file : sources()) {
    for (const auto& include : file.includes) {
      for (const auto& [library, parts] : kLibraries) {
        if (starts_with_any(include, {library})) {
          EXPECT_TRUE(parts.count(file.part)) << file.path << " includes " << include;
        }
      }
    }
  }
}

TEST(Architecture, PublicHeadersUseTheStandardLibraryAndEachOtherOnly) {
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "include" / "trainvigil")) {
    std::ifstream in(entry.path());
    static const std::regex include(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)re");
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      const std::string name = match[1];
      const bool standard = name.find('/') == std::string::npos && name.find('.') == std::string::npos;
      EXPECT_TRUE(standard || name.rfind("trainvigil/", 0) == 0 || name == "tl/expected.hpp") << entry.path() << " includes " << name;
    }
  }
}

/// The core is pure: what a verdict rests on comes in with the observation, so the world has no header there.
TEST(Architecture, CoreHasNoFileSocketClockThreadOrEnvironment) {
  static const std::set<std::string> kWorld = {
      "fstream",    "iostream",  "filesystem", "thread",  "mutex",          "shared_mutex", "condition_variable", "future", "atomic",
      "stop_token", "semaphore", "latch",      "barrier", "ctime",          "random",       "unistd.h",           "time.h", "fcntl.h",
      "signal.h",   "csignal",   "poll.h",     "spawn.h", "memory_resource"};
  static const std::regex kWords(
      R"re(\b(system_clock|steady_clock|high_resolution_clock|random_device)\b)re"
      R"re(|\b(getenv|secure_getenv|setlocale|fopen|fread|fwrite|fgets|fprintf|printf|puts|fputs|popen|system|gettimeofday|clock_gettime|localtime(_r)?)\s*\()re"
      R"re(|\btime\s*\(\s*(nullptr|NULL|0|&)|std::c(out|err|log|in)\b)re");
  std::size_t seen = 0;
  for (const auto& file : sources()) {
    if (file.part != "core") continue;
    ++seen;
    for (const auto& include : file.includes) {
      EXPECT_FALSE(kWorld.count(include) || starts_with_any(include, {"sys/", "netinet/", "arpa/", "linux/"}))
          << file.path << " includes " << include;
    }
    std::smatch match;
    EXPECT_FALSE(std::regex_search(file.code, match, kWords)) << file.path << " says " << match.str();
  }
  EXPECT_GT(seen, 0U);
}

TEST(Architecture, NoFileIsLongerThanAReaderCanHold) {
  constexpr std::size_t kLimit = 400;
  /// Each exception with its reason; an entry that is no longer needed fails, so that the list only shrinks.
  static const std::map<std::string, std::string> kExceptions = {};
  for (const auto& file : sources()) {
    if (kExceptions.count(file.path)) {
      EXPECT_GT(file.lines, kLimit) << file.path << " needs no exception any more";
    } else {
      EXPECT_LE(file.lines, kLimit) << file.path << ": cut it, or list it here with the reason";
    }
  }
  for (const auto& [path, reason] : kExceptions) EXPECT_TRUE(fs::exists(kRoot / path)) << path << " (" << reason << ") is gone";
}

}  // namespace
