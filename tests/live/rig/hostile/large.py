# SPDX-License-Identifier: Apache-2.0
"""Answers that are as large as they may be, in each format of metrics-api; of each, where the number is that is wanted."""
from ..http_source import HttpSource

MIB = 1 << 20


def filled(unit, size, head="", tail=""):
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


ANSWERS = {
    "prometheus": ("wanted", filled('up{instance="10.0.0.1:9100",job="node"} 1\n', 8 * MIB - 64) + "wanted 3\n"),
    "xml": ("a.wanted", filled(f"<b n='1'>{'x' * 73}</b>", 8 * MIB - 64, "<a>", "<wanted>3</wanted></a>")),    # 97,541 elements
    "json": ("wanted", filled("1,", 190000, '{"list":[', '1],"wanted":3}')),
    "yaml": ("wanted", filled("- 1\n", 120000, "list:\n") + "wanted: 3\n"),
}

# Where the looking costs more than the reading: of each, its format, the place that is asked for, and the answer.
COSTLY = {
    "pattern": ("prometheus", 'x{a=~"(.*a){12}(a|b){200}d"}', filled('x{a="' + "b" * 380 + '"} 1\n', 4 * MIB)),
    "nested": ("prometheus", 'x{a=~"(.*)*d"}', filled('x{a="' + "b" * 380 + '"} 1\n', 4 * MIB)),
    "filter": ("json", "list.#(>0)#|#(>0)#|#", filled("1,", 190000, '{"list":[', "1]}")),
    "glob": ("json", "*" + "a" * 40 + "b", '{"' + "a" * 1000000 + '":1}'),
}


def source():
    answers = {name: answer for name, (_, answer) in ANSWERS.items()} | {name: answer for name, (_, _, answer) in COSTLY.items()}
    return HttpSource({f"/{name}": (200, {"Content-Type": "text/plain"}, answer) for name, answer in answers.items()})


KINDS = [*ANSWERS, *COSTLY]


def trigger(source, kind, number, form, where):
    return {"type": "metrics-api", "metadata": {"url": f"{source.url}/{kind}?{number}", "format": form, "valueLocation": where, "targetValue": "1", "timeout": "20s"}}


def answers(source, numbers):
    """Triggers that read each of them; numbers: what makes each URL another one."""
    return [trigger(source, kind, next(numbers), kind, where) for kind, (where, _) in ANSWERS.items() for _ in range(2)]


def costly(source, numbers):
    return [trigger(source, kind, next(numbers), form, where) for kind, (form, where, _) in COSTLY.items()]
