"""The examples of the OpenAPI document and of the guide, sent as they stand there."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from exports.api import examples
from exports.models import Client, ExportJob
from exports.states import FailureReason, Status
from tests.browser.serving import serving
from tests.docs.pages import PROJECT, blocks
from tests.lives import running
from tests.people import Caller, a_caller, a_destination, a_person, an_export

if TYPE_CHECKING:
    from exports.models import Destination, Tenant
    from tests.routing import RoleClient

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

SHELL_SECONDS = 60  # two requests on loopback, on a machine that may be busy


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    caller = a_caller(tenant, verbs=("add", "view", "cancel", "change_terms", "replace"))
    Client.objects.filter(user=caller.user).update(person=a_person(tenant, group="Export replacement approvers"))
    return caller


@pytest.fixture
def destination(tenant: Tenant) -> Destination:
    return a_destination(tenant, id=examples.DESTINATION_ID)


def shown(browser: RoleClient, path: str) -> dict[str, Any]:
    """Return the one example that the document shows for a POST there."""
    served = browser.get("/api/v1/schema/", headers={"accept": "application/json"}).json()
    body = served["paths"][f"/api/v1/exports/{path}"]["post"]["requestBody"]["content"]["application/json"]
    (example,) = body["examples"].values()
    value: dict[str, Any] = example["value"]
    return value


def test_the_example_of_a_creation_creates(browser: RoleClient, caller: Caller, destination: Destination) -> None:
    made = caller.post(shown(browser, ""))

    assert (made.status_code, made.json()["destination_id"]) == (201, str(destination.id))
    assert made["Location"].endswith(f"/api/v1/exports/{examples.EXPORT_ID}/")


def test_the_example_of_a_cancellation_cancels(browser: RoleClient, caller: Caller, destination: Destination) -> None:
    job = an_export(destination)

    answer = caller.post(shown(browser, "{job_id}/cancellation-requests/"), f"{job.id}/cancellation-requests/")

    assert (answer.status_code, answer.json()["outcome"]) == (201, "CanceledWhileQueued")


def test_the_example_of_new_terms_changes_them(
    browser: RoleClient, caller: Caller, destination: Destination, tenant: Tenant
) -> None:
    a_destination(tenant, id=examples.OTHER_DESTINATION_ID)
    job = an_export(destination)

    answer = caller.post(shown(browser, "{job_id}/terms/"), f"{job.id}/terms/")

    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    assert answer.json()["destination_id"] == examples.OTHER_DESTINATION_ID


def test_the_example_of_a_replacement_replaces(browser: RoleClient, caller: Caller, destination: Destination) -> None:
    job = running(destination).fail(FailureReason.BUILD_FAILED).job

    made = caller.post(shown(browser, "{job_id}/replacements/"), f"{job.id}/replacements/")

    assert (made.status_code, made.json()["replaces_job_id"]) == (201, str(job.id))


def test_the_guides_lines_for_a_shell_create_and_read_an_export(
    caller: Caller, destination: Destination, settings: Any
) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl is installed here")
    settings.MIDDLEWARE = ["tests.browser.serving.AsWebProcess", *settings.MIDDLEWARE]
    (lines,) = blocks(PROJECT / "docs/integrating.md", "sh")
    with serving() as address:
        told = {"ADDRESS": address, "TOKEN": caller.token, "DESTINATION": str(destination.id), "NO_PROXY": "*"}
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", lines],
            env={**os.environ, **told},
            capture_output=True,
            text=True,
            timeout=SHELL_SECONDS,
            check=True,
        )

    assert done.stdout.count('"status":"Queued"') == 2
    assert ExportJob.objects.get().status == Status.QUEUED
