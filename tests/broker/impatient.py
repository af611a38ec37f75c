"""The product's Celery application with a broker that takes messages back after two seconds instead of two minutes."""

from config.celery import app

options = {"visibility_timeout": 2, "unacked_restore_interval": 1}
app.conf.broker_transport_options = {**app.conf.broker_transport_options, **options}
