// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace everywatt::sampler {

// Whether the GPU in a slot is the one whose readings the slot's rings hold. Sums go on for the
// same one only.
enum class GpuIs { kTheSame, kAnother };

}  // namespace everywatt::sampler
