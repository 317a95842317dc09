"""Three drawings of what the engine does not simulate: tasks of Kafka Streams, the two groups of a Connect sink, a share group."""

from __future__ import annotations

from rebalance_kit.view.style.showing import Picture, closed, page, words
from rebalance_kit.view.style.theme import HUES, ROLES

ROLE, HUE = ROLES["light"], HUES["light"]


def box(
    x: float, y: float, wide: float, tall: float, text: str, colour: str = "", *, dashed: bool = False
) -> list[str]:
    """A box with a line of text; a coloured one has white letters, a dashed one is a copy that does no work."""
    style = f'fill="{colour}"' if colour and not dashed else f'fill="{ROLE["surface"]}"'
    edge = f'stroke="{colour or ROLE["control"]}" stroke-width="2"' + (
        ' stroke-dasharray="5 4"' if dashed else ""
    )
    ink = "#FFFFFF" if colour and not dashed else ROLE["ink"]
    return [
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{tall:g}" rx="6" {style} {edge}/>',
        words(x + wide / 2, y + tall / 2 + 5, text, size=14, anchor="middle", colour=ink),
    ]


def streams() -> Picture:
    """Twenty tasks of two sub-topologies over the threads of three instances, with a standby."""
    parts = page(330, ROLE)
    parts.append(words(14, 30, "Kafka Streams: tasks are dealt to threads", bold=True, size=17))
    heads = (
        "sub-topology 0: 8 partitions, tasks 0_0 to 0_7",
        "sub-topology 1: 12 partitions, tasks 1_0 to 1_11",
    )
    for row, (head, count) in enumerate(zip(heads, (8, 12), strict=True)):
        y = 56 + row * 66
        parts.append(words(14, y + 12, head, size=14))
        for task in range(count):
            parts += box(14 + task * 80, y + 20, 72, 28, f"{row}_{task}", HUE[row])
    for instance in range(3):
        x = 14 + instance * 328
        parts += box(x, 200, 312, 116, "")
        parts.append(words(x + 10, 220, f"instance {instance + 1}: 4 threads", bold=True, size=14))
        held = [2, 2, 2, 2] if instance < 2 else [1, 1, 1, 1]
        for thread, count in enumerate(held):
            for place in range(count):
                parts += box(x + 12 + thread * 60, 230 + place * 26, 52, 22, "task", HUE[0 if place else 1])
        parts += box(x + 252, 230, 50, 48, "copy", HUE[4], dashed=True)
        parts.append(
            words(x + 12, 304, "one column per thread; dashed: a standby", size=12, colour=ROLE["ink2"])
        )
    text = "Twenty tasks of two sub-topologies (8 and 12 partitions) are dealt to twelve threads of three instances: eight threads have two tasks, four have one. Each instance also holds a standby, a copy of a task's state that processes no input."
    return Picture(closed(parts, "Kafka Streams deals tasks to threads", text), text)


def connect() -> Picture:
    """The workers' group deals tasks; the sink's consumer group deals partitions."""
    parts = page(300, ROLE)
    parts.append(words(14, 30, "A sink connector has two groups", bold=True, size=17))
    parts += box(14, 50, 972, 88, "")
    parts.append(
        words(
            26,
            72,
            "group of the workers (group.id of the cluster): deals connectors and tasks",
            size=14,
            bold=True,
        )
    )
    for worker in range(3):
        parts += box(26 + worker * 320, 84, 300, 40, f"worker {worker + 1}", HUE[9])
    parts += box(14, 168, 972, 118, "")
    parts.append(
        words(26, 190, "consumer group connect-NAME: deals partitions to the tasks", size=14, bold=True)
    )
    for task in range(4):
        x = 26 + task * 240
        parts += box(x, 202, 226, 30, f"task {task}: a consumer", HUE[0])
        parts += box(x, 242, 226, 28, f"orders-{task}", HUE[1])
        parts.append(
            f'<line x1="{x + 113}" y1="124" x2="{x + 113}" y2="202" stroke="{ROLE["control"]}" stroke-dasharray="4 4"/>'
        )
    text = "Two groups: the workers' group, which deals connectors and tasks to three workers, and the consumer group connect-NAME, which deals the partitions of orders to the four tasks."
    return Picture(closed(parts, "The two groups of a Connect sink", text), text)


def share_group() -> Picture:
    """Three members and two partitions: one partition has two readers, and each record has a state."""
    parts = page(316, ROLE)
    parts.append(words(14, 30, "A share group: three members, two partitions", bold=True, size=17))
    for number, (member, partition) in enumerate((("member 1", 0), ("member 2", 1), ("member 3", 0))):
        parts += box(60 + number * 320, 46, 220, 34, member, HUE[number])
        x = 170 + number * 320
        parts.append(
            f'<line x1="{x}" y1="80" x2="{300 + partition * 400}" y2="130" stroke="{ROLE["control"]}" stroke-width="2"/>'
        )
    for partition in range(2):
        parts += box(120 + partition * 400, 130, 360, 34, f"orders-{partition}", HUE[9])
    cells = (
        ("acknowledged", ""),
        ("acquired by 1", HUE[0]),
        ("acquired by 3", HUE[2]),
        ("available, try 2", ""),
        ("available", ""),
    )
    parts.append(words(14, 200, "records of orders-0, in order of their offsets:", size=14))
    for place, (state, colour) in enumerate(cells):
        parts += box(14 + place * 195, 212, 186, 36, state, colour)
    parts.append(
        words(
            14,
            276,
            "An acquired record is locked for 30 s; not acknowledged, it is available again; after five tries it is given up.",
            size=14,
        )
    )
    parts.append(
        words(
            14,
            298,
            "With two members each partition would have one reader: a crash leaves it unread for a session timeout.",
            size=14,
        )
    )
    text = "Three members read two partitions: orders-0 is assigned to members 1 and 3, orders-1 to member 2. The records of orders-0 are acknowledged, acquired by member 1, acquired by member 3, available for a second try, and available."
    return Picture(closed(parts, "A share group", text), text)
