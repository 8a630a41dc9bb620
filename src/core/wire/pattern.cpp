#include "core/wire/pattern.hpp"

#include <regex.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace trainvigil::wire {
namespace {

std::string lowered(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return low;
}

/// Runs of letters and digits, at least three long: shorter ones are found everywhere.
std::vector<std::string> significant_words(std::string_view text) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : lowered(text) + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (word.size() >= 3 && std::find(found.begin(), found.end(), word) == found.end()) found.push_back(word);
    word.clear();
  }
  return found;
}

}  // namespace

struct Pattern::Compiled {
  regex_t regex{};
  bool usable = false;
  std::vector<std::string> words;
  explicit Compiled(const std::string& expression) : words(significant_words(expression)) {
    usable = regcomp(&regex, expression.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (usable) regfree(&regex);
  }
};

Pattern::Pattern(const std::string& expression) : compiled_(std::make_shared<Compiled>(expression)) {}

bool Pattern::matches(const std::string& text) const { return compiled_->usable && regexec(&compiled_->regex, text.c_str(), 0, nullptr, 0) == 0; }

std::size_t Pattern::likeness(std::string_view text) const {
  const std::string low = lowered(text);
  std::size_t letters = 0;
  for (const std::string& word : compiled_->words) letters += low.find(word) == std::string::npos ? 0 : word.size();
  return letters;
}

bool is_onlooker(std::string_view argv0) {
  static constexpr std::array<std::string_view, 54> names{
      "ack",         "ag",         "awk",  "bat",  "cat",   "code",    "cp",    "diff",        "ed",    "egrep",      "emacs",
      "emacsclient", "fgrep",      "find", "gawk", "grep",  "head",    "htop",  "inotifywait", "joe",   "journalctl", "kate",
      "less",        "lsof",       "man",  "mawk", "micro", "more",    "most",  "mv",          "nano",  "nvim",       "pgrep",
      "pico",        "pkill",      "ps",   "rg",   "rsync", "scp",     "sed",   "sftp-server", "sshd",  "tail",       "tee",
      "top",         "trainvigil", "vi",   "view", "vim",   "vimdiff", "watch", "wc",          "xargs", "gedit"};
  if (!argv0.empty() && argv0.front() == '-') argv0.remove_prefix(1);  // a login shell's way of naming itself
  // sshd names its children "sshd: user@notty"; vim comes as vim.basic and vim.tiny.
  argv0 = argv0.substr(0, argv0.find(": "));
  if (const auto slash = argv0.rfind('/'); slash != std::string_view::npos) argv0.remove_prefix(slash + 1);
  if (argv0.starts_with("vim.") || argv0.starts_with("emacs-") || argv0.starts_with("sshd-")) return true;
  return std::find(names.begin(), names.end(), argv0) != names.end();
}

bool starts_a_watcher(std::string_view cmdline) {
  for (std::size_t begin = 0; begin <= cmdline.size();) {
    const auto end = std::min(cmdline.find(' ', begin), cmdline.size());
    const auto word = cmdline.substr(begin, end - begin);
    if (word == "trainvigil" || word.ends_with("/trainvigil")) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace trainvigil::wire
