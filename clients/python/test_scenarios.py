"""Runs clients/scenarios.json against the service at RIFFLE_URL, once plainly and once with asyncio. `go test ./clients`
starts it. What bounds retries is tested without it."""

import asyncio
import json
import os
import re
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

from riffle import AsyncRiffle, Riffle, RiffleError, deal, draw, pick, verify, verify_deal

with open(os.environ["RIFFLE_SCENARIOS"], encoding="utf-8") as file:
    SCENARIOS = json.load(file)["scenarios"]


class Waiting:
    """An AsyncRiffle with a Riffle's methods."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.riffle = AsyncRiffle(*arguments, **named)

    def __getattr__(self, operation: str) -> Any:
        async def collect(lines: Any) -> list[Any]:
            return [line async for line in lines]

        def call(*arguments: Any, **named: Any) -> Any:
            answer = getattr(self.riffle, operation)(*arguments, **named)
            return asyncio.run(collect(answer) if hasattr(answer, "__aiter__") else answer)

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
        files = [proof for file in given.pop("files") for proof in (file if isinstance(file, list) else [file])]
        return verify(files, **given)
    named = dict(step.get("query", {}))
    if "key" in step:
        named["idempotency_key"] = step["key"]
    if "if_match" in step:
        named["if_match"] = step["if_match"]
    operation = re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), step["operation"])
    body = [step["body"]] if "body" in step else []
    answer = getattr(riffle, operation)(*step.get("path", {}).values(), *body, **named)
    return list(answer) if step.get("stream") else answer


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
        if "log" in scenario:
            base += f"/logs/{scenario['log']}"
        token = os.environ.get(f"RIFFLE_TOKEN_{scenario.get('token', 'table').upper()}")
        riffle = kind(base, token=token, patience=scenario.get("patience", 60))
        for step in scenario["steps"]:
            step = fill(step, saved)
            expect = step.get("problem", step.get("expect", {}))
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


class Bounds(unittest.TestCase):
    def test_a_retry_after_beyond_the_patience_is_not_waited_for(self) -> None:
        asked: list[str] = []

        class Busy(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(503)
                self.send_header("Retry-After", "3600")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = HTTPServer(("localhost", 0), Busy)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            with self.assertRaises(RiffleError) as raised:
                Riffle(f"http://localhost:{server.server_port}").list_decks()
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.assertEqual((raised.exception.status, asked), (503, ["/decks"]))

    def test_a_failing_network_is_the_error_when_patience_ends(self) -> None:
        with self.assertRaises(OSError):
            Riffle("http://localhost:1", patience=0).shuffle({"size": 2})

    def test_a_base_url_that_is_none(self) -> None:
        with self.assertRaisesRegex(ValueError, "localhost:8080"):
            Riffle("localhost:8080")


if __name__ == "__main__":
    unittest.main()
