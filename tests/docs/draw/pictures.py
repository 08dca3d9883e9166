"""What each picture shows. Times and orders are those of the pages that show it."""

from __future__ import annotations

from tests.docs.draw.canvas import Canvas


def request_tasks() -> Canvas:
    canvas = Canvas(
        760,
        330,
        "Task tree of a request",
        "A worker process owns its connections and background tasks. A connection owns its "
        "request, which has one deadline. The request owns the loaders of the page and its "
        "layouts, which run at the same time, and the render. If the client disconnects, the "
        "loaders and the render are cancelled; an action keeps running, and "
        "background tasks belong to the worker process.",
    )
    canvas.box(20, 130, 120, 56, "Process\none nursery", "ours")
    canvas.box(190, 130, 120, 56, "Connection")
    canvas.box(360, 130, 120, 56, "Request\none deadline")
    for y, text in ((20, "Layout's loader"), (90, "Page's loader"), (160, "Render")):
        canvas.box(570, y, 170, 50, text, "ends")
        canvas.arrow((480, 158), (520, 158), (520, y + 25), (570, y + 25))
    canvas.box(570, 230, 170, 50, "Action\nruns to completion", "lasts")
    canvas.arrow((480, 158), (520, 158), (520, 255), (570, 255))
    canvas.arrow((140, 158), (190, 158))
    canvas.arrow((310, 158), (360, 158))
    canvas.box(190, 230, 180, 50, "Background tasks\nafter the response", "lasts")
    canvas.arrow((80, 186), (80, 255), (190, 255))
    legend = "When the client disconnects: red is cancelled, green keeps running."
    canvas.text(20, 310, legend, "small")
    return canvas


_EVENTS = ("response", "disconnect", "restart", "crash", "machine lost")
_LIVES = (
    # What; until which event; whether it depends on the setting that is named.
    ("Loader, render", 1, ""),
    ("WebSocket", 1, ""),
    ("Action", 2, ""),
    ("In-memory job", 2, "drains at a restart"),
    ("Cached page", 2, ""),
    ("Build, uploads in a folder", 4, ""),
    ("Durable job, session, row", 5, "with PostgreSQL on another machine"),
)


def lifetimes() -> Canvas:
    left, step, top, row = 210, 112, 60, 38
    canvas = Canvas(
        left + step * 5 + 20,
        top + row * len(_LIVES) + 20,
        "Lifetimes: what survives which event",
        "Loaders, renders and WebSockets end when the client disconnects. Actions, in-memory jobs "
        "and cached pages end when the process restarts; a restart first waits for actions and "
        "drains jobs. Builds and files in a folder survive a crash and are lost with the machine. "
        "Durable jobs, sessions and rows survive the loss of a machine if the database is "
        "PostgreSQL on another one; with SQLite they are lost with the machine.",
    )
    for number, event in enumerate(_EVENTS):
        x = left + step * number + step // 2
        canvas.text(x, 26, event, "small", anchor="middle")
        canvas.line((x, 36), (x, top + row * len(_LIVES)), dashed=True)
    for number, (what, until, note) in enumerate(_LIVES):
        y = top + row * number
        canvas.text(left - 12, y + 18, what, anchor="end")
        width = step * 5 if until == len(_EVENTS) else step * until + step // 2
        canvas.box(left, y, width, 26, note, "lasts" if until > 2 else "ends")
    return canvas


def request_flow() -> Canvas:
    canvas = Canvas(
        900,
        300,
        "How a request becomes a page",
        "The browser sends a request through an optional proxy to a worker process. The process "
        "checks CSRF and rate limits, runs the route hooks, then the loaders, and sends their data "
        "to a render worker, a Node process, which returns HTML. For navigation within the app the "
        "process sends the data as JSON, and the browser renders the page.",
    )
    canvas.box(20, 110, 100, 60, "Browser")
    canvas.box(160, 110, 100, 60, "Proxy\noptional")
    canvas.frame(300, 50, 400, 200, "worker process (Python, Trio)")
    canvas.box(316, 110, 104, 60, "CSRF check\nrate limits", "ours")
    canvas.box(444, 110, 112, 60, "Route hooks", "ours")
    canvas.box(580, 110, 104, 60, "Loaders", "ours")
    canvas.box(750, 110, 130, 60, "Render worker\nNode, React")
    for start, end in ((120, 160), (260, 316), (420, 444), (556, 580), (684, 750)):
        canvas.arrow((start, 140), (end, 140))
    canvas.arrow((815, 110), (815, 30), (70, 30), (70, 110))
    canvas.text(440, 22, "document: HTML", "small", anchor="middle")
    canvas.arrow((632, 170), (632, 276), (70, 276), (70, 170), dashed=True)
    canvas.text(350, 294, "navigation: JSON, without a render", "small", anchor="middle")
    return canvas


