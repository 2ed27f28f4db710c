# SPDX-License-Identifier: Apache-2.0
"""The github-runner trigger, against a server that stands in for GitHub (rig/github_fake.py says what that is)."""
import json
import pathlib
import time

import pytest

from rig.github_fake import App, GitHub, job
from rig.http_source import giant, half
from rig.waiting import eventually

METRIC = "s0-github-runner-shop"


@pytest.fixture
def github(tmp_path):
    github = GitHub(tmp_path, app=App(tmp_path))
    github.repos["shop"] = {"web": {7: ("queued", [job(), job()])}, "mail": {8: ("in_progress", [job("in_progress"), job("completed"), job(labels=["ubuntu-latest"])])}}
    yield github
    assert github.wrong == []
    github.end()


def log_in(credentials, github, name="github", **values):
    """With these parameters from a Secret, and who signs the server."""
    values["ca"] = pathlib.Path(github.authority.cert).read_text()
    credentials.secret(name, **values)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return {"authenticationRef": {"name": name}}


@pytest.fixture
def token(credentials, github):
    return log_in(credentials, github, personalAccessToken="ghp_change_me\n")   # as made of a file


def trigger(github, auth, **metadata):
    values = {"githubApiURL": github.api, "owner": "shop", "runnerScope": "org", **metadata}
    return {"type": "github-runner", "metadata": {key: str(value) for key, value in values.items()}, **auth}


def test_what_is_counted(kscaled, stage, github, token):
    """Each parameter that changes what is counted, or asked, in one object."""
    github.repos["me"] = {"own": {1: ("queued", [job(labels=["self-hosted"])])}, "old": {2: ("queued", [job()])}}
    github.users.add("me")
    github.archived.add("old")
    github.repos["shop"]["wide"] = {9: ("queued", [job(labels=["self-hosted", "GPU"])] * 130), 10: ("completed", [job()] * 3), 11: ("queued", [job(labels=[])] * 4)}
    cases = [
        ({}, "7"), ({"repos": "web"}, "2"), ({"repos": "web, mail"}, "3"), ({"labels": "gpu"}, "137"), ({"repos": "wide", "labels": "gpu", "noDefaultLabels": "true"}, "4"),
        ({"repos": "wide", "labels": "gpu,self-hosted", "noDefaultLabels": "true"}, "134"), ({"repos": "wide", "labels": "gpu", "matchUnlabeledJobsWithUnlabeledRunners": "true"}, "130"),
        ({"repos": "wide", "matchUnlabeledJobsWithUnlabeledRunners": "true"}, "4"), ({"repos": "mail", "labels": "Ubuntu-Latest"}, "2"), ({"owner": "me", "runnerScope": "repo"}, "1"), ({"runnerScope": "ent"}, "7"),
    ]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, token, targetWorkflowQueueLength=1000, **metadata) for metadata, _ in cases])
    for index, (metadata, wanted) in enumerate(cases):
        name = f"s{index}-github-runner-{metadata.get('owner', 'shop')}"
        eventually(lambda name=name, wanted=wanted, metadata=metadata: stage.metric(name).value() == wanted or pytest.fail(f"{metadata}: {stage.metric(name).value()}"))
    assert not any("/me/old/" in asked.target for asked in github.asked)


def test_many_repositories(kscaled, stage, github, token):
    """Pages of a hundred; of those that ask for the same list with the same token each counts by itself."""
    github.repos["shop"] = {f"r{n}": {n + 1: ("queued", [job()])} if n % 50 == 0 else {} for n in range(101)}
    github.hidden |= {"r1", "r99"}        # gone since the list was made
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, token, enableEtags="true")])
    eventually(lambda: stage.metric(METRIC).value() == "3")
    assert sorted({asked.raw_query for asked in github.asked if asked.path == "/orgs/shop/repos"}) == [f"per_page=100&page={n}" for n in (1, 2)]


def test_pages_of_its_own_size(kscaled, stage, github, token):
    """Gitea and Forgejo have pages as long as they like: what lies behind the first one counts. Of very many runs of one repository the first hundred are looked at, and explain says so."""
    github.page_size = 3
    github.repos["shop"] = {**{f"r{n}": {} for n in range(4)}, "late": {n: ("queued", [job()] * 5) for n in range(1, 5)}}
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, token)])
    eventually(lambda: stage.metric(METRIC).value() == "20")
    explained = lambda: json.loads(kscaled.tell("explain", f"{stage.namespace}/worker", "-o", "json").stdout)["triggers"][0]
    assert explained()["remark"] is None
    github.page_size = 100
    github.repos["shop"] = {"late": {n: ("queued", [job()]) for n in range(1, 102)}}
    eventually(lambda: stage.metric(METRIC).value() == "100")
    assert "only the jobs of the newest 100 of each are counted" in explained()["remark"]


