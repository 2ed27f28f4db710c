# SPDX-License-Identifier: Apache-2.0
"""
`make release` and `make airgap`: what they refuse, what they hand out, and that it arrives. The parts themselves have tests of
their own; here the image is made, and other parts are taken as given (--reuse) where they take long. KSCALED: the program.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"AC_INIT\(\[kscaled\], \[([^]]+)\]", (TOP / "configure.ac").read_text(encoding="utf-8"))[1]
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def release(*arguments, top=TOP, **more):
    return subprocess.run([str(word) for word in (top / "contrib/release/release", *arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)


def program():
    path = os.environ.get("KSCALED", "")
    assert path and os.access(path, os.X_OK), f"the environment variable KSCALED must hold the path of the program, not {path!r}"
    return os.path.abspath(path)


def package(folder):
    """A Debian package by name and form."""
    control = folder / "package/DEBIAN/control"
    control.parent.mkdir(parents=True)
    control.write_text(f"Package: kscaled\nVersion: {VERSION}\nArchitecture: {ARCHITECTURE}\nMaintainer: nobody <nobody@example.com>\nDescription: a stand-in\n", encoding="utf-8")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(folder / "package"), str(folder)], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    shutil.rmtree(folder / "package")


@pytest.fixture(scope="module", name="given")
def fixture_given(tmp_path_factory):
    """Parts that were made before."""
    folder = tmp_path_factory.mktemp("given")
    package(folder)
    for name, text in ((f"kscaled-{VERSION}.tgz", "chart"), (f"kscaled-{VERSION}.tar.gz", "source")):
        (folder / name).write_text(text, encoding="utf-8")
    done = subprocess.run([str(TOP / "contrib/image/make-image"), "--version", VERSION, "--output", str(folder / "image"), f"{ARCHITECTURE}={program()}"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for path in (folder / "image").iterdir():
        path.rename(folder / path.name)
    (folder / "image").rmdir()
    return folder


def check_sums(folder):
    """Each file but the sums themselves is in them, and is what they say."""
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    assert set(sums) == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


IMAGE = {f"kscaled-{VERSION}.oci.tar", f"kscaled-{VERSION}-{ARCHITECTURE}.spdx.json"}
AIRGAP = IMAGE | {f"kscaled_{VERSION}_{ARCHITECTURE}.deb", f"kscaled-{VERSION}.yaml", "README", "SHA256SUMS"}


def unpacked(archive, folder):
    with tarfile.open(archive) as tar:
        assert {(one.uid, one.gid) for one in tar} == {(0, 0)}
        tar.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_air_gap(given, tmp_path):
    """One archive; what its README says can be done with what is in it."""
    for name in ("one", "two"):
        done = release("--airgap", "--version", VERSION, "--program", program(), "--output", tmp_path / name, "--reuse", given)
        assert done.returncode == 0, done.stderr
    archive = tmp_path / f"one/kscaled-{VERSION}-airgap.tar.gz"
    assert [path.name for path in (tmp_path / "one").iterdir()] == [archive.name]
    assert archive.read_bytes() == (tmp_path / "two" / archive.name).read_bytes()
    folder = unpacked(archive, tmp_path)
    assert {path.name for path in folder.iterdir()} == AIRGAP
    check_sums(folder)
    readme = (folder / "README").read_text(encoding="utf-8")
    assert "@" not in readme
    for name in re.findall(rf"kscaled-{re.escape(VERSION)}[A-Za-z0-9.-]*\.(?:oci\.tar|yaml)", readme):
        assert (folder / name).exists(), name
    assert "sha256sum --check SHA256SUMS" in readme
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, stdin=subprocess.DEVNULL, check=False).returncode == 0
    # The manifests name the image as it is called once it is imported.
    image = re.search(r'image: "([^"]+)"', (folder / f"kscaled-{VERSION}.yaml").read_text(encoding="utf-8"))[1]
    with tarfile.open(folder / f"kscaled-{VERSION}.oci.tar") as tar:
        assert f'"docker.io/library/{image}"' in tar.extractfile("index.json").read().decode()
    # Whoever changes a byte on the way is told.
    (folder / f"kscaled-{VERSION}.yaml").write_text("kind: Other\n", encoding="utf-8")
    assert subprocess.run(["sha256sum", "--check", "--status", "SHA256SUMS"], cwd=folder, stdin=subprocess.DEVNULL, check=False).returncode != 0


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """As much of the tree as the script looks at, so that it may be changed; with nothing uncommitted."""
    tree = tmp_path / "tree"
    for name in ("configure.ac", "CHANGELOG.md", "contrib/release", "contrib/image", "contrib/package", "contrib/helm", "debian", "man"):
        if (TOP / name).is_dir():
            shutil.copytree(TOP / name, tree / name)
        elif (TOP / name).exists():
            tree.mkdir(exist_ok=True)
            shutil.copy(TOP / name, tree / name)
    changes = tree / "CHANGELOG.md"
    changes.write_text(re.sub(r"(?ms)^## Unreleased$.*?(?=^## )", "", changes.read_text(encoding="utf-8")), encoding="utf-8")
    git(tree, "init", "-q")
    commit(tree)
    return tree


def git(tree, *arguments):
    subprocess.run(["git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.com", "-C", str(tree), *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True)


def commit(tree):
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "a state of the tree")


def test_release(given, tree, tmp_path):
    done = release("--version", VERSION, "--program", program(), "--output", tmp_path / "out", "--reuse", given, top=tree)
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == (AIRGAP - {"README"}) | {f"kscaled-{VERSION}{end}" for end in ("-airgap.tar.gz", "-manual.tar.gz", ".tgz", ".tar.gz")}
    assert "SHA256SUMS is not signed: SIGN_KEY=FILE names a key of minisign" in done.stdout
    check_sums(tmp_path / "out")
    check_sums(unpacked(tmp_path / f"out/kscaled-{VERSION}-airgap.tar.gz", tmp_path))
    again = release("--version", VERSION, "--program", program(), "--output", tmp_path / "out", "--reuse", given, top=tree)
    assert again.returncode == 2 and "is there already" in again.stderr


def minisign(folder, *arguments):
    return subprocess.run(["minisign", *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_signed(given, tmp_path):
    """By the releaser's key; airgap.README's command tells whether they are the releaser's."""
    assert minisign(tmp_path, "-G", "-W", "-s", "kscaled.key", "-p", "kscaled.pub").returncode == 0
    done = release("--airgap", "--version", VERSION, "--program", program(), "--output", tmp_path / "out", "--reuse", given, "--sign-key", tmp_path / "kscaled.key")
    assert done.returncode == 0 and "not signed" not in done.stdout, done.stderr
    folder = unpacked(tmp_path / f"out/kscaled-{VERSION}-airgap.tar.gz", tmp_path)
    shutil.copy(tmp_path / "kscaled.pub", folder)
    command = re.search(r"^ +minisign (-V .*?)  +#", (folder / "README").read_text(encoding="utf-8"), re.M)[1].split()
    verified = minisign(folder, *command)
    assert verified.returncode == 0 and f"kscaled {VERSION}" in verified.stdout, verified.stderr
    with open(folder / "SHA256SUMS", "a", encoding="utf-8") as sums:
        sums.write("0  another\n")
    assert minisign(folder, *command).returncode != 0
    missing = release("--airgap", "--version", VERSION, "--program", program(), "--output", tmp_path / "x", "--reuse", given, "--sign-key", tmp_path / "none")
    assert missing.returncode == 1 and f"--sign-key: there is no key '{tmp_path}/none'" in missing.stderr


