// The tables of the history and how older files become today's. Private to store.
#pragma once

#include "store/database.hpp"

namespace trainvigil::store {

/// Brings the file to this program's version, once, whoever else opens it meanwhile. Throws DatabaseError; code SQLITE_MISMATCH: written by a newer
/// program.
void migrate(Database& database);
/// PRAGMA user_version of a file that this program writes.
int schema_version();

}  // namespace trainvigil::store
