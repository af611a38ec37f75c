"""The form for name and password."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.admin.forms import AdminAuthenticationForm

LONGEST_NAME: Final = 150
"""Characters a name can have; whatever is longer is nobody's, and is not kept among the failures."""


class SignInForm(AdminAuthenticationForm):
    """Django's, which promises a longest name in its HTML and does not hold anybody to it."""

    def clean_username(self) -> Any:
        """Refuse what cannot be a name, in the words for a wrong one."""
        name = self.cleaned_data["username"]
        if len(name) > LONGEST_NAME:
            raise self.get_invalid_login_error()
        return name
