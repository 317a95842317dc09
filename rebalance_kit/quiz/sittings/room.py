"""A room's page for phones: the instructor's own machine serves the question of the poll that is open, and takes votes.

It listens where the instructor says, by default on this machine alone. The room's word is part of every address, so
who does not know it sees nothing; a voter is known by a number that the page hands out. Pages hold no script.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from html import escape
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from socket import SHUT_RDWR, socket
from typing import Any
from urllib.parse import parse_qs

from rebalance_kit.model.errors import DataError, EnvironmentProblem
from rebalance_kit.model.html import policy
from rebalance_kit.quiz.exports.marked import option_html, stem_html
from rebalance_kit.quiz.sittings.poll import VOTER, Ballot, PollCount

ROAD = "phone"
PATIENCE_S = 10.0
"""Seconds that a connection may last."""
MOST_AT_ONCE, MOST_OF_ONE = 60, 40
"""Connections of all addresses, and of one, behind which a whole class may be."""
_MOST_BODY = 2_000
_RENEWED_S = 4
_ITSELF, _EVERYWHERE = "'self'", "0.0.0.0"  # noqa: S104 - only when the instructor says so
_STYLE = "body{font:18px/1.5 system-ui,sans-serif;max-width:38rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}label{display:block;padding:.7rem;margin:.4rem 0;border:1px solid #8888;border-radius:.5rem}button{font:inherit;padding:.7rem 1.5rem;width:100%}pre{overflow-x:auto}"


class Room:
    """The page of one room: shows the poll that was begun last, and counts a vote per voter and round."""

    def __init__(self, word: str, host: str = "127.0.0.1", port: int = 0) -> None:
        """Begin to listen; raises ``EnvironmentProblem`` where the port is taken or the address is not this machine's."""
        self.word = word
        self._poll: PollCount | None = None
        self._voted: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        try:
            self._server = _Server((host, port), self)
        except (OSError, OverflowError) as error:
            raise EnvironmentProblem(
                f"{host}:{port} cannot be listened to ({error}); expected an address of this machine and a free port, or port 0"
            ) from error
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """Where the room is: http://HOST:PORT/WORD."""
        host, port = self._server.server_address[:2]
        return f"http://{_outward() if host == _EVERYWHERE else str(host)}:{port}/{self.word}"

    def show(self, poll: PollCount, voted: Callable[[], object]) -> None:
        """Put this poll before the room; ``voted`` is called after each vote."""
        with self._lock:
            self._poll, self._voted = poll, voted

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def page(self, voter: str, said: str = "") -> str:
        """The page of a voter: the question while a vote is open that the voter has not cast, else words; never anything of right or wrong."""
        with self._lock:
            poll = self._poll
            if poll is None:
                return _page("<p>The first question comes soon.</p>", renewed=True)
            given = poll.vote_of(voter)
            if not poll.is_open:
                return _page("<p>No vote is open. Look at the screen.</p>", renewed=True)
            if given is not None and not said:
                again = f"<p><a href='/{self.word}?change'>Change it</a></p>"
                return _page(f"<p>Your vote: <b>{escape(given.upper())}</b></p>{again}", renewed=True)
            which = "First vote" if poll.round == 1 else "Second vote"
            options = "".join(
                f"<label><input type='radio' name='answer' required value='{escape(option.id)}'"
                f"{' checked' if option.id == given else ''}> {option_html(option.text, option.picture, poll.asked.kind)}</label>"
                for option in poll.asked.options
            )
            told = f"<p role='alert'>{escape(said)}</p>" if said.strip() else ""
            return _page(
                f"<h1>{which}</h1>{told}{stem_html(poll.asked)}<form method='post' action='/{self.word}'>"
                f"<input type='hidden' name='poll' value='{escape(poll.asked.head.id)}'><input type='hidden' name='round' value='{poll.round}'>"
                f"{options}<button>Vote</button></form>",
                renewed=False,
            )

    def vote(self, voter: str, form: dict[str, list[str]]) -> str:
        """Count a vote as the form sent it; words where it does not count."""
        poll, number, answer = (form.get(name, [""])[0] for name in ("poll", "round", "answer"))
        if number not in {"1", "2"}:
            return "This vote names no round. Vote again."
        with self._lock:
            if self._poll is None:
                return "No vote is open."
            try:
                self._poll.enter(Ballot(poll, int(number), voter, answer), ROAD)
            except DataError as error:
                return str(error)
            self._voted()
        return ""


