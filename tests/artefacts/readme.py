# SPDX-License-Identifier: Apache-2.0
"""The commands of README.md, as they stand there."""
import pathlib
import re
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[2]


def blocks(heading):
    """The indented blocks below a heading, up to the next one."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text)
    assert found, f"README.md has no heading {heading!r}"
    lines, commands = found[1].split("\n"), [[]]
    for line in lines:
        if line.startswith("    "):
            commands[-1].append(line)
        elif commands[-1]:
            commands.append([])
    return [textwrap.dedent("\n".join(one)) + "\n" for one in commands if one]


def block(heading, begin):
    """The only one below a heading that begins with these words."""
    found = [one for one in blocks(heading) if one.startswith(f"{begin} ")]
    assert len(found) == 1, f"README.md, {heading!r}: {len(found)} blocks begin with {begin!r}"
    return found[0]


def headings(above):
    """The headings one below another."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^(#+) {re.escape(above)}\n(.*?)(?=^\1 |\Z)", text)
    assert found, f"README.md has no heading {above!r}"
    return re.findall(rf"(?m)^{found[1]}# (.+)$", found[2])
