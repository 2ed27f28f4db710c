# SPDX-License-Identifier: Apache-2.0
"""The triggers that ask AWS, and all ways to be somebody there, against moto, which verifies signatures and rights (rig/moto_server.py says what of it is a fake)."""
import json
import time

import pytest

from rig.http_source import HttpSource, half
from rig.moto_server import REGION, Credentials, MotoServer, WebIdentity, allow, keys_of, through
from rig.waiting import eventually


@pytest.fixture(scope="module")
def moto(session_dir):
    moto = MotoServer(session_dir)
    yield moto
    moto.end()


@pytest.fixture(scope="module")
def keys(moto):
    """Of who may read what the triggers read, and no more."""
    return moto.user("reader", allow("sqs:GetQueueAttributes", "cloudwatch:GetMetricData", "monitoring:GetMetricData", "kinesis:DescribeStreamSummary"))


def give(credentials, name, keys, **more):
    """A TriggerAuthentication with these keys; the trigger's reference to it."""
    values = {"awsAccessKeyID": keys[0], "awsSecretAccessKey": keys[1], **more}
    credentials.secret(name, **values)
    credentials.authentication(name, secretTargetRef=[{"parameter": key, "name": name, "key": key} for key in values])
    return {"authenticationRef": {"name": name}}


@pytest.fixture
def login(credentials, keys):
    return give(credentials, "aws", keys)


def trigger(kind, moto, login=None, endpoint=None, **metadata):
    values = {"awsRegion": REGION, "awsEndpoint": endpoint or moto.url, **metadata}
    return {"type": kind, "metadata": {key: str(value) for key, value in values.items()}, **(login or {})}


def sqs(moto, url, login=None, **metadata):
    return trigger("aws-sqs-queue", moto, login, queueURL=url, **metadata)


def cloudwatch(moto, login=None, **metadata):
    what = {} if "expression" in metadata else {"namespace": "Shop", "metricName": "Orders", "dimensionName": "Region", "dimensionValue": "north"}
    return trigger("aws-cloudwatch", moto, login, **{**what, "targetMetricValue": 2, "minMetricValue": 1, "metricStatPeriod": 60, **metadata})


def failure(stage, metric, *words, name="worker"):
    """What the metric's error says, once all of that is in it."""
    def is_said():
        message = stage.metric(metric, name).failure(503, "ServiceUnavailable")
        assert all(word in message for word in words), message
        return message
    return eventually(is_said)


# --- what is counted ---

def test_sqs(kscaled, stage, moto, login):
    """Each parameter that changes what is counted; both ways to name a queue."""
    url, name = moto.queue("counted"), "counted"
    moto.send(url, 5)
    moto.receive(url, 2)
    moto.send(url, 4, DelaySeconds=900)
    cases = [({}, "5"), ({"scaleOnInFlight": "false"}, "3"), ({"scaleOnDelayed": "true"}, "9"), ({"scaleOnInFlight": "false", "scaleOnDelayed": "true"}, "7")]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[*(sqs(moto, url, login, queueLength=1000, **metadata) for metadata, _ in cases), sqs(moto, name, login)])
    for index, wanted in enumerate([*(wanted for _, wanted in cases), "5"]):
        assert stage.metric(f"s{index}-aws-sqs-counted").value() == wanted


