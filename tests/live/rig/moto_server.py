# SPDX-License-Identifier: Apache-2.0
"""
moto on a loopback port, which stands for AWS: SQS, CloudWatch, Kinesis, Secrets Manager, IAM and STS. It verifies signatures, by Amazon's own signer in botocore, and what users and roles may do.

What hands out credentials beside AWS's services is not in moto, and is played here: the endpoint of a Pod and the metadata server of a machine (Credentials), and the half of STS that needs no signature (WebIdentity). These are fakes.
"""
import base64
import datetime
import json
import os
import pathlib
import subprocess
import urllib.parse
import uuid
import xml.etree.ElementTree

import urllib3

from .http_source import HttpSource, sigv4
from .process import OneProcess, Process, free_port
from .waiting import eventually

BUILD = pathlib.Path(__file__).resolve().parents[2] / "moto" / "build"
REGION = "eu-west-1"
ACCOUNT = "123456789012"
SET_UP = 3  # requests before signatures are verified: they make the administrator
ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
FORM, JSON_1_0, JSON_1_1 = "application/x-www-form-urlencoded", "application/x-amz-json-1.0", "application/x-amz-json-1.1"


def allow(*actions):
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": "*"}]}


class MotoServer(OneProcess):
    def __init__(self, directory, name="moto"):
        venv = subprocess.run([BUILD], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=600).stdout.strip()
        self.log = str(pathlib.Path(directory) / f"{name}.log")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.pool = urllib3.PoolManager(retries=False, timeout=30.0)
        self.admin = ("none", "none")
        self.command = [f"{venv}/bin/moto_server", "-H", "127.0.0.1", "-p", str(self.port)]
        self.start()

    def start(self):
        """Also again: what it knew is gone then, and its keys are others."""
        self.process = Process("moto", self.command, self.log, env={"PATH": os.environ["PATH"], "INITIAL_NO_AUTH_ACTION_COUNT": str(SET_UP)})
        eventually(lambda: self.pool.request("GET", f"{self.url}/moto-api/data.json").status == 200, timeout=90)
        self.admin = ("none", "none")
        self.admin = self.user("admin", ALL)

    # --- what it is asked ---

    def call(self, service, content_type, body, target=None, keys=None, **headers):
        """A signed request; its text."""
        key_id, secret = keys or self.admin
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-date": stamp, "content-type": content_type, **({"x-amz-target": target} if target else {}), **headers}
        signature, _ = sigv4("POST", "/", "", headers, body, stamp, REGION, service, secret)
        headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={key_id}/{stamp[:8]}/{REGION}/{service}/aws4_request, SignedHeaders={';'.join(sorted(headers))}, Signature={signature}"
        answer = self.pool.request("POST", f"{self.url}/", body=body, headers=headers)
        assert answer.status == 200, f"{service} {target or body}: {answer.status} {answer.data.decode()}"
        return answer.data.decode()

    def query(self, service, version, action, **parameters):
        return self.call(service, FORM, urllib.parse.urlencode({"Action": action, "Version": version, **parameters}).encode())

    def ask_json(self, service, content_type, target, **body):
        return json.loads(self.call(service, content_type, json.dumps(body).encode(), target) or "{}")

    # --- who there is ---

    def user(self, name, policy):
        """Its keys."""
        self.query("iam", "2010-05-08", "CreateUser", UserName=name)
        answer = xml.etree.ElementTree.fromstring(self.query("iam", "2010-05-08", "CreateAccessKey", UserName=name))
        self.query("iam", "2010-05-08", "PutUserPolicy", UserName=name, PolicyName="p", PolicyDocument=json.dumps(policy))
        found = {element.tag.rpartition("}")[2]: element.text for element in answer.iter()}
        return found["AccessKeyId"], found["SecretAccessKey"]

    def role(self, name, policy, user, external_id=None):
        """Its ARN. Only this user may assume it, and only with the external id."""
        trust = {"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:AssumeRoleWithWebIdentity"], "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/{user}"}, **({"Condition": {"StringEquals": {"sts:ExternalId": external_id}}} if external_id else {})}
        self.query("iam", "2010-05-08", "CreateRole", RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))
        self.query("iam", "2010-05-08", "PutRolePolicy", RoleName=name, PolicyName="p", PolicyDocument=json.dumps(policy))
        return f"arn:aws:iam::{ACCOUNT}:role/{name}"

    def session(self, role, action="AssumeRole", **more):
        """What STS says of a role, as XML."""
        return self.query("sts", "2011-06-15", action, RoleArn=role, RoleSessionName="rig", **more)

    # --- what there is ---

    def queue(self, name, messages=0, **attributes):
        """Its URL."""
        url = self.ask_json("sqs", JSON_1_0, "AmazonSQS.CreateQueue", QueueName=name, Attributes=attributes)["QueueUrl"]
        self.send(url, messages)
        return url

    def send(self, url, messages, **more):
        for number in range(messages):
            self.ask_json("sqs", JSON_1_0, "AmazonSQS.SendMessage", QueueUrl=url, MessageBody=str(number), **more)

    def receive(self, url, messages):
        """So many are being worked on."""
        for _ in range(messages):
            self.ask_json("sqs", JSON_1_0, "AmazonSQS.ReceiveMessage", QueueUrl=url, MaxNumberOfMessages=1, VisibilityTimeout=3600)

    def purge(self, url):
        self.ask_json("sqs", JSON_1_0, "AmazonSQS.PurgeQueue", QueueUrl=url)

    def put_metric(self, namespace, name, value, at=None, **dimensions):
        """at: seconds since 1970."""
        when = datetime.datetime.fromtimestamp(at, datetime.timezone.utc) if at else datetime.datetime.now(datetime.timezone.utc)
        data = {"MetricData.member.1.MetricName": name, "MetricData.member.1.Value": value, "MetricData.member.1.Timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ")}
        for number, (key, text) in enumerate(dimensions.items(), 1):
            data[f"MetricData.member.1.Dimensions.member.{number}.Name"], data[f"MetricData.member.1.Dimensions.member.{number}.Value"] = key, text
        self.query("monitoring", "2010-08-01", "PutMetricData", Namespace=namespace, **data)

    def stream(self, name, shards):
        self.ask_json("kinesis", JSON_1_1, "Kinesis_20131202.CreateStream", StreamName=name, ShardCount=shards)

    def secret(self, name, value):
        """Its ARN. value: a text, or bytes."""
        return self.ask_json("secretsmanager", JSON_1_1, "secretsmanager.CreateSecret", Name=name, ClientRequestToken=str(uuid.uuid4()), **value_of(value))["ARN"]

    def change_secret(self, name, value):
        """The id of the version."""
        return self.ask_json("secretsmanager", JSON_1_1, "secretsmanager.PutSecretValue", SecretId=name, ClientRequestToken=str(uuid.uuid4()), **value_of(value))["VersionId"]


