"""docs/pictures/how.svg and docs/pictures/paths.svg: boxes, and arrows between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools.pictures.drawing import MONOSPACE, SANS, drawing


@dataclass(frozen=True, slots=True)
class Boxes:
    """A picture of boxes; places and sizes are in the units of `drawing`.

    Attributes:
        title: What the picture shows, in a few words.
        description: All that it shows, for readers who cannot see it.
        boxes: Left, top, width, class, name, and what is in it.
        arrows: Line and tip, as paths of SVG.
        labels: Middle, bottom, class and text.
    """

    title: str
    description: str
    height: int
    box_height: int
    name_size: int
    boxes: tuple[tuple[int, int, int, str, str, str], ...]
    arrows: tuple[tuple[str, str], ...]
    labels: tuple[tuple[int, int, str, str], ...]


HOW: Final = Boxes(
    "How bucketsum works",
    "A bucket reports each new object to a queue. A Lambda function reads the object and writes "
    "its SHA-1 to a table. The command reads the table. A message that retrying cannot fix goes "
    "to the dead-letter queue, which triggers an alarm.",
    height=380,
    box_height=110,
    name_size=22,
    boxes=(
        (10, 20, 180, "", "Bucket", "a new object"),
        (230, 20, 180, "", "Queue", "a message"),
        (450, 20, 180, "own", "Function", "reads, hashes"),
        (450, 250, 180, "", "Table", "SHA-1 and key"),
        (10, 250, 240, "", "Dead-letter queue", "reason, and an alarm"),
    ),
    arrows=(
        ("M190 75H222", "M230 75l-14-7v14z"),
        ("M410 75H442", "M450 75l-14-7v14z"),
        ("M560 130V242", "M560 250l-7-14h14z"),
        ("M500 130V190H130V242", "M130 250l-7-14h14z"),
        ("M450 330H392", "M384 330l14-7v14z"),
    ),
    labels=(
        (300, 180, "what", "what retrying cannot fix"),
        (330, 322, "what", "find, check"),
        (330, 346, "what", "ls, show"),
    ),
)

PATHS: Final = Boxes(
    "The paths of bucketsum",
    "When an object is uploaded to the bucket, S3 sends a message to ArrivalsQueue. HasherFunction "
    "receives it, reads the object in chunks, and writes a row with the SHA-1 to DigestsTable. For "
    "existing objects, bucketsum backfill starts EnqueuerFunction, which lists the bucket and "
    "sends messages to BackfillQueue; HasherFunction receives them too. An object that may take "
    "longer than one invocation goes to LongObjectsQueue: SlicerFunction hashes one slice after "
    "the other, and writes the row at the end. A message that retrying cannot fix, or that failed "
    "five times, goes to DeadLetterQueue, which triggers an alarm. In a sweep, bucketsum tune run "
    "starts SweepStateMachine, which has ProberFunction read objects with each setting; "
    "MeasurementsTable keeps each sample.",
    height=715,
    box_height=86,
    name_size=17,
    boxes=(
        (10, 20, 190, "", "Bucket", "objects"),
        (225, 20, 190, "", "ArrivalsQueue", "events"),
        (440, 20, 190, "own", "HasherFunction", "reads, hashes"),
        (10, 180, 190, "own", "EnqueuerFunction", "lists objects"),
        (225, 180, 190, "", "BackfillQueue", "existing objects"),
        (440, 180, 190, "", "LongObjectsQueue", "one slice each"),
        (10, 360, 190, "", "DeadLetterQueue", "reason, alarm"),
        (225, 360, 190, "", "DigestsTable", "SHA-1 and key"),
        (440, 360, 190, "own", "SlicerFunction", "long objects"),
        (4, 540, 202, "", "SweepStateMachine", "each setting"),
        (225, 540, 190, "own", "ProberFunction", "reads, measures"),
        (434, 540, 202, "", "MeasurementsTable", "each sample"),
    ),
    arrows=(
        ("M200 63H217", "M225 63l-14-7v14z"),
        ("M415 52H432", "M440 52l-14-7v14z"),
        ("M105 106V172", "M105 180l-7-14h14z"),
        ("M200 223H217", "M225 223l-14-7v14z"),
        ("M320 180V140H424V78H432", "M440 78l-14-7v14z"),
        ("M550 106V172", "M550 180l-7-14h14z"),
        ("M510 266V352", "M510 360l-7-14h14z"),
        ("M570 360V274", "M570 266l-7 14h14z"),
        ("M440 403H423", "M415 403l14-7v14z"),
        ("M480 106V150H428V320H340V352", "M340 360l-7-14h14z"),
        ("M105 326V352", "M105 360l-7-14h14z"),
        ("M206 583H217", "M225 583l-14-7v14z"),
        ("M415 583H426", "M434 583l-14-7v14z"),
    ),
    labels=(
        (105, 290, "command", "backfill"),
        (105, 318, "what", "from each function"),
        (105, 472, "command", "failures, redrive"),
        (320, 472, "command", "ls, show, find, check"),
        (605, 318, "what", "next"),
        (150, 520, "what", "A sweep, apart from all above"),
        (105, 652, "command", "tune run"),
        (320, 652, "what", "a version per memory"),
        (535, 652, "command", "tune show, report"),
        (320, 700, "what", "Blue: functions, and commands of bucketsum"),
    ),
)

_STYLE: Final = f"""\
text {{ font-family: {SANS}; text-anchor: middle; fill: var(--ink) }}
.name {{ font-weight: 600 }} .what {{ font-size: 19px; fill: var(--note) }}
.command {{ font-family: {MONOSPACE}; font-size: 17px; fill: var(--own) }}
rect {{ fill: var(--panel); stroke: var(--note); stroke-width: 1.5 }}
.own {{ fill: var(--own-panel); stroke: var(--own) }}
path {{ fill: none; stroke: var(--note); stroke-width: 2.5 }}
.tip {{ fill: var(--note); stroke: none }}"""


def boxes(picture: Boxes) -> str:
    """Draw the boxes, their arrows and labels."""
    return drawing(
        picture.title,
        picture.description,
        picture.height,
        f"{_STYLE}\n.name {{ font-size: {picture.name_size}px }}",
        *(_box(picture.box_height, *box) for box in picture.boxes),
        *(f'<path d="{line}"/><path class="tip" d="{tip}"/>' for line, tip in picture.arrows),
        *(
            f'<text x="{x}" y="{y}" class="{kind}">{text}</text>'
            for x, y, kind, text in picture.labels
        ),
    )


def _box(height: int, x: int, y: int, width: int, *texts: str) -> str:
    kind, name, content = texts
    middle, centre = x + width // 2, y + height // 2
    own = f' class="{kind}"' if kind else ""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8"{own}/>'
        f'<text x="{middle}" y="{centre - 5}" class="name">{name}</text>'
        f'<text x="{middle}" y="{centre + 23}" class="what">{content}</text>'
    )
