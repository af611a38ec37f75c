"""Stored secrets: encrypted under a ring of keys, and absent from everything that is shown."""

import logging
import traceback

import pytest

from exports.secrets import Secret, SecretError, decrypt, encrypt, new_key, rotate

OLD, NEW = new_key(), new_key()
SECRET = Secret(password="correct horse", private_key="-----BEGIN", passphrase="sesame", certificate="ssh-cert")


def test_a_secret_comes_back_from_its_token() -> None:
    assert decrypt(encrypt(SECRET, [NEW]), [NEW]) == SECRET


def test_a_token_holds_nothing_readable() -> None:
    token = encrypt(SECRET, [NEW])
    assert b"correct" not in token
    assert token != encrypt(SECRET, [NEW])


def test_an_older_key_still_decrypts_and_rotation_moves_to_the_newest() -> None:
    token = encrypt(SECRET, [OLD])
    assert decrypt(token, [NEW, OLD]) == SECRET
    rotated = rotate(token, [NEW, OLD])
    assert decrypt(rotated, [NEW]) == SECRET
    with pytest.raises(SecretError):
        decrypt(rotated, [OLD])


def test_no_repr_shows_any_part() -> None:
    assert repr(SECRET) == "Secret()"
    assert "horse" not in f"{SECRET} {[SECRET]!r}"


@pytest.mark.parametrize("keys", [[], ["no key"], [new_key()]])
def test_a_ring_that_does_not_fit_is_an_error_without_any_secret(keys: list[str]) -> None:
    token = encrypt(SECRET, [NEW])
    with pytest.raises(SecretError) as caught:
        decrypt(token, keys)
    shown = "".join(traceback.format_exception(caught.value))
    assert "horse" not in shown
    assert token.decode() not in shown


@pytest.mark.parametrize("text", ["", "[]", "5", '{"password": 5}', '{"colour": "blue"}', "{"])
def test_a_stored_secret_of_another_form_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(SecretError) as caught:
        Secret.from_text(text)
    assert "blue" not in str(caught.value)


def test_a_secret_too_long_to_be_one_is_refused() -> None:
    with pytest.raises(SecretError):
        encrypt(Secret(password="x" * 70_000), [NEW])


def test_encrypting_and_decrypting_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        decrypt(encrypt(SECRET, [NEW]), [NEW])
    assert caplog.records == []
