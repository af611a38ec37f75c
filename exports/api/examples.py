"""The requests that the OpenAPI document shows; a test sends each as it stands there."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import OpenApiExample

EXPORT_ID: Final = "7d3e3d0e-6a64-4c1e-9d59-3a9a3f0b5a11"
DESTINATION_ID: Final = "5b0c9f0e-0d0a-4f0c-8a56-1f6f1c1de5a2"
OTHER_DESTINATION_ID: Final = "c7a1f3f4-7a43-4b47-9d0e-2f2f5d8f1b90"
REQUEST_ID: Final = "f0d6a1b6-51a0-4f6e-a5a5-6f3b0a9f2c11"
REPLACEMENT_ID: Final = "1c9f4e43-3e0b-4a39-8f8e-8f3c70b2d6aa"


def _asked(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


CREATE = _asked("A new export", {"id": EXPORT_ID, "destination_id": DESTINATION_ID})
CANCEL = _asked("A click on cancel", {"request_id": REQUEST_ID, "reason": "The wrong list."})
CHANGE_TERMS = _asked(
    "Send it elsewhere",
    {"destination_id": OTHER_DESTINATION_ID, "expected_version": 1, "reason": "The agency has changed."},
)
REPLACE = _asked(
    "Send it again",
    {
        "id": REPLACEMENT_ID,
        "reason": "The partner never had it.",
        "answers": {
            "original_may_still_upload": {"yes": False, "source": "Its process has ended: ticket 7."},
            "reconciliation_was_tried": {"yes": True, "source": "ticket 7"},
            "partner_deduplicates": {"yes": True, "source": "The contract, page 3."},
            "why_nevertheless": "The partner waits for it.",
        },
    },
)
