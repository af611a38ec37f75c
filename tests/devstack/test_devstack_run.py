"""The servers of the run answer, with the versions and the accounts the tests count on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import paramiko
import psycopg

if TYPE_CHECKING:
    from config.devstack.partner import PartnerAccount


def test_postgres_answers_on_loopback_alone_and_not_on_its_standard_port(admin_url: str) -> None:
    with psycopg.connect(admin_url) as connection:
        query = "SELECT current_setting('listen_addresses'), current_setting('port')::int"
        listening = connection.execute(query).fetchone()
        assert connection.execute("SHOW unix_socket_directories").fetchone() == ("",)
    assert listening is not None
    assert listening[0] == "127.0.0.1"
    assert listening[1] != 5432


def test_a_file_arrives_under_its_final_name_by_hard_link_as_the_partners_own(
    partner: PartnerAccount,
) -> None:
    transport = paramiko.Transport((partner.host, partner.port))
    transport.connect(username=partner.username, password=partner.password)
    assert f"{transport.get_remote_server_key().get_name()} " in partner.host_key
    sftp = paramiko.SFTPClient.from_transport(transport)
    assert sftp is not None
    with sftp.open("part", "wx") as stream:
        stream.write("Zoë;محمد".encode())
    sftp._request(paramiko.sftp.CMD_EXTENDED, b"hardlink@openssh.com", b"/part", b"/final.csv")  # type: ignore[attr-defined]
    sftp.remove("part")
    transport.close()
    assert {path.name for path in partner.directory.iterdir()} == {"final.csv"}
    assert (partner.directory / "final.csv").read_text() == "Zoë;محمد"
