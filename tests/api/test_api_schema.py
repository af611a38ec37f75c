"""The served OpenAPI document against the running API: no server error, and no answer that is not in it.

schemathesis makes requests from the document, right ones and wrong ones; each answer has to be one that the document
names, with the headers and the body that it says. Part of the requests name exports and destinations that exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation.feedback import NO_FEEDBACK
from schemathesis.specs.openapi import checks

from exports.models import Client
from exports.states import FailureReason
from tests.browser.serving import address
from tests.lives import cancel, delivering, running, unknown
from tests.people import a_caller, a_destination, a_person, an_export

if TYPE_CHECKING:
    from schemathesis.schemas import APIOperation
    from schemathesis.specs.openapi.schemas import OpenApiSchema

    from exports.models import Destination, Tenant
    from tests.people import Caller

__all__ = ["address"]

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "api", "worker"])

OPERATIONS = {
    ("/api/v1/exports/", "GET"),
    ("/api/v1/exports/", "POST"),
    ("/api/v1/exports/{job_id}/", "GET"),
    ("/api/v1/exports/{job_id}/events/", "GET"),
    ("/api/v1/exports/{job_id}/cancellation-requests/", "GET"),
    ("/api/v1/exports/{job_id}/cancellation-requests/", "POST"),
    ("/api/v1/exports/{job_id}/terms/", "POST"),
    ("/api/v1/exports/{job_id}/replacements/", "POST"),
}
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]
ORDINARILY = 20
SEED = 20_260_401
ANSWER_SECONDS = 30  # far above any answer on loopback, however busy the machine

all_operations = pytest.mark.parametrize("operation", sorted(OPERATIONS), indirect=True, ids=" ".join)
either = pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
examples = pytest.mark.parametrize("count", [ORDINARILY, pytest.param(1_000, marks=pytest.mark.soak)])


@pytest.fixture
def document(address: str) -> OpenApiSchema:
    found = schemathesis.openapi.from_url(f"{address}/api/v1/schema/")
    found.config.generation.with_security_parameters = False  # the token is the test's
    return found


@pytest.fixture
def client(tenant: Tenant) -> Caller:
    """Return a client that may do everything, also send again for a person."""
    caller = a_caller(tenant, verbs=("add", "view", "cancel", "change_terms", "replace"))
    ruth = a_person(tenant, group="Export replacement approvers")
    Client.objects.filter(user=caller.user).update(person=ruth)
    return caller


@pytest.fixture
def known(destination: Destination, tenant: Tenant) -> dict[str, list[str]]:
    """Return the ids of exports in many states, and of destinations."""
    jobs = [an_export(destination) for _ in range(3)]
    jobs += [running(destination).job, delivering(destination).job, unknown(destination).job, an_export(destination)]
    cancel(jobs[-1])
    jobs += [running(destination).fail(FailureReason.BUILD_FAILED).job for _ in range(3)]
    there = [destination, a_destination(tenant), a_destination(tenant, is_enabled=False)]
    return {"job": [str(job.id) for job in jobs], "destination": [str(each.id) for each in there]}


def test_every_operation_of_the_document_is_tried(document: OpenApiSchema) -> None:
    found = [each.ok() for each in document.get_all_operations() if isinstance(each, Ok)]
    assert {(each.path, each.method.upper()) for each in found} == OPERATIONS


@pytest.fixture
def operation(document: OpenApiSchema, request: pytest.FixtureRequest) -> APIOperation[Any, Any, Any, Any]:
    """Return an operation of the document."""
    path, method = request.param
    return document[path][method]


@all_operations
@either
@examples
def test_every_answer_is_one_that_the_document_names(
    operation: APIOperation[Any, Any, Any, Any],
    client: Caller,
    known: dict[str, list[str]],
    mode: GenerationMode,
    count: int,
) -> None:
    answered: set[int] = set()

    @seed(SEED)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def try_it(data: st.DataObject) -> None:
        case = data.draw(operation.as_strategy(mode, feedback=NO_FEEDBACK))
        if mode is GenerationMode.POSITIVE:
            _name_what_exists(case, known, data)
        answer = case.call(session=session, headers=client.headers, timeout=ANSWER_SECONDS)
        answered.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    with requests.Session() as session:
        try_it()

    # Right requests came as far as a decision, wrong ones were refused: neither was answered at the door alone.
    assert answered & ({200, 201, 409} if mode is GenerationMode.POSITIVE else {400, 404}), answered


def _name_what_exists(case: Any, known: dict[str, list[str]], data: st.DataObject) -> None:
    """Let most requests be about an export and a destination that there are, as they are."""
    most = st.integers(0, 4)
    if "job_id" in (case.path_parameters or {}) and data.draw(most):
        case.path_parameters["job_id"] = data.draw(st.sampled_from(known["job"]))
    if not isinstance(case.body, dict) or not data.draw(most):
        return
    if "destination_id" in case.body:
        case.body["destination_id"] = data.draw(st.sampled_from(known["destination"]))
    if "expected_version" in case.body:
        case.body["expected_version"] = 1
    if "answers" in case.body:
        case.body.pop("overwrite_agreement_ref", None)
        case.body["reason"] = case.body["answers"]["why_nevertheless"] = "The partner waits for it."
        for name in ("original_may_still_upload", "reconciliation_was_tried", "partner_deduplicates"):
            case.body["answers"][name]["source"] = "ticket 7"


@pytest.mark.parametrize("token", ["", "Token ", "Token x", "Bearer abc", "Token " + "é" * 9, "Token a b"])
@all_operations
def test_a_request_without_a_token_is_answered_as_the_document_says(
    operation: APIOperation[Any, Any, Any, Any], token: str
) -> None:
    case = operation.Case(
        path_parameters={"job_id": "7d3e3d0e-6a64-4c1e-9d59-3a9a3f0b5a11"} if "{" in operation.path else {},
        headers={"Authorization": token.encode("utf-8").decode("latin-1")},
    )

    answer = case.call(timeout=ANSWER_SECONDS)

    assert answer.status_code == 401
    case.validate_response(answer, checks=CHECKS[:5])
