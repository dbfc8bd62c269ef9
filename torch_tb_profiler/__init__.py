"""PyTorch profiles in TensorBoard and in a stand-alone server.

Importing this package loads nothing else: TensorBoard imports it at start, for everybody.
"""

__version__ = "1.0.0"