def test_sqs_scales(kscaled, stage, moto, login):
    url = moto.queue("scaling.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[sqs(moto, url, login, queueLength=2, activationQueueLength=1)])
    moto.send(url, 1, MessageGroupId="g")
    eventually(lambda: stage.metric("s0-aws-sqs-scaling-fifo").value() == "1")
    assert stage.replicas() == 0
    for group in "abcde":
        moto.ask_json("sqs", "application/x-amz-json-1.0", "AmazonSQS.SendMessage", QueueUrl=url, MessageBody=group, MessageGroupId=group)
    eventually(lambda: stage.replicas() == 3)
    moto.purge(url)
    eventually(lambda: stage.replicas() == 0)


def test_cloudwatch(kscaled, stage, moto, login):
    """The newest point of the window; nothing; expressions; dimensions; what is asked is what the manual says."""
    minute = int(time.time()) // 60 * 60
    for ago, value in ((60, 40), (120, 7), (660, 3)):
        moto.put_metric("Shop", "Orders", value, at=minute - ago, Region="north")
    moto.put_metric("Shop", "Orders", 100, at=minute - 60, Region="north", Kind="big")
    wide = {"metricCollectionTime": 600}
    cases = [(wide, "40"), ({**wide, "metricStat": "Sum", "metricEndTimeOffset": 60}, "7"), ({**wide, "dimensionName": "Region; Kind", "dimensionValue": "north; big"}, "100"),
             ({**wide, "dimensionValue": "south"}, "1"), ({**wide, "metricName": "Nothing", "minMetricValue": "2.5"}, "2500m")]
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[*(cloudwatch(moto, login, **metadata) for metadata, _ in cases)])
    for index, (metadata, wanted) in enumerate(cases):
        assert stage.metric(f"s{index}-aws-cloudwatch").value() == wanted, metadata
    stage.deployment("strict", replicas=1)
    stage.scaledobject("strict", maxReplicaCount=1, triggers=[cloudwatch(moto, login, dimensionValue="south", ignoreNullValues="false")])
    failure(stage, "s0-aws-cloudwatch", "empty metric data received, ignoreNullValues is false, returning error", name="strict")


ONE_POINT = '<GetMetricDataResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><GetMetricDataResult><MetricDataResults><member><Id>c1</Id><StatusCode>Complete</StatusCode><Values><member>{}</member></Values></member></MetricDataResults></GetMetricDataResult></GetMetricDataResponse>'


def test_cloudwatch_is_asked_seldom(launch, stage, moto, login):
    """Its requests are billed: after an answer neither polls nor the HPA have it asked again, while another source of the same object is; after a failure they do."""
    values = iter(range(3, 1000))
    source, free = HttpSource({"/": (500, {}, "")}), HttpSource({"/": lambda asked: through(moto, asked)})
    url = moto.queue("free", 2)
    try:
        launch(options={"metered_interval": "1h"}).wait_serving()
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[cloudwatch(moto, login, endpoint=source.url), sqs(moto, url, login, endpoint=free.url)])
        failure(stage, "s0-aws-cloudwatch", "HTTP status 500")
        source.routes["/"] = lambda asked: (200, {"Content-Type": "text/xml"}, ONE_POINT.format(next(values)))
        eventually(lambda: stage.metric("s0-aws-cloudwatch").value() == "3")
        asked, others = len(source.asked), len(free.asked)
        eventually(lambda: stage.metric("s0-aws-cloudwatch").value() == "3" and stage.metric("s1-aws-sqs-free").value() == "2" and len(free.asked) > others + 5)
        assert len(source.asked) == asked
    finally:
        source.end()
        free.end()


