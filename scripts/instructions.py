"""Runs the subjects of islet-bench under callgrind, and compares the instructions of an operation with recorded ones.

Each operation is done N times and 2 N times, each in a region of its own that callgrind writes down separately; the
difference over N is what one operation costs, without the start of the process or of the region. Seeds and hashes are
fixed, so that a count is the same on every run, but for a few instructions where threads wait for one another.

A record follows what the code costs; a ceiling does not. `--record` leaves the ceilings as they are and refuses a count
above one, so that many small steps upwards cannot pass: who raises a ceiling edits it by hand, where a reviewer sees it.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / ".build" / "instructions"
RECORD = ROOT / "scripts" / "instructions.json"
SUBJECTS = ["partition", "index", "machine", "codec", "journal", "scanner", "wheel"]  # the longest first
LIMIT = 0.10  # as much more fails, as much less is to be recorded
MORE_ALLOCATIONS = 0.1  # calls for memory by an operation, beyond what memory grows by now and then
EXCUSE = "ISLET_INSTRUCTIONS_EXCUSE"  # why CI may pass with other versions than recorded


def run(words, **options):
    words = [str(word) for word in words]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, **options).stdout


def conditions():
    """What the counts depend on beside the code: with others, there is nothing to compare."""
    swift = re.search(r"Swift version (\S+)", run(["swift", "--version"], stderr=subprocess.DEVNULL))
    sqlite = run(["dpkg-query", "-W", "-f=${Version}", "libsqlite3-0"]) if shutil.which("dpkg-query") else "unknown"
    return {
        "swift": swift.group(1) if swift else "unknown", "machine": platform.machine(),
        "libc": "-".join(platform.libc_ver()), "sqlite": sqlite.split("-")[0],
    }


def regions(subject):
    """The regions of a subject, as it tells of them, each with the file that callgrind wrote of it."""
    for old in WORK.glob(f"{subject}.out*"):
        old.unlink()
    printed = run(
        ["valgrind", "-q", "--tool=callgrind", "--zero-before=measured_region_begins",
         "--dump-before=measured_region_ends", f"--callgrind-out-file={WORK}/{subject}.out", WORK / "islet-bench",
         subject, "--regions"],
        env={**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1", "SWIFT_BACKTRACE": "enable=no"})
    told = [json.loads(line) for line in printed.splitlines()]
    for number, region in enumerate(told, 1):
        region["file"] = WORK / f"{subject}.out.{number}"
    return told


def measure(subject):
    """Instructions and calls for memory of each operation of a subject, by name."""
    told = regions(subject)
    third = len(told) // 3  # the first rounds' only warm up
    measured = {}
    for once, twice in zip(told[third:2 * third], told[2 * third:]):
        extra = twice["count"] - once["count"]
        instructions = (total(twice["file"]) - total(once["file"])) / extra
        measured[f"{subject}.{once['name']}"] = {
            "instructions": round(instructions, 1),
            "allocations": round((twice["allocations"] - once["allocations"]) / extra, 2),
        }
    return measured


def total(path):
    """What was counted in a region: the second of the two sums in a file has more in it than the region."""
    return int(re.search(r"^summary: (\d+)$", path.read_text(errors="replace"), re.MULTILINE).group(1))


def measure_all(subjects):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        parts = dict(zip(subjects, pool.map(measure, subjects)))
    return {name: found for subject in sorted(parts) for name, found in parts[subject].items()}


def compare(measured, recorded, subjects):
    """Prints a line for each operation; gives how many are worse, and how many are better than recorded."""
    worse = better = 0
    print(f"{'':38}{'instructions':>13}{'recorded':>10}{'':>9}{'allocations':>13}")
    for name in sorted(measured.keys() | {name for name in recorded if name.split(".")[0] in subjects}):
        if name not in measured or name not in recorded:
            where = "measured any more" if name not in measured else "recorded"
            print(f"FAILED {name} is not {where}: scripts/instructions --record")
            worse += 1
            continue
        found, known = measured[name], recorded[name]
        change = found["instructions"] / known["instructions"] - 1
        allocations = found["allocations"] - known["allocations"]
        print(f"{name:38}{found['instructions']:13,.1f}{known['instructions']:10,.1f}{change:+9.1%}"
              f"{found['allocations']:13.2f}")
        if change > LIMIT or allocations > MORE_ALLOCATIONS:
            print(f"FAILED {name}: {found['instructions']:,.1f} instructions and {found['allocations']} calls for "
                  f"memory, {known['instructions']:,.1f} and {known['allocations']} were recorded")
            worse += 1
        elif change < -LIMIT:
            better += 1
    return worse, better


def above(measured, ceilings):
    """Prints what costs more than it ever may, or has no ceiling; gives how many."""
    wrong = 0
    for name, found in sorted(measured.items()):
        if name not in ceilings:
            print(f"FAILED {name} has no ceiling: add one to scripts/{RECORD.name}")
        elif found["instructions"] > ceilings[name]:
            print(f"FAILED {name}: {found['instructions']:,.1f} instructions are above its ceiling of {ceilings[name]:,}")
        else:
            continue
        wrong += 1
    return wrong


def record(measured, recorded, found):
    """Writes the record, with what was not measured now as it was, and the ceilings as they are."""
    operations = {**(recorded["operations"] if recorded["conditions"] == found else {}), **measured}
    RECORD.write_text('{\n  "conditions": ' + json.dumps(found) + ',\n  "operations": {\n' + members(operations)
                      + '\n  },\n  "ceilings": {\n' + members(recorded["ceilings"]) + "\n  }\n}\n")


def members(values):
    return ",\n".join(f"    {json.dumps(name)}: {json.dumps(values[name])}" for name in sorted(values))


def judge(measured, recorded, found, subjects, environment):
    """Prints what is to be said of the counts; gives the exit code."""
    wrong = above(measured, recorded["ceilings"])
    if found != recorded["conditions"]:
        print(f"recorded with {recorded['conditions']}, this is {found}: the counts are held against the ceilings alone")
        excuse = environment.get(EXCUSE)
        if environment.get("CI") and not excuse:
            print(f"FAILED nothing was compared: scripts/instructions --record, or say why not in {EXCUSE}")
            wrong += 1
        print(f"instructions: {len(measured)} operations, {wrong} above their ceilings, others than recorded"
              + (f" ({excuse})" if excuse else ""))
        return 1 if wrong else 0
    worse, better = compare(measured, recorded["operations"], subjects)
    if better:
        print(f"{better} take more than {LIMIT:.0%} less than recorded: scripts/instructions --record keeps it so")
    print(f"instructions: {len(measured)} operations, {worse + wrong} worse, {better} better than recorded")
    return 1 if worse or wrong else 0


def profile(name):
    """The functions that take most of an operation: their own instructions, without their callees', and calls."""
    subject, _, operation = name.partition(".")
    told = [region for region in regions(subject) if region["name"] == operation]
    if not told:
        sys.exit(f"error: no operation '{name}'")
    names, costs, calls = {}, collections.Counter(), collections.Counter()
    function = called = None
    is_call = False
    for line in told[-1]["file"].read_text(errors="replace").splitlines():
        if found := re.fullmatch(r"(c?fn)=\((\d+)\)(?: (.*))?", line):
            kind, number, text = found.groups()
            if text:
                names[number] = text
            if kind == "fn":
                function = number
            else:
                called = number
        elif line.startswith("calls="):
            calls[called] += int(line[6:].split()[0])
            is_call = True
        elif line[:1] in "+-*0123456789" and len(words := line.split()) == 2:
            # The line after a call has what the callee cost.
            if not is_call:
                costs[function] += int(words[1])
            is_call = False
    top = costs.most_common(60)
    plain = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names.get(number, "?") for number, _ in top),
        stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    count = told[-1]["count"]
    print(f"{name}: {total(told[-1]['file']) / count:,.1f} instructions\n{'own':>9}{'calls':>9}")
    for (number, cost), text in zip(top, plain):
        print(f"{cost / count:9,.1f}{calls[number] / count:9.2f}  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--record", action="store_true", help="the counts are the ones to compare with from now on")
    parser.add_argument("--profile", metavar="NAME", help="the costliest functions of one operation")
    options = parser.parse_args()
    if unknown := set(options.subjects) - set(SUBJECTS):
        parser.error(f"no subject '{unknown.pop()}'")
    if options.profile:
        return profile(options.profile)

    subjects = options.subjects or SUBJECTS
    measured = measure_all([subject for subject in SUBJECTS if subject in subjects])
    recorded = {"conditions": {}, "operations": {}, "ceilings": {}, **json.loads(RECORD.read_text())}
    found = conditions()
    if not options.record:
        return judge(measured, recorded, found, subjects, os.environ)
    compare(measured, recorded["operations"], subjects)
    if above(measured, recorded["ceilings"]):
        return 1
    record(measured, recorded, found)
    print(f"instructions: {len(measured)} operations recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
