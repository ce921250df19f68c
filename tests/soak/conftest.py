# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for neighbour in ("faults", "cli", "sim"):
    sys.path.insert(0, str(HERE.parent / neighbour))
