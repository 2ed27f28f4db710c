# SPDX-License-Identifier: Apache-2.0
"""
A fake: there is no Azure Service Bus to run here. It serves the four requests of the management API that the trigger makes, as Microsoft documents them and its client for Go sends them, byte by byte, and says in `wrong` what
differs. Tokens it verifies by itself, from the keys of its policies, and it answers as the service does to who has no right, to a wrong key, to what does not exist, and when it throttles.
"""
import base64
import dataclasses
import hashlib
import hmac
import re
import time
import urllib.parse
from xml.sax.saxutils import escape

from .http_source import HttpSource

ENTRY, FEED, XML = "application/atom+xml;type=entry;charset=utf-8", "application/atom+xml;type=feed;charset=utf-8", "application/xml; charset=utf-8"
CONNECT, COUNTS = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect", "http://schemas.microsoft.com/netservices/2011/06/servicebus"
PUBLIC = '<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title><subtitle type="text">This is the list of publicly-listed services currently available.</subtitle><id>uuid:27fcd1e2-3a99-44b1-8f1e-3e92b52f0171;id=30</id><updated>2019-12-27T13:11:47Z</updated><generator>Service Bus 1.1</generator></feed>'
LIFE_S = 3600


@dataclasses.dataclass
class Policy:
    """Of shared access: what its key opens."""

    key: str
    rights: tuple = ("Manage", "Listen", "Send")
    entity: str = ""        # "": the namespace


@dataclasses.dataclass
class Entity:
    active: object          # None: the namespace is throttled, so what changes is not said
    status: str = "Active"
    other: int = 1000       # dead letters, scheduled ones and so on, which count for nothing


def sas(uri, name, key, until):
    """A token as the documentation makes one; uri: as it stands in it, encoded already."""
    signature = base64.b64encode(hmac.new(key.encode(), f"{uri}\n{until}".encode(), hashlib.sha256).digest()).decode()
    return f"SharedAccessSignature sr={uri}&sig={urllib.parse.quote(signature, safe='')}&se={until}&skn={name}"


