# SPDX-License-Identifier: Apache-2.0
import pytest

from check_includes import check_file, fault, headers_of_one_source, parse_rooms

TABLE = """
| other | table | entirely |
|---|---|---|
| `x/` | no | base |

| room (src/…) | purpose | may include |
|---|---|---|
| `base/` | words | std, OS |
| `catalog/` | metrics | base |
| `device/nvml/` | driver | base, catalog |
| `device/sim/` | simulator | base, NVML ABI header |
| `record/recorder/` | files | base, catalog |
| `record/history/` | disk | base, catalog, recorder (Reader) |
| `read/view/` | what | base, catalog, recorder and history (readers) |
| `read/ledger/` | who | view |
| `serve/web/` | server | everything in read/, recorder |
| `serve/tui/` | page | read/* |
| `client/`, `include/everywatt/` | ABI | recorder, view |
| `app/` | main | everything |
"""
ROOMS = parse_rooms(TABLE)


@pytest.mark.parametrize(
    "path, included",
    [
        ("base/log.cc", "base/log.h"),
        ("catalog/metric.h", "base/text.h"),
        ("read/ledger/ledger.cc", "read/view/view.h"),
        ("read/ledger/ledger.cc", "catalog/metric.h"),
        ("read/view/view.cc", "record/recorder/reader.h"),
        ("device/sim/sim.cc", "device/nvml/abi_ids.h"),
        ("serve/web/server.cc", "read/ledger/ledger.h"),
        ("serve/tui/screen.cc", "read/view/view.h"),
        ("client/client.cc", "include/everywatt/everywatt.h"),
        ("app/main.cc", "device/nvml/library.h"),
        ("read/view/view_test.cc", "record/recorder/writer.h"),
        ("serve/web/journal.h", "record/recorder/writer.h"),
    ],
)
def test_what_the_table_allows_passes(path, included):
    assert fault(path, included, ROOMS) is None


@pytest.mark.parametrize(
    "path, included, reason",
    [
        ("base/log.cc", "catalog/metric.h", "base may not include catalog"),
        ("read/view/view.cc", "device/nvml/library.h", "may not include device/nvml"),
        ("read/view/view.cc", "record/recorder/writer.h", "only reads"),
        ("read/view/view.cc", "record/recorder/ring_writer.h", "only reads"),
        ("read/ledger/ledger.cc", "record/recorder/reader.h", "may not include record/recorder"),
        ("device/sim/sim.cc", "device/nvml/library.h", "may not include device/nvml"),
        ("base/log.cc", "log.h", "in no room"),
        ("attic/old.cc", "base/log.h", "in no room"),
    ],
)
def test_what_the_table_does_not_allow_is_named(path, included, reason):
    assert reason in fault(path, included, ROOMS)


def test_a_word_that_is_no_room_is_an_error():
    with pytest.raises(ValueError, match="'basement'"):
        parse_rooms(TABLE.replace("| read/* |", "| basement |"))


def test_a_row_without_its_third_cell_is_an_error():
    with pytest.raises(ValueError, match="2 cells"):
        parse_rooms(TABLE.replace("| read/* |", "|"))


def test_a_page_without_the_table_is_an_error():
    with pytest.raises(ValueError):
        parse_rooms("# Nothing here\n")


def test_heavy_headers_are_for_sources_only():
    text = "#include <boost/asio.hpp>\n# include <nlohmann/json.hpp>\n#include <vector>\n"
    assert check_file("serve/web/server.cc", text, ROOMS) == []
    assert len(check_file("serve/web/server.h", text, ROOMS)) == 2


def test_a_header_of_a_single_source_may_be_heavy():
    texts = {
        "serve/web/stream.h": "#include <boost/asio.hpp>\n",
        "serve/web/shared.h": "#include <boost/asio.hpp>\n",
        "serve/web/connections.cc": '#include "serve/web/stream.h"\n#include "serve/web/shared.h"\n',
        "serve/web/server.cc": '#include "serve/web/shared.h"\n',
    }
    heavy = headers_of_one_source(texts)
    assert heavy == {"serve/web/stream.h"}
    faults = [check_file(path, text, ROOMS, heavy) for path, text in texts.items()]
    assert [len(each) for each in faults] == [0, 1, 0, 0]
