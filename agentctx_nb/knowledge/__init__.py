"""Knowledge from real files: a folder read, split at headings and paragraphs, and kept up to date in a table."""

from __future__ import annotations

from agentctx_nb.knowledge.learn import learn
from agentctx_nb.knowledge.learned import Learned, LearnedFile
from agentctx_nb.knowledge.progress import progress_line
from agentctx_nb.knowledge.remember import Remembered, remember

__all__ = ["Learned", "LearnedFile", "Remembered", "learn", "progress_line", "remember"]
