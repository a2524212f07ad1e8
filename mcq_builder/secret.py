"""The secret that hides which world is the key's: HMAC-SHA-256 under it makes every draw of hidden worlds."""

from __future__ import annotations

import hmac
import logging
import os
import secrets
from pathlib import Path
from random import Random

from backtrader_bench import store
from backtrader_bench.errors import StoreError, UsageError

OWN = "secret.key"
"""The store's secret, in ``db``."""
log = logging.getLogger(__name__)


def own_secret() -> bytes:
    """The store's secret (``db/secret.key``, readable by its owner alone), made on first use."""
    path = store.home() / "db" / OWN
    if not path.exists():
        store.folder("mcq")  # makes db
        with store.lock(path, wait=10.0):
            if not path.exists():
                before = os.umask(0o077)  # so that the file is never there for others to read
                try:
                    store.replace_file(path, secrets.token_hex(32).encode() + b"\n")
                finally:
                    os.umask(before)
                path.chmod(0o600)
    return read_secret(path)


def read_secret(path: Path) -> bytes:
    """A secret from a file of at least 16 bytes, white space at its ends aside; UsageError for a shorter one."""
    try:
        found = path.read_bytes().strip()
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    if len(found) < 16 or len(set(found)) < 6:
        raise UsageError(f"{path}: a secret must have at least 16 bytes, and not the same few over and over; make one "
                         "with: openssl rand -hex 32")  # fmt: skip
    if path.stat().st_mode & 0o077:
        log.warning("warning: others may read %s, and with it draw every key; close it with: chmod 600 %s", path, path)
    return found


def prf(secret: bytes, *purpose: object) -> bytes:
    """32 bytes that nobody without ``secret`` can tell from random ones."""
    return hmac.digest(secret, "|".join(map(str, purpose)).encode(), "sha256")


def hidden_stream(secret: bytes, *purpose: object) -> Random:
    """A generator seeded by :func:`prf`."""
    return Random(int.from_bytes(prf(secret, *purpose), "big"))
