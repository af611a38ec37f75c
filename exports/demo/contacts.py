"""Made-up contacts with everything that breaks careless exports: accents, quotes, newlines, RTL, emoji."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING

from exports.models import Contact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from exports.models import Tenant

_BATCH = 1_000
_GIVEN = ("Zoë", "Łukasz", "محمد", "Ingrid", "שרה", "Jean-François", "Åsa", "Дмитрий", "美咲", "Seán", "Nguyễn")
_FAMILY = ("Müller", "O'Brien", 'von "Tann"', "الفاسي", "García Márquez", "כהן", "Þórsdóttir", "李", "d'Été")
_COMPANY = ("Weiß & Söhne", "Comma, Inc.", "", '"Quoted" GmbH', "Semi;colon Ltd", "🚀 Raketen AG", "Tab\tWorks")
_NOTES = (
    "",
    "called twice\nwill call back",
    "👩‍👩‍👧 family plan",
    "prefers בערב",
    "=1+1 is not a formula here",
    "naïve",
)
_COUNTRY = ("DE", "PL", "MA", "SE", "IL", "FR", "IS", "JP", "IE", "VN", "CN", "ES", "UA")


def seed_contacts(tenant: Tenant, count: int) -> None:
    """Give the tenant `count` contacts, always the same ones; a tenant that has some keeps those."""
    if not Contact.objects.filter(tenant=tenant).exists():
        Contact.objects.bulk_create(islice(_contacts(tenant), count), batch_size=_BATCH)


def _contacts(tenant: Tenant) -> Iterator[Contact]:
    """Yield contacts without end; the lists have lengths without a common factor, so that all mixes occur."""
    words = zip(cycle(_GIVEN), cycle(_FAMILY), cycle(_COMPANY), cycle(_NOTES), cycle(_COUNTRY), strict=False)
    for number, (given, family, company, notes, country) in enumerate(words, start=1):
        yield Contact(
            tenant=tenant,
            external_id=f"{tenant.slug}-{number:06}",
            email=f"contact{number}@{tenant.slug}.example",
            given_name=given,
            family_name=family,
            phone=f"+49 30 {number:07}",
            company=company,
            country=country,
            notes=notes,
        )
