"""All files of a project, read and checked: what `fx check` prints and `build` starts from."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

import attrs

from fxtrio.compile.check.constants import says_static
from fxtrio.compile.check.declarations import Facts
from fxtrio.compile.check.deferred_calls import wrong_defers
from fxtrio.compile.check.function_definitions import unmarked_loader
from fxtrio.compile.check.literal_statuses import wrong_raised
from fxtrio.compile.check.names.auto_imports import injected_names
from fxtrio.compile.check.names.undefined_names import (
    foreign_calls,
    foreign_imports,
    undefined_names,
    unknown_attributes,
)
from fxtrio.compile.check.python_declarations import kind_of, read_actions, read_facts
from fxtrio.compile.markdown_pages import markdown_page, model_of
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_bytes, read_text
from fxtrio.compile.split.halves import split_source
from fxtrio.compile.split.merge_conflicts import conflicts_in
from fxtrio.compile.split.newer_syntax import find_newer
from fxtrio.compile.split.python_statements import Broken, compile_error, parse, parse_module
from fxtrio.compile.split.suggestions import broken_remedy
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.manifest import ActionModule, PageModule
from fxtrio.routes import PageTree, scan
from fxtrio.routes.action_files import ActionFile, find_action_files
from fxtrio.routes.errors import (
    NO_PAGES_FOLDER,
    PagesFolderMissing,
    RouteConflict,
    RouteNameInvalid,
)
from fxtrio.routes.plan import MARKDOWN_SUFFIX

Stamps = tuple[tuple[int, int, int] | None, ...]
"""Time, size and inode of files; None for one that is not there."""

_SUSPENSE = re.compile(r"\bSuspense\b")
_DATA = re.compile(r"\bdata\b")


@attrs.frozen
class CheckedPage:
    """One page file in its two halves."""

    module: PageModule
    python: str
    ui: str
    whole: bool = True
    """Whether the file divides into its halves without a problem."""

    markdown: str = ""
    """What agents get of a page in Markdown."""

    included: tuple[str, ...] = ()
    """Other files that a page in Markdown is made of, relative to the project folder."""

    @cached_property
    def suspends(self) -> bool:
        """Whether its UI names Suspense, so that it must be rendered as a stream.

        A page in Markdown has no code, only text that may name it.
        """
        return not self.markdown and _SUSPENSE.search(self.ui) is not None


@attrs.frozen
class CheckedProject:
    """A project's files, and every problem of them."""

    tree: PageTree
    pages: tuple[CheckedPage, ...]
    """By source."""

    problems: tuple[Problem, ...]
    """By place."""

    pages_dir: str = "pages"
    """The pages folder, relative to the project folder."""

    actions: tuple[ActionModule, ...] = ()
    """By source."""

    def has_same_python(self, other: CheckedProject) -> bool:
        """Return whether only UI halves, if anything, differ from those of ``other``."""
        return self.changed_python(other) == ()

    def changed_python(self, before: CheckedProject) -> tuple[str, ...] | None:
        """Return the page files whose Python half is another one than in ``before``.

        None when there are other files, or other modules of actions.
        """
        if (self.actions, self.tree) != (before.actions, before.tree):
            return None
        pairs = zip(self.pages, before.pages, strict=True)  # one for each source of the tree
        return tuple(
            page.module.source
            for page, one in pairs
            # The lines of the UI half are blank ones in the other.
            if page is not one
            and (page.module, page.python.rstrip()) != (one.module, one.python.rstrip())
        )

    @property
    def shared_actions(self) -> tuple[str, ...]:
        """The whole names of the actions of modules."""
        return tuple(f"{one.name}.{action}" for one in self.actions for action in one.actions)


def check_project(
    root: Path,
    config: Config,
    memory: CheckedTexts | None = None,
    changed: Collection[str] | None = None,
) -> CheckedProject:
    """Read and check every file below the pages folder of the project in ``root``.

    Page files that ``memory`` knows are not checked again, and of these only the files ``changed``
    are read; None stands for all.
    """
    memory = CheckedTexts() if memory is None else memory
    tree = scan(root, config)
    problems = tree_problems(tree, config)
    pages: list[CheckedPage] = []
    for source in tree.sources:
        done = None if changed is None or source in changed else memory.known(source, root)
        if done is None:
            text = _read(root, source)
            if isinstance(text, Problem):
                memory.forget([source])
                problems.append(text)
                continue
            done = memory.check_page(text, root, config.pages_dir)
        page, found = done
        pages.append(page)
        problems += found
    for source in (*(api.source for api in tree.api), *tree.llms.values(), *tree.models):
        problems += check_python(root, source)
    actions, found = check_actions(root)
    problems += found
    return CheckedProject(tree, tuple(pages), tuple(sorted(problems)), config.pages_dir, actions)


