# SPDX-License-Identifier: Apache-2.0
from check_files import dead_links, faults

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"


def test_a_source_needs_its_licence_line_and_a_text_does_not():
    assert faults("src/base/log.cc", HEAD + "int x;\n") == []
    assert len(faults("src/base/log.cc", "int x;\n")) == 1
    assert faults("README.md", "# Everywatt\n") == []


def test_a_long_file_gives_its_reason():
    text = HEAD + "int x;\n" * 500
    assert "501 lines" in faults("src/base/log.cc", text)[0]
    assert faults("src/base/log.cc", text + "// size: one table\n") == []
    assert faults("tests/long.py", text) == []


def test_places_on_the_writers_machine_are_named_with_their_line():
    path = "/wor" + "k/main"
    assert faults("README.md", f"fine\nsee {path}\n") == [
        "README.md:2: must not say '/wor" + "k/'",
    ]
    assert faults("README.md", "src/wor" + "k/x and /tmp/everywatt-1000\n") == []


def test_a_link_to_a_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "metrics.md").write_text("# Metrics\n")
    page = str(tmp_path / "page.md")
    text = "[a](metrics.md), [b](metrics.md#gpu), [c](https://example.com/x), [d](gone.md)\n"
    assert dead_links(page, text) == [f"{page}: links to gone.md, which is not there"]
