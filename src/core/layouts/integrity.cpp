#include "trainvigil/integrity.hpp"

namespace trainvigil {

bool integrity_readable(std::string_view, std::int64_t) { return false; }

IntegrityStep check_integrity(std::string_view, std::int64_t, const std::vector<ByteChunk>&, bool) { return {}; }

}  // namespace trainvigil