def test_scales(kscaled, stage, github, token):
    """Active from the target on, as in KEDA: not only above it. One that runs counts as one that waits."""
    github.repos["shop"] = {"web": {}}
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger(github, token, targetWorkflowQueueLength=2, repos="web")])
    github.repos["shop"]["web"] = {1: ("queued", [job()])}
    eventually(lambda: stage.metric(METRIC).value() == "1")
    assert stage.replicas() == 0
    github.repos["shop"]["web"] = {1: ("queued", [job()]), 2: ("in_progress", [job("in_progress")])}
    eventually(lambda: stage.replicas() == 1)
    github.repos["shop"]["web"] = {1: ("queued", [job()] * 5), 2: ("in_progress", [job("in_progress")])}
    eventually(lambda: stage.replicas() == 3)
    github.repos["shop"]["web"] = {1: ("completed", [job("completed")] * 5)}
    eventually(lambda: stage.replicas() == 0)


def test_etags(kscaled, stage, github, token):
    """What has not changed costs nothing of the limit, and counts as before; what has, is read."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, token, enableEtags="true")])
    eventually(lambda: stage.metric(METRIC).value() == "3")
    eventually(lambda: github.unchanged > 0)
    counted, unchanged = github.counted, github.unchanged
    eventually(lambda: github.unchanged > unchanged + 14)
    assert github.counted == counted
    assert stage.metric(METRIC).value() == "3"
    github.repos["shop"]["web"][7][1].append(job())
    eventually(lambda: stage.metric(METRIC).value() == "4")
    assert github.counted == counted + 1
    github.repos["shop"]["mail"].clear()
    eventually(lambda: stage.metric(METRIC).value() == "3")
    del github.repos["shop"]["web"]
    eventually(lambda: stage.metric(METRIC).value() == "0")


def failing(stage, replicas=2):
    def fails(*words, metric=METRIC):
        def is_said():
            message = stage.metric(metric).failure(503, "ServiceUnavailable")
            assert all(word in message for word in words), message
            assert "ghp_" not in message and "ghs_" not in message
            return True
        stage.wait_failing()
        eventually(is_said)
        assert stage.replicas() == replicas
    return fails


def test_nonsense(kscaled, stage, github, token):
    """Each says so, and none is 0. Statuses that GitHub documents are in tests/unit/scalers/github, one by one."""
    cases = [
        ("repos?", half, ("github-runner",)), ("runs?", giant, ("the answer is ",)), ("repos?", lambda asked: (200, {}, "{}"), ("not a list of repositories",)), ("jobs?", lambda asked: (200, {}, '{"jobs":[{}]}'), ("a job of the list has no status",)),
        ("runs?", lambda asked: (200, {}, '{"workflow_runs":[{"id":"../x"}]}'), ("a run of the list has no id",)), ("jobs?", lambda asked: (500, {}, '{"message":"Server Error"}'), ("HTTP status 500: Server Error",)),
        ("repos?", lambda asked: (200, {"Content-Type": "text/html"}, "<html>"), ("not JSON but text/html",)), ("repos?", lambda asked: (403, {}, f'{{"message":"no {asked.bearer}"}}'), ("its text is not shown",)),
        ("runs?", lambda asked: (403, {}, '{"message":"Resource not accessible by personal access token"}'), ("HTTP status 403: Resource not accessible",)), ("jobs?", lambda asked: time.sleep(4), ("no complete answer within",)),
        ("repos?", lambda asked: (200, {}, "[]"), ("has no repository that the token may see",)), ("repos?", lambda asked: (200, {}, '[{"name":".."}]'), ("has no valid name",)), ("runs?", lambda asked: (304, {}, ""), ("HTTP status 304",)),
    ]
    github.repos.update({f"f{n}": {"web": {7: ("queued", [job()])}} for n in range(len(cases))})
    answers = github.answer
    github.answer = lambda asked: next((broken(asked) for n, (at, broken, _) in enumerate(cases) if f"/f{n}/" in asked.target and at in asked.target), None) or answers(asked)
    stage.deployment(replicas=2)
    stage.scaledobject(maxReplicaCount=2, triggers=[trigger(github, token, owner=f"f{n}", enableEtags="true") for n in range(len(cases))])
    fails = failing(stage)
    for n, (_, _, words) in enumerate(cases):
        fails(*words, metric=f"s{n}-github-runner-f{n}")


def test_faults(kscaled, stage, github, token, credentials):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[trigger(github, token, enableEtags="true")])
    eventually(lambda: stage.replicas() == 2)
    fails = failing(stage)

    def is_well():
        eventually(lambda: stage.metric(METRIC).value() == "3")
        stage.wait_ready()

    answers = github.answer
    github.answer = lambda asked: half(asked) if "jobs?" in asked.target else answers(asked)
    fails("github-runner")
    github.answer = answers
    is_well()
    github.hidden |= {"web", "mail"}
    fails("shop has no repository whose runs the token may read")
    github.hidden.clear()
    is_well()
    github.token = "ghp_rotated"
    fails("personalAccessToken is wrong or has expired", "HTTP status 401: Bad credentials")
    credentials.change_secret("github", personalAccessToken="ghp_rotated")
    is_well()
    github.answer = lambda asked: None  # ends the connections that are kept
    github.end()
    fails(f"localhost:{github.port}")
    github.answer = answers
    github.start()
    is_well()
    stage.patch({"spec": {"triggers": [trigger(github, token, repos="web,none")]}})
    fails("repository shop/none does not exist, or the token may not read its runs")


def test_limits_are_kept(kscaled, stage, github, token):
    """GitHub's own time, whichever of its two limits it is: until then nobody asks with this token, whatever the list."""
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, token, repos="web"), trigger(github, token, repos="mail")])

    def is_left_alone(at_least, *words):
        stage.wait_failing()
        eventually(lambda: any(word in stage.metric(METRIC).failure(503, "ServiceUnavailable") for word in words))
        count = len(github.asked)
        github.throttled = 0
        eventually(lambda: stage.metric(METRIC).value() == "2")
        times = [asked.time for asked in github.asked]
        assert times[count] - times[count - 1] > at_least, times[count - 3:count + 1]
        stage.wait_ready()

    github.throttled = 3
    is_left_alone(2.9, "GitHub API rate limit exceeded, for another 3 s: You have exceeded a secondary rate limit", "asked to be left alone")
    github.counted, github.limit, github.reset = 0, 2, int(time.time()) + 5
    is_left_alone(1.5, "GitHub API rate limit exceeded", "asked to be left alone")


