"""`fx export`: the pages of a built app as files, for hosts that run no code.

Begin with `export`. Nothing else of fxtrio imports this package but its command.
"""

from fxtrio.export.errors import ExportFailed, ExportFolderInvalid
from fxtrio.export.export import Exported, export_site
from fxtrio.export.place import Place, PlaceInvalid, place_of

__all__ = [
    "ExportFailed",
    "ExportFolderInvalid",
    "Exported",
    "Place",
    "PlaceInvalid",
    "export_site",
    "place_of",
]
