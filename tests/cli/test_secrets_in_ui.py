"""UI code that looks for the server's secrets while it is rendered, as a user's package might."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from tests.cli.test_build_and_serve import SECRET, fx, serving

PAGE = """
const fs = globalThis.process?.getBuiltinModule("node:fs");

function attempt(look) {
  try {
    return String(look());
  } catch (error) {
    return `refused ${error.code}`;
  }
}

const server = `/proc/${globalThis.process?.ppid}`;
const looks = {
  key: () => process.env.FX_SECRET_KEY,
  all: () => JSON.stringify(process.env),
  environ: () => fs.readFileSync(`${server}/environ`, "latin1"),
  memory: () => fs.openSync(`${server}/mem`),
  dotenv: () => fs.readFileSync(`${process.cwd()}/.env`, "utf8"),
  settings: () => fs.readFileSync(`${process.cwd()}/fx.config.json`, "utf8"),
};

export default function Snoop() {
  return (
    <dl>
      {Object.entries(looks).map(([name, look]) => (
        <dd key={name} data-look={name}>{attempt(look)}</dd>
      ))}
    </dl>
  );
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose page looks around, built."""
    root = tmp_path_factory.mktemp("snoop")
    (root / "pages").mkdir()
    (root / "pages" / "index.fxl").write_text(PAGE, encoding="utf-8")
    (root / "fx.config.json").write_text('{"name": "Snoop"}', encoding="utf-8")
    (root / ".env").write_text("DATABASE_URL=tr0ub4dor", encoding="utf-8")
    result = fx("build", "--root", str(root))
    assert result.exit_code == 0, result.output
    return root


@pytest.mark.own_interpreter  # the server was started with the secret among its variables
@pytest.mark.node
@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["alone", "supervised"])
async def test_no_secret_of_the_server_is_seen_by_the_client_half_of_a_page(
    built: Path, options: tuple[str, ...]
) -> None:
    with trio.fail_after(120):
        command = ["fxtrio", "serve", "--port", "PORT", *options]
        async with serving(command, cwd=built) as (client, _):
            html = (await client.get("/")).text

    assert 'data-look="key">undefined<' in html
    assert "NODE_ENV" in html
    for name in ("environ", "memory", "dotenv", "settings"):
        assert f'data-look="{name}">refused ERR_ACCESS_DENIED<' in html
    for secret in (SECRET["FX_SECRET_KEY"], "tr0ub4dor", "FX_SECRET_KEY"):
        assert secret not in html
