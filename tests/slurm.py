"""A real Slurm on loopback for tests: munged, slurmctld and slurmd in a temporary folder."""
import os
import pwd
import shutil
import socket
import subprocess
import unittest

from ports import free_ports
from souk import DEADLINE_S, wait_for

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
os.environ["PATH"] += ":/usr/sbin:/sbin"
needs_slurm = unittest.skipUnless(
    all(shutil.which(p) for p in PROGRAMS),
    "Slurm is not installed: scripts/setup test installs slurmctld, slurmd, slurm-client and munge")


class Slurm:
    """One node, of more cores than the machine has, and the partitions `idle` and `low`."""

    def __init__(self, folder, cores=8):
        self.folder = folder
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.processes = []
        for name in ("state", "spool", "munge"):
            os.makedirs(os.path.join(folder, name), mode=0o700)
        self.conf = os.path.join(folder, "slurm.conf")
        socket_path = os.path.join(folder, "munge", "socket")
        self.jobs = os.path.join(folder, "jobs.txt")  # Slurm's own record of jobs that ended.
        host = socket.gethostname().split(".")[0]  # As Slurm calls it.
        controller_port, node_port = free_ports(2)
        with open(self.conf, "w", encoding="utf-8") as out:
            out.write(f"""ClusterName=souk
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={self.user}
SlurmdUser={self.user}
AuthType=auth/munge
AuthInfo=socket={socket_path},cred_expire=15
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={self.jobs}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=60
MinJobAge=60
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory=16000 State=UNKNOWN
PartitionName=idle Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=10
PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=2
""")
        # Nothing of a Slurm to which this computer may belong.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "SQUEUE"))}
        self.env.update(SLURM_CONF=self.conf, MUNGE_SOCKET=socket_path)
        key = os.path.join(folder, "munge", "key")
        with open(key, "wb") as out:
            os.fchmod(out.fileno(), 0o600)
            out.write(os.urandom(64))
        self.run("munged", "--foreground", "--force", "--key-file", key, "--socket", socket_path,
                 "--pid-file", os.path.join(folder, "munge", "pid"),
                 "--log-file", os.path.join(folder, "munge", "log"),
                 "--seed-file", os.path.join(folder, "munge", "seed"))
        wait_for(lambda: os.path.exists(socket_path), "munged")

    def run(self, *argv):
        with open(os.path.join(self.folder, argv[0] + ".said"), "ab") as said:
            self.processes.append(subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL,
                                                   stdout=said, stderr=said))
        return self.processes[-1]

    def start(self):
        self.controller = self.run("slurmctld", "-D", "-i", "-f", self.conf)
        self.node = self.run("slurmd", "-D", "-f", self.conf)
        wait_for(lambda: "idle" in self.call("sinfo", "--noheader", "--format=%t"), "an idle node", 2 * DEADLINE_S)
        return self

    def call(self, *argv):
        return subprocess.run(argv, env=self.env, capture_output=True, text=True,
                              timeout=5 * DEADLINE_S).stdout

    def queue(self):
        """{job id: state} of what is in the queue or runs."""
        rows = self.call("squeue", "--noheader", "--format=%A %T").split("\n")
        return dict(row.split() for row in rows if row.strip())

    def end(self):
        self.call("scancel", f"--user={self.user}")
        try:
            wait_for(lambda: not self.queue(), "the queue to be empty", 5 * DEADLINE_S)
        finally:
            for process in reversed(self.processes):
                if process.poll() is None:
                    process.terminate()
            for process in reversed(self.processes):
                try:
                    process.wait(DEADLINE_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait(DEADLINE_S)
