# SPDX-License-Identifier: Apache-2.0
"""Layers and layouts of the OCI image specification, made so that the same content has the same bytes."""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile
import time

from debs import Failed

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def json_bytes(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Layer:
    """Files to be, sorted by name in the end, all of one time; folders come by themselves."""

    def __init__(self, mtime):
        self.mtime = mtime
        self.entries = {}

    def put(self, name, kind, mode, owner=0, data=b"", target=""):
        for parent in pathlib.PurePosixPath(name).parents:
            if str(parent) not in (".", *self.entries):
                self.folder(str(parent))
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.uid, entry.gid = kind, mode, owner, owner
        entry.mtime, entry.size, entry.linkname = self.mtime, len(data), target
        self.entries[name] = entry, data

    def folder(self, name, mode=0o755, owner=0):
        self.put(name, tarfile.DIRTYPE, mode, owner)

    def file(self, name, data, mode=0o644):
        self.put(name, tarfile.REGTYPE, mode, data=data)

    def link(self, name, target):
        self.put(name, tarfile.SYMTYPE, 0o777, target=target)

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name in sorted(self.entries):
                entry, data = self.entries[name]
                archive.addfile(entry, io.BytesIO(data))
        return out.getvalue()


class Layout:
    """A folder of an image layout: blobs by digest, and what it is entered by."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "blobs/sha256").mkdir(parents=True)
        self.manifests = []

    @staticmethod
    def time(epoch):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))

    def blob(self, data, media_type, **more):
        digest = sha256(data)
        (self.folder / "blobs/sha256" / digest.removeprefix("sha256:")).write_bytes(data)
        return {"mediaType": media_type, "digest": digest, "size": len(data), **more}

    def image(self, platform, layers, created, labels, tag, config):
        """Returns what somebody who pulls it downloads, in bytes."""
        descriptors, diff_ids, history = [], [], []
        for layer, comment in layers:
            tar = layer.tar()
            packed = io.BytesIO()
            with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as out:
                out.write(tar)
            descriptors.append(self.blob(packed.getvalue(), LAYER))
            diff_ids.append(sha256(tar))
            history.append({"created": self.time(layer.mtime), "created_by": "contrib/image/build", "comment": comment})
        described = {"created": created, **platform, "config": {**config, "Labels": labels}, "rootfs": {"type": "layers", "diff_ids": diff_ids}, "history": history}
        config_blob = self.blob(json_bytes(described), CONFIG)
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config_blob, "layers": descriptors, "annotations": labels}
        self.manifests.append(self.blob(json_bytes(manifest), MANIFEST, platform=platform, annotations={"org.opencontainers.image.ref.name": tag}))
        return config_blob["size"] + sum(one["size"] for one in descriptors)

    def finish(self):
        (self.folder / "oci-layout").write_bytes(json_bytes({"imageLayoutVersion": "1.0.0"}))
        (self.folder / "index.json").write_bytes(json_bytes({"schemaVersion": 2, "mediaType": INDEX, "manifests": self.manifests}))


class Image:
    """The one image of a layout, every blob of it checked against its digest."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        index = json.loads((self.folder / "index.json").read_bytes())
        if len(index["manifests"]) != 1 or index["manifests"][0]["mediaType"] != MANIFEST:
            raise Failed(f"{folder} is not the layout of one image")
        self.descriptor = index["manifests"][0]
        self.digest = self.descriptor["digest"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        self.blobs = [self.descriptor, self.manifest["config"], *self.manifest["layers"]]

    def blob(self, descriptor):
        data = (self.folder / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        if sha256(data) != descriptor["digest"] or len(data) != descriptor["size"]:
            raise Failed(f"{self.folder}: the blob {descriptor['digest']} is damaged")
        return data

    def layer(self, number):
        return io.BytesIO(gzip.decompress(self.blob(self.manifest["layers"][number])))

    def size(self):
        return sum(one["size"] for one in self.blobs[1:])


def read_layout(folder):
    try:
        return Image(folder)
    except (KeyError, ValueError) as error:
        raise Failed(f"{folder}: no image layout of contrib/image/build: {error}") from error
