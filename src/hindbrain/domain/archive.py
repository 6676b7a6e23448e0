"""Archives: what a manifest says of the files beside it. Knows no file."""

from typing import Annotated

import msgspec

__all__ = ["FORMAT", "MANIFEST", "Manifest", "Sum"]

FORMAT = "hindbrain-export-v1"
MANIFEST = "export.json"


class Sum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Size and digest of one file."""

    bytes: Annotated[int, msgspec.Meta(ge=0, lt=1 << 50)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last file of an archive. `id` and `brain` are those of the brain that the memory came to be in: a restored brain that
    nobody wrote to since says the same."""

    format: str
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    brain: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    schema_version: Annotated[int, msgspec.Meta(ge=1, lt=10_000)]
    members: dict[str, Sum]
