"""The verbs of this app, in the order in which an export's page offers them."""

from __future__ import annotations

from exports.admin.cancel import CANCEL
from exports.admin.replace import REPLACE
from exports.admin.terms import TERMS
from exports.admin.verbs import register_verb

OWN = (CANCEL, TERMS, REPLACE)


def register() -> None:
    """Register them; done whenever a site is made, which is before URLs are first read."""
    for verb in OWN:
        register_verb(verb)
