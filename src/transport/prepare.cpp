#include "transport/prepare.hpp"

#include "transport/proxy.hpp"

namespace trainvigil::transport {

tl::expected<Preparation, Fault> prepare(const HostTarget& target, const TransportOptions& limits, const std::stop_token& stop) {
  const std::string by_hand = ssh_arguments(target);
  const auto wrong = [&](Layer layer, const Error& error) { return tl::unexpected(make_fault(layer, error.what, by_hand, error.remedy)); };

  Preparation result;
  auto settings = resolve_settings(target, limits.prepare_limit, stop);
  if (!settings) return wrong(Layer::target, settings.error());
  result.settings = std::move(*settings);

  auto proxy = proxy_command_line(result.settings, target.ssh_config, limits.prepare_limit, stop);
  if (!proxy) return wrong(Layer::target, proxy.error());
  result.proxy = std::move(*proxy);

  result.known_hosts = look_up_known_hosts(result.settings, limits.prepare_limit, stop);
  result.host_key_preference = host_key_preference(result.settings, result.known_hosts);
  result.identities = load_identities(result.settings);
  result.agent = agent_socket(result.settings);
  if (!result.proxy.empty()) return result;  // the proxy resolves the name, perhaps in another network

  auto addresses = resolve_addresses(result.settings.hostname, result.settings.port, result.settings.address_family);
  if (!addresses) {
    return tl::unexpected(
        make_fault(Layer::resolve, "Could not resolve hostname " + result.settings.hostname + ": " + addresses.error().what, by_hand));
  }
  result.addresses = std::move(*addresses);
  if (!result.settings.bind_address.empty()) {
    const auto local = resolve_addresses(result.settings.bind_address, {}, result.settings.address_family);
    if (!local || local->empty())
      return tl::unexpected(make_fault(Layer::target, "BindAddress " + result.settings.bind_address + " is no address of this machine", by_hand));
    result.bind_to = local->front();
  }
  return result;
}

}  // namespace trainvigil::transport
