# SPDX-License-Identifier: Apache-2.0
"""Secrets, ConfigMaps and (Cluster)TriggerAuthentications of a test, and a Redis that lets nobody in without a password."""
import contextlib
import threading

import redis
from kubernetes.client import ApiException

from .cluster import GROUP, VERSION
from .redis_server import RedisServer
from .stage import MERGE
from .waiting import eventually


def from_secret(name="redis", key="password", parameter="password"):
    return {"secretTargetRef": [{"parameter": parameter, "name": name, "key": key}]}


def from_config_map(name="redis", key="password", parameter="password"):
    return {"configMapTargetRef": [{"parameter": parameter, "name": name, "key": key}]}


def ref(name="redis", cluster=False):
    """The trigger's authenticationRef."""
    return {"name": name, "kind": "ClusterTriggerAuthentication"} if cluster else {"name": name}


class Credentials:
    """What is named without a namespace is the stage's. Objects of the whole cluster and of other namespaces are taken away by clear()."""

    def __init__(self, stage):
        self.stage = stage
        self.core, self.custom = stage.cluster.core, stage.cluster.custom
        self.elsewhere = []

    def clear(self):
        for remove in self.elsewhere:
            with contextlib.suppress(ApiException):
                remove()

    def _later(self, namespace, remove):
        if namespace != self.stage.namespace:
            self.elsewhere.append(remove)

    # --- Secrets and ConfigMaps ---

    def secret(self, name="redis", namespace=None, **data):
        namespace = namespace or self.stage.namespace
        self.core.create_namespaced_secret(namespace, {"metadata": {"name": name}, "stringData": data})
        self._later(namespace, lambda: self.core.delete_namespaced_secret(name, namespace))

    def change_secret(self, name="redis", namespace=None, **data):
        """A None takes the key away."""
        gone = {key: None for key, value in data.items() if value is None}
        self.core.patch_namespaced_secret(name, namespace or self.stage.namespace, {"stringData": {key: value for key, value in data.items() if value is not None}, "data": gone})

    def delete_secret(self, name="redis"):
        self.core.delete_namespaced_secret(name, self.stage.namespace)

    def config_map(self, name="redis", namespace=None, **data):
        namespace = namespace or self.stage.namespace
        self.core.create_namespaced_config_map(namespace, {"metadata": {"name": name}, "data": data})
        self._later(namespace, lambda: self.core.delete_namespaced_config_map(name, namespace))

    def change_config_map(self, name="redis", **data):
        self.core.patch_namespaced_config_map(name, self.stage.namespace, {"data": data})

    # --- TriggerAuthentications ---

    def authentication(self, name="redis", namespace=None, metadata=None, **spec):
        namespace = namespace or self.stage.namespace
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "TriggerAuthentication", "metadata": {"name": name, **(metadata or {})}, "spec": spec}
        self.custom.create_namespaced_custom_object(GROUP, VERSION, namespace, "triggerauthentications", body)
        self._later(namespace, lambda: self.custom.delete_namespaced_custom_object(GROUP, VERSION, namespace, "triggerauthentications", name))

    def change_authentication(self, name="redis", **spec):
        self.patch_authentication({"spec": spec}, name)

    def patch_authentication(self, body, name="redis"):
        self.custom.patch_namespaced_custom_object(GROUP, VERSION, self.stage.namespace, "triggerauthentications", name, body, _content_type=MERGE)

    def delete_authentication(self, name="redis"):
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.stage.namespace, "triggerauthentications", name)

    def get(self, name="redis"):
        return self.custom.get_namespaced_custom_object(GROUP, VERSION, self.stage.namespace, "triggerauthentications", name)

    def cluster_authentication(self, name, metadata=None, **spec):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "ClusterTriggerAuthentication", "metadata": {"name": name, **(metadata or {})}, "spec": spec}
        self.custom.create_cluster_custom_object(GROUP, VERSION, "clustertriggerauthentications", body)
        self.elsewhere.append(lambda: self.delete_cluster_authentication(name))

    def change_cluster_authentication(self, name, **spec):
        self.custom.patch_cluster_custom_object(GROUP, VERSION, "clustertriggerauthentications", name, {"spec": spec}, _content_type=MERGE)

    def delete_cluster_authentication(self, name):
        self.custom.delete_cluster_custom_object(GROUP, VERSION, "clustertriggerauthentications", name)

    def get_cluster(self, name):
        return self.custom.get_cluster_custom_object(GROUP, VERSION, "clustertriggerauthentications", name)