def test_cloudwatch_asks(kscaled, stage, moto, login):
    """The request, byte for byte, which moto reads generously: a server that remembers it stands between."""
    answer = '<GetMetricDataResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><GetMetricDataResult><MetricDataResults><member><Id>q1</Id><StatusCode>{}</StatusCode><Values>{}</Values></member></MetricDataResults></GetMetricDataResult></GetMetricDataResponse>'
    source = HttpSource({"/": (200, {"Content-Type": "text/xml"}, answer.format("Complete", "<member>3.5</member>"))})
    try:
        stage.deployment(replicas=1)
        stage.ready_scaledobject(maxReplicaCount=1, triggers=[cloudwatch(moto, login, endpoint=source.url, expression='SELECT SUM(Orders) FROM "Shop"', awsAccountId="123"), cloudwatch(moto, login, endpoint=source.url, metricUnit="Count", metricStat="p99", metricCollectionTime=120)])
        assert stage.metric("s0-aws-cloudwatch").value() == "3500m"
        forms = {asked.form["MetricDataQueries.member.1.Id"]: asked.form for asked in source.to("/")}
        for form, window in ((forms["q1"], 300), (forms["c1"], 120)):
            start, end = (time.mktime(time.strptime(form.pop(name), "%Y-%m-%dT%H:%M:%SZ")) - time.timezone for name in ("StartTime", "EndTime"))
            assert end - start == window and end % 60 == 0 and -1 < time.time() - end < 120
        common, one = {"Action": "GetMetricData", "Version": "2010-08-01", "ScanBy": "TimestampDescending"}, "MetricDataQueries.member.1."
        assert forms["q1"] == {**common, one + "Id": "q1", one + "Expression": 'SELECT SUM(Orders) FROM "Shop"', one + "Period": "60", one + "AccountId": "123"}
        metric = one + "MetricStat.Metric."
        assert forms["c1"] == {**common, one + "Id": "c1", metric + "Namespace": "Shop", metric + "MetricName": "Orders", metric + "Dimensions.member.1.Name": "Region", metric + "Dimensions.member.1.Value": "north",
                               one + "MetricStat.Period": "60", one + "MetricStat.Stat": "p99", one + "MetricStat.Unit": "Count", one + "ReturnData": "true"}
        source.routes["/"] = (200, {"Content-Type": "text/xml"}, answer.format("InternalError", ""))
        failure(stage, "s0-aws-cloudwatch", "the answer has no point, and the status InternalError")
    finally:
        source.end()


def test_kinesis(kscaled, stage, moto, login):
    moto.stream("orders.eu", 3)
    stage.deployment(replicas=0)
    stage.ready_scaledobject(maxReplicaCount=5, triggers=[trigger("aws-kinesis-stream", moto, login, streamName="orders.eu", shardCount=1)])
    assert stage.metric("s0-aws-kinesis-orders-eu").value() == "3"
    eventually(lambda: stage.replicas() == 3)
    stage.deployment("lost", replicas=1)
    stage.scaledobject("lost", triggers=[trigger("aws-kinesis-stream", moto, login, streamName="lost")])
    failure(stage, "s0-aws-kinesis-lost", "stream lost", "ResourceNotFoundException", name="lost")


# --- who asks ---

def test_keys(kscaled, stage, moto, credentials, keys):
    """Wrong ones, unknown ones, ones without the right; rotated; temporary; from the environment."""
    url = moto.queue("keys", 2)
    nobody = moto.user("nobody", allow("iam:GetUser"))
    cases = {"wrong": ((keys[0], "wrong-secret"), "SignatureDoesNotMatch"), "unknown": (("AKIAIOSFODNN7EXAMPLE", keys[1]), "InvalidClientTokenId"), "nobody": (nobody, "AccessDenied")}
    for name, (pair, _) in cases.items():
        login = give(credentials, name, pair)
        stage.deployment(name, replicas=2)
        stage.scaledobject(name, maxReplicaCount=2, triggers=[sqs(moto, url, login)])
    for name, (_, word) in cases.items():
        stage.wait_failing(name)
        message = failure(stage, "s0-aws-sqs-keys", f"queue keys: HTTP status 403, {word}: ", "; missing permission: sqs:GetQueueAttributes", name=name)
        assert "wrong-secret" not in message and keys[1] not in message
        assert stage.replicas(name) == 2
    credentials.change_secret("wrong", awsSecretAccessKey=keys[1])
    eventually(lambda: stage.metric("s0-aws-sqs-keys", "wrong").value() == "2")
    stage.deployment(replicas=1, env={"KEY": keys[0], "SECRET": keys[1], "QUEUE": url})
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[trigger("aws-sqs-queue", moto, queueURLFromEnv="QUEUE", awsAccessKeyIDFromEnv="KEY", awsSecretAccessKeyFromEnv="SECRET")])
    assert stage.metric("s0-aws-sqs-keys").value() == "2"


