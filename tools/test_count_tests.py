# SPDX-License-Identifier: Apache-2.0
import pytest

from count_tests import main

PASSED = '<testcase name="a" status="run" result="completed"/>'
FAILED = '<testcase name="b" status="run" result="completed"><failure/></testcase>'
SKIPPED = '<testcase name="c" status="run" result="skipped"><skipped/></testcase>'
LEFT_OUT = '<testcase name="d" status="notrun" result="completed"/>'
PYTEST_SKIPPED = '<testcase classname="t" name="e"><skipped/></testcase>'


@pytest.fixture
def report(tmp_path):
    def write(name, *cases):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")

    return write


def test_single_cases_of_all_reports_are_summed(report, tmp_path, capsys):
    report("release/test_base.xml", PASSED, SKIPPED, LEFT_OUT)
    report("asan/test_base.xml", PASSED)
    report("python.xml", PASSED, PYTEST_SKIPPED)
    assert main(tmp_path) == 0
    assert capsys.readouterr().out == "3 passed, 0 failed, 2 skipped\n"


def test_a_failed_case_is_named_and_fails_the_run(report, tmp_path, capsys):
    report("release/test_base.xml", PASSED, FAILED)
    report("release.ctest.xml", '<testcase name="test_base" status="fail"><failure/></testcase>')
    assert main(tmp_path) == 1
    assert capsys.readouterr().out == "failed: release/test_base .b\n1 passed, 1 failed, 0 skipped\n"


def test_a_program_that_crashed_counts_as_one_failed_test(report, tmp_path, capsys):
    report("release/test_base.xml", PASSED)
    report("release.ctest.xml", '<testcase name="test_app" status="fail"><failure/></testcase>')
    assert main(tmp_path) == 1
    assert capsys.readouterr().out.endswith("1 passed, 1 failed, 0 skipped\n")


def test_a_run_of_no_tests_fails(report, tmp_path):
    report("release/test_base.xml", LEFT_OUT)
    assert main(tmp_path) == 1
