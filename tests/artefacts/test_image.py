# SPDX-License-Identifier: Apache-2.0
"""
The OCI image, as `make image` makes it: valid by others' tools, reproducible, small, and nothing in it but what it says; kscaled
works there. KSCALED: the program; KSCALED_AGAIN: the same, built in another folder.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
CONTRIB = TOP / "contrib/image"
VERSION = re.search(r"AC_INIT\(\[kscaled\], \[([^]]+)\]", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
HOME, SOURCE = re.findall(r"\[(https:[^]]*)\]\)$", (TOP / "configure.ac").read_text(encoding="utf-8"), re.M)
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
REVISION, EPOCH = "0123456789abcdef0123456789abcdef01234567", "1790000000"
MOST = 20 * 2**20  # what somebody who pulls it may have to download


def run(*command, env=None, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}, **more)


def good(*command, **more):
    done = run(*command, **more)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def make(program, output, **more):
    env = {"SOURCE_DATE_EPOCH": EPOCH, "KSCALED_REVISION": REVISION, **more.pop("env", {})}
    return good(CONTRIB / "make-image", "--version", VERSION, "--output", output, f"{ARCHITECTURE}={program}", env=env, **more)


def program(variable):
    path = os.environ.get(variable, "")
    assert path and os.access(path, os.X_OK), f"the environment variable {variable} must hold the path of a program, not {path!r}"
    return os.path.abspath(path)


class Made:
    def __init__(self, folder):
        self.folder = folder / "image"
        self.said = make(program("KSCALED"), self.folder)
        self.archive = self.folder / f"kscaled-{VERSION}.oci.tar"
        self.sbom = self.folder / f"kscaled-{VERSION}-{ARCHITECTURE}.spdx.json"
        self.layout = folder / "layout"
        with tarfile.open(self.archive) as archive:
            archive.extractall(self.layout, filter="data")
        good("umoci", "unpack", *([] if os.getuid() == 0 else ["--rootless"]), "--image", f"{self.layout}:{VERSION}", folder / "bundle")
        self.root = folder / "bundle/rootfs"
        self.wrapper = folder / "kscaled"
        self.wrapper.write_text(f"#!/bin/sh\nexec {TOP}/tests/artefacts/inside {self.root} \"$@\"\n", encoding="utf-8")
        self.wrapper.chmod(0o755)

    def blob(self, descriptor):
        data = (self.layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
        assert hashlib.sha256(data).hexdigest() == descriptor["digest"].removeprefix("sha256:")
        assert len(data) == descriptor["size"]
        return data

    def json(self, descriptor):
        return json.loads(self.blob(descriptor))

    def manifest(self):
        outer = json.loads((self.layout / "index.json").read_bytes())
        assert len(outer["manifests"]) == 1
        inner = self.json(outer["manifests"][0])
        return self.json(inner["manifests"][0])

    def files(self):
        """Every path of the layers."""
        for descriptor in self.manifest()["layers"]:
            path = self.layout / "blobs" / descriptor["digest"].replace(":", "/")
            with tarfile.open(path, "r:gz") as layer:
                yield from layer


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("image"))


def test_the_same_elsewhere(made, tmp_path):
    """Another program of the same source, in another folder, by somebody with other settings: the same bytes."""
    elsewhere = tmp_path / "some where" / "else"
    elsewhere.mkdir(parents=True)
    before = os.umask(0o077)
    try:
        make(program("KSCALED_AGAIN"), elsewhere / "image", env={"TMPDIR": str(tmp_path), "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}, cwd=elsewhere)
    finally:
        os.umask(before)
    names = sorted(one.name for one in made.folder.iterdir())
    assert names == sorted(one.name for one in (elsewhere / "image").iterdir())
    for name in names:
        assert (made.folder / name).read_bytes() == (elsewhere / "image" / name).read_bytes(), name


def test_only_the_program_differs_between_commits(made, tmp_path):
    """Who has one version pulls of the next only the layer of kscaled, as long as no package is another."""
    good(CONTRIB / "build", "--arch", ARCHITECTURE, "--program", program("KSCALED"), "--version", VERSION, "--revision", "f" * 40, "--epoch", "1800000000", "--output", tmp_path / "next")
    names = {path.name for path in (tmp_path / "next/blobs/sha256").iterdir()}
    system, own = (one["digest"].removeprefix("sha256:") for one in made.manifest()["layers"])
    assert system in names
    assert own not in names


def test_others_can_read_it(made):
    reference = f"oci-archive:{made.archive}:{VERSION}"
    said = json.loads(good("skopeo", "inspect", reference))
    assert said["Os"] == "linux"
    assert {key.removeprefix("org.opencontainers.image."): value for key, value in said["Labels"].items()} == {
        "title": "kscaled", "version": VERSION, "revision": REVISION, "created": "2026-09-21T14:13:20Z", "licenses": "Apache-2.0",
        "url": HOME, "documentation": f"{HOME}/manual/", "source": SOURCE,
        "description": "Event-driven autoscaling for Kubernetes in one small process"}
    assert said["Created"] == "2026-09-21T14:13:20Z"
    # Copied by a tool that looks at each digest, and asked for by what `kscaled manifests` says.
    good("skopeo", "copy", "--all", reference, f"dir:{made.layout.parent / 'copy'}")
    index = json.loads((made.layout / "index.json").read_bytes())["manifests"][0]
    default = re.search(r'image: "([^"]+)"', good(program("KSCALED"), "manifests"))[1]
    assert index["annotations"] == {"org.opencontainers.image.ref.name": VERSION, "io.containerd.image.name": f"docker.io/library/{default}"}


def test_how_it_is_run(made):
    config = made.json(made.manifest()["config"])
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Entrypoint"] == ["/usr/bin/kscaled"]
    assert config["config"]["Cmd"] == ["run"]
    assert [len(config["rootfs"]["diff_ids"]), len(config["history"])] == [2, 2]


def test_small(made):
    manifest = made.manifest()
    size = manifest["config"]["size"] + sum(one["size"] for one in manifest["layers"])
    print(f"image: {size / 2**20:.2f} MiB compressed")
    assert size <= MOST


def test_sizes_that_people_read(made, tmp_path):
    """What README.md says was written by what measures it, and is not far from this image."""
    good(CONTRIB / "sizes", "--check", made.archive)
    copy = tmp_path / "image"
    shutil.copytree(CONTRIB, copy)
    readme = copy / "README.md"
    right = readme.read_text(encoding="utf-8")
    row = re.search(rf"(?m)^\| {ARCHITECTURE} \| ([0-9.]+) ", right)
    readme.write_text(right.replace(row[0], row[0].replace(row[1], "5.0")), encoding="utf-8")
    off = run(copy / "sizes", "--check", made.archive)
    assert off.returncode == 1 and f"{ARCHITECTURE}: " in off.stderr and "not 5: " in off.stderr and "sizes --write" in off.stderr, off.stderr
    good(copy / "sizes", "--write", made.archive)
    good(copy / "sizes", "--check", made.archive)
    assert run(copy / "sizes", readme).stderr.startswith(f"sizes: {readme}: no image of contrib/image/index")


# Where something may be, and of what kind.
ALLOWED = [
    r"usr/bin/kscaled",
    r"(usr/lib/[a-z0-9_]+-linux-[a-z]+|usr/lib(64)?)/(lib[A-Za-z0-9_+.-]+\.so(\.[0-9.]+)?|ld-linux[a-z0-9_.-]*)",
    r"usr/lib/[a-z0-9_]+-linux-[a-z]+/libmariadb3/plugin/(caching_sha2_password|client_ed25519|mysql_clear_password|sha256_password)\.so",
    r"usr/share/zoneinfo/[A-Za-z0-9/_+-]+",
    r"usr/share/doc/[a-z0-9.+-]+/copyright",
    r"var/lib/dpkg/status\.d/[a-z0-9.+-]+",
    r"etc/(passwd|group|nsswitch\.conf|os-release|ssl/certs/ca-certificates\.crt)",
    r"lib|lib64|usr/lib/ssl/(certs|cert\.pem)",
]


def test_nothing_else_is_in_it(made):
    seen = set()
    for entry in made.files():
        assert entry.issym() or entry.mode & 0o6022 == 0, f"{entry.name} has mode {entry.mode:o}"
        assert (entry.uid, entry.gid) == ((65532, 65532) if entry.name == "var/lib/kscaled" else (0, 0)), entry.name
        assert entry.isdir() or entry.isfile() or entry.issym(), entry.name
        if not entry.isdir():
            assert any(re.fullmatch(one, entry.name) for one in ALLOWED), f"{entry.name} has no business in the image"
            seen.add(entry.name)
    # No test of the above if a part were empty.
    for pattern in ALLOWED:
        assert any(re.fullmatch(pattern, name) for name in seen), pattern
    programs = [name for name in seen if (made.root / name).is_file() and (made.root / name).stat().st_mode & stat.S_IXUSR and "/ld-linux" not in name]
    assert programs == ["usr/bin/kscaled"]


def test_libraries_are_the_needed_ones(made):
    """Each that somebody needs is there, and each that is there is needed by somebody, or is named as loaded by the MariaDB connector."""
    have = {path.name: path for path in (made.root / "usr/lib").rglob("*") if path.is_file() and ".so" in path.name and not path.name.startswith("ld-linux")}
    needed = set()
    for path in [made.root / "usr/bin/kscaled", *have.values()]:
        needed.update(re.findall(r"\(NEEDED\).*\[([^]]+)\]", good("readelf", "-W", "-d", path)))
    needed = {name for name in needed if not name.startswith("ld-linux")}
    assert needed <= set(have)
    assert {name for name in set(have) - needed if "plugin" not in str(have[name])} == set()
    assert not re.search(r"\.(symtab|debug_info)\b|build-id", good("readelf", "-W", "-S", made.root / "usr/bin/kscaled"))


def test_list_of_materials(made):
    document = json.loads(made.sbom.read_bytes())
    assert document["spdxVersion"] == "SPDX-2.3"
    installed = {}
    for path in (made.root / "var/lib/dpkg/status.d").iterdir():
        installed[path.name] = re.search(r"^Version: (.*)$", path.read_text(encoding="utf-8"), re.M)[1]
    listed = {one["name"]: one for one in document["packages"] if one["primaryPackagePurpose"] != "SOURCE"}
    assert {name: one["versionInfo"] for name, one in listed.items()} == {**installed, "kscaled": VERSION}
    # A licence that SPDX has a name for, or the text.
    texts = {one["licenseId"]: one["extractedText"] for one in document["hasExtractedLicensingInfos"]}
    for name, one in listed.items():
        assert one["licenseDeclared"] not in ("NOASSERTION", "NONE", ""), name
        for reference in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", one["licenseDeclared"]):
            assert texts[reference].strip(), reference
    assert listed["kscaled"]["licenseDeclared"] == "Apache-2.0"
    assert listed["libhiredis0.14"]["licenseDeclared"] == "BSD-3-Clause"
    assert "OpenLDAP" in texts["LicenseRef-libldap-2.5-0"]
    # Every library's package is in the list.
    owners = {good("dpkg-query", "-S", f"*-linux-*/{path.name}").split(":")[0] for path in (made.root / "usr/lib").rglob("lib*.so.*") if path.is_file()}
    assert owners <= set(listed)


FOREIGN = """
import pathlib, shutil, sys
sys.path.insert(0, sys.argv[1])
from debs import Debs
debs = Debs(sys.argv[2], sys.argv[3])
debs.get(["curl"])
shutil.copy(debs.packages["curl"].files / "usr/bin/curl", sys.argv[4])
"""


def test_two_architectures(tmp_path):
    """A program of Debian's stands for a kscaled that was built for another architecture: its image has that one's libraries, and who asks gets their own."""
    other = "arm64" if ARCHITECTURE != "arm64" else "amd64"
    foreign = tmp_path / "curl"
    good(sys.executable, "-c", FOREIGN, CONTRIB, other, tmp_path, foreign)
    layouts = {ARCHITECTURE: tmp_path / "one", other: tmp_path / "two"}
    for architecture, path in ((ARCHITECTURE, program("KSCALED")), (other, foreign)):
        good(CONTRIB / "build", "--arch", architecture, "--program", path, "--version", VERSION, "--revision", REVISION, "--epoch", EPOCH, "--output", layouts[architecture])
    architectures = {row.split("\t")[2] for row in (layouts[other] / "packages.tsv").read_text(encoding="utf-8").splitlines()}
    assert architectures == {other, "all"}
    assert "libcurl4\t" in (layouts[other] / "packages.tsv").read_text(encoding="utf-8")

    archive = tmp_path / "both.tar"
    said = good(CONTRIB / "index", "--name", "registry.example.com/team/kscaled:9", "--output", archive, *layouts.values())
    assert "registry.example.com/team/kscaled:9" in said and f"linux/{other}" in said
    for architecture in layouts:
        config = json.loads(good("skopeo", "--override-arch", architecture, "inspect", "--config", f"oci-archive:{archive}:9"))
        assert config["architecture"] == architecture
    twice = run(CONTRIB / "index", "--name", "kscaled:9", "--output", archive, *[layouts[other]] * 2)
    assert twice.returncode == 1 and "more than one image is for linux/" in twice.stderr
    # A blob that was damaged on its way is told, not passed on.
    biggest = max((layouts[other] / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    biggest.write_bytes(b"no layer")
    damaged = run(CONTRIB / "index", "--name", "kscaled:9", "--output", archive, layouts[other])
    assert damaged.returncode == 1 and "is damaged" in damaged.stderr


@pytest.mark.parametrize("change,said", [
    ({"--program": "/nonexistent"}, "--program: there is no file /nonexistent: build kscaled first"),
    ({"--program": "/etc/passwd"}, "readelf"),
    ({"--arch": "vax"}, '--arch: "vax" is none of amd64, '),
    ({"--arch": "s390x"}, "not for IBM S/390"),
    ({"--epoch": "yesterday"}, '--epoch: "yesterday" is no time in seconds'),
], ids=["missing", "no-program", "unknown-arch", "other-arch", "epoch"])
def test_told_what_is_wrong(tmp_path, change, said):
    options = {"--arch": ARCHITECTURE, "--program": program("KSCALED"), "--version": VERSION, "--epoch": EPOCH, "--output": tmp_path / "out", **change}
    done = run(CONTRIB / "build", *(word for pair in options.items() for word in pair))
    assert done.returncode == 1 and done.stderr.startswith("image: ") and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_a_list_that_cannot_be_made_takes_no_image_away(made, tmp_path):
    """Who reaches a mirror of Debian and no PyPI. What was downloaded for the image is there."""
    caches = tmp_path / "cache/kscaled"
    caches.mkdir(parents=True)
    for path in (pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kscaled").iterdir():
        if path.name == "debs" or path.name.startswith("apt-"):
            (caches / path.name).symlink_to(path)
    command = [CONTRIB / "make-image", "--version", VERSION, "--output", tmp_path / "image", f"{ARCHITECTURE}={program('KSCALED')}"]
    env = {"SOURCE_DATE_EPOCH": EPOCH, "KSCALED_REVISION": REVISION, "XDG_CACHE_HOME": str(tmp_path / "cache"),
           "PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_FIND_LINKS": "", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
    done = run(*command, env=env)
    assert done.returncode == 1, done.stdout
    assert "pip install failed" in done.stderr and done.stderr.endswith(f"{made.archive.name} is made, its list of materials is not: SBOM=no leaves it out\n")
    assert [path.name for path in (tmp_path / "image").iterdir()] == [made.archive.name]
    assert (tmp_path / "image" / made.archive.name).read_bytes() == made.archive.read_bytes()
    shutil.rmtree(tmp_path / "image")
    assert "sbom" not in good(*command, env={**env, "SBOM": "no"})
    wrong = run(*command, env={**env, "SBOM": "later"})
    assert wrong.returncode == 2 and wrong.stderr == "image: SBOM is yes or no, not 'later'\n"


def test_it_says_what_it_does(made):
    """A line before each step that takes long."""
    assert [line.split(" ")[0] for line in made.said.splitlines() if re.search("packing .* and the program|listing what is in", line)] == ["image:", "sbom:"]


# ---- It works ----

def test_version(made):
    assert run(made.wrapper, "version").stdout.startswith(f"kscaled {VERSION}\n")


def test_check_of_examples(made):
    """Of time zones, and of each of the kinds."""
    for name in ("cron", "redis-list", "mysql", "scaledjob-redis-list"):
        done = run(made.wrapper, "check", *sorted((TOP / "etc/examples" / name).glob("*.yaml")), cwd=TOP)
        assert done.returncode == 0, done.stdout + done.stderr
    bad = (TOP / "etc/examples/cron/scaledobject.yaml").read_text(encoding="utf-8")
    path = pathlib.Path(made.wrapper.parent) / "bad.yaml"
    path.write_text(re.sub(r"timezone: \S+", "timezone: Europe/Nowhere", bad), encoding="utf-8")
    done = run(made.wrapper, "check", path)
    assert done.returncode == 1 and "Europe/Nowhere" in done.stdout + done.stderr


def test_old_zones(made):
    """Names from before Continent/City."""
    text = (TOP / "etc/examples/cron/scaledobject.yaml").read_text(encoding="utf-8")
    path = pathlib.Path(made.wrapper.parent) / "old.yaml"
    for zone in ("US/Eastern", "CET", "Asia/Calcutta"):
        path.write_text(re.sub(r"timezone: \S+", f"timezone: {zone}", text), encoding="utf-8")
        done = run(made.wrapper, "check", path)
        assert done.returncode == 0, done.stdout + done.stderr


class Unpacked:
    def __init__(self, folder, **files):
        self.files = folder
        for name, what in files.items():
            path = folder / "usr/share/zoneinfo" / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            if what.startswith(">"):
                path.symlink_to(what[1:])
            else:
                path.write_text(what, encoding="utf-8")


def test_files_of_several_packages(tmp_path):
    """As of Debian 13: tzdata-legacy has links into tzdata."""
    sys.path.insert(0, str(CONTRIB))
    from debs import files_below  # pylint: disable=import-outside-toplevel
    tzdata = Unpacked(tmp_path / "tzdata", America__New_York="TZif", Europe__Brussels="TZif", localtime=">/etc/localtime")
    legacy = Unpacked(tmp_path / "legacy", US__Eastern=">../America/New_York", CET=">Europe/Brussels", MET=">CET", Lost=">Nowhere", Loop=">Loop")
    found = files_below([tzdata, legacy], "usr/share/zoneinfo")
    assert {name: file.read_text(encoding="utf-8") for name, (_, file) in found.items()} == dict.fromkeys(
        ("America/New_York", "Europe/Brussels", "US/Eastern", "CET", "MET"), "TZif")
    assert {name for name, (path, _) in found.items() if path.is_symlink()} == {"US/Eastern", "CET", "MET"}


LIVE = [
    ["-m", "journey", "tests/live"],
    # Plugins of the MariaDB connector; time zones.
    ["tests/live/test_mysql.py::test_mysql_8_logins", "tests/live/test_mysql.py::test_ways_in", "tests/live/test_cron.py::test_open_window"],
]


@pytest.mark.parametrize("chosen", LIVE, ids=["journeys", "what-is-loaded"])
def test_live(made, tmp_path, chosen):
    """kscaled of the image against the control plane of the tests."""
    assert os.environ.get("KUBE_ASSETS"), "the environment variable KUBE_ASSETS must hold what tests/cluster/build prints"
    done = run(sys.executable, "-m", "pytest", "-q", "-o", "timeout=900", "-n", "2", "--basetemp", tmp_path / "live", *chosen, cwd=TOP, env={"KSCALED": str(made.wrapper)})
    print("\n".join(done.stdout.splitlines()[-60:]))
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d+ passed", done.stdout)
