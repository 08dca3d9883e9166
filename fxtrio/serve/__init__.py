"""One request: from the ASGI scope to the response.

Begin with `dispatch`, which says what answers; `respond` is the one pipeline for every form
of a page. The rooms, each of which imports those after it alone: `dispatch`; `actions`,
`endpoints`, `websockets`, `static_files`; `respond`; `cache`; `pages`; `request`.
"""
