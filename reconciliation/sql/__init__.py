"""The statements of recovery, reconciliation and correction, in the one registry of exports.sql."""

from pathlib import Path

from exports.sql import register

register(Path(__file__).parent)
