"""What `fx check` says of modules of actions, and of components that call them."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.cli.check import check
from tests.trees import write_tree

MODULE = """
    from fx.runtime import action

    HEAD = 5  # means nothing here

    {code}
    """
USER = """
    import {{ Form, useAction }} from "fx/client";

    export function Button() {{
      const remove = useAction("{name}");
      return <Form action="{name}" onClick={{remove}} />;
    }}
    """
PAGE = """
    import { Button } from "@/components/button.jsx";

    export default function Page() {
      return <Button />;
    }
    """


async def heads(root: Path, files: dict[str, str], *, imports: bool = False) -> list[str]:
    write_tree(root, {"fx.config.json": "{}", "pages/index.fxl": PAGE, **files})
    with trio.fail_after(120):
        checked = await check(root, app="", imports=imports, report=lambda _: None)
    return [problem.head.removeprefix(f"{root}/") for problem in checked.problems]


@pytest.mark.node
async def test_an_unknown_name_is_reported_with_the_one_that_is_meant(tmp_path: Path) -> None:
    code = "@action\n    async def delete(request):\n        return {}"
    files = {
        "actions/shared.py": MODULE.format(code=code),
        "components/button.jsx": USER.format(name="shared.delete"),
    }
    assert await heads(tmp_path, files) == []
    files["components/button.jsx"] = USER.format(name="shared.delet")
    cause = "there is no action 'shared.delet' in the folder 'actions'. Did you mean"
    found = await heads(tmp_path, files)
    assert [head.partition(": ")[2] for head in found] == [f"{cause} 'shared.delete'?"] * 2
    files["components/button.jsx"] = USER.format(name="bills.pay")
    [first, _] = await heads(tmp_path, files)
    assert first.endswith("'actions'. Define it with @action in actions/bills.py.")


@pytest.mark.node
async def test_actions_of_modules_are_checked_as_those_of_pages(tmp_path: Path) -> None:
    files = {
        "components/button.jsx": "export const Button = () => <p>x</p>;\n",
        "actions/sync.py": MODULE.format(code="@action\n    def delete(request):\n        pass"),
        "actions/body.py": MODULE.format(
            code="@action\n    async def add(request, body: int):\n        return {}"
        ),
        "actions/name.py": MODULE.format(
            code="@action\n    async def add(request):\n        return nothing"
        ),
        "actions/loader.py": "from fx.runtime import server, action\n\n\n"
        "@server\nasync def load(request):\n    return {}\n",
        "actions/helper.py": "def action():\n    return absent\n",
    }
    assert await heads(tmp_path, files, imports=True) == [
        "actions/body.py:6:24: add(): 'body' has no body model. Annotate it with a pydantic model, "
        "an attrs class or a dataclass, or remove it.",
        "actions/loader.py:5:11: @server has no effect in actions files. Remove it; it belongs "
        "in page and layout and template and error and not-found files.",
        "actions/name.py:7:12: undefined name 'nothing'. Define or import it.",
        "actions/sync.py:6:5: @action 'delete' is not async. Write 'async def delete'.",
    ]
