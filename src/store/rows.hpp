// What is written of a turn, beside the job's memory. Private to store.
#pragma once

#include <cstdint>
#include <optional>

#include "store/database.hpp"
#include "trainvigil/history.hpp"

namespace trainvigil::store {

/// Words of the contract back into values; `unknown` for a word that this program does not know.
Phase phase_of(const std::string& word);
Level level_of(const std::string& word);
CheckpointState state_of(const std::string& word);
std::optional<Unit> unit_of(const std::optional<std::string>& word);

/// Extends run, checkpoints, changes and observations of the job by one verdict. Inside the caller's transaction.
void record_turn(Database& database, std::int64_t job, const Observation& observation, const Turned& turned);

/// What the completed runs of the job teach: the newest run that has each number.
Prior prior_of(Database& database, std::int64_t job);

}  // namespace trainvigil::store
