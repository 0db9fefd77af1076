"""From a name to a module: the only place that knows which zoo module builds which network."""

from __future__ import annotations

from torch import nn

from segstudio.core.classes import ClassTable
from segstudio.networks.registry import NETWORKS
from segstudio.networks.spec import Normalisation
from segstudio.networks.zoo.light_fusion import LightEncoder, LightFusion
from segstudio.networks.zoo.patch_context import PatchContext

Network = LightFusion | PatchContext


def build(name: str, classes: ClassTable | int, normalisation: Normalisation) -> Network:
    """A fresh network in training mode, weights from torch's current random state. Unknown names: `UnknownNameError`."""
    spec = NETWORKS.get(name)
    count = classes if isinstance(classes, int) else len(classes)
    base = int(spec.options["base"])
    if spec.wrapper == "light-fusion":
        return LightFusion(classes=count, normalisation=normalisation, base=base)
    encoder = LightEncoder(normalisation.bands, base)
    return PatchContext(encoder, classes=count, normalisation=normalisation, width=int(spec.options["width"]))


def parameter_count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
