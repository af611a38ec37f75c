"""Celery's way into the reconciliation app: a delegating line a task."""

from celery import shared_task

from reconciliation import recovery
from reconciliation.acknowledgments import collecting


@shared_task(name="reconciliation.recover", ignore_result=True)
def recover() -> None:
    """Take over attempts whose lease has expired."""
    recovery.run()


@shared_task(name="reconciliation.collect_acknowledgments", ignore_result=True)
def collect_acknowledgments() -> None:
    """Look for the partners' acknowledgments that are due."""
    collecting.run()
