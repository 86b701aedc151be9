"""docs/examples/load-ssh.sh with four loopback addresses as hosts, compared with one instance of the whole plan.

Debian's sshd runs as a separate process, with keys and a configuration in a temporary folder. Each address has its own
folder instead of the home, so a host has only files that were copied to it."""

import collections
import dataclasses
import getpass
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness.servers import free_port

from . import process
from .rates import ROOT
from .shares import COUNT, merge_errors, plan_errors
from .truth import HERE

SCRIPT = os.path.join(ROOT, "docs", "examples", "load-ssh.sh")
HOSTS = [f"127.0.0.{number + 2}" for number in range(COUNT)]
PACKAGES = {"sshd": "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client", "parallel": "parallel",
            "rsync": "rsync", "perl": "perl"}
# A visitor of the shop, without think time.
VISIT = """### Log in
# @name login
POST {{host}}/login
Content-Type: application/json

{"name": "{{user}}", "password": "{{password}}"}

### Browse
GET {{host}}/items
Authorization: Bearer {{login.response.body.token}}

### Order
# @expect 201
POST {{host}}/orders
Authorization: Bearer {{login.response.body.token}}
Content-Type: application/json

{"item": 7}
"""
# Visitors per second. The scenario without a file has twice as many requests.
RATE = 50
# The delay of the shop. It is much longer than the delay that the hosts cause by sharing one machine here.
DELAY = 0.05
# Four clients and their ssh processes would delay each other on one CPU.
CPUS = f"{process.CLIENT_CPU},{process.SERVER_CPU}"
# The seconds that the script has to copy the files to all hosts.
LEAD = 15


def path(name):
    """The path of a program; /usr/sbin is searched too."""
    return shutil.which(name, path=os.environ.get("PATH", os.defpath) + os.pathsep + "/usr/sbin")


def missing():
    """The Debian packages that are missing."""
    return sorted({package for name, package in PACKAGES.items() if path(name) is None})


def plan(port, seconds):
    host = {"host": f"http://127.0.0.1:{port}"}
    arrivals = {"spacing": "poisson", "max_users": 1000, "duration": f"{seconds}s", "variables": host}
    return {
        "name": "machines", "warm_up": "2s", "thresholds": ["errors<=0"],
        "scenarios": [
            {"name": "shop", "files": "visit.http", "rate": RATE, **arrivals,
             "data": [{"file": "users.csv", "order": "sequential", "at_end": "fail"}]},
            {"name": "health", "rate": 2 * RATE, **arrivals,
             "requests": [{"name": "ready", "url": "{{host}}/ready", "weight": 3},
                          {"name": "metrics", "url": "{{host}}/metrics"}]},
        ],
    }


def row_errors(one, parts):
    """The rows of the data that one side took more than once, or that only one side took. `one`, `parts`: the logins by
    name."""
    out = [f"{what} took {user} {count} times" for what, logins in (("one instance", one), ("the shares", parts))
           for user, count in logins.items() if count != 1]
    if set(one) != set(parts):
        out.append(f"rows of one side alone: {sorted(set(one) ^ set(parts))}")
    return out


def sshd_configuration(folder, port, tool_folder):
    lines = [f"ListenAddress {host}:{port}" for host in HOSTS]
    lines += [f"HostKey {folder}/host_key", f"AuthorizedKeysFile {folder}/user_key.pub", "StrictModes no", "UsePAM no",
              "PidFile none", "PasswordAuthentication no", "PermitRootLogin prohibit-password",
              # The four hosts are one server here, and all clients connect to it at once.
              "MaxStartups 100", f"SetEnv PATH={tool_folder}:/usr/local/bin:/usr/bin:/bin"]
    for host in HOSTS:
        lines += [f"Match LocalAddress {host}",
                  f'  ForceCommand cd {folder}/{host} && exec sh -c "$SSH_ORIGINAL_COMMAND"']
    return "\n".join(lines) + "\n"


