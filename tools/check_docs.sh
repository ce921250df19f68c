#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a generated page differs from what the program would write. Needs a build.
set -euo pipefail

program=build/release/everywatt
if [[ ! -x $program ]]; then
  echo "docs drift: not checked, since $program is not built (./dev test checks it too)"
  exit 0
fi
python3 tools/dcgm_compatibility.py "$program" --check
if ! diff -u docs/metrics.md <("$program" catalog --markdown); then
  echo "docs/metrics.md differs from the catalog: $program catalog --markdown >docs/metrics.md"
  exit 1
fi
