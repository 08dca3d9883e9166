"""`fx/client` as one page sees it: its actions, its parameters, the paths of the app. Pure.

Each page has a declaration file of its own, whose name is as long as ``fx/client``: so the
page's text can name it without a shift of columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import UnknownType
from fxtrio.tools.types.ui.action_types import action_declarations
from fxtrio.tools.types.ui.socket_types import message_name
from fxtrio.tools.types.ui.typescript import Printer

Tier = Literal["loose", "strict", "blank"]
"""For halves without types, with types, and as if nothing were known of their data."""


_LINKS = """import type * as base from "fx/base";
import type { UseWebSocket } from "fx/sockets";
import type { LoadedAt } from "fx/loaded";
import type { Href } from "fx/paths";
import type { ReactElement } from "react";
type $Link<H extends string> = Omit<base.LinkProps, "href"> & { href: H & Href<H> };
export function Link<const H extends string>(props: $Link<H>): ReactElement;
type $To<H extends string> = H & Href<H>;
type $Options = { replace?: boolean; scroll?: boolean };
export function navigate<const H extends string>(href: $To<H>, options?: $Options): Promise<void>;
export function prefetch<const H extends string>(href: $To<H>): Promise<void>;
export function useLoader<const H extends string | null>(
  path: H & Href<H>,
): base.Loader<LoadedAt<Extract<H, string>>>;
export const useWebSocket: UseWebSocket<any>;
"""


def module_name(number: int) -> str:
    """Return what the page with this number imports in place of ``fx/client``."""
    return f"fx/c{number:05d}"


def app_module(
    tier: Tier, data: Mapping[str, str] | None = None, shared: Sequence[str] = ()
) -> str:
    """Return the declarations that all pages share.

    ``data`` has the module of each page file whose data is known, see `module_name`; ``shared``
    are those of modules of actions.
    """
    links = "" if tier == "blank" else _LINKS
    return f"""export * from "fx/base";
{links}{_data_of(data or {})}{_shared_actions(shared, tier)}"""


def _data_of(modules: Mapping[str, str]) -> str:
    known = "".join(
        f'  {json.dumps(source)}: import("{module}").$Data;\n' for source, module in modules.items()
    )
    if not known:
        return ""
    return f"""interface $Files {{
{known}}}
export type DataOf<Source extends string> = Source extends keyof $Files ? $Files[Source] : any;
"""


def page_module(page: PageTypes, number: int, slots: Iterable[str] | None, tier: Tier) -> str:
    """Return the declarations of one page, which has a ``number`` in its project.

    ``slots`` are the names of the places around it; None when there may be others.
    """
    if tier == "blank":
        return _blank(page)
    printer = Printer.of(page.definitions, loose=tier == "loose")
    params = _params(page)
    lines = [
        'export * from "fx/client";',
        'import type * as base from "fx/base";',
        'import type * as shared from "fx/shared";',
        'import type { UseWebSocket } from "fx/sockets";',
        'import type { ReactElement, ReactNode } from "react";',
        printer.definitions(page.definitions, prefix="export ").rstrip("\n"),
        f"export type $Data = {printer.type(page.data)};",
        f"export type $LayoutData = {printer.type(page.layout_data)};",
        f"export type $Params = {params};",
        f"export function useParams(): {params};",
        "export function useData(): $Data;",
        "export function useLayoutData(): $LayoutData;",
        *_content(page, printer),
        *_props(page),
        f"export type $Slots = {_slots(slots)};",
    ]
    if page.kind == "page":
        lines += action_declarations(page.actions, printer)
        lines += [
            'import type { $Shared, $SharedOptional } from "fx/client";',
            'import type { PagePath } from "fx/paths";',
            *_calls_anywhere(tier),
            "export const Form: shared.Form<$Own, $Data>;",
        ]
        lines += _messages(page, number)
        lines += _streams(page, printer)
    return "\n".join(line for line in lines if line) + "\n"


def _blank(page: PageTypes) -> str:
    return """export * from "fx/client";
export function useParams(): any;
export function useData(): any;
export function useLayoutData(): any;
export const useAction: any;
export const Form: any;
export const useStream: any;
export const Link: any;
export const navigate: any;
export const prefetch: any;
export const useSearchParams: any;
export const useLoader: any;
export const usePathname: any;
export const useNavigation: any;
export type $Props = any;
export type $Slots = any;
"""


def _messages(page: PageTypes, number: int) -> list[str]:
    """Return `useWebSocket` of the page's own path, where it is known what it sends."""
    if page.messages is None or isinstance(page.messages, UnknownType):
        return []
    return [
        f'import type {{ {message_name(number)} }} from "fx/sockets";',
        f"export const useWebSocket: UseWebSocket<{message_name(number)}>;",
    ]


def _streams(page: PageTypes, printer: Printer) -> list[str]:
    """Return `useStream` for the streams of the page, and for those of other pages."""
    if not page.streams:
        return []
    known = "; ".join(
        f"{json.dumps(one.name)}: {{ value: {printer.type(one.value)}; "
        f"query: {'undefined' if one.query is None else printer.type(one.query)} }}"
        for one in page.streams
    )
    own = '$Streams[N]["value"]'
    return [
        f"type $Streams = {{ {known} }};",
        "export function useStream<const N extends keyof $Streams>(name: N, options?: "
        f'base.StreamOptions<{own}, $Streams[N]["query"]> & {{ page?: undefined }}): '
        f"base.StreamState<{own}>;",
        "export function useStream<Value = any>(name: string, options: "
        "base.StreamOptions<Value> & { page: string }): base.StreamState<Value>;",
    ]


