"""A client of a Starling server, which needs only Python 3.11 or later. Dicts have the fields of the HTTP API."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.client import HTTPException
from typing import Any, Generic, Literal, NotRequired, TypeAlias, TypedDict, TypeVar, Unpack, overload

T = TypeVar("T")
P = TypeVar("P")


class Artifact(TypedDict, Generic[P]):
    id: str
    type: str
    payload: P
    tags: list[str]
    visibility: dict[str, Any]
    produced_by: str
    created_at: str
    correlation_id: str
    partition_key: str | None
    version: int
    execution_id: NotRequired[str | None]


class Published(TypedDict):
    correlation_id: str


class PublishOptions(TypedDict, total=False):
    tags: list[str]
    partition_key: str | None
    visibility: dict[str, Any]
    # ISO 8601 duration: unfinished work is cancelled after it.
    deadline: str
    webhook: dict[str, str]
    # The correlation that the artifact joins; a new one if absent.
    correlation_id: str
    # With the same key, the server accepts the artifact only once. A random key if absent, for the retries of this call.
    idempotency_key: str


class WaitOptions(PublishOptions, total=False):
    # Seconds to wait at most: 1 to 300, 30 if absent.
    timeout: float


class Entry(TypedDict):
    """An entry of the changelog. It has no payload: `artifact(entry["artifact_id"])` reads it."""

    seq: int
    event_type: str
    artifact_id: str
    artifact_type: str
    produced_by: str
    correlation_id: str
    visibility: dict[str, Any]
    timestamp: str


class Execution(TypedDict, Generic[P]):
    """An execution that a worker holds."""

    # The same on every attempt: the idempotency key for effects outside.
    execution_id: str
    correlation_id: str
    agent: str
    attempt: int
    inputs: list[Artifact[P]]
    lease_token: str
    lease_until: str
    assignee: str | None


class Output(TypedDict, Generic[T, P]):
    """What a worker publishes."""

    type: T
    payload: P
    tags: NotRequired[list[str]]
    visibility: NotRequired[dict[str, Any]]


class WorkerOptions(TypedDict, total=False):
    # The name that lists and traces show.
    claimed_by: str
    # Claims only the executions of this assignee.
    assignee: str
    # Stops the worker after the execution that it holds, within 20 s.
    stop: threading.Event


class StarlingError(Exception):
    """The server refused a request. `status` is that of HTTP, and the message says what to change."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class RunBody:
    """What agents have produced after a publish."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.correlation_id: str = answer["correlation_id"]
        self.artifacts: list[Artifact[Any]] = answer["artifacts"]
        # False if work was left when the timeout had passed. It continues on the server.
        self.completed: bool = answer["completed"]
        self.duration_ms: int = answer["duration_ms"]

    def of_type(self, type: str) -> list[Any]:
        return [artifact for artifact in self.artifacts if artifact["type"] == type]
