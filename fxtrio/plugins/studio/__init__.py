"""Studio: what operators and developers see of a running app, as pages.

`fx dev` serves it below `/__fx/`; in production the plugin `studio` does, behind a guard. Begin
with `studio`; `sections` makes the content of each page, from the app as it is at that moment.
"""

from fxtrio.plugins.studio.plugin import StudioPlugin as StudioPlugin