def _content(page: PageTypes, printer: Printer) -> list[str]:
    """Return `useContent` where it is known what front matter has."""
    if page.front_matter is None:
        return []
    known = printer.type(page.front_matter)
    return [f"export function useContent<T = {known}>(): base.Content<T> | null;"]


def _params(page: PageTypes) -> str:
    if page.kind != "page":
        return "Record<string, string>"
    return "{ " + "; ".join(f"{json.dumps(one.name)}: string" for one in page.params) + " }"


def _props(page: PageTypes) -> list[str]:
    data = "data: $Data; layoutData: $LayoutData; params: $Params"
    if page.kind in ("layout", "template"):
        return [f"export interface $Props {{ {data}; children: ReactNode; [more: string]: any }}"]
    if page.kind in ("error", "not-found"):
        # A loader around it may be what failed.
        members = "data: any; layoutData: any; params: $Params; error: base.PageError"
        return [f"export interface $Props {{ {members}; reset?: () => void }}"]
    if page.kind == "loading":
        return ["export interface $Props { [more: string]: any }"]
    return [f"export interface $Props {{ {data}; actionData?: base.ActionData }}"]


def _slots(slots: Iterable[str] | None) -> str:
    if slots is None:
        return "any"
    component = "((props: any) => ReactNode) | ReactNode | (new (props: any) => any)"
    return "{ " + "; ".join(f"{json.dumps(one)}?: {component}" for one in slots) + " }"


def shared_name(number: int) -> str:
    """Return what the declarations of the module of actions with this number are imported as."""
    return f"fx/m{number:05d}"


def shared_module(module: PageTypes, tier: Tier) -> str:
    """Return the declarations of a module of actions."""
    printer = Printer.of(module.definitions, loose=tier == "loose")
    lines = [
        printer.definitions(module.definitions, prefix="export ").rstrip("\n"),
        *action_declarations(module.actions, printer),
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _shared_actions(modules: Iterable[str], tier: Tier) -> str:
    """Return `useAction` for the actions of ``modules``, on every page."""
    known = " & ".join(f'import("{one}").$Actions' for one in modules)
    if not known or tier == "blank":
        return "export type $Shared = {};\nexport type $SharedOptional = never;\n"
    optional = " | ".join(f'import("{one}").$Optional' for one in modules)
    lines = [
        'import type * as shared from "fx/shared";',
        f"export type $Shared = {known};",
        f"export type $SharedOptional = {optional};",
        *_calls("$Shared", "$SharedOptional", tier),
        "export function useAction(name: string, "
        "options?: { page?: string; throws?: false } & base.Streaming & base.Optimistic): "
        "base.Action;",
        "export function useAction(name: string, "
        "options: { page?: string; throws: true } & base.Streaming & base.Optimistic): "
        "base.ThrowingAction;",
    ]
    return "\n".join(lines) + "\n"


def _calls_anywhere(tier: Tier) -> list[str]:
    """Return `useAction` for the actions of a page, of modules, and of another page by its path."""
    one = "shared.ActionOf<$Own, N, P>"
    names = "<N, P, Throws>"
    call = f"(payload: shared.Payload<{one}>) => Promise<$Answer{names}>"
    loose_call = f"(payload?: shared.Payload<{one}>) => Promise<$Answer{names}>"
    result = "LooseResult" if tier == "loose" else "Result"
    reduced = "shared.Grown<D>" if tier == "loose" else "D"
    return [
        "export type $Own = "
        "{ actions: $Actions & $Shared; optional: $Optional | $SharedOptional };",
        f"type $Answer{names} = Throws extends true ? shared.Success<{one}> "
        f": shared.{result}<{one}>;",
        f'type $Call{names} = N extends shared.ActionsAt<$Own, P>["optional"] '
        f"? {loose_call} : {call};",
        "export function useAction<const N extends shared.NameOf<$Own, P>, "
        "const P extends string | undefined = undefined, const Throws extends boolean = false, "
        f"D = shared.Data<{one}>>"
        "(name: N, options?: { page?: P & PagePath<P>; throws?: Throws } & "
        f"{_streaming(tier)}<D, shared.Value<{one}>> & "
        f'base.Optimistic<$Data, {one}["payload"]>): '
        f"$Call{names} & shared.State<{one}, {reduced}> & base.Expected<$Data>;",
    ]


def _calls(actions: str, optional: str, tier: Tier) -> list[str]:
    """Return `useAction` for actions that are known, and of which some need no body."""
    result = "LooseResult" if tier == "loose" else "Result"
    answer = f"Throws extends true ? shared.Success<{actions}[N]> : shared.{result}<{actions}[N]>"
    payload = f"shared.Payload<{actions}[N]>"
    call = f"(payload: {payload}) => Promise<$Answer<N, Throws>>"
    loose_call = f"(payload?: {payload}) => Promise<$Answer<N, Throws>>"
    names = f"<N extends keyof {actions}, Throws>"
    reduced = "shared.Grown<D>" if tier == "loose" else "D"
    return [
        f"type $Answer{names} = {answer};",
        f"type $Call{names} = N extends {optional} ? {loose_call} : {call};",
        f"export function useAction<const N extends keyof {actions}, "
        f"const Throws extends boolean = false, D = shared.Data<{actions}[N]>>(name: N, "
        "options?: { page?: undefined; throws?: Throws } & "
        f"{_streaming(tier)}<D, shared.Value<{actions}[N]>> "
        f'& base.Optimistic<any, {actions}[N]["payload"]>): '
        f"$Call<N, Throws> & shared.State<{actions}[N], {reduced}> & base.Expected;",
    ]


def _streaming(tier: Tier) -> str:
    """Return the type of the options that reduce what an action yields."""
    return "shared.LooseStreaming" if tier == "loose" else "base.Streaming"
