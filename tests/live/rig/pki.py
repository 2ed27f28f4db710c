# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, made by the openssl program."""
import collections
import datetime
import pathlib
import subprocess

Pair = collections.namedtuple("Pair", "cert key")


def openssl(*arguments, stdin=None):
    done = subprocess.run(["openssl", *map(str, arguments)], input=stdin, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, f"openssl {' '.join(map(str, arguments))}: {done.stderr.decode()}"
    return done.stdout


def authority(directory, name, common_name=None):
    """A self-signed authority."""
    directory = pathlib.Path(directory)
    pair = Pair(str(directory / f"{name}.crt"), str(directory / f"{name}.key"))
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "30", "-keyout", pair.key, "-out", pair.cert, "-subj", f"/CN={common_name or name}",
            "-config", _configuration(directory), "-addext", "basicConstraints=critical,CA:true", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    return pair


def certificate(directory, name, signer, common_name, names=("localhost",), usage="serverAuth", begin=None, end=None, ca=False):
    """A leaf signed by signer (a Pair), valid between two times (UTC)."""
    directory = pathlib.Path(directory)
    now = datetime.datetime.now(datetime.timezone.utc)
    begin, end = begin or now - datetime.timedelta(hours=1), end or now + datetime.timedelta(days=30)
    pair = Pair(str(directory / f"{name}.crt"), str(directory / f"{name}.key"))
    request = directory / f"{name}.csr"
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", pair.key, "-out", request, "-subj", f"/CN={common_name}",
            "-config", _configuration(directory))
    # `openssl ca` is the one that can set the beginning, too.
    database = directory / f"{name}.ca"
    database.mkdir()
    (database / "index.txt").write_text("")
    extensions = f"basicConstraints=critical,CA:{'true' if ca else 'false'}\nkeyUsage=critical,digitalSignature{',keyCertSign' if ca else ''}\nextendedKeyUsage={usage}\nsubjectAltName={','.join('DNS:' + n for n in names)}\n"
    (database / "ca.cnf").write_text(f"[ca]\ndefault_ca=it\n[it]\ndatabase={database}/index.txt\nnew_certs_dir={database}\nrand_serial=yes\ndefault_md=sha256\npolicy=any\nx509_extensions=leaf\n"
                                     f"unique_subject=no\n[any]\ncommonName=supplied\n[leaf]\n{extensions}")
    openssl("ca", "-batch", "-notext", "-config", database / "ca.cnf", "-in", request, "-cert", signer.cert, "-keyfile", signer.key, "-out", pair.cert,
            "-startdate", begin.strftime("%Y%m%d%H%M%SZ"), "-enddate", end.strftime("%Y%m%d%H%M%SZ"))
    return pair


def _configuration(directory):
    """The system's own would add extensions."""
    path = pathlib.Path(directory) / "openssl.cnf"
    if not path.exists():
        path.write_text("[req]\ndistinguished_name=dn\n[dn]\n")
    return path


def describe(pem_or_der):
    """What openssl says about a certificate, as {begin, end, text}."""
    data = pem_or_der if isinstance(pem_or_der, bytes) else pem_or_der.encode()
    form = "PEM" if data.lstrip().startswith(b"-----") else "DER"
    text = openssl("x509", "-inform", form, "-noout", "-text", "-startdate", "-enddate", "-dateopt", "iso_8601", stdin=data).decode()
    dates = dict(line.split("=", 1) for line in text.splitlines() if line.startswith(("notBefore=", "notAfter=")))
    parse = lambda value: datetime.datetime.strptime(value, "%Y-%m-%d %H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return {"begin": parse(dates["notBefore"]), "end": parse(dates["notAfter"]), "text": text}
