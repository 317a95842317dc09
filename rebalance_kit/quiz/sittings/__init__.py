"""Answers: grading, practice, exam, review, polls, and the learner's store."""
