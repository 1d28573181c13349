"""versions: published one after the other, guarded by revisions, and removed by their run."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.unit.sweep.fake_lambda import FakeLambda

from bucketsum_lab.errors import ConcurrentUpdate, MemoryRefused
from bucketsum_lab.publish import ATTEMPTS, ProberVersions

DESCRIPTION = "what the template says"
NOBODY = "nobody"


@pytest.fixture
def function() -> FakeLambda:
    """The prober as the template deployed it."""
    return FakeLambda(512, DESCRIPTION)


@pytest.fixture
def versions(function: FakeLambda) -> ProberVersions:
    """Its versions, without pauses."""
    client: Any = function
    return ProberVersions(client, "prober", 512, DESCRIPTION, pause=lambda _: None)


def is_over(*runs: str) -> Callable[[str], bool]:
    """These runs are over, others are not."""
    return lambda run_id: run_id in runs


def test_a_version_has_the_memory_that_was_asked_for(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """Each memory size becomes a version of its own that names its run."""
    published = [versions.publish("run", memory_mb) for memory_mb in (128, 256)]
    configurations = [function.published[number] for number in published]
    assert [(version["MemorySize"], version["Description"]) for version in configurations] == [
        (128, "sweep run at 128 MB"),
        (256, "sweep run at 256 MB"),
    ]


def test_a_run_has_one_version_of_a_memory_size(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """A publisher that is invoked twice makes one version; another run's is another one."""
    assert versions.publish("run", 128) == versions.publish("run", 128)
    assert len(function.published) == 1
    assert versions.publish("other", 128) != versions.publish("run", 128)
    assert len(function.published) == 2


@pytest.mark.parametrize(
    "interfere",
    [
        lambda function: function.meanwhile.update({"before-update": 2}),
        lambda function: function.meanwhile.update({"after-update": 2}),
        lambda function: function.meanwhile.update({"before-publish": 2}),
        # Lambda answers an outdated CodeSha256 as an invalid parameter, not as a conflict
        lambda function: setattr(function, "deployments", 2),
        # the guard did not hold: the wrong version goes
        lambda function: setattr(function, "publishes_wrong", 1),
    ],
    ids=["before update", "after update", "before publish", "deployment", "another size"],
)
def test_who_is_overtaken_starts_again(
    versions: ProberVersions, function: FakeLambda, interfere: Callable[[FakeLambda], None]
) -> None:
    """However others change the function, one version comes out, and it is right."""
    interfere(function)
    version = versions.publish("run", 128)
    assert list(function.published) == [version]
    assert function.published[version]["MemorySize"] == 128


def test_the_version_of_another_sweep_is_neither_used_nor_removed(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """Where the guard did not hold: its owner deletes it while this sweep still measures."""
    function.publishes_others = 1
    version = versions.publish("run", 128)
    assert function.published[version]["Description"] == "sweep run at 128 MB"
    assert (len(function.published), function.deletions) == (2, [])


def test_being_overtaken_has_an_end(versions: ProberVersions, function: FakeLambda) -> None:
    """A function that never stays as set is an error, not an endless loop."""
    function.meanwhile["before-publish"] = ATTEMPTS
    with pytest.raises(ConcurrentUpdate, match=f"given up after {ATTEMPTS} attempts"):
        versions.publish("run", 128)


@pytest.mark.parametrize("code", ["InvalidParameterValueException", "ValidationException"])
def test_a_memory_size_that_is_refused_says_what_lambda_says(
    versions: ProberVersions, function: FakeLambda, code: str
) -> None:
    """An account's limit is told apart from a failure."""
    function.refusals["update_function_configuration"] = code
    with pytest.raises(MemoryRefused, match=r"refuses 3009 MB: as told"):
        versions.publish("run", 3009)
    assert function.published == {}


def test_other_refusals_are_failures(versions: ProberVersions, function: FakeLambda) -> None:
    """A missing permission is not a property of the memory size."""
    function.refusals["update_function_configuration"] = "AccessDeniedException"
    with pytest.raises(ClientError, match="AccessDenied"):
        versions.publish("run", 128)


def test_clean_up_removes_the_runs_versions_and_sets_the_function_back(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """Afterwards the function is as the template deployed it."""
    published = [versions.publish("run", memory_mb) for memory_mb in (128, 256)]
    done = versions.clean_up("run", is_over(NOBODY))
    assert sorted(done["deleted"]) == sorted(published)
    assert done["left"] == []
    assert function.published == {}
    assert (function.memory_mb, function.description) == (512, DESCRIPTION)


def test_clean_up_leaves_running_sweeps_alone(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """Another's versions stay, and so does what it has set the function to."""
    versions.publish("mine", 128)
    theirs = versions.publish("theirs", 256)
    versions.clean_up("mine", is_over(NOBODY))
    assert list(function.published) == [theirs]
    assert function.memory_mb == 256
    versions.clean_up("theirs", is_over("mine"))
    assert function.published == {}
    assert (function.memory_mb, function.description) == (512, DESCRIPTION)


def test_clean_up_takes_what_dead_runs_left(versions: ProberVersions, function: FakeLambda) -> None:
    """A run that could not clean up is cleaned up after by the next."""
    versions.publish("dead", 128)
    versions.clean_up("next", is_over("dead"))
    assert function.published == {}
    assert function.memory_mb == 512


def test_clean_up_leaves_what_is_no_sweeps(versions: ProberVersions, function: FakeLambda) -> None:
    """A version that a person published has another description."""
    function.description = "by hand"
    kept = function.publish_version(FunctionName="prober", Description="by hand")["Version"]
    function.memory_mb = 777
    versions.clean_up("run", lambda _: True)
    assert list(function.published) == [kept]
    assert function.memory_mb == 777


def test_what_cannot_be_removed_is_named_and_the_rest_goes(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """One refusal does not keep clean-up from the next version, nor from the memory."""
    stuck, other = (versions.publish("run", memory_mb) for memory_mb in (128, 256))
    function.cannot_delete.add(stuck)
    done = versions.clean_up("run", is_over(NOBODY))
    assert done["deleted"] == [other]
    assert len(done["left"]) == 1
    assert f"version {stuck}" in done["left"][0]
    assert function.memory_mb == 512


@pytest.mark.parametrize(
    ("call", "left", "deleted"),
    [
        ("update_function_configuration", "the memory of $LATEST", 1),
        ("list_versions_by_function", "the versions could not be listed", 0),
    ],
)
def test_what_is_refused_to_clean_up_is_named(
    versions: ProberVersions, function: FakeLambda, call: str, left: str, deleted: int
) -> None:
    """Clean-up never raises: the samples are still to be summed up."""
    versions.publish("run", 128)
    function.refusals[call] = "AccessDeniedException"
    done = versions.clean_up("run", is_over(NOBODY))
    assert (len(done["deleted"]), done["left"][0].startswith(left)) == (deleted, True)


def test_a_version_that_is_gone_is_gone(versions: ProberVersions, function: FakeLambda) -> None:
    """Two clean-ups at once do not accuse each other."""
    versions.publish("run", 128)
    function.refusals["delete_function"] = "ResourceNotFoundException"
    assert versions.clean_up("run", is_over(NOBODY))["left"] == []


def test_the_function_itself_is_never_deleted(
    versions: ProberVersions, function: FakeLambda
) -> None:
    """Every deletion names a version by its number."""
    versions.publish("run", 128)
    versions.clean_up("run", lambda _: True)
    assert function.deletions
    assert all(qualifier.isdigit() for qualifier in function.deletions)
