"""The pictures of the README: there, small, and of the two pages that it speaks of."""

from __future__ import annotations

import re

from tests.browser.pictures import LARGEST_BYTES, PICTURES
from tests.docs.pages import PROJECT


def test_the_readme_shows_two_small_pictures_with_words_for_who_cannot_see_them() -> None:
    shown = re.findall(r"!\[(.+?)\]\((.+?)\)", (PROJECT / "README.md").read_text())
    assert [PROJECT / path for _, path in shown] == [PICTURES / "list.png", PICTURES / "job.png"]
    assert all(len(words) > 20 for words, _ in shown)
    for _, path in shown:
        content = (PROJECT / path).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) <= LARGEST_BYTES
