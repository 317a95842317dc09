"""What a hostile answer tries, by name: each is the body of a function that returns what it gained, and raises where it is refused.

``OUT`` is a tree of the test that stands for everything outside: a home, a course, another process, a server. Nothing here aims at a real file,
process or host: a read may meet the kit's own truth, a write or a signal only that tree and a process that the test began for it.
"""

from __future__ import annotations

READ = {
    "files that the parent holds open": "import os; return [n for n in range(4, 200) if good(n)]",
    "another learner's answer": "return open(OUT + '/course/submissions/ada/1/answer.py').read()",
    "a private key": "return open(OUT + '/home/.ssh/id_test').read()",
    "a private key by pathlib": "import pathlib; return pathlib.Path(OUT, 'home/.ssh/id_test').read_bytes()",
    "a private key by FileIO": "import _io; return _io.FileIO(OUT + '/home/.ssh/id_test').read()",
    "a private key by os.open": "import os; return os.read(os.open(OUT + '/home/.ssh/id_test', os.O_RDONLY), 99)",
    "a private key by libc": "import ctypes, os; f = LIBC.open((OUT + '/home/.ssh/id_test').encode(), 0); return f >= 0 and os.read(f, 99)",
    "a private key by mmap": "import mmap; return mmap.mmap(open(OUT + '/home/.ssh/id_test').fileno(), 0, prot=1)[:9]",
    "a private key by linecache": "import linecache; return linecache.getlines(OUT + '/home/.ssh/id_test')",
    "a private key by an importer": "import importlib.machinery as m; return m.SourceFileLoader('x', OUT + '/home/.ssh/id_test').get_data(OUT + '/home/.ssh/id_test')",
    "a private key by sqlite": "import sqlite3; return sqlite3.connect('file:' + OUT + '/home/notes.sqlite?mode=ro', uri=True).execute('select 1').fetchall() and open(OUT + '/home/notes.sqlite')",
    "a private key by a copy": "import shutil; return shutil.copyfile(OUT + '/home/.ssh/id_test', 'mine')",
    "a private key by a link": "import os; os.symlink(OUT + '/home/.ssh/id_test', 'link'); return open('link').read()",
    "a private key by a hard link": "import os; os.link(OUT + '/home/.ssh/id_test', 'hard'); return open('hard').read()",
    "a private key by dots": "import os; return open('../' * 12 + OUT.lstrip('/') + '/home/.ssh/id_test').read()",
    "a private key by the number of a folder": "import os; return os.open(OUT.lstrip('/') + '/home/.ssh/id_test', 0, dir_fd=os.open('/', 0))",
    "a private key by /proc/self/root": "return open('/proc/self/root' + OUT + '/home/.ssh/id_test').read()",
    "a private key by /proc/1/root": "return open('/proc/1/root' + OUT + '/home/.ssh/id_test').read()",
    "a private key by the parent's root": "import os; return open(f'/proc/{os.getppid()}/root' + OUT + '/home/.ssh/id_test').read()",
    "a private key after emptying the hook's tables": "import gc\n    for o in gc.get_objects():\n        if isinstance(o, dict) and 'os.system' in o and 'open' in o: o.clear()\n    return open(OUT + '/home/.ssh/id_test').read()",
    "a private key with another realpath": "import os; os.path.realpath = lambda p, **k: '/nowhere'; return open(OUT + '/home/.ssh/id_test').read()",
    "a private key with the kit's modules replaced": "import sys\n    for m in list(sys.modules.values()):\n        for n in ('_refuse_secret', 'confine', 'seccomp', 'landlock'):\n            if hasattr(m, n): setattr(m, n, lambda *a, **k: None)\n    return open(OUT + '/home/.ssh/id_test').read()",
    "a private key by a file handle": "import ctypes; h = ctypes.create_string_buffer(b'\\x80\\0\\0\\0', 136); m = ctypes.c_int(); r = LIBC.name_to_handle_at(-100, (OUT + '/home/.ssh/id_test').encode(), h, ctypes.byref(m), 0); return r == 0",
    "names in the home": "import os; return os.listdir(OUT + '/home')",
    "names in the home by scandir": "import os; return [e.name for e in os.scandir(OUT + '/home')]",
    "names in the home by glob": "import glob; return glob.glob(OUT + '/home/*')",
    "names in the temporary folder": "import os; return [n for n in os.listdir('/tmp') if n.startswith('pytest-of-')]",
    "whether a file is there": "import os; return os.path.exists(OUT + '/home/.bashrc')",
    "the size of a file": "import os; return os.stat(OUT + '/home/.bashrc').st_size",
    "the gradebook": "return open(OUT + '/course/gradebook.csv').read()",
    "the passwords": "return open('/etc/shadow').read()",
    "the users": "return 'root' in open('/etc/passwd').read()",
    "the caller's environment": "import os; return os.environ.get('RK_SECRET')",
    "the caller's environment by /proc": "import glob; return [p for p in glob.glob('/proc/[0-9]*/environ') if b'RK_SECRET' in open(p, 'rb').read()]",
    "the command of another process": "return open(f'/proc/{VICTIM}/cmdline').read()",
    "the memory of another process": "return open(f'/proc/{VICTIM}/mem', 'rb')",
    "the memory of another process by a call": "import ctypes; b = ctypes.create_string_buffer(8); v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8); return LIBC.process_vm_readv(VICTIM, v, 1, v, 1, 0) >= 0",
    "the hidden cases": "return open(EXERCISES + '/code/c1-write-range/hidden.py').read()",
    "the solution": "return open(EXERCISES + '/code/c1-write-range/solution.py').read()",
    "the hidden cases in the package": "return open(PACKAGE + '/exercises/code/c1-write-range/hidden.py').read()",
    "the keys of the quiz": "import os; return os.listdir(PACKAGE + '/quiz') or os.listdir(EXERCISES + '/quiz')",
    "the judge": "import rebalance_kit.exercises.code_task as c; return c",
    "the catalogue": "import rebalance_kit.exercises.task as c; return c",
    "the truth of runs": "import rebalance_kit.exercises.case_runs as t; return t",
    "the recorded runs": "import rebalance_kit.recordings.folder as p; return p",
    "the kit's own assignor": "from rebalance_kit.assignors.registry import assign; return assign",
    "the kit's own range": "import rebalance_kit.assignors.client as r; return r",
    "the classroom": "import rebalance_kit.classroom as c; return c",
    "truth through frames": "import sys; f = sys._getframe(); found = []\n    while f:\n        found += [n for n in (*f.f_locals, *f.f_globals) if n in {'facts', 'truth', 'seed', 'expected', 'judge'}]; f = f.f_back\n    return found",
    "truth through the collector": "import gc; return [o for o in gc.get_objects() if type(o).__name__ in {'CodeCase', 'CodeTask', 'Mark'}]",
    "the disk itself": "import os; return os.open('/dev/vda', 0)",
    "the memory of the machine": "return open('/dev/mem', 'rb')",
    "the log of the kernel": "import ctypes; b = ctypes.create_string_buffer(99); return LIBC.klogctl(3, b, 99) >= 0",
    "keys that the kernel keeps": "return LIBC.syscall(KEYCTL, 0, -3, 0) >= 0",
}  # fmt: skip
WRITE = {
    "another learner's answer changed": "open(OUT + '/course/submissions/zed/1/answer.py', 'w').write('x'); return True",
    "another learner's answer by os.open": "import os; return os.write(os.open(OUT + '/course/submissions/zed/1/answer.py', os.O_WRONLY), b'x')",
    "another learner's answer by libc": "import os; f = LIBC.open((OUT + '/course/submissions/zed/1/answer.py').encode(), 1); return f >= 0 and os.write(f, b'x')",
    "another learner's answer truncated": "import os; os.truncate(OUT + '/course/submissions/zed/1/answer.py', 0); return True",
    "another learner's answer removed": "import os; os.remove(OUT + '/course/submissions/zed/1/answer.py'); return True",
    "another learner's answer replaced": "import os; open('mine', 'w').close(); os.replace('mine', OUT + '/course/submissions/zed/1/answer.py'); return True",
    "another learner's answer closed to all": "import os; os.chmod(OUT + '/course/submissions/zed/1/answer.py', 0); return True",
    "another learner's answer made older": "import os; os.utime(OUT + '/course/submissions/zed/1/answer.py', (0, 0)); return True",
    "an attribute of another's answer": "import os; os.setxattr(OUT + '/course/submissions/zed/1/answer.py', 'user.x', b'x'); return True",
    "the course thrown away": "import shutil; shutil.rmtree(OUT + '/course'); return True",
    "the marks": "open(OUT + '/course/marks.json', 'w').write('{}'); return True",
    "a line in .bashrc": "open(OUT + '/home/.bashrc', 'a').write('x'); return True",
    "a module that Python loads at its start": "import os; os.makedirs(OUT + '/home/.local/lib'); open(OUT + '/home/.local/lib/usercustomize.py', 'w'); return True",
    "a new file beside the course": "open(OUT + '/new', 'w').write('x'); return True",
    "a new folder": "import os; os.mkdir(OUT + '/newfolder'); return True",
    "a link": "import os; os.symlink('/', OUT + '/link'); return True",
    "a pipe": "import os; os.mkfifo(OUT + '/pipe'); return True",
    "a socket": "import socket; s = socket.socket(socket.AF_UNIX); s.bind(OUT + '/socket'); return True",
    "the kit that the next answer gets": "import rebalance_kit; open(rebalance_kit.__path__[0] + '/model/__init__.py', 'a').write(''); return True",
    "compiled code of the kit": "import os, rebalance_kit; os.mkdir(rebalance_kit.__path__[0] + '/__pycache__/x'); return True",
    "a file in the wall's own root": "open('/mine', 'w').write('x'); return True",
    "a device": "import os, stat; os.mknod('device', stat.S_IFCHR | 0o666, os.makedev(1, 1)); return True",
    "settings of the kernel": "import os; return os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)",
    "the magic key of the kernel": "import os; return os.open('/proc/sysrq-trigger', os.O_WRONLY)",
    "a file above its size": "f = open('large', 'wb')\n    for _ in range(2000): f.write(b'x' * 65536)\n    return True",
}  # fmt: skip
REACH = {
    "a server of this machine": "import socket; socket.create_connection(('127.0.0.1', PORT), 2); return True",
    "a server by IPv6": "import socket; socket.create_connection(('::1', PORT), 2); return True",
    "a server by connect_ex": "import socket; return socket.socket().connect_ex(('127.0.0.1', PORT)) == 0",
    "a word without a connection": "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b'x', ('127.0.0.1', PORT)); return s.recv(9)",
    "an address of documentation": "import socket; socket.create_connection(('192.0.2.1', 80), 2); return True",
    "a name": "import socket; return socket.getaddrinfo('localhost.attacker.example', 80)",
    "a name that begins as this machine's": "import socket; return socket.getaddrinfo('127.attacker.example', 80)",
    "a page": "import urllib.request as r; return r.urlopen('http://192.0.2.1/', timeout=2)",
    "a raw socket": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); return True",
    "a socket of packets": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); return True",
    "a socket to the machine's host": "import socket; socket.socket(40, socket.SOCK_STREAM); return True",
    "a socket in a folder": "import socket; s = socket.socket(socket.AF_UNIX); s.connect(OUT + '/listening'); return True",
    "a socket without a folder": "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0' + NAME); return True",
    "a signal": "import os; os.kill(VICTIM, 9); return True",
    "a signal by a number of a process": "import os, signal; signal.pidfd_send_signal(os.pidfd_open(VICTIM), 9); return True",
    "a signal to a thread": "return LIBC.syscall(TKILL, VICTIM, 9) == 0",
    "a signal with a word": "import ctypes; return LIBC.syscall(SIGQUEUE, VICTIM, 9, ctypes.create_string_buffer(128)) == 0",
    "the priority of another": "import os; os.setpriority(os.PRIO_PROCESS, VICTIM, 19); return True",
    "the limits of another": "import resource; resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1)); return True",
    "the processors of another": "import os; os.sched_setaffinity(VICTIM, {0}); return True",
    "the strings of another": "return LIBC.ptrace(16, VICTIM, 0, 0) == 0",
}  # fmt: skip
RISE = {
    "root": "import os; os.setuid(0); return os.geteuid() == 0 and open(OUT + '/home/.ssh/id_test')",
    "a namespace of users": "return LIBC.unshare(0x10000000) == 0",
    "a namespace of mounts": "return LIBC.unshare(0x20000) == 0",
    "a namespace by clone": "return LIBC.syscall(CLONE, 0x10000000 | 17, 0, 0, 0, 0) > 0",
    "the namespace of another": "import os; return LIBC.setns(os.open('/proc/1/ns/mnt', 0), 0) == 0",
    "a mount": "return LIBC.mount(b'none', b'.', b'tmpfs', 0, None) == 0",
    "a mount of /proc": "import os; os.mkdir('p'); return LIBC.mount(b'proc', b'p', b'proc', 0, None) == 0",
    "a mount undone": "return LIBC.umount2(OUT.encode(), 2) == 0 or ctypes.get_errno() != 1",
    "a mount made writable": "return LIBC.mount(None, OUT.encode(), None, 32 | 4096, None) == 0 or ctypes.get_errno() != 1",
    "another root": "import os; os.chroot('.'); return True",
    "a program of the kernel": "return LIBC.syscall(BPF, 0, 0, 0) >= 0",
    "a count of the processor": "return LIBC.syscall(PERF, 0, 0, -1, -1, 0) >= 0",
    "a ring of input and output": "return LIBC.syscall(425, 8, 0) >= 0",
    "faults of the memory": "return LIBC.syscall(UFFD, 0) >= 0",
    "another personality": "return LIBC.personality(0x0040000) >= 0",
    "privileges by a new program": "return LIBC.prctl(38, 0, 0, 0, 0) == 0 and LIBC.prctl(39, 0, 0, 0, 0) == 0",
    "a lifted limit": "import resource; resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); return True",
    "the clock": "return LIBC.syscall(227 if X else 112, 0, None) == 0 or ctypes.get_errno() != 1",
    "the name of the host": "import socket; socket.sethostname(socket.gethostname()); return True",
    "more memory than allowed": "return len(bytearray(6 << 30)) > 0",
    "more processes than allowed": "import os, time\n    for n in range(900):\n        if not os.fork(): time.sleep(99); os._exit(0)\n    return True",
}  # fmt: skip
KNOWN = {"landlock": {"whether a file is there", "the size of a file"}}
"""What a kind of wall does let through; ``docs/security.md`` says so."""
ATTACKS = {**READ, **WRITE, **REACH, **RISE}

