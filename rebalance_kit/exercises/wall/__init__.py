"""The wall that answers run behind: the operating system refuses whatever an answer has no need of.

``kinds`` knows which walls this machine has, ``paths`` what is to be seen inside, ``namespaces`` builds one with Linux's own means,
``process`` starts a process behind one and talks with it, ``begin`` chooses, has one without a wall where it must, and asks a question. The last steps are taken inside, by ``exercises.child.lock``.
"""
