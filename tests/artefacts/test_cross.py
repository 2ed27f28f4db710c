# SPDX-License-Identifier: Apache-2.0
"""
kscaled for arm64 and armhf, as contrib/package/cross makes it: the Debian packages, the unit tests under qemu, and one image for
all three architectures, in which each finds its own libraries. Root only. KSCALED: the program of this machine, amd64.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"AC_INIT\(\[kscaled\], \[([^]]+)\]", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
# Debian's name: what readelf calls the machine, who runs its programs here, its place in the index, the folder of its libraries.
ARM = {
    "arm64": ("AArch64", "qemu-aarch64-static", {"architecture": "arm64", "os": "linux"}, "aarch64-linux-gnu"),
    "armhf": ("ARM", "qemu-arm-static", {"architecture": "arm", "os": "linux", "variant": "v7"}, "arm-linux-gnueabihf"),
}
AMD64 = {"architecture": "amd64", "os": "linux"}
# Which unit tests are run, and how many they are at least: those of some rooms, more of them where a word has 32 bits, which saves
# two minutes. contrib/package/cross --check runs all.
TESTS = {"arm64": (["--rooms", "base,crd,decide"], 300), "armhf": (["--rooms", "base,crd,decide,kube,scalers"], 600)}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)


def good(*command, **more):
    done = run(*command, **more)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


class Made:
    def __init__(self, arch, folder):
        self.arch, self.machine, self.qemu = arch, ARM[arch][0], shutil.which(ARM[arch][1])
        self.said = good(TOP / "contrib/package/cross", *TESTS[arch][0], "--output", folder / "packages", arch)
        self.deb = folder / f"packages/kscaled_{VERSION}_{arch}.deb"
        self.changes = self.deb.with_suffix(".changes")
        good("dpkg-deb", "-x", self.deb, folder / "tree")
        self.program = folder / "tree/usr/bin/kscaled"


# Each by itself, so that each has its own time.
@pytest.fixture(scope="module", name="arm64")
def fixture_arm64(tmp_path_factory):
    return Made("arm64", tmp_path_factory.mktemp("arm64"))


@pytest.fixture(scope="module", name="armhf")
def fixture_armhf(tmp_path_factory):
    return Made("armhf", tmp_path_factory.mktemp("armhf"))


@pytest.fixture(name="made", params=list(ARM))
def fixture_made(request):
    return request.getfixturevalue(request.param)


def test_unit_tests(made):
    """contrib/package/cross ends when one fails; here it is seen that they were run."""
    passed = int(re.search(rf"cross: {made.arch} under qemu: (\d+) cases of unit tests pass", made.said)[1])
    print(f"{made.arch}: {passed} cases of unit tests pass under qemu")
    assert passed > TESTS[made.arch][1]


def test_the_package_is_for_its_architecture(made):
    assert good("dpkg-deb", "-f", made.deb, "Architecture").strip() == made.arch
    assert re.search(rf"Machine:\s+{made.machine}\n", good("readelf", "-h", made.program))
    # By the names of packages; its libraries' versions are looked up where it is installed.
    depends = good("dpkg-deb", "-f", made.deb, "Depends")
    names = {re.split(r"[ |]", word.strip())[0] for word in depends.split(",")}
    assert {"libbson-1.0-0", "libc6", "libc-ares2", "libcurl4", "libevent-openssl-2.1-7", "libexpat1", "libhiredis0.14", "libjansson4", "libmariadb3", "libpcre2-8-0", "libpq5",
            "libprotobuf-c1", "libseccomp2", "libssl3", "libyaml-0-2", "ca-certificates", "procps"} <= names, depends
    headers = good("readelf", "-W", "-h", "-l", "-d", made.program)
    assert "DYN" in headers and "GNU_RELRO" in headers and "BIND_NOW" in headers
    assert "__memcpy_chk" in good("readelf", "-W", "--dyn-syms", made.program)


def test_lintian(made):
    done = run("lintian", "--allow-root", "--fail-on", "error,warning", "--display-info", made.changes)
    print(done.stdout)
    assert done.returncode == 0 and not re.search(r"(?m)^[EW]:", done.stdout), done.stdout + done.stderr


# ---- One image for all ----

class Image:
    """One platform's image, unpacked, with qemu in it, so that its program runs where nothing else is."""

    def __init__(self, layout, manifest, folder):
        self.root = folder
        for layer in manifest["layers"]:
            with tarfile.open(layout / "blobs" / layer["digest"].replace(":", "/")) as tar:
                tar.extractall(folder, filter="tar")

    def kscaled(self, qemu, *arguments):
        shutil.copy(qemu, self.root / "qemu")
        return run("chroot", self.root, "/qemu", "/usr/bin/kscaled", *arguments, env={"PATH": "/usr/sbin:/usr/bin"})


