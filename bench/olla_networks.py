#!/usr/bin/env python3
"""Traces training steps of the networks of OLLA's paper that are not among the tables of the suite.

bench/olla_networks.py FOLDER [NETWORK...]
berth-lab suite olla FOLDER/*.json --only figure7,figure8,figure9,figure10,figure13

Writes FOLDER/NETWORK_b1.json and NETWORK_b32.json: GoogLeNet with its two auxiliary classifiers, EfficientNet-B0
and MNASNet 1.0 of torchvision, and a transformer of the size of XLM-R large (24 layers of 16 heads, 1,024 wide,
4,096 in between, 250,002 words, 512 tokens). Nothing is computed: tensors have shapes but no data. Needs PyTorch
and torchvision (pip install torch torchvision; some 3 GB). Takes about a minute.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import torch  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import berth.torch  # noqa: E402

WORDS, WIDTH, LAYERS, HEADS, BETWEEN, TOKENS = 250_002, 1_024, 24, 16, 4_096, 512


class LargeLanguageModel(nn.Module):
    """A classifier of sentences with the sizes of XLM-R large."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.norm = nn.LayerNorm(WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, BETWEEN, dropout=0.1, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS)
        self.classes = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        embedded = self.norm(self.words(tokens) + self.positions)
        return self.classes(self.layers(embedded)[:, 0])


def with_auxiliary_losses(outputs, labels):
    loss = functional.cross_entropy(outputs.logits, labels)
    for auxiliary in (outputs.aux_logits1, outputs.aux_logits2):
        loss = loss + 0.3 * functional.cross_entropy(auxiliary, labels)
    return loss


def images(batch):
    return torch.zeros(batch, 3, 224, 224)


def sentences(batch):
    return torch.zeros(batch, TOKENS, dtype=torch.long)


MODELS = torchvision.models
NETWORKS = {
    "googlenet": (lambda: MODELS.googlenet(weights=None, aux_logits=True, init_weights=False), images,
                  with_auxiliary_losses),
    "efficientnet_b0": (lambda: MODELS.efficientnet_b0(weights=None), images, functional.cross_entropy),
    "mnasnet1_0": (lambda: MODELS.mnasnet1_0(weights=None), images, functional.cross_entropy),
    "xlmr_large": (LargeLanguageModel, sentences, functional.cross_entropy),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"{unknown[0]}: no network; there are {', '.join(NETWORKS)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.networks or NETWORKS:
        make, inputs_of, loss = NETWORKS[name]
        model = make().train()
        for batch in (1, 32):
            labels = torch.zeros(batch, dtype=torch.long)
            graph = berth.torch.trace_training_step(
                model, (inputs_of(batch),), loss, (labels,), name=f"{name}_b{batch}")
            path = arguments.folder / f"{name}_b{batch}.json"
            path.write_text(json.dumps(graph))
            print(f"{path}: {len(graph['nodes'])} operators", flush=True)


if __name__ == "__main__":
    main()
