"""Runs clients/scenarios.json against the service at RIFFLE_URL, once plainly and once with asyncio. `go test ./clients`
starts it. What bounds retries is tested without it."""

import asyncio
import json
import os
import re
import unittest
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import sleep
from typing import Any

from riffle import AsyncRiffle, Attempt, Outcome, Riffle, RiffleError, UnreachableError, deal, draw, pick, verify, verify_deal

with open(os.environ["RIFFLE_SCENARIOS"], encoding="utf-8") as file:
    SCENARIOS = json.load(file)["scenarios"]


class Waiting:
    """An AsyncRiffle with a Riffle's methods."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.riffle = AsyncRiffle(*arguments, **named)

    def __getattr__(self, operation: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            return asyncio.run(getattr(self.riffle, operation)(*arguments, **named))

        return call


def at(value: Any, path: str) -> Any:
    for name in path.split(".") if path else []:
        if isinstance(value, list):
            value = len(value) if name == "length" else value[int(name)]
        else:
            value = value.get(name)
    return value


def call(riffle: Any, step: dict[str, Any]) -> Any:
    if given := step.get("verify"):
        return verify(given.pop("proof"), **given)
    named = dict(step.get("query", {}))
    if "key" in step:
        named["idempotency_key"] = step["key"]
    if "if_match" in step:
        named["if_match"] = step["if_match"]
    operation = re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), step["operation"])
    body = [step["body"]] if "body" in step else []
    return getattr(riffle, operation)(*step.get("path", {}).values(), *body, **named)


def fill(value: Any, saved: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("$"):
        return saved[value[1:]]
    if isinstance(value, list):
        return [fill(element, saved) for element in value]
    return {name: fill(member, saved) for name, member in value.items()} if isinstance(value, dict) else value


class Scenarios(unittest.TestCase):
    def play(self, kind: Any, scenario: dict[str, Any]) -> None:
        saved = {name: str(uuid.uuid4()) for name in scenario.get("random", [])}
        base, faults = os.environ["RIFFLE_URL"], scenario.get("faults")
        if faults:
            base += f"/faults/{uuid.uuid4()}/{','.join(faults)}"
        token = os.environ.get(f"RIFFLE_TOKEN_{scenario.get('token', 'table').upper()}")
        riffle = kind(base, token=token, patience=scenario.get("patience", 60))
        for step in scenario["steps"]:
            step = fill(step, saved)
            expect = step.get("problem", step.get("reference", step.get("expect", {})))  # what only the reference says of a proof
            if "problem" in step:
                with self.assertRaises(RiffleError) as raised:
                    call(riffle, step)
                result: Any = raised.exception.problem
            else:
                with ThreadPoolExecutor(step.get("at_once", 1)) as threads:
                    result, *others = threads.map(lambda _: call(riffle, step), range(step.get("at_once", 1)))
                for other in others:
                    self.assertEqual(other, result)
            for path, want in expect.items():
                self.assertEqual(at(result, path), want, f"{step.get('operation')}: {path}")
            saved.update({name: at(result, path) for name, path in step.get("save", {}).items()})

    def test_scenarios(self) -> None:
        plays = [(kind, scenario) for kind in (Riffle, Waiting) for scenario in SCENARIOS]
        with ThreadPoolExecutor(len(plays)) as threads:
            played = [(kind, scenario, threads.submit(self.play, kind, scenario)) for kind, scenario in plays]
        for kind, scenario, outcome in played:
            with self.subTest(f"{kind.__name__}: {scenario['name']}"):
                outcome.result()


class Games(unittest.TestCase):
    def test_a_game_is_dealt_by_name(self) -> None:
        riffle = Riffle(os.environ["RIFFLE_URL"], token=os.environ.get("RIFFLE_TOKEN_TABLE"))
        key = str(uuid.uuid4())
        dealt = deal(riffle, "standard52", "holdem", 6, key=key, reveal="now")
        self.assertEqual([len(hand) for hand in dealt.players], [2] * 6)
        self.assertEqual({name: len(cards) for name, cards in dealt.parts.items()}, {"burn": 3, "flop": 3, "turn": 1, "river": 1})
        self.assertEqual(dealt.board, dealt.parts["flop"] + dealt.parts["turn"] + dealt.parts["river"])
        self.assertEqual(len(dealt.rest), 32)
        self.assertEqual(deal(riffle, "standard52", "holdem", 6, key=key, reveal="now"), dealt)
        self.assertEqual(verify_deal(riffle, dealt, riffle.get_log_key())["verdict"], "verified")
        self.assertEqual(len(deal(riffle, "werewolf", "werewolf", 8).players), 8)
        self.assertEqual(len(draw(riffle, riffle.create_shoe({"deck": "standard52"})["shoe_id"], 3)), 3)
        self.assertIn(pick(riffle, ["ann", "bob"])[0], (["ann"], ["bob"]))

    def test_lists_are_read_page_after_page(self) -> None:
        url, token = os.environ["RIFFLE_URL"], os.environ.get("RIFFLE_TOKEN_TABLE")
        riffle, reference = Riffle(url, token=token), str(uuid.uuid4())
        ids = [riffle.shuffle({"size": 2, "reference": reference})["audit_id"] for _ in range(5)]
        self.assertEqual([audit["audit_id"] for audit in riffle.all_audits(reference=reference, limit=2)], ids)

        async def read() -> list[str]:
            return [audit["audit_id"] async for audit in AsyncRiffle(url, token=token).all_audits(reference=reference, limit=2)]

        self.assertEqual(asyncio.run(read()), ids)
        riffle.create_commitment({"size": 2})
        self.assertTrue({"open"}.issuperset(c["status"] for c in riffle.all_commitments(status="open", limit=1)))


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(handler: type[Quiet]) -> Iterator[str]:
    """Serves with a handler, and yields the URL."""
    server = ThreadingHTTPServer(("localhost", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Bounds(unittest.TestCase):
    def test_a_retry_after_beyond_the_patience_is_not_waited_for(self) -> None:
        asked: list[str] = []

        class Busy(Quiet):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(503)
                self.send_header("Retry-After", "3600")
                self.end_headers()

        with serving(Busy) as url, self.assertRaises(RiffleError) as raised:
            Riffle(url).list_decks()
        self.assertEqual((raised.exception.status, asked), (503, ["/decks"]))

    def test_a_failing_network_is_an_error_of_its_own_when_patience_ends(self) -> None:
        with self.assertRaisesRegex(UnreachableError, "^no answer after 1 attempt: .") as raised:
            Riffle("http://localhost:1", patience=0).shuffle({"size": 2})
        self.assertIsInstance(raised.exception.__cause__, OSError)
        self.assertFalse(raised.exception.timed_out)

    def test_a_silent_service_is_given_up(self) -> None:
        class Slow(Quiet):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "13")
                self.end_headers()
                self.wfile.write(b'{"decks":')
                sleep(0.3)
                self.wfile.write(b" []}")

        with serving(Slow) as url:
            riffle = Riffle(url, patience=0)
            self.assertEqual(riffle.list_decks(), {"decks": []})
            hurried, waiting = riffle.with_options(timeout=0.05), AsyncRiffle(url, patience=0).with_options(timeout=0.05)
            for ask in (hurried.list_decks, lambda: asyncio.run(waiting.list_decks())):
                with self.assertRaises(UnreachableError) as raised:
                    ask()
                self.assertTrue(raised.exception.timed_out)

    def test_hooks_see_every_attempt_and_can_set_its_headers(self) -> None:
        traced: list[str | None] = []

        class Failing(Quiet):
            def do_POST(self) -> None:
                traced.append(self.headers["traceparent"])
                self.rfile.read(int(self.headers["Content-Length"]))
                if len(traced) > 1:
                    self.send_response(503 if len(traced) == 2 else 200)
                    self.end_headers()

        def trace(attempt: Attempt) -> None:
            attempt.headers["traceparent"] = f"trace-{attempt.number}"

        seen: list[Outcome] = []
        with serving(Failing) as url:
            Riffle(url, on_request=trace, on_response=seen.append).draw_cards("my shoe", {"count": 1})
        self.assertEqual(traced, ["trace-1", "trace-2", "trace-3"])
        self.assertEqual({(o.operation, o.method, o.path, o.seconds >= 0) for o in seen}, {("draw_cards", "POST", "/shoes/my%20shoe/draw", True)})
        self.assertEqual(
            [(o.number, o.status, o.error is None, o.retry_in is None) for o in seen],
            [(1, None, False, False), (2, 503, True, False), (3, 200, True, True)],
        )

    def test_what_others_answer_in_place_of_the_service_is_an_error_that_shows_it(self) -> None:
        page, problem = "<h1>Log in</h1>", "application/problem+json"
        for body, status, fields, shown in (
            (page, 200, {"Content-Type": "text/html"}, page),
            ('{"detail": ', 422, {"Content-Type": problem}, '{"detail": '),
            ("null", 422, {"Content-Type": problem}, "null"),
            ('{"detail": "no"}', 422, {"Content-Type": problem}, '{"detail": "no"}'),
            ('{"message": "no route"}', 404, {"Content-Type": "application/json"}, '{"message": "no route"}'),
            ("", 301, {"Location": "https://riffle.example/decks"}, "a redirect to https://riffle.example/decks"),
        ):

            class Other(Quiet):
                def do_GET(self) -> None:
                    self.send_response(status)
                    for name, value in fields.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body.encode())

            with serving(Other) as url:
                for ask in (lambda: Riffle(url).list_decks(), lambda: Riffle(url).prove_shoe("x")):
                    with self.assertRaises(RiffleError) as raised:
                        ask()
                    self.assertEqual((raised.exception.status, raised.exception.problem["detail"]), (status, "This is no answer of the service: " + shown))

    def test_a_base_url_that_is_none(self) -> None:
        with self.assertRaisesRegex(ValueError, "localhost:8080"):
            Riffle("localhost:8080")


if __name__ == "__main__":
    unittest.main()
