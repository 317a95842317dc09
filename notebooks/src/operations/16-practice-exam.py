# %% [markdown]
# # 16 · Practice exam and review
#
# **90 minutes** for the exam, ten for its report, then some minutes on other days. Exams: CCDAK and CCAAK, all domains in
# which rebalancing bites.
#
# After this notebook you can
#
# - take a timed mock exam weighted like the published blueprint, and read its report;
# - say which of your beliefs the report shows to be false, and replay the run that refutes each;
# - keep what you learned: what you missed or guessed comes back when you are about to forget it.
#
# Wherever a run can settle an answer, the engine has checked it. No question is taken from an exam.

# %% [markdown]
# ## 1 What you will be asked
#
# The table says how many questions each domain of the blueprint gets. This bank asks of each domain what rebalancing
# touches and no more: of Connect it asks about workers and tasks, not about converters. Where it cannot fill a domain
# honestly, *lacking* says by how many questions it falls short, and the exam is that much shorter; *repeated* counts
# questions that an earlier mock has asked.

# %%
from rebalance_kit.quiz.items.blueprint import paper_table

print(paper_table("CCDAK", seed=1))

# %% tags=["nbval-ignore-output"]
print(paper_table("CCDAK", seed=2))  # what is repeated here shrinks with every item that is added

# %%
print(paper_table("CCAAK", seed=1))

# %% [markdown]
# No pass mark is published for either exam. The kit advises 80 % in three mocks in a row, with every domain above 60 %.
#
# ### Predict
#
# Before you begin: what score do you expect, and which domain will be your weakest? Write it down. People who
# cannot say so yet are the ones who gain most from the report.

# %%
guess = {"per cent": None, "weakest domain": None}

# %% [markdown]
# ## 2 The exam
#
# Sixty questions, ninety minutes, no feedback before the end. **Flag** what you want to see again, **strike** options
# out, **Review** shows what is open. Letters choose, Enter goes on; no mouse is needed.
#
# The clock runs on while the notebook is closed, and every step is kept: run the cell again after a crash and you are
# where you were, with the time right. `Exam("CCDAK", seed=2)` and `Exam("CCAAK")` are the other two.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Exam

exam = Exam("CCDAK", seed=1)
exam

# %% [markdown]
# **Watch for** questions in which you hesitate between two answers. Each wrong option is the answer of somebody who
# believes something particular; the report names the belief.

# %% [markdown]
# ## 3 The report
#
# When you hand in, the report takes the exam's place: right answers by domain and by objective, what you seem to believe
# that is not so, what to read and which run to replay. Below it every question has its key, a reason for each option, and
# buttons that open the runs behind it in the lab, a second before the moment that decides.
#
# What all your answers say together, from quizzes, exams and reviews:

# %% tags=["nbval-ignore-output"]
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings.progress import progress
from rebalance_kit.quiz.sittings.store import Store

print(progress(Store().attempts(), read_bank()).text())

# %% [markdown]
# ## 4 Review
#
# What was missed, and what was right by a guess, comes back as a fresh variant: other numbers where the question is made
# by a recipe, other places of the options where it is not. When it comes back is decided by FSRS, the scheduler that Anki
# uses; ten minutes a day are enough. On a day on which nothing is due the next cell says so.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Review

Review()

# %% [markdown]
# ## 5 A short practice before the next mock
#
# With feedback at once, and a question that exams do not ask: how sure are you? Being *sure* of something false is what
# costs marks, and incidents.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("three-protocols")

# %% [markdown]
# ## Your answers are yours
#
# They are in one file on this machine and nowhere else. In a terminal, `rebalance-kit answers export` writes them as
# JSON lines and `rebalance-kit answers delete` removes them; `rebalance-kit exam CCDAK` and `rebalance-kit review` are
# this notebook without a browser. `rebalance-kit items export anki deck.apkg --tag eager` makes a deck for your phone.
#
# ## Recap
#
# - One mock shows beliefs, three show knowledge.
# - A belief is gone when you can predict the run that refutes it, not when you know the letter.
# - What you guessed right is not yet known: review asks it again.
