"""The HTTP interface as an OpenAPI document: what each route takes and answers.

`parameters` and the `shapes` modules are the vocabulary, the `of_…` modules say it of each route, `document` puts it
together. tests/unit/test_openapi.py holds it to what the routes do. `make openapi` writes docs/openapi.json.
"""

from torch_tb_profiler.web.openapi.document import as_text, document

__all__ = ["as_text", "document"]
