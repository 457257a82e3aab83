"""One cluster and one session for all tests, both with limited resources. All processes use one interpreter, which has the wheel
installed."""

import os
import sys

import pytest

import fpdb
from cluster import Cluster

assert "site-packages" in fpdb.__file__, f"the tests are for an installed wheel, not for {fpdb.__file__}"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="session")
def spark(cluster, tmp_path_factory):
    from pyspark.sql import SparkSession

    # Executors read this variable, not the setting of the builder.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.executor.memory": "7g" if os.environ.get("FPDB_SOAK") else "768m",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(tmp_path_factory.mktemp("driver")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.sql.shuffle.partitions": "4",
        # With these settings, small inputs are divided into many tasks.
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.files.maxPartitionBytes": "64k",
        # A lost worker is noticed in seconds.
        "spark.network.timeout": "20s",
        "spark.network.timeoutInterval": "5s",
        "spark.executor.heartbeatInterval": "3s",
        # Tests of workers that are killed must not run out of attempts.
        "spark.task.maxFailures": "4",
        "spark.stage.maxConsecutiveAttempts": "8",
    }
    builder = SparkSession.builder.master(cluster.url).appName("fpdb tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