def test_temporary_keys(kscaled, stage, moto, credentials):
    url = moto.queue("temporary", 4)
    given = keys_of(moto.session(moto.role("temporary", allow("sqs:GetQueueAttributes"), "admin")))
    login = give(credentials, "temporary", (given["AccessKeyId"], given["SecretAccessKey"]), awsSessionToken=given["Token"])
    stage.deployment(replicas=1)
    stage.ready_scaledobject(maxReplicaCount=1, triggers=[sqs(moto, url, login)])
    assert stage.metric("s0-aws-sqs-temporary").value() == "4"


def test_what_is_not_there(kscaled, stage, moto, login):
    stage.deployment(replicas=1)
    stage.scaledobject(triggers=[sqs(moto, "lost", login)])
    failure(stage, "s0-aws-sqs-lost", "aws-sqs-queue http://127.0.0.1:", "queue lost: HTTP status 400, QueueDoesNotExist: The specified queue does not exist")


def test_nobody_is_kscaled_unless_he_may(kscaled, stage, moto, credentials):
    """By default a TriggerAuthentication of a namespace, or a trigger alone, does not get kscaled's own identity."""
    url = moto.queue("mine")
    credentials.authentication("own", podIdentity={"provider": "aws"})
    credentials.authentication("role", podIdentity={"provider": "aws", "roleArn": "arn:aws:iam::123456789012:role/x"})
    credentials.authentication("workload", podIdentity={"provider": "aws", "identityOwner": "workload"})
    credentials.authentication("eks", podIdentity={"provider": "aws-eks"})
    annotate_account(stage, "default", "arn:aws:iam::123456789012:role/x")
    for name, more in {"operator": {"identityOwner": "operator"}, "own": {}, "role": {}, "workload": {}, "eks": {}}.items():
        stage.deployment(name, replicas=1)
        login = None if name == "operator" else {"authenticationRef": {"name": name}}
        stage.scaledobject(name, triggers=[sqs(moto, url, login, **more)])
        eventually(lambda: "kscaled's own AWS identity" in stage.wait_refused(name))


@pytest.fixture
def own(moto):
    """Keys of an identity that may read no queue itself, but may be the role."""
    if not hasattr(moto, "kscaled"):
        moto.kscaled = moto.user("kscaled", allow("sts:AssumeRole"))
        moto.queue_role = moto.role("queues", allow("sqs:GetQueueAttributes"), "kscaled")
        moto.shared_role = moto.role("shared", allow("sqs:GetQueueAttributes"), "kscaled", external_id="shop")
        moto.url_of = moto.queue("roles", 6)
    return {"AWS_ACCESS_KEY_ID": moto.kscaled[0], "AWS_SECRET_ACCESS_KEY": moto.kscaled[1], "AWS_ENDPOINT_URL_STS": moto.url}


def test_roles(launch, stage, moto, credentials, own):
    """By a ClusterTriggerAuthentication; with an external id; a role that does not trust us; kscaled itself, who has no right; in the end all of them again."""
    prefix = stage.namespace
    credentials.cluster_authentication(f"{prefix}-role", podIdentity={"provider": "aws", "roleArn": moto.queue_role})
    credentials.cluster_authentication(f"{prefix}-shared", podIdentity={"provider": "aws", "roleArn": moto.shared_role, "externalID": "shop"})
    credentials.cluster_authentication(f"{prefix}-other", podIdentity={"provider": "aws", "roleArn": moto.shared_role, "externalID": "bank"})
    credentials.cluster_authentication(f"{prefix}-own", podIdentity={"provider": "aws"})
    launch(env=own).wait_serving()
    for name in ("role", "shared", "other", "own"):
        stage.deployment(name, replicas=1)
        login = {"authenticationRef": {"name": f"{prefix}-{name}", "kind": "ClusterTriggerAuthentication"}}
        stage.scaledobject(name, maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, login)])
    for name in ("role", "shared"):
        eventually(lambda: stage.metric("s0-aws-sqs-roles", name).value() == "6")
    failure(stage, "s0-aws-sqs-roles", "AWS role: ", f"AssumeRole {moto.shared_role}: no keys: HTTP status 403, AccessDenied", "not authorized to perform: sts:AssumeRole", name="other")
    failure(stage, "s0-aws-sqs-roles", "HTTP status 403, AccessDenied", "user/kscaled is not authorized to perform: sqs:GetQueueAttributes", name="own")


