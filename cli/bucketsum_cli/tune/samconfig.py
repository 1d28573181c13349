"""Edits template parameters in a samconfig.toml; everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array

from bucketsum_cli.terminal.errors import CannotDoError

_OVERRIDES: Final = "parameter_overrides"
_VERSION: Final = "version"  # the only top-level name that is not an environment

_TOKEN: Final = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^ "'])+""")
"""An assignment in ``Key=Value "Other=two words"``; as in SAM, quotes protect blanks."""

_OTHER_FORMS: Final = ("file://", "ParameterKey=")


def with_parameters(
    text: str, file_name: str, environment: str, wanted: Mapping[str, int | str]
) -> str:
    """*text* of a samconfig.toml with *wanted* parameters for `sam deploy` in *environment*.

    They are written to the ``parameter_overrides`` that `sam deploy` reads: those of deploy, else
    those of all commands, else new ones of deploy. Their form is kept: a string, or a list of them.

    Raises:
        CannotDoError: The text is not TOML, has no such environment, or has overrides in
            another form. The message begins with *file_name*.
    """
    try:
        document = tomlkit.parse(text)
        section = _section(document, environment)
        section[_OVERRIDES] = _overridden(
            section.get(_OVERRIDES), {name: str(value) for name, value in wanted.items()}
        )
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


def _overridden(present: Any, wanted: Mapping[str, str]) -> Any:  # noqa: ANN401 - what TOML holds
    if isinstance(present, Array) and all(map(_is_editable, present)):
        for index, text in enumerate(map(str, present)):
            if (edited := _edited(text, wanted)) != text:
                present[index] = edited
        for assignment in _missing(" ".join(map(str, present)), wanted):
            present.append(assignment)
        return present
    text = "" if present is None else present
    if not _is_editable(text):
        raise _FormError(
            f"has {_OVERRIDES} = {present!r}, which this command does not edit; write it as "
            '"Name=Value ...", or deploy once with `sam deploy --parameter-overrides '
            f"{' '.join(_missing('', wanted))}`, which keeps all other values of the stack"
        )
    edited = " ".join(filter(None, [_edited(text, wanted), *_missing(text, wanted)]))
    return tomlkit.string(edited, multiline="\n" in edited)


def _is_editable(text: object) -> bool:
    """Whether the value has assignments ``Key=Value``, as `sam deploy --guided` writes them."""
    return isinstance(text, str) and not any(form in text for form in _OTHER_FORMS)


def _edited(text: str, wanted: Mapping[str, str]) -> str:
    def replaced(token: re.Match[str]) -> str:
        name = _name_of(token[0])
        return f"{name}={wanted[name]}" if name in wanted else token[0]

    return _TOKEN.sub(replaced, text)


def _missing(text: str, wanted: Mapping[str, str]) -> list[str]:
    present = {_name_of(token) for token in _TOKEN.findall(text)}
    return [f"{name}={value}" for name, value in wanted.items() if name not in present]


def _name_of(token: str) -> str:
    return token.strip("\"'").partition("=")[0].strip("\"'")
