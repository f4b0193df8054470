"""A filter selects the same on the board as in the command: one table of cases, which both are held against."""

import json
import pathlib

import pytest

from support.cli import Islet
from support.webpage import board_words

# The command's own filter is held against it too (FilterCasesTests.swift). What an activity contains is there as it is
# written: white space, digits and escapes are part of what is compared.
TABLE = json.loads((pathlib.Path(__file__).parent / "support" / "filter_cases.json").read_text())


@pytest.fixture
def service(serve):
    return serve(words=board_words())


def test_a_filter_means_the_same_on_the_board_and_in_the_command(pages, service, client):
    contents, cases = TABLE["contents"], TABLE["cases"]
    for key, content in contents.items():
        frame = json.dumps({"op": "activity.start", "app": client.app, "type": "Order", "key": key, "attributes": {}})
        [answer] = client.raw(frame[:-1].encode() + b',"contentState":' + content.encode() + b"}")
        assert answer["ok"], answer
    page = pages(service)
    page.until(f"document.querySelectorAll('.row').length === {len(contents)}")
    found = page.js(f"""(async () => {{
        const {{readFilter}} = await import("{page.origin}/filter.js");
        const {{store}} = await import("{page.origin}/store.js");
        const read = await Promise.all({json.dumps([text for text, _ in cases])}.map(readFilter));
        return read.map((filter) => [...store.activity.values()].filter(filter.matches).map((row) => row.key).sort());
    }})()""")
    assert [[text, keys] for (text, _), keys in zip(cases, found)] == cases
    # What the command sees is what the table has.
    islet = Islet(service, client.app)
    for text, keys in cases[10:14]:
        assert sorted(islet("activity", "list", "--filter", text, "-o", "name").out.split()) == keys, text
