"""Builds a mahjong wall from the service's seed and one of each player, so that no one of them can have chosen it.

python examples/mahjong.py [URL]
"""

import hashlib
import os
import secrets
import sys

from riffle import Riffle, verify

riffle = Riffle(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080", token=os.environ.get("RIFFLE_TOKEN"))

# Each player chooses a seed, and sends a hash of it first.
seeds = {name: secrets.token_hex(16) for name in ("East", "South", "West", "North")}
hashes = {name: hashlib.sha256(f"{name}\n{seed}".encode()).hexdigest() for name, seed in seeds.items()}

# The service commits to its seed, and the commitment has the hashes. All players can see that before they show their seeds.
commitment = riffle.create_commitment({"deck": "mahjong136", "hands": "mahjong", "players": hashes})

wall = riffle.shuffle({"commitment_id": commitment["commitment_id"], "player_seeds": seeds})
for name, hand in zip(seeds, wall.get("hands", [])):
    print(f"{name:5} {' '.join(sorted(hand))}")  # to this player only
print("tiles left in the wall:", len(wall.get("rest", [])))

# After the game the seed is made public, and each player checks the wall, and with it that the seeds of all are in it.
riffle.reveal_audit(wall["audit_id"], {"seed": wall["seed"]})
proof = riffle.prove_audit(wall["audit_id"])
verdict = verify(proof, key=riffle.get_log_key(), answer=wall)
print("the wall:", verdict["verdict"])
print("the commitment:", next(step["text"] for step in verdict["steps"] if step["name"] == "committed"))
