"""The client: how requests are sent, repeated and answered."""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import random
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from . import types as t
from .operations import AsyncOperations, Operations

_GO_AWAY = (429, 500, 502, 503, 504)


class RiffleError(Exception):
    """The service answered with an error, and if it was one that goes away, still did when the client's patience ended.

    ``problem`` is the problem document. Rely on its status and on the pointers in its errors; the texts may change.
    """

    def __init__(self, problem: t.Problem) -> None:
        super().__init__(f"{problem['status']} {problem['title']}: {problem['detail']}")
        self.problem = problem

    @property
    def status(self) -> int:
        return self.problem["status"]


class UnreachableError(ConnectionError):
    """The service gave no answer, and still did not when the client's patience ended.

    ``__cause__`` is what the last attempt failed with, and ``timed_out`` says whether the service was silent for too long. A
    request that writes may have been carried out: the same key asks for its answer.
    """

    def __init__(self, attempts: int, cause: Exception) -> None:
        super().__init__(f"no answer after {attempts} {'attempt' if attempts == 1 else 'attempts'}: {str(cause) or type(cause).__name__}")
        self.attempts, self.timed_out = attempts, isinstance(cause, TimeoutError)


@dataclass(frozen=True)
class Attempt:
    """A request that is sent: the first of a call, or a repetition."""

    operation: str
    """The method of the client, such as draw_cards."""
    method: str
    path: str
    headers: dict[str, str]
    """What is sent. It can still be changed. It has the token and the key: keep both out of logs."""
    number: int
    """From 1 on."""


@dataclass(frozen=True)
class Outcome(Attempt):
    """What came of an attempt: a status, or an error."""

    status: int | None
    error: Exception | None
    seconds: float
    retry_in: float | None
    """In how many seconds the request is repeated, if it is."""


