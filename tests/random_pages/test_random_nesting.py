"""Elements nested at random: browsers leave those alone that need no scripts there."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import fxtrio

pytestmark = pytest.mark.browser

SEED = os.environ.get("FX_FIRST_PAGE", "0")
"""`FX_FIRST_PAGE=3000 pytest tests/random_pages` looks at other ones."""

COUNT = 5000

COMPARE = r"""
(texts) => {
  const VOID = /<(area|br|col|embed|hr|img|input|source|track|wbr)\/?>(<\/\1>)?/g;
  const plain = (text) => text.replaceAll('\n', '').toLowerCase().replace(VOID, '<$1>');
  return texts.filter((text) => {
    const written = `<!DOCTYPE html><body><div>${text}</div><i>z</i>`;
    const { body } = new DOMParser().parseFromString(written, 'text/html');
    const isAlone = body.childNodes.length === 2 && body.lastChild.outerHTML === '<i>z</i>';
    return !isAlone || plain(body.firstChild.innerHTML) !== plain(text);
  });
}
"""


def test_elements_remain_where_they_are_written(browser: Browser) -> None:
    script = Path(__file__).with_name("nested.mjs")
    toolchain = Path(fxtrio.__file__).parent / "js"
    done = subprocess.run(
        ["node", script, toolchain, SEED, str(COUNT)], capture_output=True, check=True
    )
    texts = json.loads(done.stdout)
    assert len({text for text in texts if text.count("<") > 8}) > COUNT / 4

    page = browser.new_page()
    rearranged = page.evaluate(COMPARE, texts)

    assert sorted(rearranged, key=len)[:5] == []
