from torch_tb_profiler.api import Profile as Profile
from torch_tb_profiler.api import ProfileError as ProfileError
from torch_tb_profiler.api import check as check
from torch_tb_profiler.api import hang as hang
from torch_tb_profiler.api import open as open  # noqa: A004
from torch_tb_profiler.api import prove as prove
from torch_tb_profiler.api import trends as trends

__version__: str
