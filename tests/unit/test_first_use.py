"""Values that are made at their first use."""

import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

from bucketsum.invocation.first_use import at_first_use, made_once


def test_several_threads_make_one_value() -> None:
    """A client takes megabytes and a tenth of a second; readers in threads share it."""
    make = Mock(side_effect=lambda: time.sleep(0.01))
    get = made_once(make)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: get(), range(8)))
    make.assert_called_once_with()


def test_a_stand_in_makes_its_value_at_the_first_attribute() -> None:
    """Until then nothing is made; then it has the attributes of one value."""
    client = Mock(name="client")
    make = Mock(return_value=client)
    stand_in = at_first_use(make)
    make.assert_not_called()
    assert stand_in.put_item is client.put_item
    assert stand_in.meta is client.meta
    make.assert_called_once_with()
