#!/usr/bin/env python3
"""Checks that a verifier takes at most ten times the bytes of a text, beside what it takes for a short one. The text is an order
of a million and a half short strings, as a list of entries has them.

  memory.py node riffle.mjs
"""
import json, os, subprocess, sys, tempfile

STRINGS = 1_500_000


def peak(command, folder, strings):
    """The greatest resident memory of a verification of an order of so many strings, in bytes, and the order's length."""
    path = os.path.join(folder, "order.json")
    with open(path, "w") as file:
        json.dump([f"c{i % 100_000:05}" for i in range(strings)], file, separators=(",", ":"))
    child = subprocess.Popen([*command, "--order", path, os.path.join(folder, "proof.json")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 1:
        sys.exit(f"{command[-1]}: exit {os.waitstatus_to_exitcode(status)}, want 1 for an order of another length")
    return used.ru_maxrss * 1024, os.path.getsize(path)


def main():
    command = sys.argv[1:]
    with open("../testdata/riffle1/proofs.json") as file, tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "proof.json"), "w") as proof:
            proof.write(json.load(file)["proofs"][0]["proof"])
        own, _ = peak(command, folder, 1)
        whole, length = peak(command, folder, STRINGS)
    times = (whole - own) / length
    print(f"{command[-1]}: an order of {length:,} bytes takes {times:.1f} times as much memory")
    sys.exit(times > 10)


main()