OUTLIVE = {
    "a process of its own session": "if not os.fork():\n        os.setsid(); time.sleep(60); os._exit(0)",
    "a process of a process": "if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(60)\n        os._exit(0)",
    "a program": "subprocess.Popen([sys.executable, '-S', '-c', f'import time; time.sleep(60) # {MARK}'], start_new_session=True)",
    "a shell": "os.system('nohup sleep 61.' + MARK[-6:] + ' >/dev/null 2>&1 &')",
    "a thread": "threading.Thread(target=time.sleep, args=(60,)).start()",
    "a process that holds the pipes": "if not os.fork():\n        [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(60); os._exit(0)",
}  # fmt: skip
"""What is to go on after the answer has ended; each names its command or itself with ``MARK``."""

PRELUDE = """
import ctypes, os, platform, json
OUT, EXERCISES, PACKAGE, PORT, NAME, VICTIM = {places!r}
LIBC = ctypes.CDLL(None, use_errno=True)
X = platform.machine() == "x86_64"
KEYCTL, TKILL, SIGQUEUE, CLONE, BPF, PERF, UFFD = (250, 200, 129, 56, 321, 298, 323) if X else (219, 130, 138, 220, 280, 241, 282)
def good(n):
    try: os.fstat(n)
    except OSError: return False
    return True
"""
CALL = """
def assign(partitions, members):
    for name, attack in FOUND:
        try: gained = attack()
        except BaseException as refused: print(json.dumps([name, None, type(refused).__name__]), flush=True)
        else: print(json.dumps([name, repr(gained)[:60] if gained else None, "nothing"]), flush=True)
    return {member.member_id: [] for member in members}
"""


def source(attacks: dict[str, str], places: tuple[object, ...]) -> str:
    """One answer that tries them all, and prints a line for each: its name, what it gained (null: nothing), why not."""
    bodies = "".join(
        f"def attack_{number}():\n    {body}\nFOUND.append(({name!r}, attack_{number}))\n"
        for number, (name, body) in enumerate(attacks.items())
    )
    return PRELUDE.format(places=places) + "FOUND = []\n" + bodies + CALL
