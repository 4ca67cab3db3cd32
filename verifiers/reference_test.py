"""Runs the reference verifier over all vectors: python3 verifiers/reference_test.py"""
import collections, json, pathlib, sys
import reference

DATA = pathlib.Path(__file__).parent.parent / "testdata" / "riffle1"
INPUTS = ("proof", "key", "answer", "order", "hand", "hand_of", "items", "salt", "policy")


def unknown(vector):
    """What this vector needs that the reference does not know, or None."""
    if "policy" in vector:
        return "policy"
    try:
        file = reference.read_file(vector["proof"])
        record = {"kind": "shoe"} if "shoe" in file else json.loads(file["record"])
        if record["kind"] not in reference.REQUIRED:
            return "shoe or unknown kind"
        if "beacon" in json.dumps([record, file.get("commitment_proof")]):
            return "beacon"
        if record.get("input", "").startswith("deck") and "items" not in vector:
            return "cards of a deck" if {"answer", "order", "hand"} & set(vector) else None
    except (ValueError, KeyError, TypeError, AttributeError, reference.Wrong):
        return None


def run():
    equal, replayed, faults, lacking = 0, 0, [], collections.Counter()
    for name in "proofs salted shoes verdicts fuzzed witnesses books beacons players".split():
        for vector in json.loads((DATA / f"{name}.json").read_text())["verdicts"]:
            got = reference.verify(**{i: vector[i] for i in INPUTS if i in vector})
            wrong = [step["name"] for step in got["steps"] if step["ok"] is False]
            if got["verdict"] == vector["verdict"] and (not wrong or wrong == [vector["step"]]):
                equal += 1
            elif got["verdict"] == "unchecked" and unknown(vector):
                lacking[unknown(vector)] += 1
            else:
                faults.append(f"{name}: {vector['name']}: {got['headline']}, not {vector['verdict']}")
    for vector in json.loads((DATA / "vectors.json").read_text())["vectors"]:
        record = reference.read_record(vector["record"])
        n, m, keys = record["size"], record["draw"], reference.derive_keys(record, vector["seed"])
        streams = [reference.keystream(keys, number) for number in range(record["repeat"])]
        orders = [reference.shuffled(record["algorithm"], n, m, stream) for stream in streams]
        text = "".join(json.dumps(order, separators=(",", ":")) + "\n" for order in orders)
        good = ([[key.hex() for key in keys], reference.sha256(text.encode()).hex(), reference.blocks_needed(n, m)] ==
                [vector["keys"], vector["orders_sha256"], vector["blocks"]])
        replayed += good
        faults += [] if good else [f"vectors: {vector['name']} does not replay"]
    for vector in json.loads((DATA / "invalid.json").read_text())["invalid"]:
        try:
            record = reference.read_record(vector["record"])
            reference.need(record["kind"] == "shuffle", "record", "another kind")
            faults.append(f"invalid: {vector['name']}: {reference.derive_keys(record, vector['seed'])}")
        except reference.Wrong as wrong:
            faults += [] if wrong.args[0] == vector["step"] else [f"invalid: {vector['name']}: {wrong}"]
    print(*faults, f"{equal} equal, {replayed} replay; unchecked for want of: {dict(lacking)}", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(run())