class Hosts:
    """A context: sshd listens on all addresses inside it. `options`: the options for ssh."""

    def __init__(self, tool, folder):
        self.folder, self.port, self.directory = folder, free_port(), None
        self.tools = os.path.join(folder, "bin")
        os.mkdir(self.tools)
        os.symlink(tool, os.path.join(self.tools, "errand"))
        for host in HOSTS:
            os.mkdir(os.path.join(folder, host))
        for name in ("host_key", "user_key"):
            subprocess.run([path("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)],
                           check=True, stdin=subprocess.DEVNULL)
        with open(os.path.join(folder, "sshd_config"), "w") as file:
            file.write(sshd_configuration(folder, self.port, self.tools))
        with open(os.path.join(folder, "ssh_config"), "w") as file:
            file.write(f"Host *\n  Port {self.port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user_key\n"
                       f"  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known_hosts\n"
                       "  StrictHostKeyChecking accept-new\n  LogLevel ERROR\n")
        self.options = f"-F {folder}/ssh_config"

    def __enter__(self):
        # If root starts sshd, it needs this folder, which Debian's unit normally makes.
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
            os.mkdir("/run/sshd", 0o755)
            self.directory = "/run/sshd"
        # All processes on the hosts inherit these CPUs.
        command = [path("sshd"), "-D", "-f", f"{self.folder}/sshd_config", "-E", f"{self.folder}/sshd.log"]
        self.service = process.Service(command, self.port, CPUS, address=HOSTS[0])
        try:
            self.service.__enter__()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self.service.__exit__()
        self._remove()

    def _remove(self):
        if self.directory:
            os.rmdir(self.directory)

    def left(self):
        """Files that are left on the hosts. Only folders of GNU parallel may be left."""
        return [os.path.relpath(os.path.join(place, file), self.folder) for host in HOSTS
                for place, _, files in os.walk(os.path.join(self.folder, host)) for file in files]


@dataclasses.dataclass
class Found:
    """The results of one instance and of the merge; the logins of one instance; the differences; the output of errand bench
    compare for the two results, and its exit code."""

    one: dict
    merged: dict
    rows: collections.Counter
    wrong: list
    text: str
    code: int


def load(name):
    with open(name) as file:
        return json.load(file)


def run(tool, seconds, say=print):
    if missing():
        raise SystemExit(f"compare: machines needs the packages {' '.join(missing())}")
    with tempfile.TemporaryDirectory(prefix="errand-loadtools-") as folder:
        user = os.path.join(folder, "user")
        os.mkdir(user)
        port = free_port()
        with open(os.path.join(user, "plan.json"), "w") as file:
            json.dump(plan(port, seconds), file)
        with open(os.path.join(user, "visit.http"), "w") as file:
            file.write(VISIT)
        with open(os.path.join(user, "users.csv"), "w") as file:
            file.write("user,password\n" + "".join(f"user-{row},p{row}\n" for row in range(2 * RATE * seconds)))
        hosts = Hosts(tool, folder)

        def served(command, name, limit):
            """Runs the command with its own shop. Returns its exit code, and the shop's logins by name."""
            record = os.path.join(folder, name)
            with process.Service([sys.executable, "-m", "loadtools.shop", str(port), record, str(DELAY)], port, cwd=HERE):
                done = process.run(command, limit, CPUS, cwd=user)
            say(done.text)
            return done.code, collections.Counter(load(record)["names"])

        code, rows = served([tool, "bench", "plan.json", "--no-progress", "-o", "one.json"], "one-shop.json", seconds + 60)
        wrong = [] if code == 0 else [f"errand bench ended with {code}"]
        with hosts:
            # GNU parallel keeps its own files in PARALLEL_HOME.
            command = ["env", f"PATH={hosts.tools}:{os.environ['PATH']}", f"PARALLEL_SSH=ssh {hosts.options}",
                       f"PARALLEL_HOME={folder}/parallel", f"START_IN={LEAD}",
                       "sh", SCRIPT, ",".join(HOSTS), "plan.json", "visit.http", "users.csv"]
            code, of_parts = served(command, "shop.json", seconds + LEAD + 90)
        if code != 0:
            wrong.append(f"load-ssh.sh ended with {code}")
        wrong += [f"{file} is left" for file in hosts.left()]
        parts = sorted(glob.glob(os.path.join(user, "load-*", "part-*.json")))
        results = glob.glob(os.path.join(user, "load-*", "load.json"))
        if len(results) != 1:
            raise SystemExit(f"compare: load-ssh.sh made {len(results)} results")
        compared = subprocess.run([tool, "bench", "compare", os.path.join(user, "one.json"), results[0]], text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        say(compared.stdout)
        one, merged = load(os.path.join(user, "one.json")), load(results[0])
        if [share["number"] for share in merged["shares"]] != list(range(1, COUNT + 1)):
            wrong.append(f"the result has the shares {merged['shares']}")
        wrong += merge_errors([load(part) for part in parts], merged) + plan_errors(one, merged)
        wrong += row_errors(rows, of_parts)
        return Found(one, merged, rows, wrong, compared.stdout, compared.returncode)
