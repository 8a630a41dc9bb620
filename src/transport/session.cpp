#include "transport/session.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "transport/identities.hpp"

namespace trainvigil::transport {
namespace {

ino_t inode_of(int fd) {
  struct stat status {};
  return fd >= 0 && ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

SshSession::SshSession(UniqueFd socket)
    : session_(ssh_new()), watch_fd_(duplicate(socket.get())), libssh_fd_(socket.release()), inode_(inode_of(libssh_fd_)) {
  if (session_ == nullptr) throw std::bad_alloc();
}

SshSession::~SshSession() {
  if (channel_ != nullptr) {
    ssh_remove_channel_callbacks(channel_, &callbacks_);
    ssh_channel_free(channel_);
  }
  ssh_silent_disconnect(session_);
  ssh_free(session_);
  // Whether libssh closed the descriptor depends on how the session ended; by now the number may be another socket's, which has another inode.
  if (inode_ != 0 && inode_of(libssh_fd_) == inode_) ::close(libssh_fd_);
}

std::string SshSession::configure(const SshSettings& settings, const std::string& host_key_preference) {
  const auto set = [this](ssh_options_e option, const char* value) { return ssh_options_set(session_, option, value) == SSH_OK; };
  const int no = 0;
  ssh_options_set(session_, SSH_OPTIONS_PROCESS_CONFIG, &no);
  // Placeholders: libssh refuses hosts with _ and users with a backslash, and looks both up where they are missing. The user goes with each log-in
  // call.
  set(SSH_OPTIONS_HOST, "placeholder.invalid");
  set(SSH_OPTIONS_USER, "placeholder");
  set(SSH_OPTIONS_SSH_DIR, "/nonexistent");
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  ssh_options_set(session_, SSH_OPTIONS_FD, &libssh_fd_);
  ssh_set_blocking(session_, 0);

  const struct {
    ssh_options_e option;
    const std::string& value;
    const char* name;
  } lists[] = {{SSH_OPTIONS_HOSTKEYS, host_key_preference, "HostKeyAlgorithms"},
               {SSH_OPTIONS_KEY_EXCHANGE, settings.kex_algorithms, "KexAlgorithms"},
               {SSH_OPTIONS_CIPHERS_C_S, settings.ciphers, "Ciphers"},
               {SSH_OPTIONS_CIPHERS_S_C, settings.ciphers, "Ciphers"},
               {SSH_OPTIONS_HMAC_C_S, settings.macs, "MACs"},
               {SSH_OPTIONS_HMAC_S_C, settings.macs, "MACs"}};
  for (const auto& list : lists) {
    // libssh drops the names it does not know and refuses when none is left.
    if (list.value.empty() || !set(list.option, list.value.c_str()))
      return std::string("libssh knows none of the ") + list.name + " of the ssh configuration";
  }
  return {};
}

bool SshSession::dead() const { return failed_ || ssh_get_fd(session_) < 0 || (ssh_get_status(session_) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0; }

std::string SshSession::error() const {
  const char* text = ssh_get_error(session_);
  return text == nullptr ? "" : text;
}

std::optional<HostKey> SshSession::host_key() const {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session_, &raw) != SSH_OK) return std::nullopt;
  const SshKey key(raw);
  HostKey result;
  result.base64 = public_base64(key.get());
  const char* type = ssh_key_type_to_char(ssh_key_type(key.get()));
  result.type = type == nullptr ? "" : type;
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &size) == SSH_OK) {
    if (char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size)) {
      result.fingerprint = text;
      ssh_string_free_char(text);
    }
    ssh_clean_pubkey_hash(&hash);
  }
  return result;
}

void SshSession::interrupt() const { ::shutdown(watch_fd_.get(), SHUT_RDWR); }

bool SshSession::make_channel() {
  channel_ = ssh_channel_new(session_);
  if (channel_ == nullptr) return false;
  // Before the command is asked for, and for good: asking for the status later may block, and gives -1 where the server said it only here (trap 10).
  callbacks_.userdata = this;
  callbacks_.channel_data_function = on_data;
  callbacks_.channel_exit_status_function = on_exit_status;
  callbacks_.channel_exit_signal_function = on_exit_signal;
  ssh_callbacks_init(&callbacks_);
  return ssh_set_channel_callbacks(channel_, &callbacks_) == SSH_OK;
}

SshSession::Received SshSession::receive() {
  if (ssh_channel_poll(channel_, 0) == SSH_ERROR) failed_ = true;
  // After the end of the output the poll reads no more, but the exit status is still to come; without blocking this asks for what has arrived.
  if (!dead() && ssh_channel_is_eof(channel_) != 0 && !end_.exit_status && end_.signal.empty()) ssh_channel_get_exit_status(channel_);
  return std::exchange(received_, {});
}

bool SshSession::at_end() const { return ssh_channel_is_eof(channel_) != 0 || ssh_channel_is_closed(channel_) != 0; }

void SshSession::end_command() {
  if (channel_ == nullptr || dead() || !ssh_channel_is_open(channel_)) return;
  // Closing the channel alone ends nothing on the host (trap 12).
  ssh_channel_request_send_signal(channel_, "TERM");
  if (!dead()) ssh_channel_send_eof(channel_);
  if (!dead()) ssh_blocking_flush(session_, 0);
}

int SshSession::on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int is_stderr, void* self) {
  Received& received = static_cast<SshSession*>(self)->received_;
  (is_stderr != 0 ? received.err : received.out).append(static_cast<const char*>(data), size);
  return static_cast<int>(size);
}

void SshSession::on_exit_status(ssh_session, ssh_channel, int status, void* self) { static_cast<SshSession*>(self)->end_.exit_status = status; }

void SshSession::on_exit_signal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*, void* self) {
  static_cast<SshSession*>(self)->end_.signal = signal == nullptr ? "?" : signal;
}

}  // namespace trainvigil::transport
