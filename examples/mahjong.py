"""Builds a mahjong wall from the service's seed and one of each player, so that no one of them can have chosen it.

python examples/mahjong.py [URL]
"""

import hashlib
import os
import secrets
import sys

from riffle import Riffle, verify


def fingerprint(name: str, seed: str) -> str:
    return hashlib.sha256(f"{name}\n{seed}".encode()).hexdigest()


def join(seeds: dict[str, str]) -> str:
    """The joining rule of docs/spec.md, "Client seeds of several players"."""
    text = " ".join(f"{name}:{seed}" for name, seed in sorted(seeds.items()))
    return text if len(text) <= 256 else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


riffle = Riffle(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080", token=os.environ.get("RIFFLE_TOKEN"))

# The service commits to its seed. All players can see that before they give theirs away.
commitment = riffle.create_commitment({"deck": "mahjong136", "hands": "mahjong"})
committed = riffle.prove_audit(commitment["commitment_id"])

# Each player chooses a seed and sends its fingerprint first, so that the last one to show a seed cannot react to the others.
chosen = {name: secrets.token_hex(16) for name in ("East", "South", "West", "North")}
fingerprints = {name: fingerprint(name, seed) for name, seed in chosen.items()}

# When all fingerprints are there, the players show their seeds, and the table checks them.
for name, seed in chosen.items():
    if fingerprint(name, seed) != fingerprints[name]:
        raise SystemExit(f"{name} shows another seed than the one of the fingerprint")
client_seed = join(chosen)

wall = riffle.shuffle({"commitment_id": commitment["commitment_id"], "client_seed": client_seed})
for name, hand in zip(chosen, wall.get("hands", [])):
    print(f"{name:5} {' '.join(sorted(hand))}")  # to this player only
print("tiles left in the wall:", len(wall.get("rest", [])))

# After the game the seed is made public, and each player checks the wall and that the own seed is in it.
riffle.reveal_audit(wall["audit_id"], {"seed": wall["seed"]})
proof = riffle.prove_audit(wall["audit_id"])
tiles = [tile["code"] for tile in riffle.list_cards("mahjong136")["cards"]]
verdict = verify([committed, proof], key=riffle.get_log_key(), items=tiles, order=wall)
print("the wall:", verdict["verdict"], "with the seeds of all:", proof["client_seed"] == client_seed)
