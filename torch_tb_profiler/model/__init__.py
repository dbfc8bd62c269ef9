"""What the events of a trace mean together: call tree, launches, steps, forward and backward.

Belongs here: structure that several questions share. Does not belong here: the answer to any one question
(`analysis`), and anything about how files are written (`trace`).
"""

from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.model.model import Model
from torch_tb_profiler.model.steps import StepChoice, Steps

__all__ = ["CallTree", "DeviceLinks", "FrameTree", "LaunchLinks", "Model", "StepChoice", "Steps"]