# ---- The manual for browsers ----

def manual(*arguments, **more):
    return subprocess.run([str(TOP / "man/make-html"), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)


def test_manual(tmp_path):
    """Each page is there, the index leads to each, and what a page leads to is there; others' pages are Debian's."""
    done = manual("--version", VERSION, tmp_path / "html")
    assert done.returncode == 0 and done.stderr == ""
    pages = {f"{path.name}.html" for path in (TOP / "man").glob("*.[1-8]")}
    assert {path.name for path in (tmp_path / "html").iterdir()} == pages | {"index.html", "style.css"}
    texts = {name: (tmp_path / "html" / name).read_text(encoding="utf-8") for name in (*pages, "index.html")}
    links = {name: set(re.findall(r'href="([^"#]+)[^"]*"', text)) for name, text in texts.items()}
    assert pages <= links["index.html"]
    for name, found in links.items():
        for link in found:
            assert link in (*pages, "style.css") or re.match(r"https://(manpages\.debian\.org/(?!kscaled)|kscaled\.example$)", link), (name, link)
        assert name == "index.html" or found & pages, f"{name} leads nowhere"
        for page, target in re.findall(r'href="([^"#:]*)#([^"]+)"', texts[name]):
            assert f'id="{target}"' in texts[page or name], (name, page, target)
    assert 'href="kscaled-triggers.5.html#PUSH"' in texts["kscaled.8.html"]
    assert all(f"<dt><a class=\"Xr\" href=\"{name}\">" in texts["index.html"] for name in pages)
    again = manual(tmp_path / "html")
    assert again.returncode == 2 and "a new folder is needed" in again.stderr


def test_manual_without_mandoc(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "sed", "dirname", "mkdir", "cat"):
        (programs / name).symlink_to(shutil.which(name))
    done = manual(tmp_path / "html", env={"PATH": str(programs)})
    assert done.returncode == 2 and done.stderr == "make-html: mandoc is missing. Install it: sudo apt-get install mandoc\n"
    assert not (tmp_path / "html").exists()


def change(tree, name, old, new):
    path = tree / name
    text = path.read_text(encoding="utf-8")
    assert re.search(old, text, re.M), f"{name} has no {old}"
    path.write_text(re.sub(old, new, text, count=1, flags=re.M), encoding="utf-8")


@pytest.mark.parametrize("file,old,new,said", [
    ("configure.ac", r"\[kscaled\], \[[^]]+\]", "[kscaled], [9.9.9]", "configure.ac says version 9.9.9, not"),
    ("CHANGELOG.md", r"^## .*$", "## 9.9.9 (2026-01-01)", "CHANGELOG.md must begin with the entry"),
    ("CHANGELOG.md", r"^## (\S+) .*$", r"## \1 (unreleased)", "(unreleased)'"),
    ("CHANGELOG.md", r"^## .*$", "", "not with 'no entry at all'"),
], ids=["configured", "changelog-other", "changelog-no-date", "changelog-none"])
def test_versions_must_agree(given, tree, tmp_path, file, old, new, said):
    change(tree, file, old, new)
    commit(tree)
    done = release("--version", VERSION, "--program", program(), "--output", tmp_path / "out", "--reuse", given, top=tree)
    assert done.returncode == 1 and said in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_a_release_is_what_is_committed(given, tree, tmp_path):
    (tree / "stray").touch()
    done = release("--version", VERSION, "--program", program(), "--output", tmp_path / "out", "--reuse", given, top=tree)
    assert done.returncode == 1 and "uncommitted" in done.stderr


def test_all_that_is_missing_is_told(tree, tmp_path):
    for name in ("contrib/image/make-image", "contrib/package", "contrib/helm"):
        path = tree / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
    commit(tree)
    done = release("--version", VERSION, "--program", program(), "--output", tmp_path / "out", top=tree)
    assert done.returncode == 1
    for part in ("image", "deb", "chart"):
        assert f"the part '{part}' cannot be made: there is no" in done.stderr


@pytest.mark.parametrize("arguments,said", [
    (["--version", VERSION, "--program", "/nonexistent", "--output", "x"], "build kscaled first"),
    (["--version", "", "--program", "/bin/true", "--output", "x"], "--version is missing: make release VERSION=X.Y.Z"),
    (["--version", VERSION, "--program", "/bin/true", "--output", "x", "--without", "image,rpm"], "there is no part 'rpm'"),
    (["--frobnicate"], "unknown option '--frobnicate'"),
], ids=["program", "version", "part", "option"])
def test_told_what_is_wrong(tmp_path, arguments, said):
    done = release(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr, done.stderr
