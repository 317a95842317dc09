"""Widgets for practice, exams and polls."""
