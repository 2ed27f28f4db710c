# SPDX-License-Identifier: Apache-2.0
"""
The Debian package, as `make deb` makes it: clean by lintian, the same when it is built again, and in a small Debian of its own
installed, upgraded, removed and purged, after which nothing of it is left. Root only. BUILD: a configured build folder.
"""
import hashlib
import os
import pathlib
import re
import shutil
import stat

import pytest

from debpackage import ARCHITECTURE, NAME, TOP, VERSION, good, run

# What dpkg, apt, ldconfig and the clock write whatever is installed, and the user, whom Debian keeps (told apart below).
NOT_OURS = re.compile(r"/(var/lib/dpkg|var/lib/apt|var/cache|var/log|proc|sys|dev|tmp)(/|$)|/etc/ld\.so\.cache$|/etc/\.pwd\.lock$")
ACCOUNTS = re.compile(r"/etc/(passwd|group|shadow|gshadow)-?$")


class Root:
    """A copy of the small Debian."""

    def __init__(self, base, folder):
        self.path = folder / "root"
        good("cp", "-a", "--reflink=auto", base, self.path)

    def run(self, *command):
        mounts = "proc proc", "devpts dev/pts", "tmpfs run"  # /run ends with the machine, here with the command
        script = " && ".join(["mount --make-rprivate /", *(f'mount -t {kind} {kind} "$0/{where}"' for kind, where in map(str.split, mounts)), 'exec chroot "$0" "$@"'])
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}
        return run("unshare", "--mount", "--pid", "--fork", "sh", "-c", script, self.path, *command, env=env)

    def good(self, *command):
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        # A maintainer script may say that it failed, and go on.
        assert not re.search(r"(?im)^.*\b(failed|error|cannot|warning)\b.*$", done.stderr), done.stderr
        return done.stdout

    def install(self, package):
        shutil.copy(package, self.path / "tmp/new.deb")
        self.good("apt-get", "-q", "-y", "-o", "Dpkg::Options::=--force-confold", "-o", "APT::Sandbox::User=root", "install", "/tmp/new.deb")

    def file(self, path):
        return self.path / path.lstrip("/")

    def status(self):
        done = self.run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Version}", "kscaled")
        return done.stdout.strip()

    def files(self):
        """{path: (type and mode, owner, content)} of all that may be ours."""
        found = {}
        for folder, _, names in os.walk(self.path):
            for path in [pathlib.Path(folder), *(pathlib.Path(folder) / name for name in names)]:
                shown = "/" + str(path.relative_to(self.path))
                if NOT_OURS.search(shown):
                    continue
                st = path.lstat()
                content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(st.st_mode) else ""
                found[shown] = (oct(st.st_mode), st.st_uid, st.st_gid, content)
        return found


@pytest.fixture(name="root")
def root_of_a_test(base, tmp_path):
    root = Root(base, tmp_path)
    yield root
    shutil.rmtree(root.path)


def test_lintian(packages):
    done = run("lintian", "--allow-root", "--fail-on", "error,warning", "--display-info", packages / f"kscaled_{VERSION}_{ARCHITECTURE}.changes")
    print(done.stdout)
    assert done.returncode == 0 and not re.search(r"(?m)^[EW]:", done.stdout), done.stdout + done.stderr


def test_it_is_the_same_when_built_again(packages, tmp_path):
    """In another folder, at another time, with another umask and home."""
    (tmp_path / "a-longer-path-than-before").mkdir()
    good("sh", "-c", 'umask 027 && exec "$@"', "sh", TOP / "contrib/package/deb", "--output", tmp_path / "again",
         env={**os.environ, "TMPDIR": str(tmp_path / "a-longer-path-than-before"), "HOME": "/nonexistent", "TZ": "Asia/Tokyo"})
    for package in sorted(packages.glob("*.deb")):
        assert (tmp_path / "again" / package.name).read_bytes() == package.read_bytes(), package.name


def test_what_is_in_it(packages, tmp_path):
    good("dpkg-deb", "-x", packages / NAME, tmp_path / "tree")
    tree = tmp_path / "tree"
    files = {"/" + str(path.relative_to(tree)) for path in tree.rglob("*") if not path.is_dir()}
    for man in TOP.glob("man/*.[1-8]"):
        assert f"/usr/share/man/man{man.suffix[1:]}/{man.name}.gz" in files
    for example in TOP.glob("etc/examples/**/*.yaml"):
        assert f"/usr/share/doc/kscaled/examples/{example.relative_to(TOP / 'etc/examples')}" in files
    assert {"/usr/bin/kscaled", "/etc/kscaled/kscaled.conf", "/lib/systemd/system/kscaled.service", "/usr/lib/sysusers.d/kscaled.conf", "/usr/lib/tmpfiles.d/kscaled.conf",
            "/usr/share/bash-completion/completions/kscaled", "/usr/share/zsh/vendor-completions/_kscaled", "/usr/share/fish/vendor_completions.d/kscaled.fish"} <= files
    assert good("dpkg-deb", "-I", packages / NAME, "conffiles") == "/etc/kscaled/kscaled.conf\n"
    program = tree / "usr/bin/kscaled"
    headers = good("readelf", "-W", "-h", "-l", "-d", program)
    assert "DYN" in headers and "GNU_RELRO" in headers and "BIND_NOW" in headers  # PIE, and nothing to write to at run time
    assert "__memcpy_chk" in good("readelf", "-W", "--dyn-syms", program)
    assert str(TOP) not in good("strings", program)


