"""Lists that stay quick at any size: pages by position, nothing counted, an order that an index carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.utils.text import capfirst

from exports.queries.keyset import BadCursor, Page

if TYPE_CHECKING:
    from django.http import HttpRequest

    from exports.admin.base import ConsoleAdmin

CURSOR_VAR = "at"
"""The position in the list; filters stay in the URL beside it."""


class KeysetChangeList(ChangeList):
    """Django's change list with its page found by position; the template offers newer and older."""

    model_admin: ConsoleAdmin
    page: Page

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.title = capfirst(str(self.opts.verbose_name_plural))

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> Any:
        """Filter and search; the position is taken out first, so that no filter's link carries it on."""
        self.params.pop(CURSOR_VAR, None)
        self.filter_params.pop(CURSOR_VAR, None)
        return super().get_queryset(request, exclude_parameters)

    def get_results(self, request: HttpRequest) -> None:
        """Read one page; an unknown position is a wrong parameter, which shows the first page and says so."""
        keyset = self.model_admin.keyset
        try:
            self.page = keyset.page(self.queryset, self.list_per_page, request.GET.get(CURSOR_VAR))
        except BadCursor as error:
            raise IncorrectLookupParameters(str(error)) from error
        self.result_list = self.model_admin.prepare(request, self.page.rows)
        # Equal, so that the search form prints no totals: nobody has counted.
        self.result_count = self.full_result_count = len(self.page.rows)
        self.show_full_result_count = self.show_admin_actions = False
        self.can_show_all = self.multi_page = False
        self.paginator = Paginator(self.page.rows, self.list_per_page)

    def get_ordering(self, request: Any, queryset: Any) -> list[Any]:  # noqa: ARG002 - the framework's signature
        """Return the keyset's order, whatever the URL asks for: no other is on an index."""
        return list(self.model_admin.keyset.ordering())

    @property
    def newer(self) -> str | None:
        """The query string of the page before this one."""
        return self._at(self.page.preceding)

    @property
    def older(self) -> str | None:
        """The query string of the page after this one."""
        return self._at(self.page.following)

    @property
    def newest(self) -> str:
        """The query string of the first page, with the filters kept."""
        return self.get_query_string()

    def _at(self, cursor: str | None) -> str | None:
        return self.get_query_string({CURSOR_VAR: cursor}) if cursor else None
