"""Whether the GPUs of all ranks can hold one matrix together."""

from __future__ import annotations

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.registry import gpu_problem
from groute_py.engine.options import Options
from groute_py.system.environment import local_rank


def why_apart(channel: Channel, options: Options) -> str | None:
    """Why the ranks' GPUs cannot hold one matrix together, if so; collective."""
    if channel.size == 1:
        return None
    usable = options.device != "cpu" and gpu_problem() is None
    if not all(channel.gather(usable)):
        return "on several ranks it needs a GPU for each"
    from groute_py.device.cuda.peer.access import why_not
    from groute_py.device.cuda.runtime.gpu import own_gpu

    with collective(channel):
        gpu = own_gpu(local_rank(channel.rank))
    return why_not(channel, gpu.id)
