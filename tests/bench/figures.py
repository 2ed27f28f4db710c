#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the benchmark measures, what was measured last, and where people read it.

    tests/bench/figures.py --write | --check

Figures that stand in README files were put there by what measured them, between two lines that say so: tests/bench/run
--write keeps each figure that it measured in figures.json, with the day, and tests/bench/instructions --write its own in
instructions.limits; then both do what --write does. --check fails where something else stands there.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
KEPT, LIMITS = os.path.join(HERE, "figures.json"), os.path.join(HERE, "instructions.limits")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import push  # noqa: E402
import scaledjobs  # noqa: E402
import sources  # noqa: E402

# key, what it is, unit, KEDA 2.20.2 on the same control plane, aim
FIGURES = [
    ("binary_mib", "binary, stripped", "MiB", None, None),
    ("idle_rss_mib", "idle RSS, all processes", "MiB", 207, "<= 16"),
    ("idle_private_mib", "  of it private", "MiB", None, None),
    ("rss_100_mib", "RSS at 100 objects", "MiB", None, None),
    ("rss_500_mib", "RSS at 500 objects", "MiB", 338, "<= 20"),
    ("private_500_mib", "  of it private", "MiB", None, None),
    ("rss_2000_mib", "RSS at 2,000 objects", "MiB", None, None),
    ("rss_10000_mib", "RSS at 10,000 objects", "MiB", None, "<= 100"),
    ("cpu_500_percent", "CPU, 500 objects at zero, poll 5 s", "% of a core", 7.9, "<= 0.5"),
    ("cpu_per_poll_us", "  per poll", "us", None, None),
    ("cpu_500_active_percent", "CPU, 500 active objects and their HPAs asking", "% of a core", None, None),
    ("ready_500_s", "500 created -> all Ready", "s", 249, "<= 8"),
    ("writes_per_object", "  writes per object", "", None, None),
    ("wake_500_s", "all 500 woken -> all left zero (poll 5 s)", "s", 49, "<= 6"),
    ("wake_one_p50_s", "0 -> 1 at poll 1, p50", "s", None, None),
    ("wake_one_max_s", "0 -> 1 at poll 1, largest", "s", None, None),
    ("tick_to_scale_ms", "tick -> /scale answered, p50", "ms", None, None),
    ("get_p50_ms", "aggregated GET, p50", "ms", None, None),
    ("get_p99_ms", "aggregated GET, p99", "ms", None, None),
    ("static_p50_ms", "static TLS answer behind the aggregator, p50", "ms", None, None),
    ("get_p50_ratio", "aggregated GET p50 / static TLS answer", "", 2.1, "<= 1.2"),
    ("get_500_p50_ms", "GET over 500 metrics, p50", "ms", None, None),
    ("get_500_p99_ms", "GET over 500 metrics, p99", "ms", None, None),
    ("get_age0_p50_ms", "GET with --metrics-max-age 0, p50", "ms", None, None),
    ("get_age0_p99_ms", "GET with --metrics-max-age 0, p99", "ms", None, None),
    ("endpoint_rps", "endpoint requests/s (wrk, bearer token)", "1/s", 3965, ">= 40000"),
    ("static_rps", "  a bare evhttp beside it", "1/s", None, None),
    ("redis_connections_500", "Redis connections at 500", "", 500, "<= 1"),
    ("restart_s", "kill -9 -> metric answered again", "s", 30, "<= 1"),
    ("writes_per_minute", "writes per minute, 100 active, poll 5 s, steady", "1/min", 1201, "<= 10"),
    ("hung_get_p99_ms", "GET p99 while 20 other sources hang", "ms", 10.6, "<= 5"),
    ("hung_get_p50_ms", "  p50", "ms", None, None),
    ("hung_static_p99_ms", "  p99 of the static answer in turns with it", "ms", None, None),
    ("hung_wake_s", "its 0 -> 1 at poll 1 meanwhile, largest", "s", 1.0, "<= 1.0"),
    ("rotate_p50_s", "rotated Secret -> first use (poll 1 s), median of 20", "s", None, None),
    ("rotate_max_s", "rotated Secret -> first use (poll 1 s), largest of 20", "s", None, "<= 1"),
    ("unpause_500_s", "500 un-paused -> all Ready, with their HPAs", "s", None, "<= 8"),
    ("writes_per_minute_1000", "writes per minute, 1,000 active, poll 5 s, steady", "1/min", None, "<= 0"),
    ("formula_per_s", "formula evaluations on one core", "1/s", None, ">= 1000000"),
    *push.figures(),
    *scaledjobs.figures(),
    *sources.figures(),
]


