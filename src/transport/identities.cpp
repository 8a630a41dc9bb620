#include "transport/identities.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "transport/base64.hpp"

namespace trainvigil::transport {
namespace {

/// libssh would let OpenSSL ask on the terminal if there were no callback.
int refuse_passphrase(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

SshKey read_private(const std::string& path, bool& encrypted) {
  ssh_key key = nullptr;
  encrypted = false;
  return SshKey(ssh_pki_import_privkey_file(path.c_str(), nullptr, refuse_passphrase, &encrypted, &key) == SSH_OK ? key : nullptr);
}

SshKey read_public(const std::string& path) {
  ssh_key key = nullptr;
  return SshKey(ssh_pki_import_pubkey_file(path.c_str(), &key) == SSH_OK ? key : nullptr);
}

SshKey read_certificate(const std::string& path) {
  ssh_key key = nullptr;
  return SshKey(ssh_pki_import_cert_file(path.c_str(), &key) == SSH_OK ? key : nullptr);
}

void remember_public(Identities& identities, const SshKey& key) {
  if (!key) return;
  std::string base64 = public_base64(key.get());
  auto& list = identities.agent_first;
  if (!base64.empty() && std::find(list.begin(), list.end(), base64) == list.end()) list.push_back(std::move(base64));
}

/// Without its leading string: a length of four bytes and as many bytes.
std::string_view after_string(std::string_view blob) {
  std::size_t size = 4;
  for (std::size_t i = 0; i < 4 && i < blob.size(); ++i) size += static_cast<std::size_t>(static_cast<unsigned char>(blob[i])) << (24 - 8 * i);
  return blob.substr(std::min(size, blob.size()));
}

/// A key is its type and its numbers; its certificate a type, a nonce, the same numbers, and more. (ssh_key_cmp finds the two always different.)
bool certifies(ssh_key certificate, ssh_key key) {
  const std::string whole = base64_decode(public_base64(certificate));
  const std::string plain = base64_decode(public_base64(key));
  const std::string_view numbers = after_string(plain);
  return !numbers.empty() && after_string(after_string(whole)).substr(0, numbers.size()) == numbers;
}

}  // namespace

std::string public_base64(ssh_key key) {
  char* text = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) return {};
  std::string result = text;
  ssh_string_free_char(text);
  return result;
}

Identities load_identities(const SshSettings& settings) {
  Identities identities;
  std::vector<std::pair<std::string, SshKey>> certificates;
  const auto add_certificate = [&](const std::string& path) {
    if (SshKey certificate = read_certificate(path)) certificates.emplace_back(path, std::move(certificate));
  };
  for (const std::string& written : settings.certificate_files) {
    if (const auto path = expand_path(written, settings)) add_certificate(*path);
  }
  std::vector<std::string> paths;
  for (const std::string& written : settings.identity_files) {
    const auto path = expand_path(written, settings);
    if (!path) {
      identities.notes.push_back(path.error().what);
    } else if (::access(path->c_str(), F_OK) == 0 || ::access((*path + ".pub").c_str(), F_OK) == 0) {
      paths.push_back(*path);
      add_certificate(*path + "-cert.pub");
    }
  }
  for (const std::string& path : paths) {
    remember_public(identities, read_public(path + ".pub"));
    bool encrypted = false;
    SshKey key = read_private(path, encrypted);
    if (!key) {
      SshKey only_public = read_public(path);  // IdentityFile may name the public half of a key that an agent holds
      if (encrypted) {
        identities.notes.push_back(path + " is encrypted (ssh-add it to an agent)");
      } else if (!only_public && ::access(path.c_str(), F_OK) == 0) {
        identities.notes.push_back(path + (::access(path.c_str(), R_OK) != 0 ? " cannot be read" : " is no private key that libssh reads"));
      }
      remember_public(identities, only_public);
      continue;
    }
    ssh_key half = nullptr;
    if (ssh_pki_export_privkey_to_pubkey(key.get(), &half) == SSH_OK) remember_public(identities, SshKey(half));
    for (const auto& [name, certificate] : certificates) {
      SshKey with = read_private(path, encrypted);
      if (with && certifies(certificate.get(), with.get()) && ssh_pki_copy_cert_to_privkey(certificate.get(), with.get()) == SSH_OK) {
        identities.usable.push_back({name, std::move(with)});
      }
    }
    identities.usable.push_back({path, std::move(key)});
  }
  return identities;
}

std::string agent_socket(const SshSettings& settings) {
  if (settings.identity_agent == "none") return {};
  const auto from_environment = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (settings.identity_agent.empty() || settings.identity_agent == "SSH_AUTH_SOCK") return from_environment("SSH_AUTH_SOCK");
  if (settings.identity_agent.front() == '$') return from_environment(settings.identity_agent.c_str() + 1);
  return expand_path(settings.identity_agent, settings).value_or("");
}

}  // namespace trainvigil::transport
