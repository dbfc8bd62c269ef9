"""A real HDFS on loopback: one NameNode and one DataNode, each a Java process that is stopped by its id."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.storage.stores import NOTHING, running
from tests.tiny import free_port, wait_until

#: where `make .venv/.stamp-hdfs` puts jars and libhdfs
PARTS = Path(__file__).resolve().parents[2] / ".venv" / "hadoop"

_JAVA = (
    "-Xmx300m -XX:+UseSerialGC -Djava.net.preferIPv4Stack=true"
    " --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED"
    " --add-exports=java.base/sun.nio.ch=ALL-UNNAMED --add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
).split()
_SERVERS = "org.apache.hadoop.hdfs.server"


@dataclass
class Node:
    """A server of the cluster that can be stopped and started again at the same address."""

    command: list[str]
    log: Path
    url: str
    _process: ExitStack = field(default_factory=ExitStack, repr=False)

    def start(self) -> None:
        self._process.enter_context(running(self.command, self.log, self.url, keeps=True))

    def stop(self) -> None:
        self._process.close()

    def __enter__(self) -> Node:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass
class Hdfs:
    """user: whom the servers belong to; everybody else is subject to permissions"""

    host: str
    user: str
    log: Path
    home: Path
    name_node: Node
    data_node: Node
    client: Any = field(repr=False)

    def get(self, path: str) -> bytes:
        content: bytes = self.client.cat_file(path)
        return content

    def put(self, path: str, content: bytes) -> None:
        with self.client.open(path, "wb", overwrite=True) as stream:
            stream.write(content)

    def append(self, path: str, content: bytes) -> None:
        with self.client.open(path, "ab") as stream:
            stream.write(content)

    def asked(self, command: str) -> int:
        """How often the NameNode was asked for something: `open`, `listStatus`, `getfileinfo`."""
        return self.log.read_text(errors="replace").count(f"cmd={command}\t")

    def environment(self, driver: str, folder: Path) -> dict[str, str]:
        """Of a process that reads with hdfs-native or with Arrow, which finds the rest by HADOOP_HOME."""
        java = str(Path(shutil.which("javac") or "").resolve().parents[1])
        if driver == "native":
            return dict(NOTHING)
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(
            "import fsspec\n"
            "fsspec.register_implementation('hdfs', 'fsspec.implementations.arrow.HadoopFileSystem', clobber=True)\n"
        )
        return {**NOTHING, "PYTHONPATH": str(folder), "HADOOP_HOME": str(self.home), "JAVA_HOME": java}


def jmx(address: str, query: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"http://{address}/jmx?qry={query}", timeout=10) as reply:
        found: list[dict[str, Any]] = json.load(reply)["beans"]
        return found


@contextmanager
def hdfs_cluster(folder: Path) -> Iterator[Hdfs]:
    name_port, name_web, data_port, data_web, data_ipc = (free_port() for _ in range(5))
    user = os.environ.get("USER") or "root"
    _write_settings(
        folder / "conf" / "core-site.xml",
        {"fs.defaultFS": f"hdfs://127.0.0.1:{name_port}", "hadoop.tmp.dir": str(folder / "tmp")},
    )
    _write_settings(
        folder / "conf" / "hdfs-site.xml",
        {
            "dfs.namenode.name.dir": str(folder / "names"),
            "dfs.datanode.data.dir": str(folder / "data"),
            "dfs.namenode.http-address": f"127.0.0.1:{name_web}",
            "dfs.datanode.address": f"127.0.0.1:{data_port}",
            "dfs.datanode.http.address": f"127.0.0.1:{data_web}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}",
            "dfs.replication": "1",
            # else a NameNode that has found its blocks again lets nobody write for half a minute
            "dfs.namenode.safemode.extension": "0",
            "dfs.webhdfs.enabled": "false",
            "dfs.permissions.enabled": "true",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            # of clients: a block that cannot be had is waited for, for seconds that double
            "dfs.client.retry.window.base": "100",
        },
    )
    (folder / "conf" / "log4j.properties").write_text(
        "log4j.rootLogger=INFO,out\n"
        "log4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.out.layout.ConversionPattern=%p %c: %m%n\n"
    )
    for app in ("hdfs", "datanode", "static", "logs"):
        (folder / "web" / "webapps" / app).mkdir(parents=True)
    classes = [str(folder / "conf"), str(folder / "web"), *sorted(map(str, (PARTS / "jars").glob("*.jar")))]
    java = ["java", *_JAVA, "-cp", ":".join(classes)]
    name_node = f"{_SERVERS}.namenode.NameNode"
    formatted = subprocess.run(
        [*java, name_node, "-format", "-nonInteractive", "-force"], capture_output=True, text=True, check=False
    )
    assert formatted.returncode == 0, formatted.stderr
    name = Node([*java, name_node], folder / "name.log", f"http://127.0.0.1:{name_web}/jmx")
    data = Node([*java, f"{_SERVERS}.datanode.DataNode"], folder / "data.log", f"http://127.0.0.1:{data_web}/jmx")
    with name, data:
        state = "Hadoop:service=NameNode,name=FSNamesystemState"
        wait_until(
            lambda: jmx(f"127.0.0.1:{name_web}", state)[0]["NumLiveDataNodes"] == 1, "the DataNode has registered"
        )
        host = f"hdfs://127.0.0.1:{name_port}"
        yield Hdfs(host, user, name.log, _home(folder, classes), name, data, _client(name_port))


def _client(port: int) -> Any:
    from hdfs_native.fsspec import HdfsFileSystem

    return HdfsFileSystem("127.0.0.1", port)


def _write_settings(path: Path, settings: dict[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()]
    path.write_text(f"<configuration>{''.join(lines)}</configuration>")


def _home(folder: Path, classes: list[str]) -> Path:
    """As an installation of Hadoop looks to its clients."""
    home = folder / "home"
    (home / "bin").mkdir(parents=True)
    (home / "lib" / "native").mkdir(parents=True)
    shutil.copy(PARTS / "libhdfs.so", home / "lib" / "native")
    program = home / "bin" / "hadoop"
    program.write_text(f'#!/bin/sh\n[ "$1 $2" = "classpath --glob" ] && echo "{":".join(classes)}"\n')
    program.chmod(0o755)
    return home
