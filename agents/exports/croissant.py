"""Croissant metadata (version 1.0) of a folder of JSON lines and tapes. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# The vocabulary's own context: what names of the specification mean.
CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty", "samplingRate": "cr:samplingRate",
    "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract", "field": "cr:field",
    "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
PROJECT = "https://www.backtrader.com"


class Column(NamedTuple):
    """A column of the data."""

    name: str
    kind: str | None
    """Type in Croissant's words; None: left out of it (its parts differ from bank to bank)."""
    description: str
    repeated: bool = False


File = tuple[str, str, int]
"""Name in the folder, SHA-256, bytes."""


def croissant(
    *, name: str, description: str, license_id: str, version: str, data: File, tapes: Sequence[File],
    columns: Sequence[Column],
) -> dict[str, Any]:  # fmt: skip
    """The metadata of a folder: ``data`` is its JSON lines, with ``columns``."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": description,
        "license": f"https://spdx.org/licenses/{license_id}.html",
        "url": PROJECT,
        "version": version,
        "distribution": [
            _file("data", data, "application/jsonlines"),
            *(_file(f"tape-{tape[1]}", tape, "text/csv") for tape in tapes),
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet", "@id": "test", "name": "test", "description": "One question a record.",
                "key": {"@id": "test/id"},
                "field": [_field(column) for column in columns if column.kind is not None],
            }
        ],
    }  # fmt: skip


def _file(identity: str, file: File, kind: str) -> dict[str, Any]:
    name, sha256, size = file
    return {
        "@type": "cr:FileObject", "@id": identity, "name": identity, "contentUrl": name, "contentSize": f"{size} B",
        "encodingFormat": kind, "sha256": sha256,
    }  # fmt: skip


def _field(column: Column) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field", "@id": f"test/{column.name}", "name": column.name, "description": column.description,
        "dataType": column.kind, "source": {"fileObject": {"@id": "data"}, "extract": {"column": column.name}},
    }  # fmt: skip
    if column.repeated:
        field["repeated"] = True
    return field