def kept():
    """{key: [value, day]}"""
    with open(KEPT, encoding="utf-8") as file:
        return json.load(file)


def remember(figures, day):
    now = {**kept(), **{key: [value, day] for key, value in figures.items()}}
    with open(KEPT, "w", encoding="utf-8") as file:
        rows = (f"{json.dumps(key)}: {json.dumps(now[key])}" for key, *_ in FIGURES if key in now)
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


def shown(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(figures):
    lines = ["| figure | key | KEDA 2.20.2 | aim | measured | on |", "|---|---|---|---|---|---|"]
    for key, what, unit, keda, aim in FIGURES:
        if key in figures:
            value, day = figures[key]
            lines.append(f"| {what} | `{key}` | {'' if keda is None else shown(keda)} | {aim or ''} | {shown(value)} {unit} | {day} |")
    return "\n".join(lines)


def instructions():
    lines = ["| unit | instructions, own | at 03f5e7d | change |", "|---|---|---|---|"]
    with open(LIMITS, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 5 and not line.startswith(("#", "compiler:", "libraries:")):
                now, own, before, before_own = map(int, words[1:])
                lines.append(f"| `{words[0]}` | {now:,} ({own:,}) | {before:,} ({before_own:,}) | {100 * now / before - 100:+.0f} % |")
    return "\n".join(lines)


def in_short():
    now, keda = kept(), {key: other for key, _, _, other, _ in FIGURES}
    idle, ready, writes = (shown(now[key][0]) for key in ("idle_rss_mib", "ready_500_s", "writes_per_minute"))
    return (f"| on two cores | kscaled | KEDA 2.20.2 |\n|---|---|---|\n"
            f"| memory, idle | {idle} MiB | {shown(keda['idle_rss_mib'])} MiB |\n"
            f"| from 500 objects created to all Ready | {ready} s | {shown(keda['ready_500_s'])} s |\n"
            f"| writes a minute for 100 active objects | {writes} | {shown(keda['writes_per_minute'])} |")


BLOCKS = [("README.md", "figures", in_short), ("tests/bench/README", "figures", lambda: table(kept())), ("tests/bench/README", "instructions", instructions)]


def blocks():
    """(path, whole text, the same with today's figures)"""
    texts = {}
    for name, mark, make in BLOCKS:
        path = os.path.join(TOP, name)
        if path not in texts:
            with open(path, encoding="utf-8") as file:
                texts[path] = [file.read()] * 2
        pattern = rf"(?ms)^(<!-- {mark}: written by tests/bench/figures\.py -->\n).*?^(<!-- end of {mark} -->)$"
        texts[path][1], count = re.subn(pattern, lambda found, make=make: f"{found[1]}{make()}\n{found[2]}", texts[path][1])
        if count != 1:
            sys.exit(f"figures: {name} has {count} places for {mark}, not one")
    return [(path, *pair) for path, pair in texts.items()]


def write():
    for path, before, after in blocks():
        if before != after:
            with open(path, "w", encoding="utf-8") as file:
                file.write(after)


def main():
    if sys.argv[1:] == ["--write"]:
        write()
    elif sys.argv[1:] == ["--check"]:
        wrong = [os.path.relpath(path, TOP) for path, before, after in blocks() if before != after]
        unknown = sorted(set(kept()) - {key for key, *_ in FIGURES})
        if wrong or unknown:
            sys.exit("".join(f"figures: {name} has other figures than were measured: tests/bench/figures.py --write\n" for name in wrong) +
                     "".join(f"figures: figures.json has {key}, which nothing measures\n" for key in unknown))
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main()
