# SPDX-License-Identifier: Apache-2.0
import faults_table
import pytest

GOOD = '''# SPDX-License-Identifier: Apache-2.0
"""
Fault: a GPU is lost
Seen: a state
    and an event | or two
For: ever
Clears: by itself

More that is in no table.
"""


def test_it_is_named():
    assert True


def not_a_test():
    assert True
'''


@pytest.fixture
def house(tmp_path, monkeypatch):
    (tmp_path / "tests/faults").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(faults_table, "ROOT", tmp_path)
    monkeypatch.setattr(faults_table, "PAGE", tmp_path / "docs/faults.md")
    return tmp_path


def test_a_file_becomes_a_line_of_the_table_and_a_list_of_its_tests(house):
    (house / "tests/faults/test_lost.py").write_text(GOOD)
    assert faults_table.main([]) == 0
    page = (house / "docs/faults.md").read_text()
    assert "| a GPU is lost | a state and an event \\| or two | ever | by itself |\n" in page
    assert page.endswith("`test_lost.py`\n\n- it is named\n")


def test_the_check_passes_only_while_page_and_tests_agree(house, capsys):
    assert faults_table.main(["--check"]) == 1
    (house / "tests/faults/test_lost.py").write_text(GOOD)
    faults_table.main([])
    assert faults_table.main(["--check"]) == 0
    (house / "tests/faults/test_lost.py").write_text(GOOD.replace("named", "nameless"))
    assert faults_table.main(["--check"]) == 1
    assert "docs/faults.md differs from the tests" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["Fault", "Seen", "For", "Clears"])
def test_a_file_without_one_of_the_four_lines_is_named(house, line):
    (house / "tests/faults/test_lost.py").write_text(GOOD.replace(f"{line}: ", f"{line} "))
    with pytest.raises(SystemExit, match="tests/faults/test_lost.py: its docstring"):
        faults_table.main([])


def test_every_file_of_faults_has_them():
    for file in (faults_table.ROOT / "tests/faults").glob("test_*.py"):
        texts, tests = faults_table.read_rows(file)
        assert all(texts) and tests, file
