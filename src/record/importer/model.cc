// SPDX-License-Identifier: Apache-2.0
#include "record/importer/model.h"

namespace everywatt::importer {
namespace {

constexpr Model kModels[] = {
    {.key = "h200",
     .name = "NVIDIA H200",
     .architecture = "Hopper",
     .compute_major = 9,
     .compute_minor = 0,
     .has_gpm = true},
    {.key = "a100",
     .name = "NVIDIA A100-SXM4-80GB",
     .architecture = "Ampere",
     .compute_major = 8,
     .compute_minor = 0,
     .has_gpm = false},
};

}  // namespace

std::span<const Model> models() {
  return kModels;
}

const Model* find_model(std::string_view key) {
  for (const Model& model : kModels) {
    if (model.key == key) return &model;
  }
  return nullptr;
}

}  // namespace everywatt::importer