ROLE = "eks.amazonaws.com/role-arn"


def account(stage, name, role=None):
    """A ServiceAccount, with this role in its annotation."""
    stage.cluster.core.create_namespaced_service_account(stage.namespace, {"metadata": {"name": name, "annotations": {ROLE: role} if role else {}}})


def annotate_account(stage, name, role):
    """Also the one that every namespace gets a little later than itself."""
    assert eventually(lambda: name in [one.metadata.name for one in stage.cluster.core.list_namespaced_service_account(stage.namespace).items])
    stage.cluster.core.patch_namespaced_service_account(name, stage.namespace, {"metadata": {"annotations": {ROLE: role}}})


def of_account(stage, name, account):
    """A Deployment whose Pods are this ServiceAccount."""
    stage.deployment(name, replicas=1)
    become(stage, name, account)


def become(stage, name, account):
    stage.cluster.apps.patch_namespaced_deployment(name, stage.namespace, {"spec": {"template": {"spec": {"serviceAccountName": account}}}})


def test_role_of_the_workload(launch, stage, moto, credentials, own):
    """By the annotation of the ServiceAccount of the scale target, which is followed; moto judges who may be what. More accounts than are watched by name."""
    names = {"workload": {"provider": "aws", "identityOwner": "workload"}, "eks": {"provider": "aws-eks"}}
    for name, identity in names.items():
        credentials.cluster_authentication(f"{stage.namespace}-{name}", podIdentity=identity)
    login = lambda name: {"authenticationRef": {"name": f"{stage.namespace}-{name}", "kind": "ClusterTriggerAuthentication"}}
    account(stage, "reader", moto.queue_role)
    others_role = moto.role("of-others", allow("sqs:GetQueueAttributes"), "admin")
    account(stage, "stranger", others_role)
    account(stage, "nobody")
    launch(env=own).wait_serving()
    for name in names:
        of_account(stage, name, "reader")
        stage.scaledobject(name, maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, login(name))])
    for name in names:
        eventually(lambda: stage.metric("s0-aws-sqs-roles", name).value() == "6")
    # Another account, then that account's other role.
    become(stage, "workload", "stranger")
    failure(stage, "s0-aws-sqs-roles", "AWS role: ", f"AssumeRole {others_role}: no keys: HTTP status 403, AccessDenied", name="workload")
    annotate_account(stage, "stranger", moto.queue_role)
    eventually(lambda: stage.metric("s0-aws-sqs-roles", "workload").value() == "6")
    become(stage, "eks", "nobody")
    assert "awsAccessKeyID not found: podIdentity aws-eks needs the annotation eks.amazonaws.com/role-arn" in stage.wait_refused("eks")
    become(stage, "workload", "nobody")
    assert f"podIdentity: the workload's role: ServiceAccount {stage.namespace}/nobody has no annotation \"eks.amazonaws.com/role-arn\"" in stage.wait_refused("workload")
    annotate_account(stage, "nobody", moto.queue_role)
    for name in names:
        eventually(lambda: stage.metric("s0-aws-sqs-roles", name).value() == "6")
    for name in [f"more-{number}" for number in range(8)] + ["last"]:
        if name == "last":
            eventually(lambda: stage.metric("s0-aws-sqs-roles", "more-7").value() == "6")
        account(stage, name, moto.queue_role)
        of_account(stage, name, name)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, login("workload"))])
    eventually(lambda: stage.metric("s0-aws-sqs-roles", "last").value() == "6")