def _outward() -> str:
    """The address by which the room reaches this machine; nothing is sent to find it."""
    import socket as sockets

    with sockets.socket(sockets.AF_INET, sockets.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _page(body: str, *, renewed: bool) -> str:
    again = f'<meta http-equiv="refresh" content="{_RENEWED_S}">' if renewed else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy(forms=_ITSELF)}{again}'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>Vote</title><style>{_STYLE}</style></head>'
        f"<body>{body}</body></html>\n"
    )


class _Server(ThreadingHTTPServer):
    """Threads for the connections, and not more of them than a room needs."""

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 128  # five, the default, are too few for thirty phones at once on a busy machine

    def __init__(self, address: tuple[str, int], room: Room) -> None:
        self.room = room
        self._open: dict[Any, tuple[str, float]] = {}
        self._counting = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin a thread; where there are too many, the oldest connection ends of this address, or of the one that has most."""
        host, now = str(client_address[0]), time.monotonic()
        with self._counting:
            held = Counter(one for one, _ in self._open.values())
            over = [one for one, (_, begun) in self._open.items() if now - begun > PATIENCE_S]
            if held[host] >= MOST_OF_ONE or len(self._open) >= MOST_AT_ONCE:
                greedy = host if held[host] >= MOST_OF_ONE else held.most_common(1)[0][0]
                over.append(next(one for one, (whose, _) in self._open.items() if whose == greedy))
            for one in over:
                self._open.pop(one, None)
                with suppress(OSError):
                    one.shutdown(SHUT_RDWR)  # its thread reads the end
            self._open[request] = (host, now)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._counting:
                self._open.pop(request, None)

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """A phone that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE_S
    server: _Server
    server_version, sys_version = "rebalance-kit", ""

    def do_GET(self) -> None:
        place, _, query = self.path.partition("?")
        if place != f"/{self.server.room.word}":
            self._answer(404, "Not found.")
            return
        self._answer(200, self.server.room.page(self._voter(), " " if query == "change" else ""))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if self.path != f"/{self.server.room.word}" or not (length.isascii() and length.isdecimal()):
            self._answer(404, "Not found.")
        elif len(length) > 5 or int(length) > _MOST_BODY:
            self.close_connection = True
            self._answer(413, "Too long.")
        else:
            form = parse_qs(self.rfile.read(int(length)).decode("ascii", "replace"), max_num_fields=8)
            voter = self._voter()
            self._answer(200, self.server.room.page(voter, self.server.room.vote(voter, form)))

    def _voter(self) -> str:
        """The number that the page handed out, or a new one."""
        try:
            kept = SimpleCookie(self.headers.get("Cookie", "")).get("voter")
        except CookieError:
            kept = None
        known = "" if kept is None else kept.value
        self._number = known if VOTER.fullmatch(known) else token_hex(8)
        return self._number

    def _answer(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"text/{'html' if status == 200 else 'plain'}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status == 200:
            self.send_header(
                "Set-Cookie", f"voter={self._number}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200"
            )
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing is written down of who asks."""


def as_picture(text: str) -> str | None:
    """A text as a QR code in SVG, 4 pixels a module with the quiet zone around it; None without reportlab, which knows the code."""
    try:
        from reportlab.graphics.barcode import qrencoder
    except ImportError:
        return None
    code = qrencoder.QRCode(None, qrencoder.QRErrorCorrectLevel.M)
    code.addData(qrencoder.QR8bitByte(text))
    code.make()
    size = code.getModuleCount()
    dark = "".join(f"M{x + 4} {y + 4}h1v1h-1z" for y in range(size) for x in range(size) if code.isDark(y, x))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="QR code of {escape(text)}" width="{8 * (size + 8)}" '
        f'viewBox="0 0 {size + 8} {size + 8}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size + 8}v{size + 8}H0z"/>'
        f'<path fill="#000" d="{dark}"/></svg>'
    )