def test_install_and_purge(packages, root):
    before, accounts = root.files(), {name: root.file(f"/etc/{name}").read_text() for name in ("passwd", "group", "shadow", "gshadow")}
    root.install(packages / NAME)
    assert root.status() == f"ii {VERSION}"
    assert root.good("kscaled", "version").splitlines()[0] == f"kscaled {VERSION}"
    root.good("sh", "-c", "for folder in /usr/share/doc/kscaled/examples/*; do kscaled check $folder/*.yaml || exit 1; done")
    root.good("sh", "-c", "kscaled manifests >/dev/null && kscaled completion bash >/dev/null")
    # Nobody can log in as the user, whose folder is its own.
    user = root.good("getent", "passwd", "kscaled").strip().split(":")
    assert user[-1].endswith("/nologin") and user[5] == "/var/lib/kscaled" and 100 <= int(user[2]) < 1000
    state = root.file("/var/lib/kscaled").stat()
    assert oct(state.st_mode) == "0o40700" and state.st_uid == int(user[2])
    # Enabled; what it waits for is not there.
    assert root.good("systemctl", "is-enabled", "kscaled.service").strip() == "enabled"
    assert "ConditionPathExists=/etc/kscaled/kubeconfig" in root.file("/lib/systemd/system/kscaled.service").read_text()
    verified = root.run("systemd-analyze", "verify", "--man=no", "/lib/systemd/system/kscaled.service")
    assert verified.returncode == 0 and "kscaled" not in verified.stderr, verified.stderr
    # As after a life: a way in, and what the daemon keeps.
    root.file("/etc/kscaled/kubeconfig").write_text("secret")
    root.file("/var/lib/kscaled/identity").write_text("x")
    root.file("/var/lib/kscaled/token").write_text("secret")

    root.good("apt-get", "-q", "-y", "remove", "kscaled")
    assert root.status() == f"rc {VERSION}"
    assert not root.file("/usr/bin/kscaled").exists() and not root.file("/lib/systemd/system/kscaled.service").exists()
    assert root.file("/etc/kscaled/kscaled.conf").exists() and root.file("/etc/kscaled/kubeconfig").read_text() == "secret"
    assert root.file("/var/lib/kscaled/identity").exists()

    root.good("apt-get", "-q", "-y", "purge", "kscaled")
    assert root.status() in ("", "un")
    after = root.files()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path) and not ACCOUNTS.search(path))
    assert changed == []
    for name, text in accounts.items():
        more = [line for line in root.file(f"/etc/{name}").read_text().splitlines() if line not in text.splitlines()]
        assert len(more) == 1 and more[0].startswith("kscaled:"), (name, more)

    root.install(packages / NAME)  # and again, with the user that is there
    assert root.good("getent", "passwd", "kscaled").strip().split(":") == user


@pytest.mark.parametrize("changed", [False, True], ids=["as it was", "changed by the administrator"])
def test_upgrade(packages, older, root, changed):
    root.install(older)
    assert root.status() == "ii 0.0.9"
    conf = root.file("/etc/kscaled/kscaled.conf")
    assert conf.read_text().startswith("# of the version before\n")
    if changed:
        conf.write_text("log-level = debug\n")
    root.file("/etc/kscaled/kubeconfig").write_text("kept")
    root.file("/var/lib/kscaled/identity").write_text("kept")
    root.good("systemctl", "disable", "kscaled.service") if changed else None
    root.install(packages / NAME)
    assert root.status() == f"ii {VERSION}"
    new = (TOP / "etc/kscaled.conf").read_text()
    assert conf.read_text() == ("log-level = debug\n" if changed else new)
    assert not changed or root.file("/etc/kscaled/kscaled.conf.dpkg-dist").read_text() == new
    assert root.file("/etc/kscaled/kubeconfig").read_text() == root.file("/var/lib/kscaled/identity").read_text() == "kept"
    assert root.run("systemctl", "is-enabled", "kscaled.service").stdout.strip() == ("disabled" if changed else "enabled")
    assert not root.file("/usr/share/doc/kscaled/of-old").exists()
    root.good("apt-get", "-q", "-y", "purge", "kscaled")
    assert not root.file("/etc/kscaled").exists() and not root.file("/var/lib/kscaled").exists()
