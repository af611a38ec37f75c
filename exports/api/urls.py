"""Everything under /api/v1/; a line a resource, and an answer in JSON for any other path."""

from django.urls import path, re_path

from exports.api.cancellations import CancellationRequestList
from exports.api.errors import not_found
from exports.api.events import EventList
from exports.api.exports import ExportDetail, ExportList
from exports.api.replacements import ReplacementList
from exports.api.schema import SchemaView
from exports.api.terms import Terms

app_name = "api"

# Ids are read by the views: a malformed one gets the same answer as an unknown one, in JSON.
urlpatterns = [
    path("exports/", ExportList.as_view(), name="exports"),
    path("exports/<str:job_id>/", ExportDetail.as_view(), name="export"),
    path("exports/<str:job_id>/events/", EventList.as_view(), name="events"),
    path(
        "exports/<str:job_id>/cancellation-requests/",
        CancellationRequestList.as_view(),
        name="cancellation-requests",
    ),
    path("exports/<str:job_id>/terms/", Terms.as_view(), name="terms"),
    path("exports/<str:job_id>/replacements/", ReplacementList.as_view(), name="replacements"),
    path("schema/", SchemaView.as_view(), name="schema"),
    # Without it, a missing slash would be redirected, and a POST would arrive as a GET without its body.
    re_path(r"^", not_found),
]
