"""What the encoder sends fits the type that is emitted for it, and other values do not."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fxtrio.encode import encode
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.class_names import Definitions
from fxtrio.tools.types.python.sources import Sources
from fxtrio.tools.types.report.compiler import compile_types, ensure_compiler
from fxtrio.tools.types.ui.typescript import Printer
from tests.short import amount
from tests.types.models import changed, fits, models

MODELS = amount(100, long=1000)


def collected() -> list[str]:
    """Return lines of TypeScript: each model with a value, and with one that does not fit."""
    lines: list[str] = []
    sources = Sources(Path("/"), {})

    @settings(
        max_examples=MODELS,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        model = data.draw(models())
        definitions = Definitions()
        shape = Shaper(sources, definitions).shape(model.annotation)
        value: Any = json.loads(encode(data.draw(model.values), place="test"))
        chosen = data.draw(st.integers(0, 1000))
        named = {one.name: one.shape for one in definitions.all()}
        assert fits(value, shape, named), (model.annotation, value, shape)
        printer = Printer()
        type_text = printer.type(shape)
        declarations = printer.definitions(definitions.all()).replace("\n", " ")
        text = f"const good: {type_text} = {json.dumps(value)};"
        wrong = [one for one in changed(value) if not fits(one, shape, named)]
        lines.append(f"namespace M{len(lines)} {{ {declarations} {text} }}")
        if wrong:
            bad = wrong[chosen % len(wrong)]
            lines.append("// @ts-expect-error")
            text = f"const bad: {type_text} = {json.dumps(bad)};"
            lines.append(f"namespace M{len(lines)} {{ {declarations} {text} }}")

    collect()
    return lines


@pytest.mark.node
async def test_models_match_the_sent_json_and_nothing_else(tmp_path: Path) -> None:
    lines = collected()
    await trio.Path(tmp_path / "models.ts").write_text("export {};\n" + "\n".join(lines) + "\n")
    options = {"strict": True, "noEmit": True, "types": [], "lib": ["es2023", "dom"]}
    options |= {"exactOptionalPropertyTypes": True, "target": "es2023"}
    text = json.dumps({"compilerOptions": options, "files": ["models.ts"]})
    await trio.Path(tmp_path / "tsconfig.json").write_text(text)
    with trio.fail_after(240):
        compiler = await ensure_compiler(partial(print))
        found = await compile_types(tmp_path, compiler)
    failures = [(one.whole, lines[one.line - 2 : one.line]) for one in found[:3]]

    assert failures == []
    assert sum("const good" in line for line in lines) >= MODELS
    assert sum("const bad" in line for line in lines) >= MODELS * 0.9
