#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev run [ARGS]: builds, then serves on this machine's GPUs, or plays the demo where it has none.
set -euo pipefail
source tools/dev/common.sh

# A library alone is no GPU: containers and build machines have it. The driver makes the device nodes
# only when somebody first asks for them, so its own list counts too, but not in a container, which
# sees that list of GPUs that it was not given. /dev/dxg is the GPU of WSL.
has_gpu() {
  compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]] ||
    { compgen -G '/proc/driver/nvidia/gpus/*' >/dev/null &&
      /sbin/ldconfig -p | grep 'libnvidia-ml\.so\.1' >/dev/null; }
}

arguments=()
source_chosen=
for argument in "$@"; do
  case $argument in
    --yes)
      assume_yes=yes
      continue
      ;;
    --demo | --demo=* | --replay | --replay=* | --nvml-library | --nvml-library=*)
      source_chosen=yes
      ;;
  esac
  arguments+=("$argument")
done

need_packages build
build release product
if [[ -z $source_chosen ]] && ! has_gpu; then
  say "no NVIDIA GPU on this machine: playing the demo traces (--demo all)"
  arguments+=(--demo all)
fi
exec build/release/everywatt serve "${arguments[@]}"
