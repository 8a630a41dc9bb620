// Options that describe a job, laid over the job of a trace's header.
#pragma once

#include "trainvigil/job.hpp"

namespace trainvigil::app {

/// What the command line says wins over the header; a total replaces the other kind of total. Throws UsageError when both totals are given.
Job overridden(Job job, const Job& given);

}  // namespace trainvigil::app
