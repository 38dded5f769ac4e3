"""What judges an answer: ladders of small inputs, and the verdict that a learner reads."""

from book.checking.verdict import Verdict

__all__ = ["Verdict"]