def check_actions(root: Path) -> tuple[tuple[ActionModule, ...], list[Problem]]:
    """Return the modules of actions of the project in ``root``, and their problems.

    Files of the folder without an action are no business of the framework.
    """
    modules: list[ActionModule] = []
    problems: list[Problem] = []
    for file in find_action_files(root):
        text = _read(root, file.source)
        if isinstance(text, SourceText) and "action" in text.text:
            module, found = _check_actions(file, text, root)
            modules += [module] if module.actions else []
            problems += found
    return tuple(modules), problems


def listed_facts(root: Path, source: str, pages_dir: str) -> Facts:
    """Return what a page declares of what routes show, as far as it can be read."""
    if source.endswith(MARKDOWN_SUFFIX):
        model = model_of(root, source, pages_dir)
        code = None if model is None else _read(root, model)
        return Facts(static=isinstance(code, SourceText) and says_static(code.text))
    text = _read(root, source)
    if isinstance(text, Problem) or not ("stream" in text.text or "STATIC" in text.text):
        return Facts()
    parsed = parse_module(split_source(text).python)
    return Facts() if isinstance(parsed, Broken) else read_facts(text, parsed)[0]


def _check_actions(
    file: ActionFile, source: SourceText, root: Path
) -> tuple[ActionModule, list[Problem]]:
    """Return a module of actions; without one, problems of the file are not reported."""
    parsed = parse_module(source.text)
    if isinstance(parsed, Broken):
        return ActionModule(source=file.source, name=file.name, actions=()), (
            _check_code(source, source.text, (), root)
        )
    names, problems = read_actions(source, parsed)
    if names:
        problems += _check_code(source, source.text, (), root)
    return ActionModule(source=file.source, name=file.name, actions=names), problems


@attrs.frozen(eq=False)
class CheckedTexts:
    """What came of page files: one whose text is the same is not checked again.

    Holds as much as there are page files, whichever was checked last of each.
    """

    _known: dict[str, tuple[str, Stamps, tuple[CheckedPage, list[Problem]]]] = attrs.field(
        factory=dict
    )
    """By source: the text, what its other files were, and what `check_page` has returned."""

    def check_page(
        self, source: SourceText, root: Path | None = None, pages_dir: str = "pages"
    ) -> tuple[CheckedPage, list[Problem]]:
        """Return what the function does."""
        text, stamps, done = self._known.get(source.path, (None, (), None))
        if done is None or text != source.text or stamps != _stamps(done[0], root):
            done = check_page(source, root, pages_dir)
            self._known[source.path] = source.text, _stamps(done[0], root), done
        return done

    def known(self, source: str, root: Path) -> tuple[CheckedPage, list[Problem]] | None:
        """Return what came of a page file whose text is the same as before, if that is known."""
        _, stamps, done = self._known.get(source, (None, (), None))
        return done if done is not None and stamps == _stamps(done[0], root) else None

    def forget(self, sources: Iterable[str]) -> None:
        """Drop files that are deleted, or cannot be read."""
        for source in sources:
            self._known.pop(source, None)


def _stamps(page: CheckedPage, root: Path | None) -> Stamps:
    """Return the state of the other files that a page is made of."""
    found: list[tuple[int, int, int] | None] = []
    for file in page.included:
        try:
            stat = (Path() if root is None else root).joinpath(file).stat()
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
    return tuple(found)


def check_page(
    source: SourceText, root: Path | None = None, pages_dir: str = "pages"
) -> tuple[CheckedPage, list[Problem]]:
    """Return one page file of the project in ``root`` in its halves, and its problems.

    ``pages_dir`` is the pages folder, relative to ``root``.
    """
    try:
        if source.path.endswith(MARKDOWN_SUFFIX):
            return _check_markdown(source, root, pages_dir)
        return _check_page(source, root)
    except (RecursionError, MemoryError):  # one file never keeps the others from being checked
        entry = PageModule(source=source.path, code=None)
        problem = source.problem(0, "it is too large or nested too deeply", "Split the file")
        return CheckedPage(entry, "", "", whole=False), [problem]


def _check_page(source: SourceText, root: Path | None) -> tuple[CheckedPage, list[Problem]]:
    sections = split_source(source)
    problems = [*sections.problems]
    facts = Facts()
    module = parse_module(sections.python)
    has_code = False
    if not isinstance(module, Broken):  # what does not parse has been reported
        facts, found = read_facts(source, module)
        problems += found
        has_code = bool(module.body)
        forgotten = unmarked_loader(module) if facts.loader is None else None
        if forgotten is not None and _DATA.search(sections.ui):
            problems.append(_unmarked(source, forgotten))
    injected = injected_names(facts)
    if not sections.problems:
        problems += _check_code(source, sections.python, injected, root)
        if not sections.exports_default:
            problems.append(_no_default_export(source))
    entry = PageModule(
        source=source.path,
        code=f"server/{source.path}.py" if has_code else None,
        inject=injected,
        **attrs.asdict(facts, recurse=False),
    )
    return CheckedPage(entry, sections.python, sections.ui, not sections.problems), problems


