#!/usr/bin/env python3
"""Checks that a verifier takes at most ten times the bytes that a text has more than another. The texts are orders that hold much
in few bytes.

  memory.py node riffle.mjs
"""
import json, os, subprocess, sys, tempfile

ORDERS = {  # how an order begins, an element, what is between two, how many of them, and its end
    "short strings": ("[", '"c00001"', ",", 1_200_000, "]"), "digits": ("[", "0", ",", 6_000_000, "]"),
    "empty arrays": ("[", "[]", ",", 2_000_000, "]"), "objects": ("[", '{"id":123,"name":"a player"}', ",", 200_000, "]"),
    "a string of escapes": ('["', r"\n", "", 3_000_000, '"]'),
}


def peak(command, folder, begin, element, between, count, end):
    """The greatest resident memory of a verification of an order, in bytes, and the order's length."""
    path = os.path.join(folder, "order.json")
    with open(path, "w") as file:
        file.write(begin + element)
        for _ in range(count - 1):  # a child counts the memory of its parent as its own
            file.write(between + element)
        file.write(end)
    child = subprocess.Popen([*command, "--order", path, os.path.join(folder, "proof.json")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 1:
        sys.exit(f"{command[-1]}: exit {os.waitstatus_to_exitcode(status)}, want 1 for an order of another length")
    return used.ru_maxrss * 1024, os.path.getsize(path)


def main():
    command, most = sys.argv[1:], 0
    with open("../testdata/riffle1/proofs.json") as file, tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "proof.json"), "w") as proof:
            proof.write(json.load(file)["verdicts"][0]["proof"])
        for name, (begin, element, between, count, end) in ORDERS.items():
            least, short = peak(command, folder, begin, element, between, count // 5, end)
            whole, length = peak(command, folder, begin, element, between, count, end)
            times = (whole - least) / (length - short)
            most = max(most, times)
            print(f"{command[-1]}: an order of {length:,} bytes, {name}, takes {times:.1f} times as much memory")
    sys.exit(most > 10)


main()
