# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship over TCP: TLS with an authority of the test's own, passwords from files, PgBouncer, and
many shippers at once."""
import contextlib
import copy
import os
import pwd
import shutil
import socket
import subprocess
import tempfile

from client import run_client
from lib import DEADLINE, Daemon, Skip, equal, run, wait_for
from postgres import Postgres, database, held_port
from ship import HEAD, Shipper, compare_store, good, marker, refused, run_ship


def openssl(folder, *args):
    done = subprocess.run(["openssl", *args], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=DEADLINE, check=False)
    equal(done.returncode, 0, done.stdout)


def authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-keyout", name + ".key", "-out", name + ".crt", "-days", "2", "-subj",
            "/CN=" + name)


def certificate(folder, name, of):
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
    openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", of + ".crt", "-CAkey", of + ".key",
            "-CAcreateserial", "-out", name + ".crt", "-days", "2")


class TlsServer(Postgres):
    """With the certificate of db.example, by an authority `ours`."""

    def make(self):
        super().make()
        folder = self.folder
        authority(folder, "ours")
        authority(folder, "theirs")
        certificate(folder, "db.example", "ours")
        for end in ("key", "crt"):
            target = os.path.join(self.data, "server." + end)
            shutil.copy(os.path.join(folder, "db.example." + end), target)
            os.chmod(target, 0o600)
            if self.as_server:
                user = pwd.getpwnam("postgres")
                os.chown(target, user.pw_uid, user.pw_gid)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("ssl = on\n")


def test_another_machine_must_prove_who_it_is():
    if not shutil.which("openssl"):
        raise Skip("openssl is missing")
    hba = ["local all all trust", "hostssl all all 127.0.0.1/32 scram-sha-256"]
    with TlsServer(tcp=True, hba=hba) as server, Daemon() as daemon:
        good("init", "--target", server.target())
        server.rows("CREATE ROLE host17 LOGIN PASSWORD 'secret' IN ROLE nvtxt_ship")
        daemon.send(marker("a"))
        home = os.path.join(server.folder, "home")
        os.mkdir(home)
        passwords = os.path.join(home, "pgpass")
        with open(passwords, "w", encoding="utf-8") as file:
            file.write("*:*:*:host17:secret\n")
        os.chmod(passwords, 0o600)
        env = {"HOME": home, "PGPASSFILE": passwords}

        # A name that is not this machine's, at an address that is: verified by its name.
        def target(name="db.example", **more):
            return ("--once", "--store", daemon.store, "--target",
                    server.target(host=name, hostaddr="127.0.0.1", user="host17", **more))
        away = ("--once", "--store", daemon.store, "--target")
        ours, theirs = (os.path.join(server.folder, name + ".crt") for name in ("ours", "theirs"))
        strict = {"sslmode": "verify-full"}
        refused(77, "certificate", *target(sslrootcert=theirs, **strict), env=env)
        refused(77, "certificate verify failed", *target(**strict), env=env)  # the system's authorities
        said = refused(77, "db.example", *target("other.example", sslrootcert=ours, **strict), env=env)
        equal("secret" in said, False)
        good(*target(sslrootcert=ours, **strict), env=env)
        compare_store(server, daemon.segments())
        # Loopback needs no certificate; a service's words count like the target's.
        good(*away, server.target(host="127.0.0.1", user="host17"), env=env)
        service = os.path.join(home, "service")
        with open(service, "w", encoding="utf-8") as file:
            file.write("[fleet]\nhost=other.example\nhostaddr=127.0.0.1\nport=%d\nuser=host17\n"
                       "dbname=postgres\nsslmode=verify-ca\nsslrootcert=%s\n" % (server.port, ours))
        env["PGSERVICEFILE"] = service
        good(*away, "service=fleet", env=env)
        refused(64, "none", *away, "service=none", env=env)
        # Without a word of it, a machine that is not this one is verified.
        with contextlib.ExitStack() as stack:
            other = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                other.connect(("192.0.2.1", 9))
                server.rows("ALTER SYSTEM SET listen_addresses = '*'")
                server.stop()
                server.start()
                refused(77, "certificate", *away,
                        server.target(host=other.getsockname()[0], user="host17"), env=env)


def test_a_pooler_in_transaction_mode_stands_between():
    bouncer = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
    if not bouncer:
        raise Skip("pgbouncer is missing")
    with database() as server, Daemon() as daemon, \
            tempfile.TemporaryDirectory(prefix="nvtxt-pool-") as folder:
        good("init", "--target", server.target())
        holder, port = held_port()
        os.chmod(folder, 0o777)
        config = os.path.join(folder, "ini")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[databases]\n* = host=%s port=%d user=postgres\n[pgbouncer]\npool_mode = "
                       "transaction\nlisten_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\n"
                       "unix_socket_dir =\ndefault_pool_size = 2\nlogfile = %s/log\n"
                       % (server.folder, server.port, port, folder))
        with open(os.path.join(folder, "out"), "wb") as out:
            pool = subprocess.Popen([*server.as_child("KILL"), bouncer, config], stdout=out, stderr=out,
                                    stdin=subprocess.DEVNULL, cwd="/")
        try:
            args = ("--store", daemon.store, "--interval", "50ms", "--target",
                    server.target(host="127.0.0.1", port=port))
            wait_for(lambda: run_ship("--dry-run", *args)[0] == 0, "the pooler answers")
            # What one leaves behind on a connection of the server, the next one meets.
            pooled = copy.copy(server)
            pooled.env = {**server.env, "PGHOST": "127.0.0.1", "PGPORT": str(port)}
            good("init", *args)
            good("maintain", *args)
            equal(pooled.rows("SHOW search_path"), [('"$user", public',)])
            equal(pooled.rows("SHOW lock_timeout"), [("0",)])
            with Shipper(*args):
                for number in range(5):
                    daemon.send(marker("m%d" % number))
                    wait_for(lambda wanted=str(number + 1): server.one(
                        "SELECT count(*) FROM nvtxt.events") == wanted, "the row is there")
                daemon.control("rotate")
            good("--once", *args)
            compare_store(server, daemon.segments())
        finally:
            pool.terminate()
            pool.wait()
            holder.close()


def test_twenty_ship_at_once_into_one_server():
    with database() as server, tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as folder:
        good("init", "--target", server.target())
        source, store = os.path.join(folder, "s.nvtxt"), os.path.join(folder, "store.sqlite")
        with open(source, "w", encoding="utf-8") as file:
            file.write(HEAD)
            file.writelines('Marker, %d, 7, 8, "m"\n' % number for number in range(3000))
        equal(run_client("nvtxt-import", "create", "-q", "-n", source, "-o", store)[0], 0)
        with contextlib.ExitStack() as stack:
            shippers = [stack.enter_context(Shipper(
                "--once", "--store", store, "--target", server.target(), "--host", "h%d" % number,
                "--store-id", "0190c0f6-7d3a-7b41-9f36-12cbb0f1a0%02d" % number))
                for number in range(20)]
            for shipper in shippers:
                equal(shipper.process.wait(DEADLINE), 0, shipper.said())
        equal(server.rows("SELECT count(*), count(DISTINCT store_id), min(n), max(n) FROM (SELECT "
                          "store_id, count(*) AS n FROM nvtxt.events GROUP BY 1) AS x"),
              [("20", "20", "3000", "3000")])


def cost(pid):
    """Voluntary switches and CPU seconds of a process."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        switches = [int(line.split()[1]) for line in file if line.startswith("voluntary")]
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return switches[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_idle_shipper_sleeps():
    with database() as server, Daemon() as daemon:
        args = ("--store", daemon.store, "--target", server.target())
        good("init", "--target", server.target())
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == "1", "it ships")
            pid = shipper.process.pid
            # What follows the last row, up to 5 s later, is over when nothing happens for 3 s.
            last = [None]

            def is_quiet():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    shipper.process.wait(3)
                before, last[0] = last[0], cost(pid)[0]
                return before is not None and last[0] - before <= 3
            wait_for(is_quiet, "it is quiet")
            before = cost(pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                shipper.process.wait(10)
            after = cost(pid)
            # At most 30 and 0.1 s are promised.
            equal((after[0] - before[0] <= 30, after[1] - before[1] <= 0.5), (True, True),
                  (before, after))


run(globals())
