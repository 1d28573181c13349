"""LocalStack's last open release as a whole AWS, without Docker: its functions are processes.

Arguments: a path in the folder of its files, by which the project knows its emulator's process;
its port; Maven's folders of DynamoDB Local and of JSONata.
It runs with the packages of requirements-second.lock.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

HOME, PORT = Path(sys.argv[1]).parent, int(sys.argv[2])
DYNAMODB_LOCAL, JSONATA = map(Path, sys.argv[3:])
os.environ |= {
    "GATEWAY_LISTEN": f"127.0.0.1:{PORT}",
    "LOCALSTACK_HOST": f"127.0.0.1:{PORT}",
    "USE_SSL": "1",
    "CUSTOM_SSL_CERT_PATH": str(HOME / "server.pem"),
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
    "SKIP_INFRA_DOWNLOADS": "1",
    "DNS_ADDRESS": "0",
    "EAGER_SERVICE_LOADING": "0",
    "DYNAMODB_IN_MEMORY": "1",
    "FILESYSTEM_ROOT": str(HOME / "volume"),
    "LOCALSTACK_VOLUME_DIR": str(HOME / "volume"),
    "LAMBDA_KEEPALIVE_MS": "600000",
}

# LocalStack reads its environment when it is imported.
from localstack.runtime.main import main  # noqa: E402
from localstack.services.dynamodb import server as dynamodb  # noqa: E402
from localstack.services.lambda_.invocation import runtime_executor  # noqa: E402
from localstack.services.stepfunctions import packages  # noqa: E402
from tests.second import corrections  # noqa: E402
from tests.second.functions import ProcessExecutor  # noqa: E402

LOOPBACK_SERVER = Path(__file__).parents[1] / "integration" / "table" / "LoopbackServer.java"


def _dynamodb_command(server: dynamodb.DynamodbServer) -> list[str]:
    return [
        "setpriv", "--pdeathsig", "KILL",  # it has a session of its own, and must end with this
        "java", "-Xmx512m", f"-Dsqlite4java.library.path={DYNAMODB_LOCAL}",
        "-cp", f"{DYNAMODB_LOCAL}/*", str(LOOPBACK_SERVER),
        "-inMemory", "-disableTelemetry", "-port", str(server.port),
    ]  # fmt: skip


def use_libraries_of_maven() -> None:
    """Take the Java programs from Maven's folders, where LocalStack would download its own."""
    import jpype  # noqa: PLC0415 - it looks for a JVM

    nothing = SimpleNamespace(install=lambda *_: None, get_java_env_vars=dict)
    dynamodb.dynamodblocal_package.get_installer = lambda *_: nothing
    dynamodb.DynamodbServer._create_shell_command = _dynamodb_command  # noqa: SLF001 - no option

    together = HOME / "jsonata"
    together.mkdir(exist_ok=True)
    for jar in (*JSONATA.glob("*.jar"), *DYNAMODB_LOCAL.glob("jackson-*.jar")):
        (together / jar.name).symlink_to(jar)
    packages.jpype_jsonata_package.get_installer = lambda *_: SimpleNamespace(
        install=lambda *_: None,
        get_java_lib_path=jpype.getDefaultJVMPath,
        get_installed_dir=lambda: str(together),
    )


if __name__ == "__main__":
    ProcessExecutor.home = HOME
    runtime_executor.EXECUTOR_PLUGIN_MANAGER = SimpleNamespace(
        exists=lambda _: True, load=lambda _: SimpleNamespace(load=lambda: ProcessExecutor)
    )
    use_libraries_of_maven()
    corrections.apply()
    main()