class _Answer:
    """An answer whose body has been read."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.reason, self.response = response.status, response.reason, response
        self.kind = response.headers.get_content_type()
        self.body = response.read()

    def goes_away(self) -> bool:
        """Reports whether the same request may be answered otherwise later.

        Of all conflicts only that with a request in flight has Retry-After.
        """
        return self.status in _GO_AWAY or self.status == 409 and "Retry-After" in self.response.headers

    def retry_after(self) -> float:
        seconds = self.response.headers.get("Retry-After", "")
        return float(seconds) if seconds.isdecimal() else 0

    def value(self) -> Any:
        """Returns the body, or raises the error that it describes."""
        if self.status >= 300 or self.kind == "text/html":
            raise RiffleError(self._problem())
        if self.kind == "application/json":
            return json.loads(self.body)
        return self.body if self.kind in ("application/octet-stream", "image/png") else self.body.decode()

    def _problem(self) -> t.Problem:
        if self.kind == "application/problem+json":
            try:
                problem = json.loads(self.body)
            except ValueError:
                problem = None
            if isinstance(problem, dict) and {"status", "title", "detail"} <= problem.keys():
                return cast(t.Problem, problem)
        place = self.response.headers.get("Location")
        shown = f"a redirect to {place}" if place else self.body[:200].decode(errors="replace")
        detail = f"This is no answer of the service: {shown}"
        return {"type": "about:blank", "title": self.reason, "status": self.status, "detail": detail}


class Riffle(Operations):
    """A client of the service, which threads can share.

    The base URL may have a path, where a proxy has one. ``token`` is for a service that asks for one. Each request that
    writes a record has an Idempotency-Key, its own unless the caller sets one, and is repeated with it until it is
    answered, or for ``patience`` seconds, so that it is carried out once. Keys are as secret as seeds. ``timeout`` is the number of seconds that the service may be silent in an attempt.

    ``on_request`` is called before each attempt and ``on_response`` after it; what they raise ends the call.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        patience: float = 60,
        timeout: float = 60,
        on_request: Callable[[Attempt], object] | None = None,
        on_response: Callable[[Outcome], object] | None = None,
    ) -> None:
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"base_url is {base_url!r}, and has to be a URL such as https://riffle.example")
        self._kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._prefix = url.hostname, url.port, url.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._patience, self._timeout = patience, timeout
        self._on_request, self._on_response = on_request, on_response
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Riffle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are open. The client can still be used."""
        with self._lock:
            idle = self._idle[:]
            self._idle.clear()
        for connection in idle:
            connection.close()

    def with_options(self, *, patience: float | None = None, timeout: float | None = None) -> Riffle:
        """Returns a client with other bounds for some calls, which shares the connections of this one."""
        other = copy.copy(self)
        other._patience = self._patience if patience is None else patience
        other._timeout = self._timeout if timeout is None else timeout
        return other

    def _call(self, operation: str, method: str, path: str, **parts: Any) -> Any:
        return self._send(operation, method, path, **parts)[0].value()

    def _send(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: object = None,
    ) -> tuple[_Answer, http.client.HTTPConnection]:
        """Sends a request until it is answered with something that would not change, or patience ends."""
        target = self._prefix + path + _query(query or {})
        fields = self._headers | {name: value for name, value in (headers or {}).items() if value is not None}
        if headers and "Idempotency-Key" in headers:  # the operation writes a record
            fields.setdefault("Idempotency-Key", secrets.token_hex(16))
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            fields["Content-Type"] = "application/json"
        deadline, backoff, number = time.monotonic() + self._patience, 0.1, 1
        while True:
            attempt = Attempt(operation, method, target, dict(fields), number)
            if self._on_request is not None:
                self._on_request(attempt)
            answer, connection, error, began = None, None, None, time.monotonic()
            try:
                answer, connection = self._attempt(method, target, data, attempt.headers)
            except (OSError, http.client.HTTPException) as failure:
                error = failure
            now, wait = time.monotonic(), max(backoff * random.uniform(0.5, 1), answer.retry_after() if answer else 0)
            last = answer is not None and not answer.goes_away() or now + wait > deadline
            if self._on_response is not None:
                status, retry_in = answer.status if answer else None, None if last else wait
                self._on_response(Outcome(operation, method, target, attempt.headers, number, status, error, now - began, retry_in))
            if last:
                if answer is not None and connection is not None:
                    return answer, connection
                raise UnreachableError(number, error or AssertionError()) from error
            time.sleep(wait)
            backoff, number = min(2 * backoff, 5), number + 1

    def _attempt(
        self, method: str, target: str, data: bytes | None, fields: Mapping[str, str]
    ) -> tuple[_Answer, http.client.HTTPConnection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            connection.timeout = self._timeout
            if connection.sock is not None:
                connection.sock.settimeout(self._timeout)
            try:
                return self._ask(connection, method, target, data, fields)
            except (ConnectionError, http.client.BadStatusLine):
                pass  # the service had closed it meanwhile
        return self._ask(self._kind(self._host, self._port, timeout=self._timeout), method, target, data, fields)

    def _ask(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        data: bytes | None,
        fields: Mapping[str, str],
    ) -> tuple[_Answer, http.client.HTTPConnection]:
        try:
            connection.request(method, target, data, dict(fields))
            answer = _Answer(connection.getresponse())
        except BaseException:
            connection.close()
            raise
        if connection.sock is not None:
            with self._lock:
                self._idle.append(connection)
        return answer, connection


class AsyncRiffle(AsyncOperations):
    """A client for asyncio, which takes the same arguments as :class:`Riffle`.

    Each call waits in a thread of the event loop's executor, in which the hooks are called as well. To cancel a call
    stops waiting for it, and not the request: a record that it writes may still be written, so choose the
    ``idempotency_key`` yourself if you may have to ask again.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        patience: float = 60,
        timeout: float = 60,
        on_request: Callable[[Attempt], object] | None = None,
        on_response: Callable[[Outcome], object] | None = None,
    ) -> None:
        self._riffle = Riffle(
            base_url, token=token, patience=patience, timeout=timeout, on_request=on_request, on_response=on_response
        )

    async def __aenter__(self) -> AsyncRiffle:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._riffle.close()

    def with_options(self, *, patience: float | None = None, timeout: float | None = None) -> AsyncRiffle:
        """Returns a client with other bounds for some calls, which shares the connections of this one."""
        other = copy.copy(self)
        other._riffle = self._riffle.with_options(patience=patience, timeout=timeout)
        return other

    async def _call(self, operation: str, method: str, path: str, **parts: Any) -> Any:
        return await asyncio.to_thread(self._riffle._call, operation, method, path, **parts)  # pyright: ignore[reportPrivateUsage]


def _query(members: Mapping[str, object]) -> str:
    """Returns a query of the members that are not None."""
    texts = {True: "true", False: "false"}
    pairs = [(name, texts[value] if isinstance(value, bool) else value) for name, value in members.items() if value is not None]
    return "?" + urlencode(pairs) if pairs else ""
