#include "core/layouts/frameworks.hpp"

#include <algorithm>
#include <array>

namespace trainvigil::layouts {
namespace {

constexpr Unit E = Unit::epoch;
constexpr Unit S = Unit::step;
constexpr Unit O = Unit::save;

// clang-format off
constexpr std::array kUnits{
  // What lies inside decides before the name does.
  UnitRow{.framework = "speculators", .type = Type::directory, .inside = "optimizer_state_dict.pt", .prefix = "^", .unit = E, .base = 1},
  UnitRow{.framework = "speculators", .type = Type::directory, .inside = "training_state.json", .prefix = "^", .unit = E, .base = 1},
  UnitRow{.framework = "Orbax", .inside = "_CHECKPOINT_METADATA", .unit = S},
  UnitRow{.framework = "Orbax", .inside = "commit_success.txt", .unit = S},
  UnitRow{.framework = "Orbax", .inside = "manifest.ocdbt", .unit = S},
  // What a framework saves through Ray lies in a directory of Ray, which counts saves.
  UnitRow{.framework = "Ray", .type = Type::directory, .prefix = "checkpoint_", .prefix_whole = true, .width = 6, .padded = true, .unit = O, .base = 1},
  UnitRow{.framework = "T5X", .inside = ".zarray", .unit = S},
  UnitRow{.framework = "T5X", .inside = "checkpoint", .unit = S},
  UnitRow{.framework = "Transformers", .inside = "trainer_state.json", .unit = S},
  UnitRow{.framework = "Transformers", .inside = "training_args.bin", .unit = S},
  UnitRow{.framework = "Transformers", .inside = "optimizer.pt", .unit = S},
  UnitRow{.framework = "PaddleNLP", .type = Type::directory, .inside = "optimizer.pdopt", .unit = S},
  UnitRow{.framework = "Ray", .type = Type::directory, .inside = "rllib_checkpoint.json", .unit = O, .base = 1},
  UnitRow{.framework = "Ray", .type = Type::directory, .inside = "algorithm_state.pkl", .unit = O, .base = 1},
  UnitRow{.framework = "Accelerate", .type = Type::directory, .key = Key::epoch, .inside = "random_states_*", .unit = E, .base = 1},
  UnitRow{.framework = "Accelerate", .type = Type::directory, .inside = "random_states_*", .prefix = "checkpoint_", .unit = O, .base = 1},
  UnitRow{.framework = "diffusers", .type = Type::directory, .inside = "random_states_*", .prefix = "checkpoint-", .unit = S},
  UnitRow{.framework = "Accelerate", .type = Type::directory, .inside = "sampler.bin", .prefix = "checkpoint_", .unit = O, .base = 1},
  UnitRow{.framework = "Accelerate", .type = Type::directory, .inside = "optimizer.bin", .prefix = "checkpoint_", .prefix_whole = true, .unit = O, .base = 1},
  UnitRow{.framework = "torch DCP", .type = Type::directory, .inside = ".metadata", .unit = S},
  // Then the shape of the name.
  UnitRow{.framework = "StyleGAN", .prefix = "network-snapshot-", .unit = std::nullopt},
  UnitRow{.framework = "XGBoost", .type = Type::file, .ext = ".ubj", .unit = std::nullopt, .base = 1},
  UnitRow{.framework = "XGBoost", .type = Type::file, .prefix = "model_", .prefix_whole = true, .ext = ".json", .unit = std::nullopt, .base = 1},
  UnitRow{.framework = "LightGBM", .type = Type::file, .key = Key::step, .prefix = ".snapshot_iter_", .unit = std::nullopt},
  UnitRow{.framework = "TensorFlow", .type = Type::file, .prefix = "model.ckpt-", .ext = ".index", .unit = S},
  UnitRow{.framework = "TensorFlow", .type = Type::file, .prefix = "ckpt-", .ext = ".index", .unit = O},
  UnitRow{.framework = "Keras", .type = Type::file, .prefix = "cp-", .prefix_whole = true, .ext = ".index", .unit = E},
  UnitRow{.framework = "timm", .type = Type::file, .ext = ".pth.tar", .unit = E, .base = 1},
  UnitRow{.framework = "MAE", .type = Type::file, .prefix = "checkpoint-", .prefix_whole = true, .ext = ".pth", .below = 1000, .unit = E, .base = 1},
  UnitRow{.framework = "DETR, DINO", .type = Type::file, .prefix = "checkpoint", .prefix_whole = true, .ext = ".pth", .width = 4, .padded = true, .unit = E, .base = 1},
  UnitRow{.framework = "fairseq", .type = Type::file, .prefix = "checkpoint", .prefix_whole = true, .ext = ".pt", .unit = E},
  UnitRow{.framework = "icefall", .type = Type::file, .prefix = "checkpoint-", .prefix_whole = true, .ext = ".pt", .unit = S},
  UnitRow{.framework = "WeNet", .type = Type::file, .prefix = "^", .ext = ".pt", .beside = "train.yaml", .unit = E, .base = 1},
  UnitRow{.framework = "AllenNLP", .type = Type::file, .prefix = "_state_e", .ext = ".th", .unit = E},
  UnitRow{.framework = "PaddleDetection", .type = Type::file, .prefix = "^", .ext = ".pdparams", .unit = E, .base = 1},
  UnitRow{.framework = "Keras", .type = Type::file, .ext = ".keras", .unit = E},
  UnitRow{.framework = "Keras", .type = Type::file, .ext = ".weights.h5", .unit = E},
  UnitRow{.framework = "Keras", .type = Type::file, .ext = ".h5", .below = 10000, .unit = E},
  UnitRow{.framework = "Keras", .type = Type::file, .ext = ".hdf5", .below = 10000, .unit = E},
  UnitRow{.framework = "kohya", .type = Type::file, .prefix = "-", .ext = ".safetensors", .width = 6, .padded = true, .unit = E},
  UnitRow{.framework = "Caffe", .type = Type::file, .key = Key::step, .ext = ".caffemodel", .unit = S},
  UnitRow{.framework = "MXNet", .type = Type::file, .ext = ".params", .width = 4, .padded = true, .unit = E},
  UnitRow{.framework = "CycleGAN", .type = Type::file, .prefix = "^", .suffix = "_net_", .unit = E},
  UnitRow{.framework = "Detectron2", .type = Type::file, .prefix = "model_", .prefix_whole = true, .ext = ".pth", .beside = "last_checkpoint*", .width = 7, .unit = S, .base = 1},
  UnitRow{.framework = "Detectron2", .type = Type::file, .prefix = "model_", .prefix_whole = true, .ext = ".pth", .width = 7, .padded = true, .unit = S, .base = 1},
  // Names that say epoch, and begin at 0.
  UnitRow{.framework = "Lightning", .key = Key::epoch, .prefix = "epoch=", .unit = E, .base = 1},
  UnitRow{.framework = "Lightning", .key = Key::epoch, .ext = ".ckpt", .unit = E, .base = 1},
  UnitRow{.framework = "WeNet", .type = Type::file, .key = Key::epoch, .prefix = "epoch_", .prefix_whole = true, .ext = ".pt", .beside = "train.yaml", .unit = E, .base = 1},
  UnitRow{.framework = "torchtune", .type = Type::directory, .key = Key::epoch, .beside = "recipe_state*", .unit = E, .base = 1},
  UnitRow{.framework = "Ultralytics, YOLOv5, YOLOv7", .type = Type::file, .key = Key::epoch, .parent = "weights", .unit = E, .base = 1},
  UnitRow{.framework = "Swin", .type = Type::file, .key = Key::epoch, .prefix = "ckpt_epoch_", .prefix_whole = true, .ext = ".pth", .unit = E, .base = 1},
  UnitRow{.framework = "AllenNLP", .type = Type::file, .key = Key::epoch, .prefix = "_state_epoch_", .ext = ".th", .unit = E, .base = 1},
  UnitRow{.framework = "Composer", .key = Key::epoch, .suffix = "-ba", .unit = E},
  UnitRow{.framework = "ColossalAI", .type = Type::directory, .key = Key::epoch, .inside = "running_states.json", .unit = E, .base = 0},
};

constexpr std::array kCertificates{
  Certificate{"trainer_state.json"}, Certificate{"training_state.json"}, Certificate{"commit_success.txt"}, Certificate{"metadata.json"},
  Certificate{".metadata.json"}, Certificate{"running_states.json"}, Certificate{"meta.pt"}, Certificate{".checkpoint_done"},
  Certificate{".metadata", true}, Certificate{"rllib_checkpoint.json"}, Certificate{"_SUCCESS"}, Certificate{".complete"}, Certificate{"DONE"},
};

constexpr std::array kSignatures{
  Signature{"Transformers", "training_args.bin", "trainer_state.json", true},
  Signature{"Transformers", "optimizer.pt", "trainer_state.json"},
  Signature{"PaddleNLP", "optimizer.pdopt", "trainer_state.json|.checkpoint_done"},
  Signature{"speculators", "optimizer_state_dict.pt", "training_state.json|scheduler_state_dict.pt"},
  Signature{"Accelerate", "optimizer.bin", "random_states_*|train_state.json"},
  Signature{"Orbax", "_CHECKPOINT_METADATA", "commit_success.txt|_METADATA|manifest.ocdbt"},
  Signature{"DeepSpeed", "*_model_states.pt", "pointer"},
  Signature{"DeepSpeed", "*_optim_states.pt", "pointer"},
  Signature{"Megatron-LM", "model_optim_rng.pt", "pointer"},
  Signature{"Megatron-LM", "distrib_optim.pt", "pointer"},
  Signature{"T5X", ".zarray", "checkpoint|commit_success.txt|_CHECKPOINT_METADATA|metadata.json"},
  Signature{"ColossalAI", "modeling", "running_states.json"},
};

constexpr std::array kPointers{
  Pointer{"latest_checkpointed_iteration.txt"}, Pointer{"latest"}, Pointer{"last_checkpoint"}, Pointer{"last_checkpoint.rank_*"}, Pointer{"checkpoint"},
  Pointer{"latest_checkpoint.txt", false}, Pointer{"latest.txt", false}, Pointer{"last.txt", false}, Pointer{"latest_checkpoint", false},
};

constexpr std::array kEnds{
  EndRow{"Detectron2", "model_final.*", "", Type::file},
  EndRow{"PaddleDetection", "model_final.*", "", Type::file},
  EndRow{"nnU-Net", "checkpoint_final.*", "", Type::file},
  EndRow{"LitGPT", "final", "", Type::directory},
  EndRow{"any", "final_model*", "", Type::any},
  EndRow{"any", "final_checkpoint*", "", Type::any},
  EndRow{"any", "checkpoint-final", "", Type::any},
  EndRow{"any", "final.*", "", Type::file},
  EndRow{"NeMo", "*.nemo", "", Type::file},
  EndRow{"Transformers", "train_results.json", "trainer_state.json", Type::file},
  EndRow{"Transformers", "all_results.json", "trainer_state.json", Type::file},
  EndRow{"Transformers", "model.safetensors", "trainer_state.json", Type::file},
  EndRow{"Transformers", "model.safetensors.index.json", "trainer_state.json", Type::file},
  EndRow{"Transformers", "adapter_model.safetensors", "trainer_state.json", Type::file},
  EndRow{"Transformers", "pytorch_model.bin", "trainer_state.json", Type::file},
  EndRow{"diffusers", "model_index.json", "random_states_*", Type::file},
  EndRow{"diffusers", "pytorch_lora_weights.safetensors", "random_states_*", Type::file},
  EndRow{"ESPnet", "valid.acc.ave*", "", Type::file},
};

constexpr std::array<std::string_view, 31> kKnownNames{
  "trainer_state.json", "training_state.json", "commit_success.txt", ".metadata", ".metadata.tmp", ".metadata.json", "metadata.json",
  "running_states.json", ".checkpoint_done", "rllib_checkpoint.json", "_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt", ".zarray",
  "checkpoint", "config.json", "adapter_config.json", "model_config.json", "generation_config.json", "model_index.json", "CKPT.yaml", "config.cfg",
  "common.pt", "latest", "train_state.json", "algorithm_state.pkl", ".is_checkpoint", "saved_model.pb", "modeling", "tokenizer.json",
  "tokenizer_config.json",
};
// clang-format on

static_assert(std::ranges::count_if(kUnits, [](const UnitRow& row) { return !row.inside.empty(); }) <= 64 && kCertificates.size() <= 64 &&
                  kSignatures.size() <= 64,
              "what lies inside a save is kept as bits");

}  // namespace

std::span<const UnitRow> unit_rows() { return kUnits; }
std::span<const Certificate> certificates() { return kCertificates; }
std::span<const Signature> signatures() { return kSignatures; }
std::span<const Pointer> pointers() { return kPointers; }
std::span<const EndRow> end_rows() { return kEnds; }
std::span<const std::string_view> known_names() { return kKnownNames; }

}  // namespace trainvigil::layouts
