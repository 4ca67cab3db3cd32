"""Draws 10 winners of 10,000 tickets so that everybody can check that nobody chose them.

python examples/raffle.py [URL]
"""

import json
import os
import secrets
import sys
import tempfile
from pathlib import Path

from riffle import Riffle, verify

riffle = Riffle(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080", token=os.environ.get("RIFFLE_TOKEN"))
tickets = [f"ticket {number:05}" for number in range(1, 10_001)]

# 1. Publish the tickets, and the id of a commitment to a secret seed and to what will be drawn.
commitment = riffle.create_commitment({"items": tickets, "draw": 10, "reference": f"spring raffle {secrets.token_hex(4)}"})

# 2. Take a value that nobody could know by then: here a stand-in for the next round of a public beacon, named in advance.
beacon = secrets.token_hex(32)

# 3. Draw, once. The seed is public from now on.
draw = riffle.shuffle(
    {"commitment_id": commitment["commitment_id"], "items": tickets, "client_seed": f"beacon:{beacon}", "reveal": "now"}
)
print("winners:", ", ".join(draw.get("items", [])))

# 4. Publish what it takes to check the draw, with any of the verifiers, without this service.
folder = Path(tempfile.mkdtemp(prefix="raffle-"))
key, proof = riffle.get_log_key(), riffle.prove_audit(draw["audit_id"])
published = {"tickets.json": tickets, "draw.json": draw, "proof.json": proof}
for name, content in published.items():
    (folder / name).write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
(folder / "key.txt").write_text(key, encoding="utf-8")
print("published in", folder)

# What everybody can do with it. They have the key from somewhere else, such as the rules of the raffle.
verdict = verify(proof, key=key, items=tickets, answer=draw)
print("the draw:", verdict["verdict"])
