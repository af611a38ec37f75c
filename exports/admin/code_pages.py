"""The pages that ask for a code: after the password, when a factor is set up, and again before what weighs most."""

from __future__ import annotations

from base64 import b32encode
from typing import TYPE_CHECKING, Any, Final

import segno
from django import forms
from django.contrib.auth import logout
from django.http import HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods
from django_otp.plugins.otp_totp.models import TOTPDevice

from exports.admin import second_factor, signed_in
from exports.admin.forms import ActForm, sent
from exports.admin.frame import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase
    from django.utils.safestring import SafeString

    from exports.admin.second_factor import Wrong

NEXT: Final = "next"
CODE: Final = "second_factor_code"
"""The field's name; no form of a verb has one like it."""
LEAVE: Final = "sign_out"

_KEY_GROUP = 4
_QR_SCALE = 4  # a module is 4 px: a phone reads it from a screen at arm's length


class CodeForm(ActForm):
    """Six digits from the app."""

    second_factor_code = forms.RegexField(
        r"^\s*\d{3}\s?\d{3}\s*$",
        label="Code from your app",
        help_text="Six digits; a new code comes every 30 seconds.",
        error_messages={"invalid": "The code has six digits.", "required": "“Code from your app” is missing."},
        widget=forms.TextInput({"inputmode": "numeric", "autocomplete": "one-time-code", "size": 8, "maxlength": 9}),
    )

    @property
    def code(self) -> str:
        """The code without spaces."""
        return "".join(self.cleaned_data[CODE].split())


def taken(form: CodeForm, request: HttpRequest, take: Callable[[HttpRequest, str], Wrong | None]) -> bool:
    """Tell whether the form's code was taken; what was wrong is then on the form."""
    if not form.is_valid():
        return False
    if wrong := take(request, form.code):
        form.add_error(CODE, wrong.words)
        return False
    return True


@never_cache
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def code_view(request: HttpRequest) -> HttpResponseBase:
    """Ask a signed-in person for their code, or have them set up a factor; then lead on to where they wanted to go."""
    signed_in.end_if_over(request)
    if not (request.user.is_active and request.user.is_staff):
        return HttpResponseRedirect(reverse("admin:login"))
    if LEAVE in request.POST:
        logout(request)
        return HttpResponseRedirect(reverse("admin:login"))
    form, is_new = CodeForm(sent(request)), second_factor.device_of(request.user) is None
    if request.method == "POST" and taken(form, request, second_factor.set_up if is_new else second_factor.give):
        return HttpResponseRedirect(_onward(request))
    return _shown(request, form, is_new=is_new)


def _shown(request: HttpRequest, form: CodeForm, *, is_new: bool) -> HttpResponseBase:
    status = 400 if form.errors else 200
    if is_new:
        return page(request, "admin/code/set_up.html", SET_UP, [], status=status, form=form, **_key(request))
    return page(request, "admin/code/give.html", GIVE, [], status=status, form=form)


SET_UP: Final = "Set up your second factor"
GIVE: Final = "Enter your code"
AGAIN: Final = "Is it still you?"


def _key(request: HttpRequest) -> dict[str, Any]:
    """Return the key as a picture and as letters in groups; it is shown until the first code of it was given."""
    owner: Any = request.user
    device = TOTPDevice(user=owner, key=second_factor.new_key(request))
    letters = b32encode(device.bin_key).decode()
    groups = [letters[at : at + _KEY_GROUP] for at in range(0, len(letters), _KEY_GROUP)]
    return {"picture": _picture(device.config_url), "letters": " ".join(groups)}


def _picture(content: str) -> SafeString:
    # Made by the library from modules alone: the content is in it as squares, never as text.
    drawn = segno.make(content, micro=False)
    return mark_safe(drawn.svg_inline(scale=_QR_SCALE, dark="black", light="white", omitsize=False))  # noqa: S308 - see above


def _onward(request: HttpRequest) -> str:
    asked = request.GET.get(NEXT, "")
    here = url_has_allowed_host_and_scheme(asked, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return asked if here else reverse("admin:index")


def stepped_up(request: HttpRequest) -> HttpResponseBase | None:
    """Return None when the factor was given lately, else the page that asks for it again.

    What somebody has filled in is carried through that page: it is not lost, and goes on with the code.
    """
    if second_factor.is_fresh(request):
        return None
    form = CodeForm(request.POST if CODE in request.POST else None)
    carried = [(name, value) for name, value in _fields(request) if name not in {CODE, "csrfmiddlewaretoken"}]
    if form.is_bound and taken(form, request, second_factor.give):
        return None if carried else HttpResponseRedirect(request.get_full_path())
    status = 400 if form.errors else 200
    return page(request, "admin/code/again.html", AGAIN, [], status=status, form=form, carried=carried)


def _fields(request: HttpRequest) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, values in request.POST.lists() for value in values]
