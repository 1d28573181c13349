"""A bad deployment names the variable, its value and the allowed values."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sam_template import load_template

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.errors import BadSettings
from bucketsum.memory import BASE_MEMORY_BYTES, CHUNK_BYTES_MAX, CHUNK_BYTES_MIN
from bucketsum.s3.read_plan import AUTO_STREAMS, STREAMS_MAX, ReadPolicy
from bucketsum.settings import THREADS_MAX, Settings

GOOD = {
    "DIGESTS_TABLE": "digests",
    "ARRIVALS_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/arrivals",
    "DEAD_LETTER_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/1/dead",
    "MAX_RECEIVES": "5",
    "CHUNK_BYTES": "1048576",
    "STREAMS": "auto",
    "DELETED_ROW_DAYS": "0",
    "EXTRA_ALGORITHMS": "",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
}
RANGES = {
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": (128, 32_768),
    "CHUNK_BYTES": (CHUNK_BYTES_MIN, CHUNK_BYTES_MAX),
    "MAX_RECEIVES": (1, 1000),
    "DELETED_ROW_DAYS": (0, 36_500),
}


def test_good_environment_is_read() -> None:
    """Every variable arrives in its field, with its type."""
    assert Settings.from_env(GOOD) == Settings(
        digests_table="digests",
        arrivals_queue_url=GOOD["ARRIVALS_QUEUE_URL"],
        dead_letter_queue_url=GOOD["DEAD_LETTER_QUEUE_URL"],
        max_receives=5,
        chunk_bytes=1_048_576,
        extra_algorithms=(),
        memory_mb=512,
        read_policy=ReadPolicy(None, 1_048_576, 512),
        threads=THREADS_MAX,
    )


def test_index_and_log_lines_can_be_left_out() -> None:
    """Both are there unless the template says otherwise, in its own words."""
    lean = Settings.from_env(GOOD | {"SHA1_INDEX": "no", "LOG_OBJECTS": "problems"})
    assert not lean.has_sha1_index
    assert not lean.logs_objects
    for name in ("SHA1_INDEX", "LOG_OBJECTS"):
        with pytest.raises(BadSettings, match=f"^{name} is 'No'; allowed are "):
            Settings.from_env(GOOD | {name: "No"})


@pytest.mark.parametrize(
    ("memory_mb", "chunk_bytes", "threads"),
    [
        (128, CHUNK_BYTES_MIN, THREADS_MAX),
        (128, 1_048_576, THREADS_MAX),
        (128, 4 * 1_048_576, 4),
        (128, 16 * 1_048_576, 1),
        (512, 16 * 1_048_576, THREADS_MAX),
        (512, 100 * 1_048_576, 2),
        (3008, 512 * 1_048_576, 2),
    ],
)
def test_threads_are_as_many_as_memory_holds(
    memory_mb: int, chunk_bytes: int, threads: int
) -> None:
    """Each has two chunks and some memory of its own, beside the runtime's 90 MB."""
    sizes = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory_mb), "CHUNK_BYTES": str(chunk_bytes)}
    assert Settings.from_env(GOOD | sizes).threads == threads
    assert 90e6 + threads * 2 * chunk_bytes <= memory_mb * 2**20


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"EXTRA_ALGORITHMS"}))
@pytest.mark.parametrize("is_empty", [True, False])
def test_missing_variable_is_named(name: str, *, is_empty: bool) -> None:
    """An empty variable is as missing as an absent one."""
    env = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(BadSettings, match=f"^{name} is not set$"):
        Settings.from_env(env | ({name: ""} if is_empty else {}))


@pytest.mark.parametrize("name", sorted(RANGES))
@pytest.mark.parametrize("text", ["8MB", "1.0", "-5", "+5", " 5", "0x10", "1_000", "²", "٣"])
def test_what_is_not_a_whole_number_is_shown_with_the_range(name: str, text: str) -> None:
    """Python would read some of these as numbers; a template never writes them."""
    low, high = RANGES[name]
    with pytest.raises(BadSettings) as caught:
        Settings.from_env(GOOD | {name: text})
    assert str(caught.value) == f"{name} is {text!r}, not a whole number in {low}..{high}"


@pytest.mark.parametrize("name", sorted(RANGES))
def test_range_includes_its_ends_and_nothing_beyond(name: str) -> None:
    """Nothing is clamped: a value out of range is an error that tells the range."""
    low, high = RANGES[name]
    roomy = GOOD | {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "10240", "CHUNK_BYTES": "16384"}
    for value in (low, high):
        Settings.from_env(roomy | {name: str(value)})
    for value in (low - 1, high + 1):
        with pytest.raises(BadSettings, match=rf"^{name} is '?{value}'?, not .*{low}\.\.{high}$"):
            Settings.from_env(roomy | {name: str(value)})


@given(memory_mb=st.integers(128, 10_240), streams=st.sampled_from(["auto", "1", "2", "16"]))
def test_what_is_held_must_fit_beside_the_runtime(memory_mb: int, streams: str) -> None:
    """The largest chunk that the message advises fits, one byte more does not."""
    held = {"auto": 2, "1": 2, "2": 3, "16": 17}[streams]
    largest = (memory_mb * 2**20 - BASE_MEMORY_BYTES) // held
    env = GOOD | {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory_mb), "STREAMS": streams}
    if largest < CHUNK_BYTES_MAX:
        with pytest.raises(BadSettings, match=f"CHUNK_BYTES is {largest + 1}; .* to {largest}, lo"):
            Settings.from_env(env | {"CHUNK_BYTES": str(largest + 1)})
    fits = min(largest, CHUNK_BYTES_MAX)
    assert Settings.from_env(env | {"CHUNK_BYTES": str(fits)}).chunk_bytes == fits


