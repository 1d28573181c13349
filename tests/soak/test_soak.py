"""The soak's changes to a stack end with it, however it ends."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from tests.soak.queues import through_proxy

PROXY = "https://127.0.0.1:1"


def test_an_interrupted_soak_restores_the_function_and_does_not_judge_it() -> None:
    """Ctrl-C stays the reason, although the interrupted function cannot answer."""
    client = Mock()
    client.get_function_configuration.return_value = {"Environment": {"Variables": {"A": "1"}}}
    client.invoke.side_effect = [{}, {"FunctionError": "Unhandled", "Payload": Mock()}]
    stack = Mock(client=lambda _: client)
    with pytest.raises(KeyboardInterrupt), through_proxy(stack, PROXY):
        raise KeyboardInterrupt
    updates = client.update_function_configuration.mock_calls
    variables = [update.kwargs["Environment"]["Variables"] for update in updates]
    assert [environment.get("AWS_ENDPOINT_URL") for environment in variables] == [PROXY, None]
