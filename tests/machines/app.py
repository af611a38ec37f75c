"""The product's Celery application; what a dead worker held on Redis comes back after seconds instead of minutes."""

from config.celery import app

if "visibility_timeout" in (told := app.conf.broker_transport_options):
    app.conf.broker_transport_options = {**told, "visibility_timeout": 15, "unacked_restore_interval": 1}
