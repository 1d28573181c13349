"""`sam build --use-container`, up to its first request to the container runtime."""

import json
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.build.artifacts import sam
from tests.support.sam_template import TEMPLATE
from tests.support.servers import Handler, Server, reserved_port, serving

from bucketsum_cli.emulator.sam import SAM_PROGRAM

PAGE: Final = TEMPLATE.parent / "docs" / "start" / "on-aws.md"


class DockerWithoutImages(Server):
    """A container runtime that answers, and has no image."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.images: set[str] = set()


class _Handler(Handler):
    server: DockerWithoutImages

    def do_GET(self) -> None:  # noqa: N802 - as http.server names it
        """Answer a ping; note the image that is looked for."""
        place, _, image = self.path.partition("/images/")
        self.server.images |= {image.removesuffix("/json")} if image else set()
        body = json.dumps({"message": "no such image"}).encode()
        self.send_response(200 if place.endswith("/_ping") else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def refused(docker_port: int, folder: Path, *more: str, patch: pytest.MonkeyPatch) -> str:
    """The text of SAM's failed build with the container runtime at that port."""
    patch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{docker_port}")
    arguments = ("build", "--use-container", "--no-cached", "--build-dir", folder / "build")
    done = sam(*arguments, *more, command=(sys.executable, "-c", SAM_PROGRAM))
    assert done.returncode
    return done.stderr


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_a_build_in_a_container_pulls_the_image_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    """It is for the functions' version and the stack's architecture, by default arm64."""
    more = [] if architecture == "arm64" else ["--parameter-overrides", "Architecture=x86_64"]
    with serving(DockerWithoutImages()) as docker:
        refused(docker.server_address[1], tmp_path, *more, patch=monkeypatch)
    [image] = docker.images
    name, _, tag = image.partition(":")
    assert tag == f"latest-{architecture}"
    assert f"`{name}`" in PAGE.read_text("utf-8")


def test_a_build_in_a_container_needs_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, SAM names Docker and Finch, and builds nothing."""
    with reserved_port() as port:
        assert "Docker or Finch" in refused(port, tmp_path, patch=monkeypatch)
    assert "needs Docker or Finch" in PAGE.read_text("utf-8")
    assert not (tmp_path / "build" / "template.yaml").exists()