def test_everybody_may(launch, stage, moto, credentials, own):
    """KEDA's behaviour, by an option."""
    credentials.authentication("role", podIdentity={"provider": "aws", "roleArn": moto.queue_role})
    credentials.secret("arn", awsRoleArn=moto.queue_role)
    credentials.authentication("arn", secretTargetRef=[{"parameter": "awsRoleArn", "name": "arn", "key": "awsRoleArn"}])
    launch(env=own, options={"cloud_identity": "all"}).wait_serving()
    for name in ("role", "arn"):
        stage.deployment(name, replicas=1)
        stage.scaledobject(name, maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, {"authenticationRef": {"name": name}})])
    stage.deployment("operator", replicas=1)
    stage.scaledobject("operator", maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, identityOwner="operator")])
    for name in ("role", "arn"):
        eventually(lambda: stage.metric("s0-aws-sqs-roles", name).value() == "6")
    failure(stage, "s0-aws-sqs-roles", "user/kscaled is not authorized", name="operator")


def test_web_identity(launch, stage, moto, credentials, own, tmp_path):
    """kscaled's own role by a token file, which is read anew; the same token assumes a role of a trigger."""
    (tmp_path / "token").write_text("first-token\n")
    sts = WebIdentity(moto, "first-token")
    env = {"AWS_ROLE_ARN": moto.queue_role, "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ENDPOINT_URL_STS": sts.url}
    try:
        credentials.authentication("role", podIdentity={"provider": "aws", "roleArn": moto.shared_role})
        launch(env=env, options={"cloud_identity": "all"}).wait_serving()
        for name, login in {"operator": None, "role": {"authenticationRef": {"name": "role"}}}.items():
            stage.deployment(name, replicas=1)
            stage.scaledobject(name, maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, login, **({} if login else {"identityOwner": "operator"}))])
        for name in ("operator", "role"):
            eventually(lambda: stage.metric("s0-aws-sqs-roles", name).value() == "6")
        assert len(sts.asked) == 2  # one exchange for each, however often they ask
        sts.token = "second-token"
        (tmp_path / "token").write_text("second-token\n")
        stage.deployment("later", replicas=1)
        credentials.authentication("later", podIdentity={"provider": "aws", "roleArn": moto.queue_role})
        stage.scaledobject("later", maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, {"authenticationRef": {"name": "later"}})])
        eventually(lambda: stage.metric("s0-aws-sqs-roles", "later").value() == "6")
    finally:
        sts.end()


def test_keys_that_end_early(launch, stage, moto, credentials, own, tmp_path):
    """AWS refuses them before their time: others are fetched, once, and the trigger does not fail."""
    (tmp_path / "token").write_text("token")
    sts, front, ended = WebIdentity(moto, "token"), HttpSource(), set()

    def key_of(asked):
        return asked.headers["Authorization"].partition("Credential=")[2].partition("/")[0]

    def route(asked):
        return (403, {}, json.dumps({"__type": "ExpiredTokenException", "message": "The security token included in the request is expired"})) if key_of(asked) in ended else through(moto, asked)
    front.routes["/"] = route
    try:
        launch(env={"AWS_ROLE_ARN": moto.queue_role, "AWS_WEB_IDENTITY_TOKEN_FILE": str(tmp_path / "token"), "AWS_ENDPOINT_URL_STS": sts.url}, options={"cloud_identity": "all"}).wait_serving()
        stage.deployment(replicas=1)
        stage.ready_scaledobject(maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, endpoint=front.url, identityOwner="operator")])
        eventually(lambda: stage.metric("s0-aws-sqs-roles").value() == "6")
        assert len(sts.asked) == 1
        ended.add(key_of(front.asked[-1]))
        seen = len(front.asked)
        eventually(lambda: len(front.asked) > seen + 4)
        assert len(sts.asked) == 2 and len([asked for asked in front.asked[seen:] if key_of(asked) in ended]) == 1
        stage.says("Ready", "True")
        # When all are refused each poll says so, and asks for others more and more seldom.
        front.routes["/"] = lambda asked: (ended.add(key_of(asked)), route(asked))[1]
        failure(stage, "s0-aws-sqs-roles", "HTTP status 403, ExpiredTokenException")
        exchanges, seen = len(sts.asked), len(front.asked)
        eventually(lambda: len(front.asked) > seen + 12, timeout=60)
        assert len(sts.asked) - exchanges <= 2 < (len(front.asked) - seen) / 4
        front.routes["/"] = route
        eventually(lambda: stage.metric("s0-aws-sqs-roles").value() == "6", timeout=90)
    finally:
        front.end()
        sts.end()