def page_file() -> Canvas:
    canvas = Canvas(
        760,
        290,
        "How a page file is compiled",
        "A page file has a server half in Python and a client half in JSX. The server half becomes "
        "a Python module that runs in the worker process only. The client half becomes a bundle "
        "for the browser and a bundle for the render worker. The types of the loader and "
        "the actions are written as TypeScript, with which the client half is checked.",
    )
    canvas.frame(20, 60, 170, 180, "pages/index.fxl")
    canvas.box(36, 92, 138, 56, "Server half\nPython", "ours")
    canvas.box(36, 166, 138, 56, "Client half\nJSX or TSX", "lasts")
    targets = (
        (20, "Python module\nin the worker process", 120),
        (90, "Types\nchecked by fx typecheck", 120),
        (160, "Browser bundle\nhydrates and navigates", 194),
        (230, "Server bundle\nfor the render worker", 194),
    )
    for y, text, start in targets:
        kind = "ours" if start == 120 else "lasts"
        canvas.box(480, y, 260, 50, text, kind)
        canvas.arrow((174, start), (330, start), (330, y + 25), (480, y + 25))
    canvas.text(345, 62, "fx dev, fx build", "small")
    return canvas


def shutdown() -> Canvas:
    canvas = Canvas(
        820,
        230,
        "How a server shuts down",
        "At SIGTERM the health check readyz responds with 503. Then the server stops accepting "
        "connections, finishes requests and closes WebSockets with 1001, drains in-memory and "
        "durable jobs for tasks.drainTimeout, 10 seconds, and closes plugins and render workers. "
        "All of it takes timeouts.shutdown, 30 seconds, at most.",
    )
    steps = (
        ("readyz: 503", "", 124),
        ("Listener", "\ncloses", 128),
        ("Requests finish", "\nWebSockets: 1001", 168),
        ("Jobs drain", "\nthe rest is cancelled", 180),
        ("Plugins, Node", "\nclose", 140),
    )
    x = 30
    edges = [x]
    for name, note, width in steps:
        canvas.box(x, 70, width - 8, 60, name + note, "ours")
        x += width
        edges.append(x)
    canvas.text(30, 52, "SIGTERM", "small")
    _bracket(canvas, edges[3], edges[4] - 8, 150, "tasks.drainTimeout: 10 s")
    _bracket(canvas, edges[0], edges[5] - 8, 190, "timeouts.shutdown: 30 s at most")
    return canvas


def _bracket(canvas: Canvas, left: int, right: int, y: int, text: str) -> None:
    canvas.line((left, y - 8), (left, y), (right, y), (right, y - 8))
    canvas.text((left + right) // 2, y + 18, text, "small", anchor="middle")


def machines() -> Canvas:
    canvas = Canvas(
        820,
        340,
        "Several machines",
        "A load balancer sends each request to any machine. Each machine has a supervisor with "
        "worker processes and their render workers, and memory for cached pages and in-memory "
        "jobs. All machines share PostgreSQL, with rows, accounts, sessions and durable jobs, and "
        "Redis, with channels, presence and rate limits.",
    )
    canvas.box(10, 140, 136, 56, "Load balancer")
    for y, name in ((20, "machine 1"), (180, "machine 2")):
        canvas.frame(200, y, 340, 136, name)
        canvas.box(216, y + 32, 150, 40, "Worker process", "ours")
        canvas.box(216, y + 84, 150, 40, "Worker process", "ours")
        canvas.box(390, y + 32, 134, 40, "Render worker")
        canvas.box(390, y + 84, 134, 40, "Render worker")
        canvas.line((366, y + 52), (390, y + 52))
        canvas.line((366, y + 104), (390, y + 104))
        canvas.arrow((146, 168), (170, 168), (170, y + 68), (200, y + 68))
        canvas.arrow((540, y + 68), (570, y + 68), (570, 98), (600, 98))
        canvas.arrow((540, y + 68), (570, y + 68), (570, 238), (600, 238))
    canvas.box(600, 60, 200, 76, "PostgreSQL\nrows, accounts, sessions,\ndurable jobs", "lasts")
    canvas.box(600, 200, 200, 76, "Redis\nchannels, presence,\nrate limits", "lasts")
    return canvas


PICTURES = {
    "request-tasks": request_tasks,
    "lifetimes": lifetimes,
    "request-flow": request_flow,
    "page-file": page_file,
    "shutdown": shutdown,
    "machines": machines,
}
"""File names without the ending, and what draws them."""
