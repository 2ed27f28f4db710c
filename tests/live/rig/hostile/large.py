# SPDX-License-Identifier: Apache-2.0
"""Answers that are as large as they may be, in each format of metrics-api; of each, where the number is that is wanted."""
from ..http_source import HttpSource

MIB = 1 << 20


def filled(unit, size, head="", tail=""):
    return head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


ANSWERS = {
    "prometheus": ("wanted", filled('up{instance="10.0.0.1:9100",job="node"} 1\n', 8 * MIB - 64) + "wanted 3\n"),
    "xml": ("a.wanted", filled("<b n='1'/>", 8 * MIB - 64, "<a>", "<wanted>3</wanted></a>")),
    "json": ("wanted", filled("1,", 190000, '{"list":[', '1],"wanted":3}')),
    "yaml": ("wanted", filled("- 1\n", 120000, "list:\n") + "wanted: 3\n"),
}


def source():
    return HttpSource({f"/{name}": (200, {"Content-Type": "text/plain"}, answer) for name, (_, answer) in ANSWERS.items()})
