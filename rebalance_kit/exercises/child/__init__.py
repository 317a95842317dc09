"""The process that a learner's code runs in: it knows the inputs and the columns asked for, and no truth.

Nothing here imports the rest of ``rebalance_kit.exercises``, and once the answer runs nothing can.
"""
