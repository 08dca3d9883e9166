"""The settings of the TypeScript compiler for a tier of UI halves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from fxtrio.compile.bundling.installation import JS
from fxtrio.tools.types.ui.client_types import Tier

_EXTENDED = 19
"""Major version of React's types that `jsx-runtime.d.ts` extends at least."""


@cache
def build_info(compiler: Path) -> str:
    """Return the name of the file in which the compiler keeps what it has found.

    Another compiler, or other declarations of fxtrio, have another file: the compiler does not
    look again at halves when declarations that are visible everywhere have changed.
    """
    found = hashlib.sha256(str(compiler).encode())
    for folder in (JS / "types", JS / "client"):
        for one in sorted(folder.glob("*.d.ts")):
            found.update(one.read_bytes())
    return f"build-{found.hexdigest()[:12]}.json"


def compiler_settings(
    root: Path,
    path: Path,
    compiler: Path,
    tier: Tier,
    *,
    declarations: Iterable[str],
    files: Iterable[str],
) -> str:
    """Return the settings for the ``files`` of a tier of the project in ``root``.

    ``path`` is the folder of all tiers; see `TypesFolder`. All files know the names of
    ``declarations``.
    """
    folder = path / tier
    types = JS / "types"
    ambient = [path.as_posix() for path in (types / "ambient.d.ts", types / "lenient.d.ts")]
    return json.dumps(
        {
            "compilerOptions": {
                "target": "es2023",
                "lib": ["es2023", "dom", "dom.iterable"],
                "module": "esnext",
                "moduleResolution": "bundler",
                "allowImportingTsExtensions": True,
                "resolveJsonModule": True,
                "jsx": "react-jsx",
                "strict": True,
                "noImplicitAny": tier != "strict",
                "noErrorTruncation": True,
                "allowJs": True,
                "checkJs": tier != "strict",
                "noEmit": True,
                "skipLibCheck": True,
                "types": [],
                "incremental": True,
                "tsBuildInfoFile": f"./{build_info(compiler)}",
                "rootDirs": [
                    root.as_posix(),
                    folder.as_posix(),
                    *((folder.parent / one).as_posix() for one in ("loose", "strict")),
                ],
                "paths": _modules(root, compiler),
            },
            "files": [
                *(ambient[:1] if tier == "strict" else ambient),
                *declarations,
                *files,
            ],
        }
    )


def _is_recent(react: Path) -> bool:
    """Whether these types have the namespace that `jsx-runtime.d.ts` extends: old ones lack it."""
    try:
        version = json.loads((react / "package.json").read_text("utf-8"))["version"]
        return int(version.partition(".")[0]) >= _EXTENDED
    except (OSError, ValueError, LookupError):
        return False


def _modules(root: Path, compiler: Path) -> dict[str, list[str]]:
    """Return where modules are that the halves import by names."""
    types = JS / "types"
    own = root / "node_modules" / "@types"
    # As with React itself (`reactHome`): half of it, a package's peer, is not mixed with ours.
    whole = (own / "react").is_dir() and (own / "react-dom").is_dir()
    react = own if whole else compiler / "node_modules" / "@types"
    ours = {"react/jsx-runtime": [(types / "jsx-runtime.d.ts").as_posix()]}
    return {
        "fx/base": [(JS / "client" / "index.d.ts").as_posix()],
        "fx/shared": [(types / "shared.d.ts").as_posix()],
        "fx/paths": [(types / "paths.d.ts").as_posix()],
        "fx/routes": ["./routes.d.ts"],
        "fx/client": ["./client.d.ts"],
        "fx/sockets": ["./sockets.d.ts"],
        "fx/elsewhere": ["./elsewhere.d.ts"],
        "fx/loaded": ["./loaded.d.ts"],
        "fx/c*": ["./c*.d.ts"],
        "fx/m*": ["./m*.d.ts"],
        "@/*": [root.as_posix() + "/*"],
        "react": [(react / "react").as_posix()],
        **(ours if _is_recent(react / "react") else {}),
        "react/*": [(react / "react").as_posix() + "/*"],
        "react-dom": [(react / "react-dom").as_posix()],
        "react-dom/*": [(react / "react-dom").as_posix() + "/*"],
        "csstype": [(react.parent / "csstype").as_posix()],
    }
