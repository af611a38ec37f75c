"""The Celery application: queues, schedules, and the settings the design rests on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
os.environ.setdefault("EXPORT_ROLE", "worker")

from celery import Celery, signals
from django.conf import settings

from config import transports
from exports.conf import limits
from exports.observability import names

if TYPE_CHECKING:
    from exports.ticking import Ticker

WAKE_HELD_SECONDS = 1.0
"""A resumed destination starts within two seconds."""

PROBE_SECONDS = 2.0
"""Whoever asked for a connection test watches the page; the look costs one indexed read."""

COUNT_SECONDS = 30.0
"""The overview's sums of the hour are at most so old, and say so."""

COLLECT = "reconciliation.collect_acknowledgments"
COLLECT_SECONDS = 10.0
"""The shortest pace at which a contract may ask for its acknowledgments; each destination keeps its own."""

CLOCKS_APART_SECONDS = 900.0
"""How far the clocks of machines may be apart before a worker takes a tick that beat has just sent for an old one."""

QUEUES = {"worker": ("exports", "maintenance"), "acknowledger": ("acknowledgments",)}
"""What a worker takes from when it is told nothing else: only what its database role can do."""

app = Celery("contact-exports")


def configure() -> dict[str, Any]:
    """Return Celery's settings; each that is not a default says why."""
    timing = limits()
    return {
        "broker_url": settings.CELERY_BROKER_URL,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,  # 100 of them last an hour, and then the worker would end
        # RabbitMQ closes the channel of a worker that keeps a message unsettled behind full slots for half an hour.
        "broker_channel_error_retry": True,
        "task_queues": transports.queues(
            settings.CELERY_BROKER_URL, QUEUES.get(settings.EXPORT_ROLE, sum(QUEUES.values(), ()))
        ),
        "task_default_queue": "maintenance",
        "task_routes": {
            "exports.run_export": {"queue": "exports"},
            COLLECT: {"queue": "acknowledgments"},
        },
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],  # a forged message can carry an id and nothing else
        "task_publish_retry": False,  # the dispatcher publishes again by itself; beat at its next tick
        # Settling right after the confirmed claim needs the request object in the thread that runs the task.
        "worker_pool": "threads",
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": False,  # never kill work in mid-effect
        "worker_hijack_root_logger": False,
        "broker_transport_options": transports.options(settings.CELERY_BROKER_URL, timing),
        "broker_connection_timeout": timing.broker_timeout_seconds,
        "broker_heartbeat": transports.HEARTBEAT_SECONDS,
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_schedule": schedule(),
        "timezone": "UTC",
    }


def schedule() -> dict[str, dict[str, Any]]:
    """Return what beat sends and how often; a tick that waited for much longer is dropped.

    When a tick is old is said by beat's clock and judged by the worker's. With no consumer they pile up for a
    quarter of an hour at most, and one that runs late costs a look at an index.
    """
    timing = limits()
    return {
        "recover": _every(timing.recover_every_seconds, "reconciliation.recover"),
        "sweep": _every(timing.sweep_every_seconds, "exports.sweep"),
        "wake_held": _every(WAKE_HELD_SECONDS, "exports.wake_held"),
        "probe_requested": _every(PROBE_SECONDS, "exports.probe_requested"),
        **{f"canary_{queue}": _canary(queue) for queue in names.QUEUES},
        "count_hours": _every(COUNT_SECONDS, "exports.count_hours"),
        "scavenge": _every(timing.scavenge_every_seconds, "exports.scavenge"),
    }


def _every(seconds: float, task: str, queue: str = "maintenance") -> dict[str, Any]:
    return {"task": task, "schedule": seconds, "options": {"queue": queue, "expires": seconds + CLOCKS_APART_SECONDS}}


def _canary(queue: str) -> dict[str, Any]:
    return {**_every(names.CANARY_EVERY_SECONDS, "exports.canary", queue), "args": (queue,)}


app.add_defaults(configure)
app.autodiscover_tasks()


@signals.worker_init.connect
def check_worker(**_: object) -> None:
    """Refuse to start a worker on settings that contradict each other."""
    from config import startup  # noqa: PLC0415 - after Django is set up

    startup.check("worker")


@signals.worker_ready.connect
def begin_heartbeat(sender: Any, **_: object) -> None:
    """Say that this worker is alive, and while its pool is full, that its queues are not without a listener."""
    from exports import broker  # noqa: PLC0415 - after Django is set up
    from exports.observability.heartbeats import Heartbeat  # noqa: PLC0415 - the same
    from exports.observability.serving import serve_counters  # noqa: PLC0415 - the same

    queues = broker.queues_of(sender)

    def also() -> list[str]:
        if not broker.is_full(sender):
            return []
        return [*map(names.row_of, queues), *([names.WAKE_UPS] if broker.EXPORTS_QUEUE in queues else [])]

    Heartbeat(f"{settings.EXPORT_ROLE}:{'+'.join(queues)}", also=also).start()
    serve_counters()
    for each in own_ticks():
        each.start()


def own_ticks() -> list[Ticker]:
    """Return what a worker of this role does by itself.

    A host's spool can be cleaned on that host alone. And only a collector asks for collections: where none runs,
    nobody fills a queue that nobody reads.
    """
    from exports import scavenger  # noqa: PLC0415 - after Django is set up
    from exports.ticking import Ticker  # noqa: PLC0415 - the same

    if settings.EXPORT_ROLE == "worker":
        return [Ticker("scavenge", scavenger.run_here, limits().scavenge_every_seconds)]
    if settings.EXPORT_ROLE == "acknowledger":
        return [Ticker("collect_acknowledgments", _ask_for_a_collection, COLLECT_SECONDS)]
    return []


def _ask_for_a_collection() -> None:
    app.send_task(COLLECT, queue="acknowledgments", expires=COLLECT_SECONDS)


@signals.beat_init.connect
def check_beat(**_: object) -> None:
    """Refuse to start beat on settings that contradict each other."""
    from config import startup  # noqa: PLC0415 - after Django is set up

    startup.check("beat")


@signals.worker_shutting_down.connect
def begin_drain(**_: object) -> None:
    """Stop claiming at once; what runs gets EXPORT_DRAIN_SECONDS."""
    from exports import broker  # noqa: PLC0415 - after Django is set up

    broker.process_drain.begin()