class ServiceBus(HttpSource):
    def __init__(self, tls, name="localhost"):
        self.name = name
        self.policies = {"scaler": Policy("change-me")}
        self.tokens = set()                       # of Entra ID
        self.queues, self.topics = {}, {}         # name: Entity; name: {subscription: Entity}
        self.given = set()                        # tokens that were not made for the request
        self.page = 100                           # the most on one page
        self.throttled = None                     # seconds
        self.wrong = []                           # what differs from what is documented
        super().__init__(tls=tls)

    @property
    def authority(self):
        return f"{self.name}:{self.port}"

    def connection(self, policy="scaler", entity_path="", key=None):
        path = f";EntityPath={entity_path}" if entity_path else ""
        return f"Endpoint=sb://{self.authority}/;SharedAccessKeyName={policy};SharedAccessKey={key or self.policies[policy].key}{path}"

    def signed(self, until, policy="scaler"):
        """A connection string with a token that opens the whole namespace."""
        token = sas(urllib.parse.quote(f"https://{self.authority}/", safe="").lower(), policy, self.policies[policy].key, until)
        self.given.add(token)
        return f"Endpoint=sb://{self.authority}/;SharedAccessSignature={token}"

    # --- who asks ---

    def refusal(self, asked):
        """What a token is told that does not open this; None: it does."""
        token = asked.headers.get("Authorization", "")
        if token.startswith("Bearer "):
            return None if token.removeprefix("Bearer ") in self.tokens else "InvalidIssuer: Token issuer is invalid."
        parts = re.fullmatch(r"SharedAccessSignature sr=([^&= ]+)&sig=([^&= ]+)&se=([0-9]+)&skn=([^&= ]+)", token)
        if not parts:
            return "MalformedToken: The token is malformed." if token else "MissingToken: Authorization header is missing."
        place, _, until, name = parts.groups()
        url = f"https://{self.authority}{asked.target}"
        if token not in self.given:
            if urllib.parse.unquote(place) != url or urllib.parse.quote(url, safe="-_.~") != place:
                self.wrong.append(f"signed is {place}, asked is {url}")
            if not LIFE_S - 60 < int(until) - time.time() < LIFE_S + 60:
                self.wrong.append(f"good until {until}")
        policy = self.policies.get(urllib.parse.unquote(name))
        if not policy or not hmac.compare_digest(token, sas(place, name, policy.key, until)):
            return "InvalidSignature: The token has an invalid signature."
        if int(until) < time.time():
            return f"ExpiredToken: The token is expired. Expiration time: '{until}'."
        if not url.lower().startswith(urllib.parse.unquote(place).lower()):
            return "InvalidAudience: The authorization header contains a token that does not cover the resource."
        if policy.entity and asked.path.strip("/").split("/Subscriptions")[0].lower() != policy.entity.lower():
            return "InvalidSignature: The token has an invalid signature."
        return None if "Manage" in policy.rights else "Manage,EntityRead claims required for this operation."

    # --- what is asked ---

    def is_as_documented(self, asked):
        """The headers, and the query of a request for an entity or a page."""
        known = {"host", "authorization", "accept", "user-agent", "accept-encoding"}
        names = [name.lower() for name in asked.headers]
        entity, page = "api-version=2021-05", r"%24skip=(0|[1-9][0-9]*)&%24top=100&api-version=2021-05"
        is_list = asked.path == "/$Resources/Queues" or asked.path.endswith("/Subscriptions")
        good = asked.method == "GET" and not asked.body and set(names) <= known and len(names) == len(set(names)) and asked.headers["Host"] == self.authority
        if not good or not (re.fullmatch(page, asked.raw_query) if is_list else asked.raw_query == entity):
            self.wrong.append(f"{asked.method} {asked.target} {sorted(names)}")
            return False
        return True

    def error(self, status, detail, **headers):
        words = f"{detail} TrackingId:1b2c_G8, SystemTracker:{self.name}:, Timestamp:2026-11-26T18:00:00"
        return (status, {"Content-Type": XML, **headers}, f"<Error><Code>{status}</Code><Detail>{escape(words)}</Detail></Error>")

    def answer(self, asked):
        if not self.is_as_documented(asked):
            return self.error(400, "SubCode=40000. Bad Request.")
        refusal = self.refusal(asked)
        if refusal:
            return self.error(401, refusal)
        if self.throttled:
            return self.error(503, "The request was terminated because the namespace is being throttled. Error code : 50009. Please wait 10 seconds and try again.", **{"Retry-After": str(self.throttled)})
        path = urllib.parse.unquote(asked.path[1:])
        if path == "$Resources/Queues":
            return self.feed("Queues", "QueueDescription", self.queues, asked)
        topic, _, subscription = path.partition("/Subscriptions")
        if topic in self.topics and path == f"{topic}/Subscriptions":
            return self.feed("Subscriptions", "SubscriptionDescription", self.topics[topic], asked)
        if subscription:
            found = self.topics.get(topic, {}).get(subscription[1:])
            return (200, {"Content-Type": ENTRY}, self.entry(subscription[1:], "SubscriptionDescription", found)) if found else self.error(404, f"Entity '{path}' was not found.")
        if path in self.topics:
            return (200, {"Content-Type": ENTRY}, self.entry(path, "TopicDescription", Entity(0)))
        found = self.queues.get(path)
        return (200, {"Content-Type": ENTRY}, self.entry(path, "QueueDescription", found)) if found else (200, {"Content-Type": FEED}, PUBLIC)

    # --- what is answered ---

    def feed(self, title, kind, entities, asked):
        skip = int(asked.query["$skip"])
        names = sorted(entities)[skip:skip + min(self.page, int(asked.query["$top"]))]
        return (200, {"Content-Type": FEED}, f'<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">{title}</title><id>https://{self.authority}{escape(asked.target)}</id><updated>2026-11-26T18:00:00Z</updated>'
                f'<link rel="self" href="https://{self.authority}{escape(asked.target)}"/>{"".join(self.entry(name, kind, entities[name]) for name in names)}</feed>')

    def entry(self, name, kind, entity):
        said = escape(name)
        changing = "" if entity.active is None else (
            f'<CountDetails xmlns:d2p1="{COUNTS}"><d2p1:ActiveMessageCount>{entity.active}</d2p1:ActiveMessageCount>'
            + "".join(f"<d2p1:{what}MessageCount>{entity.other}</d2p1:{what}MessageCount>" for what in ("DeadLetter", "Scheduled", "TransferDeadLetter", "Transfer")) + "</CountDetails>")
        total = "" if entity.active is None else f"<SizeInBytes>5420</SizeInBytes><MessageCount>{entity.active + 4 * entity.other}</MessageCount>"
        return (f'<entry xmlns="http://www.w3.org/2005/Atom"><id>https://{self.authority}/{said}?api-version=2021-05</id><title type="text">{said}</title><published>2026-02-03T19:34:05Z</published><updated>2026-04-12T01:28:26Z</updated>'
                f'<author><name>shop</name></author><link rel="self" href="https://{self.authority}/{said}?api-version=2021-05"/><content type="application/xml">'
                f'<{kind} xmlns="{CONNECT}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><LockDuration>PT30S</LockDuration><MaxSizeInMegabytes>1024</MaxSizeInMegabytes><RequiresSession>false</RequiresSession>'
                f'<DefaultMessageTimeToLive>P14D</DefaultMessageTimeToLive><MaxDeliveryCount>10</MaxDeliveryCount>{total}<AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType>'
                f'<Rights><AccessRights>Manage</AccessRights></Rights><KeyName>of-the-queue</KeyName></AuthorizationRule></AuthorizationRules><Status>{entity.status}</Status><CreatedAt>2026-02-03T19:34:05.4983039Z</CreatedAt>'
                f'<UpdatedAt>2026-04-12T01:28:26.7163324Z</UpdatedAt><AccessedAt>2026-04-06T20:37:28.447Z</AccessedAt>{changing}<AutoDeleteOnIdle>P10675199DT2H48M5.4775807S</AutoDeleteOnIdle>'
                f"<EntityAvailabilityStatus>Available</EntityAvailabilityStatus></{kind}></content></entry>")
