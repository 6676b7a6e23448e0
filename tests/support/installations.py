"""Installations for tests: a small tree as an installer leaves it, and wheels as a builder makes them."""

import base64
import hashlib
import zipfile
from pathlib import Path

from hindbrain.stores.install_tree import InstallTree

__all__ = ["META", "tree", "wheel"]

META = "Metadata-Version: 2.3\nName: hindbrain\nVersion: {}\nRequires-Dist: msgspec\nRequires-Dist: pytest; extra == 'dev'\n"


def tree(base: Path, version: str = "1.0", *, needs: str = "msgspec") -> InstallTree:
    """A small installation."""
    (base / "hindbrain").mkdir(parents=True)
    (base / "hindbrain" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    record = base / f"hindbrain-{version}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(META.format(version).replace("msgspec", needs, 1))
    (record / "RECORD").write_text("../../../bin/hindbrain,sha256=x,1\nhindbrain/__init__.py,,\n")
    return InstallTree(base)


def wheel(
    directory: Path, version: str, *, spoilt: bool = False, more: dict[str, str] | None = None, needs: str = "msgspec"
) -> Path:
    """A wheel as a builder makes it, with a record of every file."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {
        "hindbrain/__init__.py": f'__version__ = "{version}"\n',
        f"hindbrain-{version}.dist-info/METADATA": META.format(version).replace("msgspec", needs, 1),
        **(more or {}),
    }
    path = directory / f"hindbrain-{version}-py3-none-any.whl"
    rows = []
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text + ("# more\n" if spoilt and name.endswith("__init__.py") else ""))
            value = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={value},{len(text)}")
        archive.writestr(f"hindbrain-{version}.dist-info/RECORD", "\n".join(rows) + "\n")
    return path
