# SPDX-License-Identifier: BSD-2-Clause
"""Certificates for the daemons of a cluster, made by openssl."""

import pathlib
import shutil
import subprocess
import unittest

LIMIT_S = 100


class Authority:
    """A CA, and the certificates that it gives. Without openssl, the cases that want one are skipped."""

    def __init__(self, folder, name="ca"):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("there is no openssl, which makes the certificates: apt-get install openssl")
        self.folder = pathlib.Path(folder)
        self.certificate = self.folder / f"{name}.pem"
        self._key = self.folder / f"{name}-key.pem"
        self._openssl("req", "-x509", "-days", "30", "-subj", f"/CN={name}", "-keyout", self._key,
                      "-out", self.certificate, *self._new_key())

    @staticmethod
    def _new_key():
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"

    @staticmethod
    def _openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=LIMIT_S)

    def give(self, name, names, expired=False):
        """The files of a certificate for @names ("IP:..." or "DNS:...") and its key."""
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}-key.pem"
        request = self.folder / f"{name}.csr"
        self._openssl("req", "-new", "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
                      "-keyout", key, "-out", request, *self._new_key())
        valid = ("-startdate", "200101000000Z", "-enddate", "200102000000Z") if expired else ("-days", "30")
        self._openssl("ca", "-config", self._config(), "-batch", "-notext", "-in", request, "-out", certificate, *valid)
        return certificate, key

    def _config(self):
        config, index = self.folder / "ca.conf", self.folder / "index.txt"
        index.touch()
        config.write_text(f"[ca]\ndefault_ca=own\n[own]\ndatabase={index}\ncertificate={self.certificate}\n"
                          f"private_key={self._key}\ndefault_md=sha256\ndefault_crl_days=30\nunique_subject=no\n"
                          f"new_certs_dir={self.folder}\nrand_serial=yes\ncopy_extensions=copy\npolicy=any\n"
                          "[any]\ncommonName=supplied\n")
        return config

    def revoke(self, certificate):
        """Adds a list with the revoked @certificate to the file of the CA, in one step."""
        config, crl = self._config(), self.folder / "crl.pem"
        self._openssl("ca", "-config", config, "-revoke", certificate)
        self._openssl("ca", "-config", config, "-gencrl", "-out", crl)
        both = self.folder / "both.pem"
        both.write_bytes(self.certificate.read_bytes() + crl.read_bytes())
        both.rename(self.certificate)
