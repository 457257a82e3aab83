"""A real standalone cluster on this machine: a master, and two workers on different hosts, 127.0.0.2 and 127.0.0.3.

If both had one address, Spark would take them for one host, and drop all map output of the host when one of them dies.
"""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pyspark

SPARK_HOME = pathlib.Path(pyspark.__file__).parent


def free_port(host):
    with socket.socket() as listener:
        listener.bind((host, 0))
        return listener.getsockname()[1]


class Cluster:
    """Each process leads its own process group, and is ended through this group."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.port = free_port("127.0.0.1")
        self.url = f"spark://127.0.0.1:{self.port}"
        self.processes = {}

    def __enter__(self):
        try:
            arguments = ["--host", "127.0.0.1", "--port", self.port, "--webui-port", free_port("127.0.0.1")]
            self.start("master", "127.0.0.1", "org.apache.spark.deploy.master.Master", *arguments)
            self.await_line("master", "I have been elected leader")
            for number in (1, 2):
                self.start_worker(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_worker(self, number):
        host, work = f"127.0.0.{number + 1}", self.folder / f"worker-{number}"
        memory = "8g" if os.environ.get("FPDB_SOAK") else "1536m"
        arguments = ["--host", host, "--cores", 1, "--memory", memory, "--work-dir", work]
        arguments += ["--webui-port", free_port(host), self.url]
        self.start(f"worker-{number}", host, "org.apache.spark.deploy.worker.Worker", *arguments)
        self.await_line(f"worker-{number}", "Successfully registered with master")

    def start(self, name, host, *command):
        environment = {
            **os.environ,
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(self.folder / name / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
        }
        program = [SPARK_HOME / "bin" / "spark-class", *command]
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen(
                [str(word) for word in program], env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def await_line(self, name, line):
        for _ in range(1200):
            text = (self.folder / f"{name}.log").read_text(errors="replace")
            if line in text:
                return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not start:\n{text[-3000:]}")

    def await_executors(self, spark, count=2):
        """Waits until the session has an executor on each worker."""
        for _ in range(600):
            # The driver counts as one of them.
            if spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() == count + 1:
                return
            time.sleep(0.1)
        raise RuntimeError("the executors did not start")

    def kill(self, name):
        """Ends a process at once, with all processes that it has started."""
        process = self.processes.pop(name)
        # The executors are children of the worker, and in its group.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __exit__(self, *_):
        for name in reversed(list(self.processes)):
            self.kill(name)
