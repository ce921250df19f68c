# SPDX-License-Identifier: Apache-2.0
"""A counters file of dcgm-exporter chooses which of DCGM's names are served."""

import program
from program import wait_until

FILE = """# Format
DCGM_FI_DEV_GPU_UTIL,  gauge, GPU utilization (in %).
DCGM_FI_DEV_NOT_THERE, gauge, x
DCGM_FI_DEV_FB_USED
# DCGM_FI_DEV_GPU_TEMP, gauge, off
DCGM_FI_DEV_ROW_REMAP_FAILED, gauge, "Remapping failed, or not."
DCGM_FI_DEV_SERIAL, label, Serial number
DCGM_FI_DRIVER_VERSION, label, Driver version
"""


def dcgm_families(daemon: program.Daemon) -> list[str]:
    lines = daemon.fetch("/metrics?names=dcgm").splitlines()
    return [line.split()[2] for line in lines if line.startswith("# TYPE")]


def test_the_file_chooses_and_what_says_nothing_is_named(tmp_path, serve):
    file = tmp_path / "counters.csv"
    file.write_text(FILE)
    daemon = serve("--demo", "gemm", "--counters", str(file))
    assert dcgm_families(daemon) == ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_ROW_REMAP_FAILED"]
    text = daemon.fetch("/metrics?names=dcgm")
    assert "# HELP DCGM_FI_DEV_ROW_REMAP_FAILED Remapping failed, or not.\n" in text
    (sample,) = (line for line in text.splitlines() if line.startswith("DCGM_FI_DEV_GPU_UTIL{"))
    assert 'DCGM_FI_DEV_SERIAL="' in sample and 'DCGM_FI_DRIVER_VERSION="' in sample
    log = daemon.log.read_text()
    assert f"{file}: line 3: no field 'DCGM_FI_DEV_NOT_THERE' is recorded" in log
    assert f"{file}: line 4: 1 fields instead of three" in log


def test_the_default_list_is_that_of_dcgms_exporter(serve):
    daemon = serve("--demo", "gemm", "--counters", "default")
    # One GPU alone has no NVLink.
    wait_until(lambda: len(dcgm_families(daemon)) == 23, lambda: dcgm_families(daemon))
    families = dcgm_families(daemon)
    assert "DCGM_FI_DEV_XID_ERRORS" in families and "DCGM_FI_PROF_SM_ACTIVE" not in families


def test_a_file_that_chooses_nothing_ends_the_start(tmp_path):
    file = tmp_path / "counters.csv"
    file.write_text("# nothing\nDCGM_FI_DEV_NOT_THERE, gauge, x\n")
    ended = program.run("serve", "--demo", "gemm", "--counters", str(file))
    assert ended.returncode == 2
    assert f"{file}: no counter in it is recorded" in ended.stderr
    assert "line 2: no field 'DCGM_FI_DEV_NOT_THERE' is recorded" in ended.stderr
    ended = program.run("serve", "--demo", "gemm", "--counters", str(tmp_path / "none.csv"))
    assert ended.returncode == 2 and "none.csv" in ended.stderr