def _check_markdown(
    source: SourceText, root: Path | None, pages_dir: str
) -> tuple[CheckedPage, list[Problem]]:
    made = markdown_page(source, root, pages_dir)
    page = CheckedPage(
        made.module, made.python, made.ui, not made.problems, made.markdown, made.included
    )
    return page, list(made.problems)


def _unmarked(source: SourceText, function: ast.AsyncFunctionDef) -> Problem:
    name = source.offset_of(function.lineno, function.col_offset) + len("async def ")
    message = f"{function.name!r} is not marked, so the {kind_of(source.path)} gets no data"
    return source.problem(name, message, "Write '@server' above it")


def _no_default_export(source: SourceText) -> Problem:
    last = max(len(source.text.rstrip()) - 1, 0)
    return source.problem(
        last,
        f"the {kind_of(source.path)} has no default export",
        "Write 'export default function Name(props) { … }'",
    )


def check_python(root: Path, path: str) -> list[Problem]:
    """Return what keeps a Python module of the project from running: syntax, undefined names."""
    source = _read(root, path)
    if isinstance(source, Problem):
        return [source]
    return _check_code(source, source.text, (), root)


def _read(root: Path, path: str) -> SourceText | Problem:
    try:
        data = (root / path).read_bytes()
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        return Problem(path, 1, 1, message, "Check that the file is there and may be read")
    return read_bytes(data, path)


def _check_code(
    source: SourceText, python: str, injected: Iterable[str], root: Path | None
) -> list[Problem]:
    """Return what keeps Python code from running: its syntax, or else its undefined names."""
    module = parse_module(python)
    broken = syntax_problems(source, python, module)
    if broken or isinstance(module, Broken):
        return broken
    undefined = undefined_names(source, module, injected, root)
    statuses = [
        source.node_problem(node.lineno, node.col_offset, message, remedy)
        for node, message, remedy in (*wrong_raised(module), *wrong_defers(module))
    ]
    foreign = [*foreign_imports(source, module), *foreign_calls(source, module)]
    return [*undefined, *unknown_attributes(source, module), *foreign, *statuses]


def syntax_problems(source: SourceText, python: str, parsed: ast.Module | Broken) -> list[Problem]:
    """Return what keeps the ``python`` of a file, which is ``parsed``, from being compiled."""
    if isinstance(parsed, Broken):
        found = conflicts_in(source) or _too_new(source, python)
        return found or [_broken_python(source, parsed)]
    error = compile_error(python)
    return [] if error is None else [_broken_python(source, error)]


def _too_new(source: SourceText, python: str) -> list[Problem]:
    """Return a problem for all syntax of ``python`` that only newer Pythons know.

    Nothing is returned for code that is broken for each of them.
    """
    if isinstance(parse(python), Broken):
        return []
    running = sys.version_info[:2]
    return [
        source.syntax_problem(
            *read_text(python, source.path).place_of(piece.start),
            f"{piece.name} needs Python {_dotted(piece.version)}, and this is {_dotted(running)}",
            f"{piece.remedy}, or run Python {_dotted(piece.version)}",
        )
        for piece in find_newer(python)
        if piece.version > running
    ]


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _broken_python(source: SourceText, broken: Broken) -> Problem:
    message = f"broken Python: {broken.message.rstrip('.?')}"
    remedy = broken_remedy(source.line_text(broken.line), broken.column, broken.message)
    return source.syntax_problem(broken.line, broken.column, message, remedy)


def tree_problems(tree: PageTree, config: Config) -> list[Problem]:
    """Return the problems of the names and places of a project's files."""
    problems = [_problem_of_tree(error, config) for error in tree.problems]
    if not (problems or tree.sources or tree.api):
        remedy = f"Write {config.pages_dir}/index.fxl, the page at '/'"
        problems.append(Problem(config.pages_dir, 0, 0, "there are no pages in it", remedy))
    return problems


def _problem_of_tree(error: FxtrioError, config: Config) -> Problem:
    if isinstance(error, RouteConflict):
        message = f"serves {error.pattern!r}, which {error.kept} already serves"
        remedy = "Rename one file, or move its code into the other"
        return Problem(error.source, 1, 1, message, remedy)
    if isinstance(error, RouteNameInvalid):
        cause, _, remedy = error.cause.rpartition(". ")
        message = f"{error.name!r} {cause or error.cause}"
        return Problem(error.source, 1, 1, message, remedy if cause else "Rename it")
    if isinstance(error, PagesFolderMissing):
        return Problem(config.pages_dir, 0, 0, *NO_PAGES_FOLDER)
    return Problem(config.pages_dir, 0, 0, str(error), "Rename it")
