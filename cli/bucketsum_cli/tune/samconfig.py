"""Edits template parameters in a samconfig.toml; everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, String

from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_OVERRIDES: Final = "parameter_overrides"
_VERSION: Final = "version"  # the only top-level name that is no environment

_TOKEN: Final = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^ "'])+""")
"""An assignment in ``Key=Value "Other=two words"``; as in SAM, quotes protect blanks."""

_LONG_FORM: Final = "ParameterKey={},ParameterValue={}"
_SHORT_FORM: Final = "{}={}"


def with_parameters(
    text: str, file_name: str, environment: str, wanted: Mapping[str, int | str]
) -> str:
    """*text* of a samconfig.toml with *wanted* parameters for `sam deploy` in *environment*.

    They are written to the ``parameter_overrides`` that `sam deploy` reads: those of deploy, else
    those of all commands, else new ones of deploy. The form is kept: a string, a list or a table.

    Raises:
        CannotDoError: The text is not TOML, has no such environment, or has overrides in a form
            that SAM does not accept. The message begins with *file_name*.
    """
    try:
        document = tomlkit.parse(text)
        section = _section(document, environment)
        section[_OVERRIDES] = _overridden(section.get(_OVERRIDES), wanted)
    except TOMLKitError as error:
        raise CannotDoError(f"{file_name} is not TOML: {error}; correct it first") from error
    except _FormError as error:
        raise CannotDoError(f"{file_name} {error}") from error
    edited = tomlkit.dumps(document)
    has_crlf = "\n" in text and text.count("\r\n") == text.count("\n")
    return re.sub(r"(?<!\r)\n", "\r\n", edited) if has_crlf else edited  # added lines too


class _FormError(Exception):
    """The file has a form that cannot be edited; the text follows the file's name."""


def _section(document: TOMLDocument, environment: str) -> MutableMapping[str, Any]:
    environments = [
        name
        for name, table in document.items()
        if name != _VERSION and isinstance(table, MutableMapping)
    ]
    if environment not in environments:
        raise _FormError(
            f"has no environment {environment}; choose one of "
            f"{', '.join(environments) or '(it has none)'} with --config-env"
        )
    table: Any = document[environment]
    own = _parameters(table, "deploy")
    shared = _parameters(table, "global")
    if _OVERRIDES in shared and _OVERRIDES not in own:
        return shared
    if not own:
        deploy = table.setdefault("deploy", tomlkit.table(is_super_table=True))
        return _as_table(deploy.setdefault("parameters", tomlkit.table()))
    return own


def _parameters(table: MutableMapping[str, Any], command: str) -> MutableMapping[str, Any]:
    return _as_table(_as_table(table.get(command, {})).get("parameters", {}))


def _as_table(value: Any) -> MutableMapping[str, Any]:  # noqa: ANN401 - whatever TOML can hold
    if not isinstance(value, MutableMapping):
        raise _FormError(f"has {value!r} instead of a table; correct it first")
    return value


def _overridden(present: Any, wanted: Mapping[str, int | str]) -> Any:  # noqa: ANN401 - what TOML holds
    if present is None:
        return _in_text("", wanted)
    if isinstance(present, Mapping):
        return _in_table(present, wanted)
    if isinstance(present, Array):
        return _in_list(present, wanted)
    if isinstance(present, str) and present.startswith("file://"):
        return [str(present), *(_SHORT_FORM.format(*item) for item in wanted.items())]
    if isinstance(present, str):
        return _in_text(present, wanted)
    raise _FormError(f"has {_OVERRIDES} = {present!r}; SAM accepts a string, a list or a table")


def _in_table(table: Any, wanted: Mapping[str, int | str]) -> Any:  # noqa: ANN401 - tomlkit's own
    for name, value in wanted.items():
        table[name] = str(value) if isinstance(table.get(name), str) else value
    return table


def _in_list(array: Array, wanted: Mapping[str, int | str]) -> Array:
    for name, value in wanted.items():
        for index, item in reversed(list(enumerate(array))):  # SAM uses the last
            if isinstance(item, str) and name in _names(item):
                array[index] = _in_text(item, {name: value})
                break
            if isinstance(item, MutableMapping) and name in item:
                _in_table(item, {name: value})
                break
        else:
            array.append(_in_text("", {name: value}))
    return array


def _in_text(text: str, wanted: Mapping[str, int | str]) -> String:
    form = _LONG_FORM if "ParameterKey=" in text else _SHORT_FORM

    def replaced(token: re.Match[str]) -> str:
        name = _name_of(token[0])
        return form.format(name, wanted[name]) if name in wanted else token[0]

    present = _names(text)
    added = [form.format(name, value) for name, value in wanted.items() if name not in present]
    edited = " ".join(filter(None, [_TOKEN.sub(replaced, text), *added]))
    return tomlkit.string(edited, multiline="\n" in edited)


def _names(text: str) -> set[str]:
    return {_name_of(token) for token in _TOKEN.findall(text)}


def _name_of(token: str) -> str:
    bare = token.strip("\"'")
    if bare.startswith("ParameterKey="):
        return bare.removeprefix("ParameterKey=").partition(",")[0].strip("\"'")
    return bare.partition("=")[0].strip("\"'")
