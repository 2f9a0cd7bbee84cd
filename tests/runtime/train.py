#!/usr/bin/env python3
"""train.py STEPS -- trains a small network on a CPU, and prints every loss."""

import ctypes
import sys

import torch
from torch import nn

step = getattr(ctypes.CDLL(None), "berth_step", lambda: None)
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for _ in range(int(sys.argv[1])):
    step()
    images, labels = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