class LockedRedis(RedisServer):
    """Its list "jobs" has LENGTH entries, which only who knows the password can tell. users: further names, whose passwords are password_of(name)."""

    PASSWORD = "open-sesame"
    LENGTH = 6

    def __init__(self, directory, name, users=()):
        super().__init__(directory, name, extra=["--requirepass", self.PASSWORD])
        self.admin = self.client(password=self.PASSWORD)
        self.admin.rpush("jobs", *range(self.LENGTH))
        for user in users:
            self.add_user(user)

    @staticmethod
    def password_of(user):
        return f"password-of-{user}"

    def add_user(self, user):
        self.admin.acl_setuser(user, enabled=True, passwords=[f"+{self.password_of(user)}"], keys=["*"], commands=["+eval", "+type", "+llen", "+select"], reset=True)

    def remove_user(self, user):
        """Its connections are closed, too."""
        self.admin.acl_deluser(user)

    def refused(self):
        """How many log-ins failed."""
        return sum(entry["count"] for entry in self.admin.acl_log(128) if entry["reason"] == "auth")

    def trigger(self, stage, auth=None, **metadata):
        more = {"_authenticationRef": auth} if auth else {}
        return stage.trigger(**{"address": self.address, "listName": "jobs", **metadata}, **more)

    def scaledobject(self, stage, name, auth=None, trigger=None, env=None, containers=None, replicas=0, **spec):
        """An object whose only trigger asks this server, and its Deployment."""
        if "target" not in spec:
            stage.deployment(name, replicas=replicas, env=env, containers=containers)
        stage.scaledobject(name, triggers=[self.trigger(stage, auth, **(trigger or {}))], **{"maxReplicaCount": 1, **spec})

    def wait_read(self, stage, name, **more):
        """The length was read for that object: it has got in."""
        def is_read():
            assert stage.metric("s0-redis-jobs", name).value() == str(self.LENGTH)
            return True
        stage.wait_ready(name, **more)
        eventually(is_read, **more)


class Asks(threading.Thread):
    """Who asks a LockedRedis for lengths, and when, by MONITOR."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.client = server.client(password=server.PASSWORD)
        self.monitor = self.client.monitor()
        self.monitor.__enter__()
        self.client.connection_pool.connection_kwargs["socket_timeout"] = None
        self.monitor.connection._sock.settimeout(None)  # pylint: disable=protected-access
        self.asked = []   # (Unix time, port of the connection)
        self.names = {}   # of a port: the user
        self.over = False
        self.start()

    def run(self):
        with contextlib.suppress(redis.RedisError, OSError, ValueError):
            while not self.over:
                said = self.monitor.next_command()
                if said["client_type"] == "tcp" and said["command"].upper().startswith("EVAL"):
                    self.asked.append((said["time"], said["client_port"]))

    def by_user(self):
        """Name of a user: the times at which it asked. Connections have to be open when this looks first after they asked."""
        for connection in self.server.admin.client_list():
            self.names[connection["addr"].rpartition(":")[2]] = connection["user"]
        found = {}
        for when, port in list(self.asked):
            found.setdefault(self.names.get(port, "gone"), []).append(when)
        return found

    def end(self):
        self.over = True
        with contextlib.suppress(redis.RedisError, OSError):
            self.monitor.connection.disconnect()
