"""Errors about the passphrase that confirms a person's acts."""

from hindbrain.domain.error import Refusal

__all__ = ["PassphraseLocked", "PassphraseNeeded", "PassphraseWrong"]


class PassphraseNeeded(Refusal):
    """A person's act needs the passphrase of this home."""

    code = "passphrase_needed"
    http_status = 403


class PassphraseWrong(Refusal):
    """The passphrase is not the one of this home."""

    code = "passphrase_wrong"
    http_status = 403


class PassphraseLocked(Refusal):
    """The passphrase was wrong too often; no more tries are accepted for a while."""

    code = "passphrase_locked"
    http_status = 429
