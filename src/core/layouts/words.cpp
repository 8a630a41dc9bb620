#include "core/layouts/words.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainvigil::layouts {
namespace {

using Words = std::unordered_map<std::string_view, Role>;

const Words& dictionary() {
  static const Words words = [] {
    Words w;
    auto add = [&w](Role role, std::initializer_list<std::string_view> list) {
      for (auto word : list) w.emplace(word, role);
    };
    add(Role::key_epoch, {"epoch", "epochs", "ep"});
    add(Role::key_step, {"step", "steps", "globalstep", "gstep", "iter", "iters", "iteration", "iterations", "it", "ba", "batch", "batches", "update",
                         "updates", "upd", "timestep", "timesteps", "nupdates"});
    add(Role::key_other, {"kimg", "nimg", "round", "rounds", "tick", "samples", "consumed", "tokens"});
    add(Role::store,
        {"snapshot", "checkpoint",    "checkpoints", "ckpt",    "ckpts",   "chkpt",    "chkpnt", "cp",      "cpt",   "chk",    "model",  "models",
         "weights",  "weight",        "save",        "saved",   "params",  "param",    "net",    "network", "g",     "d",      "gen",    "generator",
         "disc",     "discriminator", "ema",         "opt",     "optim",   "policy",   "actor",  "critic",  "agent", "state",  "states", "dict",
         "unet",     "lora",          "adapter",     "encoder", "decoder", "backbone", "do",     "msd",     "mpd",   "vocoder"});
    add(Role::shard, {"rank", "size", "world", "tp",   "pp",  "dp",     "mp",   "layer",  "layers", "random", "process",
                      "proc", "part", "shard", "fsdp", "rng", "worker", "node", "device", "gpu",    "host"});
    add(Role::metric,
        {"loss", "acc",  "accuracy", "map", "miou", "iou", "dice", "auc", "bleu",  "ppl",    "wer",    "cer",       "score",      "reward",
         "top",  "psnr", "ssim",     "fid", "mae",  "mse", "rmse", "err", "error", "metric", "recall", "precision", "perplexity", "return"});
    add(Role::index, {"version", "run", "exp", "train", "trial", "fold", "seed", "job", "slurm", "attempt", "stage", "phase"});
    add(Role::noise, {"lr",    "bs",  "wd",  "dim",   "fp",   "bf",    "int", "hidden", "depth", "width",
                      "patch", "res", "cfg", "nproc", "gpus", "nodes", "len", "seq",    "ctx",   "img"});
    add(Role::ordinal, {"st", "nd", "rd", "th"});
    add(Role::latest, {"last", "latest", "newest", "current", "cur"});
    add(Role::best, {"best"});
    add(Role::final, {"final", "finished", "release"});
    add(Role::rescue, {"interrupted", "interrupt", "exception", "hpc", "recovery", "emergency", "crash", "preempt", "preempted", "sigterm"});
    add(Role::aux, {"replay", "buffer", "vecnormalize"});
    add(Role::resume, {"optimizer", "scheduler", "scaler", "recipe", "trainer", "sampler", "grad", "rng"});
    add(Role::shelf, {"output", "outputs", "result", "results", "log", "logs"});
    add(Role::negative,
        {"sample",    "samples", "eval",       "evals",    "evaluation", "evaluations", "prediction", "predictions", "pred",  "preds",   "image",
         "images",    "vis",     "fake",       "fakes",    "real",       "dataset",     "datasets",   "data",        "cache", "metrics", "losses",
         "attention", "events",  "plot",       "plots",    "tokenizer",  "vocab",       "args",       "config",      "init",  "initial", "pretrained",
         "history",   "stats",   "embeddings", "features", "profile",    "trace",       "video",      "videos",      "audio"});
    return w;
  }();
  return words;
}

struct Ext {
  std::string_view text;
  ExtKind kind;
};

/// Longest first among those that end alike.
constexpr std::array kExtensions{
    Ext{".weights.h5", ExtKind::weights},
    Ext{".pth.tar", ExtKind::weights},
    Ext{".pt.tar", ExtKind::weights},
    Ext{".ckpt.tar", ExtKind::weights},
    Ext{".ckpt.pt", ExtKind::weights},
    Ext{".ckpt.pth", ExtKind::weights},
    Ext{".safetensors", ExtKind::weights},
    Ext{".cbsnapshot", ExtKind::weights},
    Ext{".solverstate", ExtKind::weights},
    Ext{".states", ExtKind::ambiguous},
    Ext{".state", ExtKind::ambiguous},
    Ext{".meta", ExtKind::ambiguous},
    Ext{".caffemodel", ExtKind::weights},
    Ext{".pdiparams", ExtKind::weights},
    Ext{".pdparams", ExtKind::weights},
    Ext{".pdstates", ExtKind::weights},
    Ext{".msgpack", ExtKind::weights},
    Ext{".weights", ExtKind::weights},
    Ext{".distcp", ExtKind::weights},
    Ext{".params", ExtKind::weights},
    Ext{".pdema", ExtKind::weights},
    Ext{".pdopt", ExtKind::weights},
    Ext{".index", ExtKind::weights},
    Ext{".keras", ExtKind::weights},
    Ext{".hdf5", ExtKind::weights},
    Ext{".ckpt", ExtKind::weights},
    Ext{".gguf", ExtKind::weights},
    Ext{".nemo", ExtKind::weights},
    Ext{".pth", ExtKind::weights},
    Ext{".bin", ExtKind::weights},
    Ext{".ubj", ExtKind::weights},
    Ext{".cbm", ExtKind::weights},
    Ext{".mdl", ExtKind::weights},
    Ext{".pt", ExtKind::weights},
    Ext{".h5", ExtKind::weights},
    Ext{".th", ExtKind::weights},
    Ext{".t7", ExtKind::weights},
    Ext{".pickle", ExtKind::ambiguous},
    Ext{".joblib", ExtKind::ambiguous},
    Ext{".tar.gz", ExtKind::ambiguous},
    Ext{".model", ExtKind::ambiguous},
    Ext{".json", ExtKind::ambiguous},
    Ext{".npz", ExtKind::ambiguous},
    Ext{".npy", ExtKind::ambiguous},
    Ext{".pkl", ExtKind::ambiguous},
    Ext{".zip", ExtKind::ambiguous},
    Ext{".tar", ExtKind::ambiguous},
    Ext{".txt", ExtKind::ambiguous},
    Ext{".onnx", ExtKind::ambiguous},
    Ext{".jsonl", ExtKind::text},
    Ext{".tsv", ExtKind::text},
    Ext{".csv", ExtKind::text},
    Ext{".yaml", ExtKind::text},
    Ext{".yml", ExtKind::text},
    Ext{".toml", ExtKind::text},
    Ext{".log", ExtKind::text},
    Ext{".out", ExtKind::text},
    Ext{".err", ExtKind::text},
    Ext{".png", ExtKind::text},
    Ext{".jpeg", ExtKind::text},
    Ext{".jpg", ExtKind::text},
    Ext{".gif", ExtKind::text},
    Ext{".svg", ExtKind::text},
    Ext{".pdf", ExtKind::text},
    Ext{".mp4", ExtKind::text},
    Ext{".wav", ExtKind::text},
    Ext{".flac", ExtKind::text},
    Ext{".webp", ExtKind::text},
    Ext{".md", ExtKind::text},
    Ext{".html", ExtKind::text},
    Ext{".py", ExtKind::text},
    Ext{".sh", ExtKind::text},
    Ext{".cfg", ExtKind::text},
    Ext{".ini", ExtKind::text},
    Ext{".lock", ExtKind::text},
    Ext{".parquet", ExtKind::text},
    Ext{".arrow", ExtKind::text},
    Ext{".db", ExtKind::text},
    Ext{".nii.gz", ExtKind::text},
};

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

/// ".data-00000-of-00001" of a TensorFlow bundle.
std::size_t data_part(std::string_view name) {
  const auto at = name.rfind(".data-");
  if (at == std::string_view::npos || at + 6 >= name.size()) return 0;
  for (char c : name.substr(at + 6))
    if (!digit(c) && c != '-' && c != 'o' && c != 'f') return 0;
  return name.size() - at;
}

}  // namespace

Role role_of(std::string_view word) {
  const auto& words = dictionary();
  const auto found = words.find(word);
  return found == words.end() ? Role::none : found->second;
}

bool extension_of_state(std::string_view ext) {
  constexpr std::array<std::string_view, 6> list{".pdopt", ".pdstates", ".solverstate", ".state", ".states", ".meta"};
  return std::find(list.begin(), list.end(), ext) != list.end();
}

Extension extension_of(std::string_view name) {
  if (const auto part = data_part(name)) return {name.substr(name.size() - part), ExtKind::weights};
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  // Rows by their last part, so that one look-up leaves a handful.
  static const auto by_last = [] {
    std::unordered_map<std::string_view, std::vector<Ext>> rows;
    for (const auto& ext : kExtensions) rows[ext.text.substr(ext.text.rfind('.'))].push_back(ext);
    return rows;
  }();
  const auto rows = by_last.find(name.substr(dot));
  if (rows == by_last.end()) return {};
  for (const auto& ext : rows->second)
    // A name that is nothing but its extension (".metadata") has none.
    if (ext.text.size() < name.size() && name.ends_with(ext.text)) return {name.substr(name.size() - ext.text.size()), ext.kind};
  return {};
}

}  // namespace trainvigil::layouts
