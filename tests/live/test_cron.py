# SPDX-License-Identifier: Apache-2.0
"""cron: windows around now, in several time zones; the boundary itself; what is refused. Changes of clocks are tried in tests/unit/base/test_cronexpr.c."""
import collections
import datetime
import threading
import time
import zoneinfo

import pytest

from rig.waiting import after, eventually, throughout

UTC = datetime.timezone.utc


def cron(start, end, replicas=3, timezone="UTC", **trigger):
    return {"type": "cron", "metadata": {"timezone": timezone, "start": start, "end": end, "desiredReplicas": str(replicas)}, **trigger}


def at(hours, timezone="UTC", days="*"):
    """The expression for so many hours from now."""
    when = datetime.datetime.now(zoneinfo.ZoneInfo(timezone)) + datetime.timedelta(hours=hours)
    return f"{when.minute} {when.hour} * * {days}"


Look = collections.namedtuple("Look", "at opens closes")  # replicas, and when that was known


class Boundary:
    """Two objects, whose windows open and close at a full minute, looked at all the while by a thread: other tests need not wait for that minute."""

    def __init__(self, stage):
        self.stage = stage
        stage.deployment("opens")
        stage.deployment("closes", replicas=1)
        minute = datetime.datetime.fromtimestamp((time.time() + 12) // 60 * 60 + 60, UTC)
        self.at = minute.timestamp()
        boundary = f"{minute.minute} {minute.hour} * * *"
        stage.scaledobject("opens", triggers=[cron(boundary, at(3))], pollingInterval=7200)
        stage.scaledobject("closes", triggers=[cron(at(-3), boundary)], pollingInterval=7200, cooldownPeriod=0)
        stage.wait_ready("opens")
        stage.wait_ready("closes")
        eventually(lambda: stage.replicas("closes") == 3)
        self.looks = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        """Until the one has opened and the other closed, or clearly have not."""
        opens, closes = 0, 3
        while not (opens > 0 and closes == 0) and time.time() < self.at + 20 and not self.over.wait(0.05):
            opens, closes = self.stage.replicas("opens"), self.stage.replicas("closes")
            self.looks.append(Look(time.time(), opens, closes))

    def seen(self):
        """All looks, in order."""
        self.thread.join(max(self.at + 30 - time.time(), 1))
        return self.looks

    def end(self):
        self.over.set()
        self.thread.join()


@pytest.fixture(scope="module")
def boundary(shared_kscaled, module_stage):
    shared_kscaled.running()
    boundary = Boundary(module_stage)
    yield boundary
    boundary.end()


@pytest.mark.usefixtures("boundary")  # whose minute begins while other tests run
@pytest.mark.parametrize("timezone", ["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Apia"])
def test_open_window(kscaled, stage, timezone):
    stage.deployment()
    trigger = cron(at(-3, timezone), at(3, timezone), timezone=timezone)
    stage.ready_scaledobject(triggers=[trigger], pollingInterval=1)
    eventually(lambda: stage.replicas() == 3)
    metadata = trigger["metadata"]
    name = f"s0-cron-{timezone}-{metadata['start']}-{metadata['end']}".replace(" ", "").replace("*", "x").replace("/", "-")
    assert stage.status()["externalMetricNames"] == [name]
    assert stage.metric(name).value() == "3"
    target = stage.hpa_document()["spec"]["metrics"][0]["external"]["target"]
    assert target == {"type": "AverageValue", "averageValue": "1"}


def test_closed_windows(kscaled, stage):
    """Closed by the hour, by the day of the week, and by an end that has no start of its own on that day."""
    ahead = 12 - datetime.datetime.now(UTC).hour
    noon = f"Etc/GMT{-ahead:+d}" if ahead else "UTC"  # where it is about noon, so that windows of hours stay within their day
    today = datetime.datetime.now(zoneinfo.ZoneInfo(noon)).isoweekday() % 7
    others = ",".join(str(day) for day in range(7) if day not in (today, (today + 6) % 7))
    windows = {"hours": (at(3, noon), at(6, noon)), "days": (at(-3, noon, others), at(3, noon, others)), "ends": (at(-3, noon, others), at(3, noon))}
    for name, (start, end) in windows.items():
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[cron(start, end, timezone=noon)], pollingInterval=1, cooldownPeriod=0)
    for name in windows:
        stage.wait_ready(name)
        eventually(lambda name=name: stage.replicas(name) == 0)
        assert stage.says("Active", "False", name=name)
    throughout(lambda: all(stage.replicas(name) == 0 for name in windows), until=after(2))


def test_two_windows_and_another_trigger(kscaled, stage):
    stage.deployment()
    triggers = [cron(at(-3), at(3), 2), cron(at(-2), at(2), 4), cron(at(2), at(4), 9), stage.trigger()]
    stage.ready_scaledobject(triggers=triggers, pollingInterval=1)
    eventually(lambda: stage.replicas() == 4)
    stage.push(30)
    eventually(lambda: stage.replicas() == 6)


WRONG = {
    "zone": ({"timezone": "Europe/Entenhausen"}, 'unknown time zone "Europe/Entenhausen"'),
    "outside": ({"timezone": "../../etc/passwd"}, "cannot be the name of a time zone"),
    "field": ({"start": "0 25 * * *"}, 'parameter "start": "0 25 * * *": hour "25" (character 3): must be from 0 to 23'),
    "seconds": ({"end": "0 0 20 * * *"}, "has 6 fields, not five"),
    "sunday": ({"end": "0 20 * * 7"}, "must be from 0 to 6 (Sunday is 0)"),
    "same": ({"end": "00 6 ? * *"}, "are the same times"),
    "never": ({"start": "0 6 30 2 *"}, "this date does not exist in any year"),
    "zero": ({"desiredReplicas": "0"}, "must be greater than 0: outside its window a cron trigger asks for no replicas"),
    "missing": ({"timezone": None}, 'missing required parameter "timezone"'),
}


def test_refused(kscaled, stage):
    for name, (change, _) in WRONG.items():
        trigger = cron("0 6 * * *", "0 20 * * *")
        trigger["metadata"] = {key: value for key, value in {**trigger["metadata"], **change}.items() if value is not None}
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, triggers=[trigger])
    for name, (_, message) in WRONG.items():
        said = stage.wait_refused(name)
        assert message in said and "trigger 0 (cron)" in said, said
    assert stage.hpa_names() == []
    assert all(stage.replicas(name) == 1 for name in WRONG)


def test_boundary(kscaled, module_stage, boundary):
    """Scaled when the window opens and closes, not at the polls, which are hours away."""
    looks = boundary.seen()
    before = [look for look in looks if look.at < boundary.at - 0.2]
    assert before and all(look.opens == 0 and look.closes == 3 for look in before), before
    opened = [look.at - boundary.at for look in looks if look.opens > 0]
    assert opened and 0 <= opened[0] <= 3, looks[-1]
    closed = [look.at - boundary.at for look in looks if look.closes == 0]
    assert closed and closed[0] <= 10, looks[-1]
    eventually(lambda: module_stage.replicas("opens") == 3)