def test_app(kscaled, stage, github, credentials):
    """By a key of its own an App gets a token, which all its triggers share until it ends or is refused."""
    auth = log_in(credentials, github, "app", appKey=github.app.pem)
    own = {"applicationID": github.app.number, "installationID": github.app.installation}
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=2, triggers=[trigger(github, auth, **own), trigger(github, auth, repos="mail", **own)])
    eventually(lambda: stage.replicas() == 2)
    count = len(github.asked)
    eventually(lambda: len(github.asked) > count + 20)
    assert github.app.given == 1
    github.app.good.clear()               # revoked: another one at once
    eventually(lambda: github.app.given == 2)
    eventually(lambda: stage.metric(METRIC).value() == "3")
    fails = failing(stage)
    github.app.refused = {458: (403, "This installation has been suspended"), 459: (422, "The permissions requested are not granted to this installation.")}
    for installation, words in ((457, "HTTP status 404, Not Found"), (458, "HTTP status 403, This installation has been suspended"), (459, "HTTP status 422, The permissions requested are not granted")):
        stage.patch({"spec": {"triggers": [trigger(github, auth, **{**own, "installationID": installation})]}})
        fails("GitHub App token", f"no token for the installation: {words}")
    stage.patch({"spec": {"triggers": [trigger(github, auth, **own)]}})
    eventually(lambda: stage.metric(METRIC).value() == "3")
    github.app.new_key()                  # the old one is deleted at GitHub's
    github.app.good.clear()
    fails("GitHub App token", "HTTP status 401, A JSON web token could not be decoded")
    credentials.change_secret("app", appKey=github.app.pem)
    eventually(lambda: stage.metric(METRIC).value() == "3")
    stage.wait_ready()


def test_a_token_ends(kscaled, stage, github, credentials):
    """Before it does there is another one."""
    github.app.life = 6
    auth = log_in(credentials, github, "app", appKey=github.app.pem)
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, auth, applicationID=github.app.number, installationID=github.app.installation)])
    eventually(lambda: github.app.given >= 3)
    stage.wait_ready()
    assert stage.metric(METRIC).value() == "3"


def test_enterprise_server(kscaled, stage, tmp_path, credentials):
    """Its API is under a path, for the App, too; and a stranger's certificate ends it before anything is said."""
    github = GitHub(tmp_path, app=App(tmp_path), prefix="/api/v3")
    try:
        github.repos["shop"] = {"web": {7: ("queued", [job()])}}
        auth = log_in(credentials, github, "app", appKey=github.app.pem)
        credentials.secret("stranger", personalAccessToken="ghp_change_me")
        credentials.authentication("stranger", secretTargetRef=[{"parameter": "personalAccessToken", "name": "stranger", "key": "personalAccessToken"}])
        stage.deployment(replicas=1)
        stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger(github, auth, applicationID=github.app.number, installationID=github.app.installation)])
        eventually(lambda: stage.metric(METRIC).value() == "1")
        assert github.app.given == 1 and github.wrong == []
        stage.patch({"spec": {"triggers": [trigger(github, {"authenticationRef": {"name": "stranger"}})]}})
        stage.wait_failing()
        eventually(lambda: "certificate" in stage.metric(METRIC).failure(503, "ServiceUnavailable"))
        assert not any(asked.bearer == "ghp_change_me" for asked in github.asked)
    finally:
        github.end()
