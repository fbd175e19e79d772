"""A client of a market's HTTP API, for notebooks and scripts. Standard library only."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from ._version import VERSION
from .errors import Error

_ANSWER_LIMIT = 64 << 20  # Bytes.
_RETRY_AFTER_S = 0.3
_PAGE = 100

Json = dict[str, Any]


@dataclass(frozen=True)
class Account:
    """An account and its credits. `bonus` pays for jobs only; `escrow` is promised to live jobs."""

    id: str
    name: str
    operator: bool
    available: float
    bonus: float
    escrow: float
    raw: Json
    """All that the server says; so in the other classes."""


@dataclass(frozen=True)
class Job:
    """A job. `state` is queued, running, paused, succeeded, failed, cancelled or expired."""

    id: str
    name: str
    state: str
    reason: str
    slot_class: str
    workers: tuple[int, int]
    limit: float
    budget: float
    spent: float
    held: int
    done: int
    ended: str | None
    raw: Json

    @property
    def live(self) -> bool:
        """May it still run?"""
        return self.ended is None

    @property
    def succeeded(self) -> bool:
        """Are all its workers done?"""
        return self.state == "succeeded"


@dataclass(frozen=True)
class Prices:
    """Credits per slot-hour of a class: `suggested` now, of the last trade, and over the days."""

    slot_class: str
    mechanism: str
    suggested: float
    last: float | None
    volume: int
    average: float | None
    low: float | None
    high: float | None
    raw: Json


@dataclass(frozen=True)
class LogText:
    """A piece of what one try of one worker printed."""

    lease: str
    worker: int | None
    text: str


class Client:
    """One account at one market.

    Without `url` and `token` the environment's SOUK_SERVER and SOUK_TOKEN are used. `ca` is a file
    of certificates for a server that is not known to the system. Each method is one question to the
    server, safe to repeat: changes carry a key by which the server knows a repetition. Raises
    `souk.Error`. For one thread at a time.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 60,
        ca: str | None = None,
    ) -> None:
        self.url = (url or os.environ.get("SOUK_SERVER") or "http://127.0.0.1:7070").rstrip("/")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise Error("invalid", f"{self.url!r} is not the address of a server", "http://HOST")
        self._token = token or os.environ.get("SOUK_TOKEN", "")
        self._timeout_s = timeout_s
        context = ssl.create_default_context(cafile=ca)
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context), _NoRedirects
        )

    @classmethod
    def login(cls, url: str, name: str, password: str, **options: Any) -> Client:
        """A client with a fresh token for this account."""
        body = {"name": name, "password": password, "label": "souk-python"}
        session = cls(url, **options)._call("POST", "/v1/login", body)
        return cls(url, session["token"], **options)

    def account(self) -> Account:
        """My account."""
        raw = self._call("GET", "/v1/me")
        return Account(**_pick(raw, "id", "name", "operator", "available", "bonus", "escrow"))

    def prices(self, slot_class: str | None = None, days: int = 7) -> Prices:
        """What was paid for a class in the last days; the market's first class without one."""
        raw = self._call("GET", "/v1/prices", query={"class": slot_class, "days": days})
        summary = raw["summary"]
        return Prices(
            slot_class=raw["class"],
            **_pick(raw, "mechanism", "suggested", "last"),
            **_pick(summary, "volume", "average", "low", "high", raw=False),
        )

    def submit(self, job: Mapping[str, Any]) -> Job:
        """Submits a job and sets its budget aside.

        `job` is `NewJob` of the server's /v1/openapi.json:

            {"name": "sweep", "workers": {"min": 1, "max": 4}, "limit": 0.9, "budget": 20,
             "batch": {"run": "python3 -c 'print(6 * 7)' > answer", "outputs": ["answer"]}}

        `workers` may be a number as well. Files are named by digests the server knows: `souk run`
        sends folders, this does not.
        """
        body = dict(job)
        if isinstance(workers := body.get("workers"), int):
            body["workers"] = {"min": workers, "max": workers}
        return _job(self._call("POST", "/v1/jobs", body))

    def jobs(self, state: str | None = None) -> Iterator[Job]:
        """My jobs, newest first; only those in `state` if it is given."""
        return map(_job, self._pages("/v1/jobs", {"state": state}))

    def job(self, job: str | Job) -> Job:
        """One of my jobs as it is now."""
        return _job(self._call("GET", _path(job)))

    def why(self, job: str | Job) -> Json:
        """Why a job does not run, and what would help, cheapest first."""
        return self._call("GET", _path(job) + "/why")

    def cancel(self, job: str | Job, reason: str = "") -> Job:
        """Ends a job; what is left of its budget returns."""
        return _job(self._call("POST", _path(job) + "/cancel", {"reason": reason}))

    def wait(self, job: str | Job, timeout_s: float | None = None) -> Job:
        """The job when it has ended, whichever way. Error `unavailable` after `timeout_s`."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = 0.2
        while (now := self.job(job)).live:
            if end is not None and time.monotonic() + pause_s > end:
                raise Error("unavailable", f"job {now.id} is {now.state} after {timeout_s} s")
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, 2.0)
        return now

    def logs(
        self, job: str | Job, worker: int | None = None, follow: bool = False
    ) -> Iterator[LogText]:
        """What the programs of a job printed, tries in the order they began.

        With `follow` it goes on until the job has ended and all is told.
        """
        told: dict[str, int | None] = {}  # Where each try goes on; None at its end.
        while True:
            live = self.job(job).live  # Asked first: what is printed after it is not missed.
            tries = list(self._pages(_path(job) + "/leases", {}))[::-1]
            for lease in tries:
                if worker is None or lease.get("part") == worker:
                    yield from self._log(lease, told)
            if not follow or not (live or any(at is not None for at in told.values())):
                return
            time.sleep(1)

    def _log(self, lease: Json, told: dict[str, int | None]) -> Iterator[LogText]:
        name = lease["id"]
        while (at := told.setdefault(name, 0)) is not None:
            piece = self._call("GET", f"/v1/leases/{quote(name)}/log", query={"from": at or None})
            told[name] = None if piece["ended"] else piece["next"]
            if not piece["text"]:
                return
            yield LogText(name, lease.get("part"), piece["text"])

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Json]:
        after: str | None = None
        while True:
            page = self._call("GET", path, query={**query, "limit": _PAGE, "after": after})
            yield from page["items"]
            after = page.get("next")
            if after is None:
                return

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Json:
        given = {key: value for key, value in (query or {}).items() if value is not None}
        url = self.url + path + (f"?{urlencode(given)}" if given else "")
        headers = {"Accept": "application/json", "User-Agent": f"souk-python/{VERSION}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if method != "GET":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        data = None
        if body is not None:
            data = json.dumps(body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            return self._send(request)
        except Error as error:
            if error.code != "unavailable":
                raise
        # Once more, with the same key: if only the answer was lost, nothing happens twice.
        time.sleep(_RETRY_AFTER_S)
        return self._send(request)

    def _send(self, request: urllib.request.Request) -> Json:
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                text = response.read(_ANSWER_LIMIT + 1)
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise _refusal(refusal.code, refusal.read(_ANSWER_LIMIT)) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise Error("unavailable", f"cannot reach {self.url}: {reason}") from error
        try:
            answer = json.loads(text) if len(text) <= _ANSWER_LIMIT else None
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise Error("internal", f"{self.url} gave no answer of a Souk server")
        return answer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A server of Souk never redirects, and the token is for nobody else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _refusal(status: int, body: bytes) -> Error:
    """The error an answer stands for: application/problem+json."""
    try:
        problem = json.loads(body)
        message = problem["detail"] or problem["title"]
        return Error(
            problem["code"], message, problem.get("hint") or "", problem.get("field") or ""
        )
    except (ValueError, KeyError, TypeError):
        return Error("internal", f"the server answered with status {status}", "is it Souk's?")


def _path(job: str | Job) -> str:
    return f"/v1/jobs/{quote(job.id if isinstance(job, Job) else job, safe='')}"


def _pick(source: Json, *names: str, raw: bool = True) -> Json:
    out = {name: source.get(name) for name in names}
    return {**out, "raw": source} if raw else out


def _job(raw: Json) -> Job:
    return Job(
        slot_class=raw["class"],
        workers=(raw["workers"]["min"], raw["workers"]["max"]),
        **_pick(raw, "id", "name", "state", "reason", "limit", "budget", "spent", "held", "done"),
        ended=raw.get("ended"),
    )
