# SPDX-License-Identifier: Apache-2.0
"""Debian packages of any architecture, downloaded by apt and unpacked, without installing them.

apt is used as this machine is configured, but with lists of its own, kept in kscaled's cache folder: so
an architecture that is foreign here needs no `dpkg --add-architecture`, and nobody needs to be root.
KSCALED_APT_SOURCES names a sources.list that is used instead of this machine's.
What was downloaded before is used again, when its checksum is the one in the lists.
"""
import fcntl
import hashlib
import os
import pathlib
import re
import subprocess
import time
import urllib.parse

LISTS_AGE = 24 * 3600  # after so many seconds the lists are read anew


class Failed(Exception):
    """Said to whoever runs the script, who can do something about it."""


def say(text):
    """A step that may take long, before it is done."""
    print(f"image: {text}", flush=True)


def run(*command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[:2])} failed: {done.stderr.strip() or done.stdout.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "kscaled"


class Package:
    """One package, unpacked: its files, and what its control file says."""

    def __init__(self, deb, folder):
        self.deb = deb
        self.files = folder / "files"
        folder.mkdir()
        run("dpkg-deb", "-R", str(deb), str(self.files))
        self.control = (self.files / "DEBIAN/control").read_text(encoding="utf-8")
        fields = dict(re.findall(r"^([A-Za-z-]+): *(.*)$", self.control, re.M))
        self.name, self.version, self.architecture = (fields[key] for key in ("Package", "Version", "Architecture"))

    def newest(self):
        """The time of its newest file, in whole seconds: the same wherever it is unpacked."""
        return max(int(path.lstat().st_mtime) for path in self.files.rglob("*") if path.is_file() and "DEBIAN" not in path.parts)


def files_below(packages, top):
    """
    What the packages have below the folder TOP, as if all were installed: name there -> its path, and that of the file which
    it is or, being a link, leads to. Links that lead elsewhere are left out.
    """
    found = {}
    for package in packages:
        folder = package.files / top
        found.update({str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_symlink() or path.is_file()})

    def end(name):
        for _ in range(8):
            path = found.get(name)
            if not path or not path.is_symlink():
                return path
            name = os.path.normpath(os.path.join(os.path.dirname(name), os.readlink(path)))
        return None
    return {name: (path, end(name)) for name, path in found.items() if end(name)}


class Debs:
    """Packages of one architecture."""

    def __init__(self, architecture, folder):
        self.architecture = architecture
        self.folder = pathlib.Path(folder)
        self.sources = os.environ.get("KSCALED_APT_SOURCES")
        suffix = "-" + hashlib.sha256(pathlib.Path(self.sources).read_bytes()).hexdigest()[:16] if self.sources else ""
        self.state = cache_folder() / f"apt-{architecture}{suffix}"
        self.store = cache_folder() / "debs"
        self.store.mkdir(parents=True, exist_ok=True)
        (self.state / "lists/partial").mkdir(parents=True, exist_ok=True)
        (self.state / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
        self.packages = {}
        self.update()

    def apt(self, *arguments, tool="apt-get", **more):
        options = [f"APT::Architecture={self.architecture}", f"APT::Architectures={self.architecture}", f"Dir::State={self.state}",
                   f"Dir::State::lists={self.state}/lists", "Dir::State::status=/dev/null", f"Dir::Cache={self.state}/cache",
                   # Kept between two calls, or each reads the lists for a second: Debian's images for containers turn that off.
                   "Dir::Cache::pkgcache=pkgcache.bin", "Dir::Cache::srcpkgcache=srcpkgcache.bin",
                   "APT::Get::List-Cleanup=false", "Acquire::Languages=none", "Acquire::Retries=3"]
        if self.sources:
            options += [f"Dir::Etc::SourceList={os.path.abspath(self.sources)}", "Dir::Etc::SourceParts=/dev/null"]
        # Whom apt would become to download may not write here.
        options += ["APT::Sandbox::User="] if os.getuid() else ["APT::Sandbox::User=root"]
        return run(tool, "-q", *(word for option in options for word in ("-o", option)), *arguments, **more)

    def update(self, age=LISTS_AGE):
        """Reads the lists anew, when they are older than that. True: they were."""
        stamp = self.state / "updated"
        with open(self.state / "updated.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if stamp.exists() and time.time() - stamp.stat().st_mtime < age:
                return False
            say(f"{self.architecture}: reading apt's lists of packages")
            self.apt("update")
            if not list(self.state.glob("lists/*_Packages*")):
                raise Failed(f"apt has no list of packages for {self.architecture}: does its configuration name a distribution that has it?")
            stamp.touch()
        return True

    def known(self, names):
        """Those that this distribution has."""
        return [name for name in names if name in self.apt("pkgnames", name, tool="apt-cache").split()]

    def get(self, names):
        """Downloads and unpacks what is not there yet."""
        names = sorted(set(names) - set(self.packages))
        try:
            self.fetch(names)
        except Failed:
            # A package of yesterday's lists may have been replaced since.
            if not self.update(age=60):
                raise
            self.fetch(names)

    def fetch(self, names):
        if not names:
            return
        wanted = {}  # file -> (package, checksum)
        for line in self.apt("download", "--print-uris", *names).splitlines():
            found = re.fullmatch(r"'(\S+)' (\S+) \d+ (?:SHA256:([0-9a-f]{64}))?.*", line)
            if not found or not found[3]:
                raise Failed(f"apt says no SHA256 of a package: {line}")
            deb = urllib.parse.unquote(found[2])
            wanted[deb] = deb.split("_")[0], found[3]
        self.download({deb: one for deb, one in wanted.items() if sha256_of(self.store / deb) != one[1]})
        for deb in wanted:
            package = Package(self.store / deb, self.folder / deb)
            if package.architecture not in (self.architecture, "all"):
                raise Failed(f"{deb} is for {package.architecture}, not for {self.architecture}")
            self.packages[package.name] = package
        missing = set(names) - set(self.packages)
        if missing:
            raise Failed(f"apt knows no package {', '.join(sorted(missing))} for {self.architecture}")

    def download(self, wanted):
        """Into the store, all at once: apt reads its lists each time."""
        if not wanted:
            return
        say(f"{self.architecture}: downloading {', '.join(name for name, _ in wanted.values())}")
        self.apt("download", *(name for name, _ in wanted.values()), cwd=self.folder)
        for deb, (name, digest) in wanted.items():
            fresh = next(iter(self.folder.glob(f"{name}_*.deb")), None)
            if not fresh or sha256_of(fresh) != digest:
                raise Failed(f"{deb} as it was downloaded is not what apt's lists name")
            # Somebody else may do the same at this moment.
            partial = self.store / f".{deb}.{os.getpid()}"
            partial.write_bytes(fresh.read_bytes())
            partial.rename(self.store / deb)
            fresh.unlink()


def sha256_of(path):
    """None: it is not there."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def owners_of(path_ends):
    """
    Which installed packages have the libraries PATH_ENDS, or links to them; the same names have them for every architecture.
    All are asked for at once: dpkg-query reads the lists of all packages each time.
    """
    path_ends = sorted(set(path_ends))
    if not path_ends:
        return set()
    # It fails when one of them is nowhere, and tells where the others are.
    text = subprocess.run(["dpkg-query", "-S", *(f"*/{end}" for end in path_ends)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    found = {end: set() for end in path_ends}
    for owner, path in re.findall(r"^([^:,\s]+)[^/\n]*: (/\S+)$", text, re.M):
        library = re.fullmatch(r"(?:/usr)?/lib(?:64|/[^/]+-linux-[^/]+)?/(.+)", path)
        if library and library[1] in found:
            found[library[1]].add(owner)
    for end, owners in found.items():
        if len(owners) != 1:
            raise Failed(f"{'more than one package' if owners else 'no installed package'} has {end}{': ' if owners else ''}{', '.join(sorted(owners))}")
    return set.union(*found.values())
