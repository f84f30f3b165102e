"""Reader of PDF, by pypdf, which the extra ``[pdf]`` brings."""

from __future__ import annotations

from io import BytesIO

from agentctx_nb.errors import MissingExtraError, describe
from agentctx_nb.knowledge.blocks import Block, Document, UnreadableError
from agentctx_nb.knowledge.plain import paragraphs

__all__ = ["read_pdf"]


def read_pdf(data: bytes) -> Document:
    """Return the paragraphs of each page.

    Raises
    ------
    MissingExtraError
        pypdf is not installed.
    UnreadableError
        It is no PDF, damaged or locked with a password.
    """
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError("pypdf", extra="pdf", purpose="reading PDF") from error
    blocks: list[Block] = []
    try:
        reader = pypdf.PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("locked with a password")
        for number, page in enumerate(reader.pages, 1):
            lines = page.extract_text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
            blocks += [Block("\n".join(run), line, page=number) for line, run in paragraphs(lines)]
    except UnreadableError:
        raise
    except Exception as error:  # a damaged file can make the parser raise anything
        raise UnreadableError(f"no PDF that can be read: {describe(error)}") from error
    return Document(tuple(blocks), "" if blocks else "no text in it; scanned pages need OCR first")
