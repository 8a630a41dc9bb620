#include "transport/stream.hpp"
namespace trainvigil::transport {
std::shared_ptr<Stream> make_libssh_stream(Engine& engine, const HostTarget& target) { return make_openssh_stream(engine, target); }
}  // namespace trainvigil::transport
