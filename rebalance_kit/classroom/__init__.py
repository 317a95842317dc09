"""What an instructor needs in the room: plans of workshops, and the guide that is made of a plan.

Votes are counted in ``quiz.poll`` and shown by ``view``; here is only what is taught when.
"""
