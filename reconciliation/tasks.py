"""Celery's way into the reconciliation app: a delegating line a task."""

from celery import shared_task

from reconciliation import recovery


@shared_task(name="reconciliation.recover", ignore_result=True)
def recover() -> None:
    """Take over attempts whose lease has expired."""
    recovery.run()