@pytest.mark.parametrize("which", ["pod", "machine"])
def test_places_that_hand_out_keys(launch, stage, moto, own, tmp_path, which):
    """EKS Pod Identity, and IMDSv2 where it is allowed."""
    place = Credentials(moto, moto.role(f"{which}-role", allow("sqs:GetQueueAttributes"), "admin"))
    (tmp_path / "token").write_text("pod-token")
    env = {"pod": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{place.url}/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(tmp_path / "token")},
           "machine": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": place.url}}[which]
    try:
        daemon = launch(env=env, options={"cloud_identity": "all"})
        daemon.wait_serving()
        stage.deployment(replicas=1)
        stage.scaledobject(maxReplicaCount=1, triggers=[sqs(moto, moto.url_of, identityOwner="operator")])
        if which == "machine":
            failure(stage, "s0-aws-sqs-roles", "kscaled has no AWS identity of its own", "cloud-metadata")
            assert place.asked == []
            daemon.term()
            launch(env=env, options={"cloud_identity": "all", "cloud_metadata": "true"}).wait_serving()
        eventually(lambda: stage.metric("s0-aws-sqs-roles").value() == "6")
        assert place.given == 1
    finally:
        place.end()


# --- faults ---

def test_faults(kscaled, stage, moto, keys, login):
    """In all of them nothing is scaled in, and a condition says why; the next poll after the end is well."""
    url = moto.queue("faults", 4)
    source = HttpSource()
    good = lambda asked: through(moto, asked)
    try:
        source.routes["/"] = good
        stage.deployment(replicas=0)
        stage.ready_scaledobject(maxReplicaCount=2, triggers=[sqs(moto, url, login, endpoint=source.url, queueLength=1)])
        eventually(lambda: stage.replicas() == 2)
        for broken, words in ((half, ("aws-sqs-queue",)), ((200, {}, "{}"), ("metric ApproximateNumberOfMessages not found in SQS queue attributes",)), ((500, {}, "{}"), ("HTTP status 500",)),
                              ((503, {}, ""), ("HTTP status 503",)),
                              ((200, {}, "<html>"), ("the answer is not JSON",))):
            source.routes["/"] = broken
            stage.wait_failing()
            failure(stage, "s0-aws-sqs-faults", *words)
            assert stage.replicas() == 2
            source.routes["/"] = good
            eventually(lambda: stage.metric("s0-aws-sqs-faults").value() == "4")
            stage.wait_ready()
        # Too many requests, which is said with 400: for some seconds no poll sends anything.
        throttled = (400, {}, json.dumps({"__type": "com.amazon.coral.availability#ThrottlingException", "message": "Rate exceeded"}))
        times = []
        source.routes["/"] = lambda asked: (times.append(time.monotonic()), throttled)[1]
        stage.wait_failing()
        failure(stage, "s0-aws-sqs-faults", "asked to be left alone (too many requests): for another ")
        eventually(lambda: len(times) > 2)
        assert stage.replicas() == 2 and all(after - before > 4.5 for before, after in zip(times, times[1:])), times
        source.routes["/"] = good
        eventually(lambda: stage.metric("s0-aws-sqs-faults").value() == "4")
        stage.wait_ready()
        source.routes["/"] = lambda asked: None  # ends the connections that are kept
        source.end()
        failure(stage, "s0-aws-sqs-faults", "127.0.0.1:")
        assert stage.replicas() == 2
        source.routes["/"] = good
        source.start()
        eventually(lambda: stage.metric("s0-aws-sqs-faults").value() == "4")
    finally:
        source.end()
