# %% [markdown]
# # 16 · Practice exam and review
#
# **90 minutes** for the exam, ten for its report, then a few minutes on other days. Exams: CCDAK and CCAAK, all domains that
# involve rebalancing.
#
# After this notebook you can
#
# - take a timed mock exam weighted by domain, and read its report;
# - say which misconceptions your answers suggest, and replay the run that refutes each;
# - keep what you have learned: what you missed or guessed comes back when you are about to forget it.
#
# Wherever a run can settle an answer, the engine has checked it. No question is taken from an exam.
#
# ## 1 What you will be asked
#
# A **blueprint** is the list of an exam's domains with the weight of each. The table says how many questions each domain gets here. This bank asks of each domain what
# concerns rebalancing and no more: of Connect it asks about workers and tasks, not about converters. Where it cannot fill a domain
# honestly, *lacking* says by how many questions it falls short, and the exam is that much shorter; *repeated* counts
# questions that an earlier mock has asked.

# %%
from rebalance_kit.quiz.items.blueprint import paper_table

print(paper_table("CCDAK", seed=1))

# %%
print(paper_table("CCAAK", seed=1))

# %% [markdown]
# (Confluent publishes the domains, not their weights: these circulate in study guides, and older guides have others. They are rounded and add up to 99 and 101.)
#
# **What a score here does not tell.** These mocks have the formats of the exam and the questions of one subject. Producers, schemas, serialisation, topologies, security beyond groups:
# all of that is asked in the real exam and not here. So 80 % in this notebook means that you know *rebalancing* well enough, not that you are ready for
# CCDAK or CCAAK. No pass mark is published for either exam. The kit advises 80 % in three mocks in a row, with every domain above 60 %, for its own subject.
#
# ### Predict
#
# What score do you expect, and which domain will be your weakest? People who cannot say so yet gain most from the report.
#
# **Watch for** questions in which you hesitate between two answers. Each wrong option is what a learner with a particular misconception would choose; the report names the
# misconception.

# %%
from rebalance_kit.notebook import predict

DOMAINS = ["Application Development", "Fundamentals", "Connect", "Observability", "Streams", "Testing"]
guess = predict(
    {"score in %": None, "weakest domain": None},
    within={"score in %": 10},
    options={"weakest domain": DOMAINS},
)
guess

# %% [markdown]
# ## 2 The exam
#
# The first page says what the exam is; the clock starts when you press **Begin**, and not before. Sixty questions, ninety minutes, no
# feedback before the end. Where two answers are asked for, choose two. **Flag** what you want to see again, **strike** options
# out, **Review** shows what is open. Letters choose, Enter goes on; no mouse is needed.
#
# Once begun, the clock keeps running while the notebook is closed, and every step is kept: run the cell again after a crash and you are
# where you were, with the right time left. `Exam("CCDAK", seed=2)` and `Exam("CCAAK")` are further mocks.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Exam

exam = Exam("CCDAK", seed=1)
exam

# %% [markdown]
# ## 3 The report
#
# When you hand in, the report takes the exam's place: right answers by domain and by objective, the misconceptions your answers suggest,
# what to read and which run to replay. Below it every question has its key, a reason for each option, and
# buttons that open the runs behind it in the lab, a second before the moment that decides. Compare the score with your guess.
#
# What all your answers say together, from quizzes, exams and reviews:

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings.progress import progress
from rebalance_kit.quiz.sittings.store import Store

print(progress(Store().attempts(), read_bank()).text())

# %% [markdown]
# ## 4 Review
#
# What was missed, and what was right by a guess, comes back as a fresh variant: other numbers where the question is made
# by a recipe, other places of the options where it is not. When it comes back is decided by FSRS (Free Spaced Repetition Scheduler), the method that the flash-card program Anki
# uses; ten minutes a day are enough. On a day on which nothing is due the next cell says so.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Review

Review()

# %% [markdown]
# ## 5 Every day until the exam
#
# Fifteen minutes: what is due, questions of your weak themes, and something new. In a terminal `rebalance-kit today CCDAK` is the same, and
# `rebalance-kit plan CCDAK --until 2026-12-12` (put the day of your exam there) spreads notebooks, exercises and mocks over the days that are left.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view import Today

Today("CCDAK")

# %% [markdown]
# ## 6 A short practice before the next mock
#
# With feedback at once, and a question that exams do not ask: how sure are you? Being *sure* of something false costs marks, and it causes incidents.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("trade-off", count=6)

# %% [markdown]
# ## Your answers are yours
#
# They are in one file on this machine and nowhere else. In a terminal, `rebalance-kit answers export` writes them as
# JSON lines and `rebalance-kit answers delete` removes them; `rebalance-kit exam CCDAK` and `rebalance-kit review` are
# this notebook without a browser. `rebalance-kit items export anki deck.apkg --tag eager` makes a deck for your phone.
#
# ## Recap card
#
# - A misconception is gone when you can predict the run that refutes it, not when you know the letter.
# - What you guessed right is not yet known: review asks it again.
# - 80 % here is 80 % of rebalancing, not of the exam.