@pytest.fixture(scope="module", name="images")
def fixture_images(arm64, armhf, tmp_path_factory):
    """{architecture of the index's platform: Image}, of the archive for places without a network, which has all that a release has of them."""
    folder = tmp_path_factory.mktemp("image")
    (folder / "debs").mkdir()
    for made in (arm64, armhf):
        shutil.copy(made.deb, folder / "debs")
    # Debian's archives as they were good enough to build with: debian-root says when one was left out.
    root = good(TOP / "contrib/package/debian-root", "--cross", "armhf").strip()
    print(good(TOP / "contrib/release/release", "--airgap", "--arm", "--version", VERSION, "--program", os.environ["KSCALED"], "--reuse", folder / "debs", "--output", folder / "airgap",
               env={**os.environ, "KSCALED_APT_SOURCES": f"{root}/etc/apt/sources.list"}))
    name = f"kscaled-{VERSION}-airgap"
    with tarfile.open(folder / f"airgap/{name}.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    archive = folder / name / f"kscaled-{VERSION}.oci.tar"
    assert {path.name for path in (folder / name).iterdir()} == {
        archive.name, *(f"kscaled-{VERSION}-{arch}.spdx.json" for arch in ("amd64", *ARM)), arm64.deb.name, armhf.deb.name,
        f"kscaled-{VERSION}.yaml", "README", "SHA256SUMS"}
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "layout", filter="data")

    def blob(descriptor):
        return json.loads((folder / "layout/blobs" / descriptor["digest"].replace(":", "/")).read_bytes())

    index = blob(json.loads((folder / "layout/index.json").read_bytes())["manifests"][0])
    by_platform = sorted(index["manifests"], key=lambda one: one["platform"]["architecture"])
    assert [one["platform"] for one in by_platform] == [AMD64, ARM["armhf"][2], ARM["arm64"][2]]
    found = {}
    for one in by_platform:
        architecture = one["platform"]["architecture"]
        # What somebody else's tool takes for that platform is the same image.
        variant = one["platform"].get("variant", "")
        config = json.loads(good("skopeo", "--override-arch", architecture, "--override-variant", variant, "inspect", "--config", f"oci-archive:{archive}:{VERSION}"))
        assert config == blob(blob(one)["config"]) and (config["architecture"], config.get("variant", "")) == (architecture, variant)
        found[architecture] = Image(folder / "layout", blob(one), folder / architecture)
    return found


def test_each_image_has_its_own_libraries(images, made):
    machine, _, platform, triplet = ARM[made.arch]
    root = images[platform["architecture"]].root
    libraries = [path for path in (root / "usr/lib").rglob("*.so*") if path.is_file() and not path.is_symlink()]
    assert {path.parent.relative_to(root / "usr/lib").parts[0] for path in libraries if not path.name.startswith("ld-linux")} == {triplet}
    assert len(libraries) > 40
    for path in [root / "usr/bin/kscaled", *libraries]:
        assert re.search(rf"Machine:\s+{machine}\n", good("readelf", "-h", path)), path
    needed = set(re.findall(r"\(NEEDED\).*\[([^]]+)\]", good("readelf", "-W", "-d", made.program)))
    assert needed <= {path.name for path in libraries}


def test_it_runs_there(images, made):
    image = images[ARM[made.arch][2]["architecture"]]
    done = image.kscaled(made.qemu, "version")
    assert done.returncode == 0 and done.stdout.startswith(f"kscaled {VERSION}\n"), done.stderr
    # Its time zones too.
    shutil.copy(TOP / "etc/examples/cron/scaledobject.yaml", image.root / "given.yaml")
    done = image.kscaled(made.qemu, "check", "/given.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (image.root / "given.yaml").read_text(encoding="utf-8")
    (image.root / "given.yaml").write_text(re.sub(r"timezone: \S+", "timezone: Europe/Nowhere", text), encoding="utf-8")
    done = image.kscaled(made.qemu, "check", "/given.yaml")
    assert done.returncode == 1 and "Europe/Nowhere" in done.stdout + done.stderr
