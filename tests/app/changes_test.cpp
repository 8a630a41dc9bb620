#include "app/changes.hpp"

#include <gtest/gtest.h>

namespace trainvigil::app {
namespace {

Verdict with(std::vector<std::string> findings) {
  Verdict v;
  v.findings = std::move(findings);
  return v;
}

using Words = std::vector<std::string>;

TEST(Changes, NotesAreToldOnceAndWarningsAtEachLine) {
  const Verdict first = with({"checkpoint-overdue", "gpu-dark"});
  EXPECT_EQ(without_told_notes(first, with({})).findings, (Words{"checkpoint-overdue", "gpu-dark"}));
  EXPECT_EQ(without_told_notes(first, first).findings, Words{"checkpoint-overdue"});
  EXPECT_EQ(without_told_notes(with({"clock-skew", "gpu-dark"}), first).findings, Words{"clock-skew"});
  EXPECT_EQ(without_told_notes(first, with({"checkpoint-overdue"})).findings, (Words{"checkpoint-overdue", "gpu-dark"})) << "it came back";
}

}  // namespace
}  // namespace trainvigil::app
