"""The product's Celery application whose messages go back after a tenth of a second instead of a few."""

from config.celery import app
from exports import broker

broker.REDELIVERY_PAUSE_SECONDS = (0.05, 0.1)

__all__ = ["app"]
