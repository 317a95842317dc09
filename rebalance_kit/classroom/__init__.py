"""Material for instructors: plans of workshops, and the guide that is made from a plan.

Votes are counted in ``quiz.poll`` and shown by ``view``; here is only what is taught when.
"""