@pytest.mark.parametrize(("text", "count"), [("auto", None), ("1", 1), ("16", STREAMS_MAX)])
def test_streams_are_a_number_or_auto(text: str, count: int | None) -> None:
    """Who gives a number gets it; the rule is for who does not."""
    policy = Settings.from_env(GOOD | {"STREAMS": text}).read_policy
    assert policy == ReadPolicy(count, 1_048_576, 512)


@pytest.mark.parametrize("text", ["0", "17", "Auto", "many", "1.0"])
def test_other_streams_are_refused(text: str) -> None:
    """The text says what there may be instead."""
    with pytest.raises(BadSettings, match=r"^STREAMS is .* in 1\.\.16, nor auto$"):
        Settings.from_env(GOOD | {"STREAMS": text})


def test_template_admits_the_same_streams() -> None:
    """CloudFormation and the function accept the same values."""
    pattern = load_template()["Parameters"]["Streams"]["AllowedPattern"]
    texts = ["auto", *map(str, range(-1, 200)), "", "Auto", "01", "1.0"]
    admitted = [text for text in texts if re.fullmatch(pattern, text)]
    assert admitted == [AUTO_STREAMS, *map(str, range(1, STREAMS_MAX + 1))]


def test_extra_algorithms_keep_their_order_and_lose_doubles() -> None:
    """Spaces and empty parts between the commas mean nothing."""
    env = GOOD | {"EXTRA_ALGORITHMS": " sha512, crc32,,sha512 ,"}
    assert Settings.from_env(env).extra_algorithms == ("sha512", "crc32")


@pytest.mark.parametrize("text", ["sha3", "SHA256", "sha1", "md5;crc32"])
def test_unknown_algorithm_is_named_with_what_is_allowed(text: str) -> None:
    """SHA-1 is always computed, so it is not an extra either."""
    with pytest.raises(BadSettings) as caught:
        Settings.from_env(GOOD | {"EXTRA_ALGORITHMS": f"md5,{text}"})
    assert str(caught.value) == (
        f"EXTRA_ALGORITHMS names {text}; allowed are {', '.join(EXTRA_ALGORITHMS)}"
    )


def test_absent_extra_algorithms_are_none() -> None:
    """The only variable that may be absent: no extras is the default."""
    env = {key: value for key, value in GOOD.items() if key != "EXTRA_ALGORITHMS"}
    assert Settings.from_env(env).extra_algorithms == ()


ARCHIVES = GOOD | {
    "ARCHIVE_SUFFIXES": ".zip, .JAR,",
    "ARCHIVE_MODE": "tmp",
    "ARCHIVE_MAX_MEMBERS": "1000",
    "ARCHIVE_MAX_TOTAL_BYTES": "1000000",
    "ARCHIVE_MAX_RATIO": "100",
    "ARCHIVE_DEPTH": "2",
}


def test_archives_are_off_by_default() -> None:
    """Without suffixes nothing else about archives needs to be set."""
    assert Settings.from_env(ARCHIVES | {"ARCHIVE_SUFFIXES": ""}).archives is None


def test_archives_are_read_as_set() -> None:
    """Suffixes are compared in lower case; every limit arrives where it is counted."""
    archives = Settings.from_env(ARCHIVES).archives
    assert archives is not None
    assert archives.suffixes == (".zip", ".jar")
    assert archives.mode == "tmp"
    limits = archives.limits
    assert (limits.members, limits.total_bytes) == (1000, 1_000_000)
    assert (limits.ratio, limits.depth) == (100, 2)
    assert archives.takes("A.Zip")
    assert not archives.takes("zip")


@pytest.mark.parametrize(("memory_mb", "second_core"), [("1769", False), ("1770", True)])
def test_second_core_hashes_where_there_is_one(memory_mb: str, *, second_core: bool) -> None:
    """More memory than goes with one core brings a second."""
    archives = Settings.from_env(ARCHIVES | {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": memory_mb}).archives
    assert archives is not None
    assert archives.second_core is second_core


def test_second_core_holds_a_chunk_of_its_own() -> None:
    """Members get the memory that three chunks leave, not two."""
    half_mb = str(512 * 1024 * 1024)
    env = ARCHIVES | {"CHUNK_BYTES": half_mb, "ARCHIVE_MAX_MEMBERS": "150000"}
    assert Settings.from_env(env | {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1769"}).archives
    with pytest.raises(BadSettings, match="ARCHIVE_MAX_MEMBERS"):
        Settings.from_env(env | {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1770"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARCHIVE_SUFFIXES", "zip"),
        ("ARCHIVE_SUFFIXES", ".zip,*"),
        ("ARCHIVE_MODE", "discard"),
        ("ARCHIVE_MODE", ""),
        ("ARCHIVE_MAX_MEMBERS", "0"),
        ("ARCHIVE_MAX_MEMBERS", "1000000"),  # more than memory holds
        ("ARCHIVE_MAX_TOTAL_BYTES", "1e9"),
        ("ARCHIVE_MAX_RATIO", "-1"),
        ("ARCHIVE_DEPTH", "9"),
    ],
)
def test_bad_archive_settings_are_named(name: str, value: str) -> None:
    """The variable comes first, as with all others."""
    with pytest.raises(BadSettings, match=f"^{name} "):
        Settings.from_env(ARCHIVES | {name: value})
