"""Texts of others as a terminal, Markdown and HTML may have them: a value's face in a notebook, and the policy of every page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape

_BIDI = (0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE = {
    code: f"\\u{code:04x}"
    for code in (*(code for code in range(0x20) if code not in {0x09, 0x0A}), *range(0x7F, 0xA0), *_BIDI)
}


def visible(text: str) -> str:
    r"""Text with its control characters written as ``\u001b``, line ends and tabs left as they are.

    >>> visible("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return text.translate(_VISIBLE)


def unmarked(text: str) -> str:
    r"""Text on one line that no Markdown reads as markup, and no terminal as a command.

    >>> print(unmarked("a <b>|\x1b[31m"))
    a \<b\>\|\\u001b\[31m
    """
    kept = visible(" ".join(text.split()))
    for sign in "\\`*_[]<>|#!":
        kept = kept.replace(sign, "\\" + sign)
    return kept


def html_table(rows: Iterable[Sequence[str]], *, head: bool = False) -> str:
    """Rows of words as an HTML table; the first cell of a row names it, with ``head`` the first row names the columns.

    >>> html_table([("members", "3")])
    '<table><tr><th>members</th><td>3</td></tr></table>'
    """
    told = []
    for number, (name, *cells) in enumerate(rows):
        kind = "th" if head and not number else "td"
        told.append(
            f"<tr><th>{escape(name)}</th>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"
        )
    return f"<table>{''.join(told)}</table>"


_RULES = "default-src 'none'; base-uri 'none'; style-src 'unsafe-inline'; img-src data: blob:"
"""Styles may stand in the page; pictures too, and those that its own script draws."""


def digest_of(script: str) -> str:
    """A script as a policy names it: by the digest of the text between its tags.

    >>> digest_of("alert(1)")
    'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def policy(*scripts: str, forms: str = "'none'") -> str:
    r"""The element of a page's head that allows these scripts, given as the texts between their tags, and no other; ``forms`` is where forms may be sent.

    >>> policy()
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; base-uri \'none\'; style-src \'unsafe-inline\'; img-src data: blob:; form-action \'none\'">'
    """
    own = "; script-src " + " ".join(f"'{digest_of(script)}'" for script in scripts) if scripts else ""
    return f'<meta http-equiv="Content-Security-Policy" content="{_RULES}; form-action {forms}{own}">'