def value_of(value):
    return {"SecretBinary": base64.b64encode(value).decode()} if isinstance(value, bytes) else {"SecretString": value}


def keys_of(answer):
    """Of an answer of STS: as Pods and machines are handed them."""
    found = {element.tag.rpartition("}")[2]: element.text for element in xml.etree.ElementTree.fromstring(answer).iter()}
    return {"Code": "Success", "AccessKeyId": found["AccessKeyId"], "SecretAccessKey": found["SecretAccessKey"], "Token": found["SessionToken"], "Expiration": found["Expiration"]}


def through(moto, asked):
    """What moto answers to a request that came to somebody else, whose name is signed."""
    headers = {name: value for name, value in asked.headers.items() if name.lower() not in ("accept", "content-length")}
    answer = moto.pool.request(asked.method, f"{moto.url}{asked.target}", body=asked.body, headers=headers)
    return (answer.status, {"Content-Type": answer.headers["Content-Type"]}, answer.data)


class Credentials(HttpSource):
    """A fake: the endpoint of EKS Pod Identity (/v1/credentials) and the metadata server of a machine (IMDSv2), with keys that moto knows."""

    TOKEN = "imds-token"

    def __init__(self, moto, role, pod_token="pod-token"):
        self.moto, self.role, self.pod_token = moto, role, pod_token
        self.given = 0
        super().__init__()

    def keys(self):
        self.given += 1
        return (200, {}, json.dumps(keys_of(self.moto.session(self.role))))

    def answer(self, asked):
        if asked.path == "/v1/credentials":
            return self.keys() if asked.headers.get("Authorization") == self.pod_token else (403, {}, json.dumps({"code": "AccessDenied", "message": "no such token"}))
        if asked.path == "/latest/api/token":
            return (200, {}, self.TOKEN) if asked.method == "PUT" and asked.headers.get("X-aws-ec2-metadata-token-ttl-seconds") else (405, {}, "")
        if asked.headers.get("X-aws-ec2-metadata-token") != self.TOKEN:
            return (401, {}, "")
        root = "/latest/meta-data/iam/security-credentials/"
        return (200, {}, "node-role") if asked.path == root else self.keys() if asked.path == root + "node-role" else (404, {}, "")


class WebIdentity(HttpSource):
    """A fake: STS, where AssumeRoleWithWebIdentity is concerned, which moto wants signed. It takes one token, without a signature, and has moto make the keys. All else goes to moto as it came."""

    def __init__(self, moto, token):
        self.moto, self.token = moto, token
        super().__init__()

    def answer(self, asked):
        if asked.form.get("Action") != "AssumeRoleWithWebIdentity":
            return through(self.moto, asked)
        if asked.headers.get("Authorization") or asked.form["WebIdentityToken"] != self.token:
            return (400, {"Content-Type": "text/xml"}, "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>Token is not good</Message></Error></ErrorResponse>")
        return (200, {"Content-Type": "text/xml"}, self.moto.session(asked.form["RoleArn"], "AssumeRoleWithWebIdentity", WebIdentityToken=self.token))
