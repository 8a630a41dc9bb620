// Lists of a save's files: the index of a sharded model, the metadata of a distributed checkpoint as CPython pickles them.
#include "trainvigil/part_list.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "layouts/integrity_fixture.hpp"

namespace trainvigil {
namespace {

TEST(PartListOfAnIndex, NamesEachFileOnce) {
  const auto parts =
      read_part_list("a/model.safetensors.index.json", R"({"metadata":{"total_size":9},"weight_map":{"x":"m-1.bin","y":"m-2.bin","z":"m-1.bin"}})");
  ASSERT_TRUE(parts);
  EXPECT_EQ(*parts, (PartList{{"m-1.bin", std::nullopt}, {"m-2.bin", std::nullopt}}));
  EXPECT_EQ(part_list_digest(*parts), R"({"parts":{"m-1.bin":null,"m-2.bin":null}})");
  EXPECT_EQ(parse_part_list_digest(part_list_digest(*parts)), parts);
}

TEST(PartListOfAnIndex, WhatIsNoIndexNamesNothing) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"weight_map":5})", R"({"weight_map":{}})", R"({"weight_map":{"a":7}})", R"({"weight_map":{"a":""}})"})
    EXPECT_FALSE(read_part_list("pytorch_model.bin.index.json", text)) << text;
  EXPECT_FALSE(is_part_list("config.json"));
  EXPECT_FALSE(parse_part_list_digest("5"));
}

/// The classes are stand-ins; names and fields are those of torch's distributed/checkpoint/{metadata,filesystem}.py, and so are the bytes.
constexpr const char* kMetadata = R"(
import dataclasses, pickle, sys, types
for name in ('torch', 'torch.distributed', 'torch.distributed.checkpoint', 'torch.distributed.checkpoint.metadata', 'torch.distributed.checkpoint.filesystem'):
    sys.modules[name] = types.ModuleType(name)
def made(module, name, **fields):
    c = dataclasses.make_dataclass(name, fields.items(), frozen=name == 'MetadataIndex')
    c.__module__ = 'torch.distributed.checkpoint.' + module
    setattr(sys.modules[c.__module__], name, c)
    return c
Index = made('metadata', 'MetadataIndex', fqn=str, offset=object, index=object)
Chunk = made('metadata', 'ChunkStorageMetadata', offsets=tuple, sizes=tuple)
Tensor = made('metadata', 'TensorStorageMetadata', size=tuple, chunks=list)
Metadata = made('metadata', 'Metadata', state_dict_metadata=dict, planner_data=object, storage_data=object)
Info = made('filesystem', '_StorageInfo', relative_path=str, offset=int, length=int)
state, data, end = {}, {}, {}
for i in range(300):
    key, rank = 'model.layers.%d.weight' % i, i % 3
    name, length = '__%d_0.distcp' % rank, 4000 + 7 * i + (1 << 33) * (i == 299)
    state[key] = Tensor((i, 5), [Chunk((0, 0), (i, 5))])
    data[Index(key, (0, 0), 0)] = Info(name, end.get(name, 0), length)
    end[name] = end.get(name, 0) + length
what = Metadata(state, {'offset': 5, 'length': 6, 'relative_path': 'none'}, data)
sys.stdout.buffer.write(pickle.dumps(what, protocol=int(sys.argv[1])))
sys.stderr.write(''.join('%s %d\n' % item for item in sorted(end.items())))
)";

class PartListOfMetadata : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "trainvigil-metadata-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ + "/make.py") << kMetadata;
    const std::string command =
        "/usr/bin/python3 -B " + folder_ + "/make.py " + std::to_string(GetParam()) + " >" + folder_ + "/.metadata 2>" + folder_ + "/ends";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no /usr/bin/python3: " << test::slurp(folder_ + "/ends");
    pickle_ = test::slurp(folder_ + "/.metadata");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_, pickle_;
};

TEST_P(PartListOfMetadata, TellsTheLengthOfEachFile) {
  const auto parts = read_part_list("step-5/.metadata", pickle_);
  ASSERT_TRUE(parts);
  std::string text;
  for (const auto& [name, bytes] : *parts) text += name + " " + std::to_string(bytes.value_or(-1)) + "\n";
  EXPECT_EQ(text, test::slurp(folder_ + "/ends"));
}

TEST_P(PartListOfMetadata, CutOrDamagedItTellsNothingOrSomethingButNeverFails) {
  std::mt19937 random(5);
  for (std::size_t keep = 0; keep < pickle_.size(); keep += 37) EXPECT_FALSE(read_part_list(".metadata", pickle_.substr(0, keep)));
  for (int round = 0; round < 500; ++round) {
    auto damaged = pickle_;
    for (int k = 0; k < 5; ++k) damaged[std::uniform_int_distribution<std::size_t>(0, damaged.size() - 1)(random)] = static_cast<char>(random());
    EXPECT_NO_THROW(read_part_list(".metadata", damaged));
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, PartListOfMetadata, testing::Values(2, 3, 4, 5));

}  // namespace
}  // namespace trainvigil
