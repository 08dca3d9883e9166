"""The project that the blocks of a page make."""

from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

from fxtrio.config import load_config
from fxtrio.routes.scan import scan
from tests.docs.pages import Block, blocks
from tests.fonts.small_font import small_font

_FONT = re.compile(r"""from "(\./[\w-]+\.woff2)\?font""")
_PICTURE = re.compile(r"""from "(\./[\w-]+\.(?:jpg|png))\?""")


def write(root: Path, block: Block) -> None:
    """Write the file of a block, and the pictures and fonts that it imports."""
    file = root / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
    for named in _PICTURE.findall(block.text):
        Image.new("RGB", (40, 30)).save(file.parent / named)
    for named in _FONT.findall(block.text):
        (file.parent / named).write_bytes(small_font("DejaVu Sans"))


def write_all(root: Path, document: Path) -> None:
    """Write the project of a document, with a home page if it is only about layouts."""
    for block in blocks(document):
        if block.file:
            write(root, block)
    if not scan(root, load_config(root, environ={})).pages:
        (root / "pages/index.fxl").write_text("export default () => <p>Home</p>;\n")
