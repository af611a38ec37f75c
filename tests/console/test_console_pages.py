"""Every page opens for whoever may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.people import an_export

if TYPE_CHECKING:
    from exports.models import Destination
    from tests.routing import RoleClient


def test_the_list_shows_an_export_and_links_to_its_page(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)

    page = viewer.get("/admin/exports/exportjob/")

    assert page.status_code == 200
    assert f"/admin/exports/exportjob/{job.id}/change/" in page.content.decode()


def test_the_page_of_an_export_tells_its_beginning(viewer: RoleClient, destination: Destination) -> None:
    job = an_export(destination)

    page = viewer.get(f"/admin/exports/exportjob/{job.id}/change/").content.decode()

    assert "Waiting. Nothing has been sent." in page
    assert "Created" in page
    assert "Wake-up written" in page
